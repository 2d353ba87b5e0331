#include "tests/cuda_driver/driver/time_model.h"

#include <algorithm>

namespace lathe::cuda_driver {

namespace {

constexpr double kLaunchGap = 4e-6, kGraphGap = 1e-6;
constexpr double kCopyGap = 8e-6, kHostBandwidth = 16e9;
constexpr double kSectorBytes = 32;

} // namespace

double launchSeconds(const ptx::Counters& counters, const ptx::Size3& grid, const Device& device, bool inGraph)
{
    const double blocks = static_cast<double>(grid.count());
    const double processors = device.multiprocessors;
    const double waves = std::max(
        1.0, static_cast<double>((grid.count() + device.multiprocessors - 1) / device.multiprocessors));
    const double share = std::min(1.0, blocks / (waves * processors));
    const double clocks = (32.0 * static_cast<double>(counters.warpInstructions) / device.lanes
                           + static_cast<double>(counters.sharedWavefronts))
                          / (processors * share);
    return (inGraph ? kGraphGap : kLaunchGap) + clocks / device.clockHz
           + static_cast<double>(counters.globalSectors) * kSectorBytes / device.bandwidth;
}

double copySeconds(uint64_t bytes)
{
    return kCopyGap + static_cast<double>(bytes) / kHostBandwidth;
}

double fillSeconds(uint64_t bytes, const Device& device)
{
    return kGraphGap + static_cast<double>(bytes) / device.bandwidth;
}

} // namespace lathe::cuda_driver
