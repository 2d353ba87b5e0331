#pragma once

#include "core/target/target.h"

#include <string>

namespace lathe {

/// What one multiprocessor of an NVIDIA GPU has, which its drivers do not all tell, by compute capability (90: 9.0):
/// lanes_per_core, threads_per_core, blocks_per_core, registers_per_core, registers_per_thread, shared_memory_per_core
/// and, for `cores` of them, memory_bytes_per_cycle and cache_bytes_per_cycle. A capability that came later gets what
/// the latest one known has; 0 gets nothing.
///
/// Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "Throughput of Native
/// Arithmetic Instructions". Memory: the data sheets of P100, V100, RTX 2080 Ti, A100, A6000, RTX 4090, H100 SXM, B200
/// and RTX 5090, bandwidth by clock and multiprocessors; the second-level cache is taken for three times as fast.
Hardware nvidiaCores(std::int64_t capability, std::int64_t cores);

} // namespace lathe
