#pragma once

#include "tests/cuda_driver/driver/device.h"
#include "tests/cuda_driver/ptx/machine.h"

namespace lathe::cuda_driver {

/// Seconds that a launch takes on the pretended device, by the counts of the interpreter: model time, never a
/// measurement.
///
/// gap + (thread instructions / lanes + passes of shared memory) / clock / share of multiprocessors at work
///     + sectors of global memory x 32 bytes / bandwidth
///
/// The share counts waves: 9 blocks on 8 multiprocessors take as long as 16.
double launchSeconds(const ptx::Counters& counters, const ptx::Size3& grid, const Device& device, bool inGraph);

/// Seconds of a copy between host and device, or of a fill.
double copySeconds(uint64_t bytes);
double fillSeconds(uint64_t bytes, const Device& device);

} // namespace lathe::cuda_driver
