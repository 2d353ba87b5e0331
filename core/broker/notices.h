#pragma once

#include "core/support/hash.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::broker {

/// What programs tell all others of a key, about once a second. Who has not been heard for a while is gone; nothing is
/// kept anywhere else, so nothing has to be cleaned up. Durations, not times of day: clocks differ, and jump.

/// How often each tells, and after how long a silence he is gone: three notices may be lost.
inline constexpr std::chrono::milliseconds kNoticeEach{1000};
inline constexpr std::chrono::milliseconds kSilence{3500};

/// Of one who wants devices of a key, as long as he wants any.
struct ClaimNotice
{
    std::string key;
    std::string ticket; ///< the claim's own name, random
    std::string user;
    std::string program; ///< for people: "lathe-cli tune zoo:resnet-18"
    int priority = 0;
    std::chrono::milliseconds waited{0}; ///< since it was made
    std::chrono::milliseconds reserve{0}; ///< how long each device is wanted at least, whoever waits
    std::uint32_t most = 0; ///< devices that are wanted at once; 0: all that are to be had
    std::string device = {}; ///< no other is wanted; empty: any
};

enum class DeviceState : std::uint8_t
{
    Free,
    Offered, ///< to a claim that has not taken it yet
    Leased,
    Draining, ///< leased, and given to nobody afterwards
    Drained,
    Sick ///< its own checks fail
};

/// Of a device, as long as it is there.
struct DeviceNotice
{
    std::string key;
    std::string device; ///< its own name, the same after a restart
    DeviceState state = DeviceState::Free;
    std::string ticket; ///< that it is offered or leased to
    std::string user;
    std::chrono::milliseconds had{0}; ///< by this ticket
    std::string about; ///< for people and programs, a JSON object: host, version, what it has, health, last error
};

/// Why an offer or a lease is over.
enum class LeaseEnd : std::uint8_t
{
    NotTaken, ///< nobody said anything in time
    HolderSilent, ///< nothing is heard of the claim any more
    TurnOver, ///< another user has less
    Drained,
    Sick
};

/// To one claim: the device is his, if he says something in the session within kOfferLasts.
inline constexpr std::chrono::milliseconds kOfferLasts{2000};
struct Offer
{
    std::string ticket;
    std::string device;
    Hash128 session; ///< of the link; random
};

/// To one device, by a user of its key.
struct Order
{
    enum class What : std::uint8_t
    {
        Drain, ///< be given to nobody any more, once the one who has it is done with what is in hand
        Resume, ///< be given again
        Leave ///< drain, and end
    };
    std::string key, device, user;
    What what = What::Drain;
};

/// As they are sent, in JSON. Who a notice is of stands in its subject alone (subjects.h), which the broker lets nobody
/// use but him: what the text says of that is not looked at.
std::string toText(const ClaimNotice& notice);
std::string toText(const DeviceNotice& notice);
std::string toText(const Offer& offer);
std::string toText(const Order& order);
std::string_view wordOf(Order::What what); ///< "drain", ...

/// Nothing: it is none, or larger than any is.
std::optional<ClaimNotice> claimIn(std::string_view subject, std::string_view text);
std::optional<DeviceNotice> deviceIn(std::string_view subject, std::string_view text);
std::optional<Offer> offerIn(std::string_view text);
std::optional<Order> orderIn(std::string_view subject, std::string_view text);

inline constexpr std::size_t kMostNoticeBytes = 64u << 10;

} // namespace lathe::broker
