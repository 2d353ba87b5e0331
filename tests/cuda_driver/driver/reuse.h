#pragma once

#include "tests/cuda_driver/ptx/machine.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace lathe::cuda_driver {

/// Launches whose outcome is known without running them once more. A launch is one if an earlier launch
///
/// - was of the same kernel of the same loaded program, with the same grid, block, dynamic shared memory and
/// parameters,
/// - ended without a fault,
/// - wrote no allocation that it read (so that what it leaves depends on nothing that it writes), and
/// - nothing was written meanwhile, by whomever, to an allocation that it read or wrote, nor was one of these released:
///   each allocation has a version, which each write makes a new one and which never comes back.
///
/// Then all of memory already is what the launch would leave, bit for bit, and its counters, findings and model time
/// are those of the earlier one. A warm-up, a check and the timed runs of one candidate so cost one interpretation.
/// LATHE_CUDA_DRIVER_REUSE=0 switches it off.
class LaunchReuse
{
public:
    /// What this launch would give, if that is known.
    const ptx::LaunchReport* find(const ptx::LaunchRequest& request, ptx::DeviceMemory& memory) const;
    /// After it was run.
    void keep(const ptx::LaunchRequest& request, ptx::DeviceMemory& memory, const ptx::LaunchReport& report);

private:
    struct Known
    {
        std::shared_ptr<const ptx::Program> program;
        const ptx::Kernel* kernel = nullptr;
        ptx::Size3 grid, block;
        uint32_t dynamicShared = 0;
        std::vector<uint8_t> parameters;
        std::vector<std::pair<uint64_t, uint64_t>> versions; // of the allocations, by their addresses
        ptx::LaunchReport report;
    };
    static bool isOf(const Known& known, const ptx::LaunchRequest& request);

    static constexpr size_t kMost = 64;
    std::deque<Known> m_known; // the latest first
};

} // namespace lathe::cuda_driver
