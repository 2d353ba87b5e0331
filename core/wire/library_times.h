#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lathe::wire {

/// How an exported library is timed.
struct LibraryPlan
{
    std::uint32_t number = 1; ///< runs per repeat
    std::uint32_t repeat = 0; ///< 0: as many as the benchmark's method takes
    double minRepeatMs = 0; ///< of one repeat; runs are added to reach it
    double maxSeconds = 0; ///< fewer repeats, three at least, where all would take longer; 0: no limit
    /// Just `repeat` runs of the whole network, between two of the control kernel: one turn of several that are taken
    /// in alternation with another library's.
    bool wholeOnly = false;
};

/// One instruction of a library, timed behind the one before it.
struct FunctionTime
{
    std::string name;
    std::string kind; ///< "kernel", "copy", "transform"
    double ms = 0; ///< of a middling run
    double minMs = 0;
};

/// What the benchmark measures.
struct LibraryTimes
{
    std::vector<double> runsNs; ///< of the whole network, one per repeat
    std::vector<FunctionTime> functions; ///< in the order of execution
    double callMs = 0; ///< fork and join, which each run adds; not-a-number if it cannot be taken
    std::uint32_t threads = 0;
    /// Of the control kernel (core/runtime/control_kernel.h) on all of these threads at once, until the last of them is
    /// done; of a plan with wholeOnly.
    double controlNs = std::numeric_limits<double>::quiet_NaN();

    /// What the functions and the call add up to.
    double sumMs() const
    {
        double sum = callMs;
        for (const FunctionTime& function : functions)
            sum += function.ms;
        return sum;
    }
};

} // namespace lathe::wire
