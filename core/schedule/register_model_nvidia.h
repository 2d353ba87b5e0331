#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>

namespace lathe::schedule {

/// How many registers of 32 bits NVIDIA's compiler takes for each thread of a launch whose text printCuda() writes: an
/// estimate. Loops are repeated as the text asks (unroll_rules.h). The assembler takes what it needs at least, and then
/// as many as let loads come early, up to one of the counts at which one more block or warp would have room; up to 32
/// cost nothing. Its constants were set by what NVRTC 13.5 makes for sm_80 of random candidates of resnet-18's and
/// mobilenet's tasks (tests/bench/cuda_kernels says how well they hold: within a
/// quarter for 80.2 % of 368 launches that it was not set by, seed 77, sm_80).
std::int32_t estimateNvidiaRegisters(const ir::LoopNest& nest, const ir::Launch& launch);

} // namespace lathe::schedule
