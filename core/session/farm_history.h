#pragma once

#include "core/session/farm_view.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

/// What was not as it should be with a device of a farm, or is so again.
struct FarmFault
{
    enum class Kind : std::uint8_t
    {
        Lost, ///< nothing was heard of it any more
        Sick, ///< its own checks failed
        Failed, ///< it told of an error that it had not told before
        Back ///< it is there, and well, after it was lost or sick
    };
    Kind kind = Kind::Lost;
    std::chrono::system_clock::time_point at;
    std::string text; ///< of Failed: the error; of Sick: the device's last error, if it told one

    bool operator==(const FarmFault&) const = default;
};

/// What a farm's devices were like from the first look on: figures of their health, and faults. Fed with a view of the
/// farm each second or so. However long that goes on and whatever the devices tell, it keeps a bounded amount: curves
/// of a long time are coarser, the oldest faults go, and so do devices that were not seen for longest.
///
/// While the broker does not answer nothing is taken: what nobody can hear is no fault of the devices. Those that are
/// still away some seconds after it answers again are lost.
///
/// A value. Threads: one.
class FarmHistory
{
public:
    using Time = std::chrono::system_clock::time_point;

    static constexpr std::size_t kMostSamples = 480; ///< of a figure
    static constexpr std::size_t kMostFigures = 8; ///< of a device
    static constexpr std::size_t kMostFaults = 50; ///< of a device
    static constexpr std::size_t kMostDevices = 500;
    /// After so long each device that is there has been heard.
    static constexpr std::chrono::seconds kListen{5};

    struct Sample
    {
        double seconds = 0; ///< since the history began
        double value = 0;
    };
    struct Device
    {
        std::map<std::string, std::vector<Sample>> health; ///< by figure, in the order of time
        std::deque<FarmFault> faults; ///< the latest last
    };

    void take(const FarmView& view, Time now);
    /// Null: it was not seen.
    const Device* find(const std::string& key, const std::string& device) const;
    /// Seconds from the first look to the latest; 0 before.
    double seconds() const { return m_seconds; }

private:
    struct Kept
    {
        Device device;
        std::string lastError;
        bool isKnown = false; ///< it was seen before, so that another error is a new one
        bool isLost = false, isSick = false;
        double seen = 0; ///< seconds since the history began
        double sampled = -1; ///< likewise; samples are no closer than `step`
        double step = 0;
    };
    void takeDevice(Kept& kept, const FarmDeviceView& device, Time now);
    void takeHealth(Kept& kept, const std::map<std::string, double>& health) const;
    void makeRoom(const FarmView& view);

    std::map<std::pair<std::string, std::string>, Kept> m_devices; ///< by key and name
    Time m_began, m_connected; ///< of the first look; since when the broker answers
    double m_seconds = 0;
    bool m_hasBegun = false, m_isConnected = false;
};

} // namespace lathe::session
