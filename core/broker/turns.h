#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe::broker {

/// Whose turn it is on a device, when several people want devices of one key. Each device decides for itself by what
/// all of them tell (who waits, who has which device), so nobody in the middle can fail; a decision that rests on old
/// news is mended at the next one.
///
/// Priorities are weights: who has one more is to have twice as many devices, and nobody is left without. A
/// reservation keeps a device for its time; how long that is at most the device says.

using TurnClock = std::chrono::steady_clock;

/// One program that wants as many devices of a key as it can have.
struct Claim
{
    std::string ticket; ///< the claim's own name
    std::string user; ///< two claims of one user share what he is to have
    int priority = 0; ///< from -4 to 4
    TurnClock::time_point since; ///< it waits
    /// Until then it keeps what it has, whoever waits.
    TurnClock::time_point reservedUntil = TurnClock::time_point::min();
    std::size_t most = 0; ///< devices that it wants at once; 0: all that it can have
    bool isElsewhere = false; ///< it wants another device than the one that decides, and no other than that
    bool isForThis = false; ///< it wants the one that decides, and no other
};

/// A device of the key, and the claim that has it.
struct DeviceTurn
{
    std::string device;
    std::string ticket; ///< empty: nobody
    TurnClock::time_point since; ///< it has it
};

/// What is known of one key at one time.
struct KeyState
{
    std::vector<Claim> claims; ///< all that are alive, with or without devices
    std::vector<DeviceTurn> devices; ///< all that are there
    std::map<std::string, double> recentSeconds = {}; ///< by user: on devices of the key, older ones counting less
};

/// Who a free device is offered to: the user that has the fewest devices for his weight; of equal ones who used them
/// least of late, then who waits longest. `refused` are claims that did not answer an offer of this device.
std::optional<std::string> nextTicket(const KeyState& state, std::span<const std::string> refused = {});

/// Whether the claim that has `device` is to give it to another now: it has had it for `slice`, and another user has so
/// much less that he would not have more than its user afterwards; or he has none, and used them less of late. Of
/// several devices of one user those with the smallest names go, as many as are owed. With one device for two users it
/// goes back and forth.
bool isTurnOver(const KeyState& state, const std::string& device, TurnClock::time_point now,
                TurnClock::duration slice = std::chrono::seconds(20));

/// Tickets in the order in which free devices would be offered: the queue, as people see it. Those that have devices
/// already are behind all others.
std::vector<std::string> queueOf(const KeyState& state);

} // namespace lathe::broker
