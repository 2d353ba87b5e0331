#pragma once

#include "core/ir/scratch.h"
#include "core/support/hash.h"

namespace lathe::cpu {

/// Equal for phases that are the same code: statements, the buffers that they use, where those are found. Names do not
/// count.
Hash128 phaseKey(const ir::LoopNest& nest, const ir::ScratchLayout& scratch, std::size_t phase);

} // namespace lathe::cpu
