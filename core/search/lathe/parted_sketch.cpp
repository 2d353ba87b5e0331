#include "core/search/lathe/parted_sketch.h"

#include <cmath>

namespace lathe::search {

bool PartedSketch::draw(std::size_t part, Random& random, std::span<std::int32_t> genes) const
{
    constexpr int kTries = 128; // until random genes obey all limits
    for (int t = 0; t < kTries; ++t) {
        for (std::size_t g = 0; g < genes.size(); ++g)
            genes[g] = static_cast<std::int32_t>(
                random.below(static_cast<std::uint64_t>(parameters()[genesOf(part).first + g].count)));
        if (secondsOf(part, genes))
            return true;
    }
    return false;
}

std::vector<bool> constantOps(const SearchAlternative& alternative)
{
    std::vector<bool> constant(alternative.dag->ops.size());
    for (std::size_t i = 0; i < alternative.dag->inputs.size() && i < alternative.constantInputs.size(); ++i)
        constant[static_cast<std::size_t>(alternative.dag->inputs[i])] = alternative.constantInputs[i];
    return constant;
}

float loggedFeature(double x)
{
    return static_cast<float>(std::log2(std::abs(x) + 1));
}

} // namespace lathe::search
