#pragma once

#include "core/session/views.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lathe::session {

/// A farm behind a broker as it is at one time: snapshots, as in views.h. Texts come from other machines; they are one
/// line of a bearable length each.

enum class FarmDeviceState : std::uint8_t
{
    Free,
    Offered, ///< to a program that has not taken it yet
    Busy,
    Draining, ///< busy, and given to nobody afterwards
    Drained,
    Sick, ///< its own checks fail
    Lost ///< nothing is heard of it any more
};
/// As JSON has it: "free", "offered", "busy", "draining", "drained", "sick", "lost".
const char* toString(FarmDeviceState state);

struct FarmDeviceView
{
    /// One of the devices that a runner can measure on.
    struct Part
    {
        std::string kind; ///< of targets
        std::string key; ///< as its machine calls it
        std::string name;
        std::string deviceKey; ///< of the class of equal devices, among which costs compare
        std::string hardware = {}; ///< its parameters, as parseHardware() reads them; empty: it tells none
    };
    std::string key;
    std::string name;
    FarmDeviceState state = FarmDeviceState::Free;
    std::string user; ///< who has it, or had it when it was lost
    std::string program; ///< his; empty: it is not known
    double hadSeconds = 0; ///< by this program
    double thereSeconds = 0; ///< since the watch heard it first, or again after it was lost
    double silentSeconds = 0; ///< since it was heard last
    // What its runner says of itself, as far as it does:
    std::string host, machine, version;
    std::vector<Part> parts;
    std::map<std::string, double> health; ///< "load", "memory_free_mb", "temperature_c", "clock_mhz"; perhaps others
    std::string lastError;
    std::string drainedBy; ///< the user who told it to be given to nobody
    std::int64_t trials = 0; ///< since it was started
};

/// A program that wants devices of a key.
struct FarmClaimView
{
    std::string key;
    std::string user;
    std::string program;
    double waitedSeconds = 0;
    int priority = 0;
    std::size_t devices = 0; ///< that it has
    std::size_t place = 0; ///< in the queue of its key, from 1; 0: it has devices
};

struct FarmKeyView
{
    std::string key;
    std::size_t total = 0; ///< devices that are there
    std::size_t free = 0; ///< of these, those that nobody has
    std::size_t pending = 0; ///< programs without a device
};

struct FarmView
{
    std::string broker; ///< its address
    bool connected = false; ///< else the rest is as it was when the broker was heard last
    std::vector<FarmDeviceView> devices; ///< by key and name
    std::vector<FarmClaimView> claims; ///< by key, the queue first, in its order
    std::vector<FarmKeyView> keys; ///< by name
};

} // namespace lathe::session
