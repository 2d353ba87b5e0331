#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>

namespace lathe::schedule {

/// How many registers of 32 bits a compiler for GPUs takes for each thread of a launch: an estimate. It follows what
/// LLVM does for AMD's processors: which loops are unrolled (AMDGPUTargetTransformInfo.cpp, LoopUnrollPass.cpp), that
/// loads come as early as the waves for which shared memory leaves room allow (GCNSchedStrategy.cpp, AMDGPUSubtarget),
/// that what lies within an instruction's reach shares an address, and that sums sink below branches when the loop
/// around them is unrolled whole. Rules are from there; what they leave open was set by clang-19's output for gfx1030
/// over five sets of 200 texts (seeds 1, 2, 3, 101 and 202 of tests/bench/launches/launch_texts), at de2d9d6.
///
/// Within a quarter of clang-19's figures, at de2d9d6: 93.7, 97.6, 95.6, 95.7 and 96.6 % of the kernels of these sets,
/// 97.2 % of the 290 of seed 505, which was not looked at before. Sets hold the same small kernels many times: of
/// those that differ it is 90 % of 496, and 96 % of 203 with seed 505. Worst are tiles in shared memory (94 of 123
/// distinct ones): what the scheduler makes of more loads than fit is one of two things that differ by half.
///
/// Of thousands of kernels half take below 20 us, nine in ten below 80, large ones a few ms.
std::int32_t estimateRegisters(const ir::LoopNest& nest, const ir::Launch& launch);

} // namespace lathe::schedule
