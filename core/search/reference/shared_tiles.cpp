#include "core/search/reference/shared_tiles.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace lathe::search {

using namespace schedule;

namespace {

/// Steps behind which the numbers of stages are others.
bool insertsStage(const Step& step)
{
    return std::holds_alternative<CacheReadStep>(step) || std::holds_alternative<CacheWriteStep>(step)
           || std::holds_alternative<RfactorStep>(step);
}

} // namespace

std::int64_t sharedTileBytes(const State& state)
{
    constexpr std::int64_t kVectorBytes = 16; // to which each buffer is rounded up (schedule::sharedElements())
    const std::vector<Stage>& stages = state.stages();
    const auto at = [&stages](std::int32_t stage) -> const Stage& { return stages[static_cast<std::size_t>(stage)]; };
    std::vector<std::int64_t> ofRoot(stages.size(), 0);
    std::vector<bool> isKnown(stages.size(), false);
    const std::vector<Step>& steps = state.steps();
    for (std::size_t s = steps.size(); s-- > 0 && !insertsStage(steps[s]);) {
        const auto* const split = std::get_if<SplitStep>(&steps[s]); // the last of its stage
        if (split == nullptr || split->lengths.size() != 1 || at(split->stage).scope != "shared"
            || isKnown[static_cast<std::size_t>(split->stage)])
            continue;
        isKnown[static_cast<std::size_t>(split->stage)] = true;
        std::int32_t root = split->stage;
        while (at(root).location == Location::At)
            root = at(root).attachStage;
        const std::int64_t bytes = split->extent
                                   * sizeOf(state.dag()->ops[static_cast<std::size_t>(split->stage)].dtype);
        ofRoot[static_cast<std::size_t>(root)] += (bytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
    }
    return ofRoot.empty() ? 0 : *std::max_element(ofRoot.begin(), ofRoot.end());
}

} // namespace lathe::search
