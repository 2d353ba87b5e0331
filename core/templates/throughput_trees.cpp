#include "core/templates/throughput_trees.h"

#include "core/support/check.h"
#include "core/templates/recall.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::templates {
namespace {

constexpr float kGood = 0.5F; ///< of the best's throughput, for RankBinary
constexpr std::int32_t kRoundsPerLook = 2;

/// Rows of one length, side by side. Features that are infinite are unknown to the library's trees.
Result<search::BoosterRows> padded(const ThroughputTrees::Rows& rows, std::int32_t columns)
{
    const auto length = static_cast<std::size_t>(columns);
    std::vector<float> values(rows.size() * length, 0.0F);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < std::min(length, rows[i].size()); ++j)
            values[i * length + j] = std::isfinite(rows[i][j]) ? rows[i][j] : std::numeric_limits<float>::quiet_NaN();
    return search::BoosterRows::create(columns, values);
}

search::BoosterOptions boosterOptions(const TreeOptions& options)
{
    search::BoosterOptions out;
    out.pairwise = options.loss != TreeLoss::Reg;
    out.maxDepth = options.maxDepth;
    out.eta = options.eta;
    out.gamma = options.gamma;
    out.minChildWeight = options.minChildWeight;
    out.seed = options.seed;
    out.threads = options.threads;
    return out;
}

} // namespace

Result<ThroughputTrees> ThroughputTrees::train(const Rows& rows, std::span<const float> labels,
                                               std::span<const float> margins, const TreeOptions& options,
                                               std::stop_token stop)
{
    LATHE_CHECK(!rows.empty() && labels.size() == rows.size() && (margins.empty() || margins.size() == rows.size()))
        << rows.size() << " rows, " << labels.size() << " labels, " << margins.size() << " margins";
    std::size_t longest = 1; // a space without knobs has no features
    for (const std::vector<float>& row : rows)
        longest = std::max(longest, row.size());
    const auto columns = static_cast<std::int32_t>(longest);

    LATHE_TRY_ASSIGN(search::BoosterRows matrix, padded(rows, columns));
    LATHE_TRY(matrix.setLabels(labels));
    if (!margins.empty())
        LATHE_TRY(matrix.setMargins(margins));
    if (options.loss != TreeLoss::Reg) {
        const unsigned all[] = {static_cast<unsigned>(rows.size())};
        LATHE_TRY(matrix.setGroups(all));
    }
    LATHE_TRY_ASSIGN(search::Booster booster, search::Booster::create(matrix, boosterOptions(options)));

    std::vector<float> judged(labels.begin(), labels.end());
    if (options.loss == TreeLoss::RankBinary)
        for (float& label : judged)
            label = label > kGood ? 1.0F : 0.0F;
    double best = -1;
    std::int32_t bestRound = 0;
    std::int32_t taken = 0;
    const auto goesOn = [&](std::int32_t rounds) -> Result<bool> {
        taken = rounds;
        if (rounds % kRoundsPerLook == 0)
            return true;
        LATHE_TRY_ASSIGN(const std::vector<float> predicted, booster.predict(matrix));
        const double recall = averageRecall(predicted, judged, options.recallAt);
        if (recall > best) {
            best = recall;
            bestRound = rounds;
        }
        return rounds - bestRound < options.patience;
    };
    LATHE_TRY(booster.train(matrix, options.rounds, stop, goesOn));
    return ThroughputTrees(std::move(booster), columns, taken);
}

Result<std::vector<float>> ThroughputTrees::predict(const Rows& rows, std::span<const float> margins) const
{
    if (rows.empty())
        return std::vector<float>();
    LATHE_TRY_ASSIGN(search::BoosterRows matrix, padded(rows, m_columns));
    if (!margins.empty())
        LATHE_TRY(matrix.setMargins(margins));
    return m_booster.predict(matrix);
}

} // namespace lathe::templates
