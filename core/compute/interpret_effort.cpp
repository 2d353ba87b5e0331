#include "core/compute/interpret_effort.h"

#include "core/compute/analysis.h"
#include "core/compute/interpret_memo.h"

#include <algorithm>

namespace lathe::compute {

Effort effortFor(const Dag& dag, const std::vector<Program>& programs, std::int32_t output, double points)
{
    constexpr double kShared = 4;
    std::vector<double> needed(dag.ops.size(), 0);
    Effort effort{std::vector<bool>(dag.ops.size(), false), std::vector<bool>(dag.ops.size(), false)};
    std::vector<bool> sums(dag.ops.size(), false); // or reads what does
    for (std::size_t i = 0; i < dag.ops.size(); ++i) {
        sums[i] = dag.ops[i].kind == OpKind::Compute && reduceSize(dag.ops[i]) > 1;
        for (const LoadSite& site : programs[i].loads)
            sums[i] = sums[i] || sums[static_cast<std::size_t>(site.source)];
    }
    needed[static_cast<std::size_t>(output)] = points;
    for (std::size_t i = dag.ops.size(); i-- > 0;) {
        const Op& op = dag.ops[i];
        if (op.kind == OpKind::Placeholder || needed[i] == 0)
            continue;
        const auto size = static_cast<double>(spatialSize(op));
        const bool mayKeep = sums[i] && static_cast<std::int32_t>(i) != output
                             && size <= static_cast<double>(Memo::kMostElements);
        effort.whole[i] = needed[i] >= (mayKeep ? kShared * size : size);
        effort.kept[i] = mayKeep && !effort.whole[i];
        const double evaluations = std::min(needed[i], size) * static_cast<double>(reduceSize(op));
        for (const LoadSite& site : programs[i].loads)
            needed[static_cast<std::size_t>(site.source)] += evaluations;
    }
    return effort;
}

} // namespace lathe::compute
