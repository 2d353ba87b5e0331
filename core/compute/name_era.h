#pragma once

#include <cstdint>

namespace lathe::compute {

/// Spelling of compute DAG operation names: the three generations of the reference's keys (auto-scheduler.md 1.5, 2.4).
enum class NameEra : std::uint8_t
{
    Hash, ///< tutorial 002: PaddedInput, Conv2dOutput, T_dense
    Flat, ///< tutorial 000: as Hash
    Nested ///< tutorial 001: pad_temp, conv2d_nhwc, T_matmul_NT
};

} // namespace lathe::compute
