#pragma once

#include <cstdint>

namespace lathe::runtime {

/// What one multiprocessor of an NVIDIA GPU has, which its drivers do not all tell.
///
/// Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "Throughput of Native
/// Arithmetic Instructions". Memory: the data sheets of P100, V100, RTX 2080 Ti, A100, A6000, RTX 4090, H100 SXM, B200
/// and RTX 5090, bandwidth by clock and multiprocessors.
struct NvidiaCore
{
    std::uint64_t capability; ///< from which on this holds: 10 times the major number and the minor one
    std::uint64_t lanes; ///< of float32
    std::uint64_t threads, blocks; ///< resident at a time
    std::uint64_t sharedBytes;
    double memoryBytesPerCycle; ///< its share
};

inline constexpr std::uint64_t kNvidiaRegisters = 65536, kNvidiaThreadRegisters = 255; ///< of a core, of a thread

/// Of a capability that came later, what the latest known one has; null: it is older than all, or none.
const NvidiaCore* findNvidiaCore(std::uint64_t capability);

} // namespace lathe::runtime
