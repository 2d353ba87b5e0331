#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe::deploy {

/// A block of memory and the instructions during which it holds something, both ends included.
struct LiveBlock
{
    std::uint64_t bytes = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
};

struct MemoryPlan
{
    std::vector<std::uint64_t> offsets; ///< one per block, multiples of the alignment
    std::uint64_t bytes = 0; ///< of the whole arena
};

/// Gives each block a place such that blocks that are alive at the same instruction do not overlap: largest first, each
/// into the smallest gap that holds it among those alive with it, else behind them.
MemoryPlan planMemory(std::span<const LiveBlock> blocks, std::uint64_t alignment = 64);

} // namespace lathe::deploy
