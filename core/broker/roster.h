#pragma once

#include "core/broker/desk.h"
#include "core/broker/notices.h"
#include "core/broker/recent_use.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::broker {

struct RosterOptions
{
    std::chrono::milliseconds silence = DeskOptions().silence; ///< who says nothing for so long is lost
    std::chrono::milliseconds memory = std::chrono::minutes(5); ///< a lost device is shown so long
};

/// All devices and claims of a farm at one time.
struct RosterState
{
    struct Device
    {
        DeviceNotice notice; ///< the last one; `had` goes on counting as long as the device is there
        std::chrono::milliseconds there{0}; ///< since it was heard first, or again after it was lost
        std::chrono::milliseconds silent{0}; ///< since it was heard last
        bool isLost = false;
    };
    struct Claim
    {
        ClaimNotice notice; ///< `waited` goes on counting
        std::size_t devices = 0; ///< that it has, or is offered
        std::size_t place = 0; ///< in the queue of its key, from 1; 0: it has devices
    };
    struct Key
    {
        std::string key;
        std::size_t total = 0; ///< devices that are not lost
        std::size_t free = 0; ///< of these, those that nobody has
        std::size_t pending = 0; ///< claims without a device
    };
    std::vector<Device> devices; ///< by key and name
    std::vector<Claim> claims; ///< by key, the queue first, in its order
    std::vector<Key> keys; ///< of these, by name
};

/// What a farm looks like to one who hears all of it. Decides nothing: who gets a device is up to the device (desk.h).
///
/// A device that falls silent is lost, and shown as that for some minutes; one that was drained before has been stopped
/// in order, and is gone. So is a claim that falls silent: programs that end say nothing. What users had before the
/// roster began to hear is not known to it, and places of equals in the queue may rest on that.
///
/// A state machine: it is told the time, and neither sends nor waits. Threads: one.
class Roster
{
public:
    using Clock = TurnClock;
    using Time = Clock::time_point;

    explicit Roster(RosterOptions options = {})
        : m_options(options)
    {
    }

    void hear(const DeviceNotice& notice, Time now);
    void hear(const ClaimNotice& notice, Time now);
    RosterState at(Time now);

    /// Who sends a flood of notices fills no memory, and no tables.
    static constexpr std::size_t kMostDevices = 10'000, kMostClaims = 10'000;
    static constexpr std::size_t kMostAboutBytes = 64u << 20; ///< of all devices; what is beyond is left out

private:
    using Name = std::pair<std::string, std::string>; ///< of a device or a claim: key, and the name among those of it
    struct HeardDevice
    {
        DeviceNotice notice;
        Time first, last;
        Time since; ///< its ticket has it
    };
    struct HeardClaim
    {
        ClaimNotice notice;
        Time since; ///< it waits
        Time last;
    };
    bool isSilent(Time last, Time now) const { return now - last >= m_options.silence; }
    void pass(Time now);
    void eraseDevices(Time now, bool full);
    KeyState stateOf(const std::string& key, Time now) const;

    RosterOptions m_options;
    std::map<Name, HeardDevice> m_devices;
    std::map<Name, HeardClaim> m_claims;
    std::map<std::string, RecentUse> m_recent; ///< by key
    std::size_t m_aboutBytes = 0;
    std::optional<Time> m_passed;
};

} // namespace lathe::broker
