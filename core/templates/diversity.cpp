#include "core/templates/diversity.h"

#include "core/templates/knob_digits.h"

#include <cmath>

namespace lathe::templates {

std::vector<ScoredIndex> pickDiverse(const ConfigSpace& space, std::span<const ScoredIndex> candidates,
                                     std::size_t count, float scoreWeight)
{
    const KnobDigits knobs(space);
    std::vector<std::vector<bool>> taken(knobs.count());
    for (std::size_t j = 0; j < knobs.count(); ++j)
        taken[j].resize(knobs.choices(j));

    std::vector<ScoredIndex> left(candidates.begin(), candidates.end());
    std::vector<ScoredIndex> picked;
    while (picked.size() < count && !left.empty()) {
        std::size_t best = 0;
        double most = 0;
        for (std::size_t i = 0; i < left.size(); ++i) {
            double gain = scoreWeight == 0 || !std::isfinite(left[i].score)
                              ? 0 // infinite ones would be no number
                              : static_cast<double>(scoreWeight) * static_cast<double>(left[i].score);
            for (std::size_t j = 0; j < knobs.count(); ++j)
                gain += taken[j][knobs.digit(left[i].index, j)] ? 0 : 1;
            if (i == 0 || gain > most) {
                best = i;
                most = gain;
            }
        }
        for (std::size_t j = 0; j < knobs.count(); ++j)
            taken[j][knobs.digit(left[best].index, j)] = true;
        picked.push_back(left[best]);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(best)); // those behind stay sorted
    }
    return picked;
}

} // namespace lathe::templates
