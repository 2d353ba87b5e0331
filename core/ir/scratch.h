#pragma once

#include "core/ir/loop_nest.h"

namespace lathe::ir {

/// Where scratch buffers lie: each starts on a cache line, in the order of LoopNest::buffers.
struct ScratchLayout
{
    std::vector<std::int64_t> offsets; ///< bytes, one per buffer; -1 for what is no Team or Part scratch
    std::int64_t teamBytes = 0;
    std::int64_t partBytes = 0;
};

ScratchLayout scratchLayout(const LoopNest& nest);

/// Buffers that a statement loads from or stores to, in the order of LoopNest::buffers.
std::vector<std::int32_t> buffersOf(const Stmt& s);

/// Bytes of shared memory that a block of the launch takes: each buffer rounded up to 16, so that vectors may begin at
/// any.
std::int64_t sharedBytes(const LoopNest& nest, const Launch& launch);

/// Elements that a buffer spans: 1 + the largest offset.
std::int64_t elementCount(const Buffer& buffer);

} // namespace lathe::ir
