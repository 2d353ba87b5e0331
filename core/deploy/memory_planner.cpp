#include "core/deploy/memory_planner.h"

#include <algorithm>
#include <numeric>

namespace lathe::deploy {

MemoryPlan planMemory(std::span<const LiveBlock> blocks, std::uint64_t alignment)
{
    const auto aligned = [alignment](std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });

    MemoryPlan plan;
    plan.offsets.assign(blocks.size(), 0);
    std::vector<std::size_t> placed; // by ascending offset
    for (const std::size_t i : order) {
        const std::uint64_t need = aligned(blocks[i].bytes);
        std::uint64_t end = 0, best = UINT64_MAX,
                      bestGap = UINT64_MAX; // end: of all placed blocks seen that are alive with i
        for (const std::size_t other : placed) {
            if (blocks[other].last < blocks[i].first || blocks[i].last < blocks[other].first)
                continue;
            const std::uint64_t start = plan.offsets[other];
            if (start >= end && start - end >= need && start - end < bestGap) {
                best = end;
                bestGap = start - end;
            }
            end = std::max(end, start + aligned(blocks[other].bytes));
        }
        plan.offsets[i] = best != UINT64_MAX ? best : end;
        plan.bytes = std::max(plan.bytes, plan.offsets[i] + need);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), plan.offsets[i],
                                       [&](std::uint64_t offset, std::size_t b) { return offset < plan.offsets[b]; }),
                      i);
    }
    return plan;
}

} // namespace lathe::deploy
