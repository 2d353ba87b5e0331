#pragma once

#include "core/ir/loop_nest.h"
#include "core/target/target.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lathe::schedule {

/// What a launch takes of a device, known before anything is built: exact, on every device.
struct LaunchSizes
{
    std::array<std::int64_t, 3> grid = {1, 1, 1}; ///< blocks along x, y, z
    std::array<std::int64_t, 3> block = {1, 1, 1}; ///< threads of a block along x, y, z
    std::int64_t threads = 1; ///< of a block
    /// Of a block, exactly what a printed text declares; a compiler may drop what is unused.
    std::int64_t sharedBytes = 0;
    std::int64_t localBytes = 0; ///< of a thread: arrays that cannot become registers
};

/// And what it takes that depends on the device's compiler.
struct LaunchResources : LaunchSizes
{
    /// Of a thread, of 32 bits: an estimate of what the compiler takes. No reason to reject a candidate by itself.
    std::int32_t registers = 0;
    /// Likewise, what it cannot do with less of: where that is more than a thread can have, some are spilled.
    std::int32_t neededRegisters = 0;
};

/// Of one launch of a nest that lower() made. A pure function: equal nests have equal sizes.
LaunchSizes sizesOf(const ir::LoopNest& nest, const ir::Launch& launch);
/// Of all launches, in their order.
std::vector<LaunchSizes> sizesOf(const ir::LoopNest& nest);
/// With the registers by register_model_nvidia.h where the limits are those of an NVIDIA GPU, whatever the language,
/// and by register_model.h on all others; both say how good they are, and how long they take.
LaunchResources resourcesOf(const ir::LoopNest& nest, const ir::Launch& launch, const Hardware& hardware);
std::vector<LaunchResources> resourcesOf(const ir::LoopNest& nest, const Hardware& hardware);

/// Elements that a Shared buffer takes: what it spans, rounded up to 16 bytes, so that the next one is aligned for
/// vectors and sharedBytes is the sum on every device.
std::int64_t sharedElements(const ir::Buffer& buffer);

} // namespace lathe::schedule
