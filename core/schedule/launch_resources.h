#pragma once

#include "core/ir/loop_nest.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lathe::schedule {

/// What a launch takes of a device, known before anything is built.
struct LaunchResources
{
    std::array<std::int64_t, 3> grid = {1, 1, 1}; ///< blocks along x, y, z
    std::array<std::int64_t, 3> block = {1, 1, 1}; ///< threads of a block along x, y, z
    std::int64_t threads = 1; ///< of a block
    /// Of a block, exactly what a printed text declares; a compiler may drop what is unused.
    std::int64_t sharedBytes = 0;
    std::int64_t localBytes = 0; ///< of a thread: arrays that cannot become registers
    /// Of a thread, of 32 bits: an estimate of what compilers take (register_model.h says how good). No reason to reject
    /// a candidate by itself.
    std::int32_t registers = 0;
};

/// Of one launch of a nest that lower() made. A pure function: equal nests have equal resources.
LaunchResources resourcesOf(const ir::LoopNest& nest, const ir::Launch& launch);
/// Of all launches, in their order.
std::vector<LaunchResources> resourcesOf(const ir::LoopNest& nest);

/// Elements that a Shared buffer takes: what it spans, rounded up to 16 bytes, so that the next one is aligned for
/// vectors and sharedBytes is the sum on every device.
std::int64_t sharedElements(const ir::Buffer& buffer);

} // namespace lathe::schedule
