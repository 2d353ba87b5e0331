#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>

namespace lathe::measure {

/// What the system's counters say at one moment. All but the clock rates, the load and the temperature grow; what the
/// system does not tell is not-a-number.
struct MachineCounters
{
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

    double atSeconds = 0; ///< of a steady clock
    std::int32_t processors = 0; ///< that this process may use; the times below are of these, all together
    double busySeconds = kUnknown, idleSeconds = kUnknown;
    double stolenSeconds = kUnknown; ///< the hypervisor gave them to other guests
    double ownSeconds = kUnknown; ///< processor time of the process and all that descend from it, ended ones included
    double heldBackSeconds = kUnknown; ///< a control group's quota was used up
    double heatSlowdowns = kUnknown; ///< how often a processor slowed down because of heat, all together
    double mhz = kUnknown, mostMhz = kUnknown; ///< mean clock rate now; the rate that the processor is made for
    double celsius = kUnknown; ///< of the hottest zone
    double load = kUnknown; ///< mean number of runnable threads in the last minute
};

/// In which state a machine was while a figure was taken on it. Shares are of all processor time that there was, 0..1;
/// what is not known is not-a-number.
struct MachineState
{
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

    double seconds = kUnknown; ///< that it was watched
    std::int32_t processors = 0;
    double others = kUnknown; ///< of programs other than this one and those that it started
    double stolen = kUnknown; ///< by other guests of the hardware
    double heldBackSeconds = kUnknown, heatSlowdowns = kUnknown; ///< meanwhile
    double mhz = kUnknown, mostMhz = kUnknown, celsius = kUnknown, load = kUnknown; ///< at the end
    double controlNs = kUnknown; ///< the control kernel's median over the turns
    double controlSpread = kUnknown; ///< its slowest turn over its fastest

    double taken() const; ///< others + stolen, as far as known
};

/// Reads /proc and /sys. Threads: any; each call reads anew, in well under a millisecond a hundred processes.
class MachineReader
{
public:
    using Clock = std::function<double()>; ///< seconds

    /// @param root  stands before proc, sys/devices, sys/class and sys/fs: tests give folders of their own.
    /// @param process  whose descendants count as own; 0: this one.
    explicit MachineReader(std::filesystem::path root = "/", std::int64_t process = 0, Clock clock = {});

    MachineCounters read() const;

private:
    void readProcessors(MachineCounters& counters) const;
    void readOwn(MachineCounters& counters) const;
    void readClocks(MachineCounters& counters) const;
    double heldBackSeconds() const;

    std::filesystem::path m_root;
    std::int64_t m_process;
    Clock m_clock;
};

/// From counters before and after. Counters tick in hundredths of a second: shares of less than 0.2 s of processor time
/// are unknown.
MachineState machineBetween(const MachineCounters& before, const MachineCounters& after);

/// The control kernel's figures of the turns of a measurement, ns.
void putControl(MachineState& state, std::span<const double> controlNs);

/// Members named as the fields with their units; null where unknown.
nlohmann::json toJson(const MachineState& state);
MachineState machineStateIn(const nlohmann::json& object);

} // namespace lathe::measure
