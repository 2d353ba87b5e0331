#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>

namespace lathe::schedule {

/// How many registers of 32 bits a compiler for GPUs takes for each thread of a launch: an estimate. It follows what
/// LLVM does for AMD's processors, whose sources are where the rules come from (AMDGPUTargetTransformInfo.cpp: which
/// loops are unrolled; GCNSchedStrategy.cpp: loads come as early as the waves that shared memory leaves room for allow;
/// GCNSubtarget: those waves), with constants of clang-19's output for gfx1030.
std::int32_t estimateRegisters(const ir::LoopNest& nest, const ir::Launch& launch);

} // namespace lathe::schedule
