// The cost model of gradient boosted trees (booster.h).
//
// Three objectives. Regression and Pairwise are the library's own. PackSum is the reference's: the rows of one program
// form a pack, the pack's prediction is the sum over its rows, and every row gets the pack's error as its gradient. It
// is done here with Booster::boost(), which takes gradients from outside.

#include "core/search/booster.h"
#include "core/search/cost_model.h"
#include "core/support/check.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace lathe::search {
namespace {

std::vector<float> sumPacks(const std::vector<float>& rows, const std::vector<std::int32_t>& rowsPerProgram)
{
    std::vector<float> sums;
    sums.reserve(rowsPerProgram.size());
    std::size_t row = 0;
    for (const std::int32_t count : rowsPerProgram) {
        float sum = 0;
        for (std::int32_t i = 0; i < count; ++i)
            sum += rows[row++];
        sums.push_back(sum);
    }
    return sums;
}

class XGBoostModel final : public CostModel
{
public:
    explicit XGBoostModel(const XGBoostOptions& options)
        : m_options(options)
    {
    }

    Result<> train(const TrainingSet& data, std::stop_token stop) override;
    Result<std::vector<float>> predict(const FeatureMatrix& features) const override;
    bool trained() const override { return m_booster.has_value(); }
    Result<std::vector<std::byte>> save() const override;

private:
    BoosterOptions boosterOptions() const;
    Result<> boostPacks(Booster& booster, const BoosterRows& rows, const TrainingSet& data,
                        const std::vector<float>& labels, std::stop_token stop) const;

    XGBoostOptions m_options;
    std::optional<Booster> m_booster;
    std::int32_t m_columns = 0;
};

BoosterOptions XGBoostModel::boosterOptions() const
{
    BoosterOptions options;
    options.pairwise = m_options.objective == Objective::Pairwise;
    options.maxDepth = m_options.maxDepth;
    options.eta = m_options.eta;
    options.gamma = m_options.gamma;
    options.minChildWeight = m_options.minChildWeight;
    options.baseScore = m_options.objective == Objective::PackSum ? 0.5 : 0;
    options.threads = m_options.threads;
    options.seed = m_options.seed;
    return options;
}

Result<BoosterRows> rowsOf(const FeatureMatrix& features)
{
    return BoosterRows::create(features.columns, features.values);
}

Result<> XGBoostModel::boostPacks(Booster& booster, const BoosterRows& rows, const TrainingSet& data,
                                  const std::vector<float>& labels, std::stop_token stop) const
{
    const std::vector<std::int32_t>& packs = data.features.rowsPerProgram;
    std::vector<float> gradients(data.features.rows()), hessians(data.features.rows());
    double best = std::numeric_limits<double>::infinity();
    std::int32_t bestRound = 0;
    for (std::int32_t round = 0; round < m_options.rounds; ++round) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
        LATHE_TRY_ASSIGN(const std::vector<float> margins, booster.predict(rows, true));
        const std::vector<float> predicted = sumPacks(margins, packs);
        double error = 0;
        std::size_t row = 0;
        for (std::size_t i = 0; i < packs.size(); ++i) {
            const float difference = predicted[i] - labels[i];
            error += static_cast<double>(difference) * difference;
            for (std::int32_t k = 0; k < packs[i]; ++k, ++row) {
                const float weight = data.weights.empty() ? labels[i] : labels[i] * data.weights[i];
                gradients[row] = difference * weight;
                hessians[row] = weight;
            }
        }
        error = std::sqrt(error / static_cast<double>(packs.size()));
        // As the reference: looked at every second round, on the training data itself.
        if (round % 2 == 0 && error < best) {
            best = error;
            bestRound = round;
        }
        if (m_options.patience > 0 && round - bestRound > m_options.patience)
            break;
        LATHE_TRY(booster.boost(rows, gradients, hessians));
    }
    return {};
}

Result<> XGBoostModel::train(const TrainingSet& data, std::stop_token stop)
{
    LATHE_CHECK(data.costs.size() == data.features.programs() && data.tasks.size() == data.costs.size())
        << data.costs.size();
    LATHE_CHECK(data.weights.empty() || data.weights.size() == data.costs.size()) << data.weights.size();
    if (data.costs.empty())
        return makeError(Errc::InvalidArgument, "there is nothing to train on");
    if (m_options.objective == Objective::Pairwise && !data.weights.empty())
        return makeError(Errc::InvalidArgument, "ranking within tasks knows no weights of single programs");
    if (m_options.objective != Objective::PackSum && data.features.rows() != data.features.programs())
        return makeError(Errc::InvalidArgument, "this objective takes one feature row per program");

    std::vector<float> labels = throughputLabels(data);
    TrainingSet sorted;
    const TrainingSet* source = &data;
    std::vector<unsigned> groups;
    if (m_options.objective == Objective::Pairwise) {
        // The library wants the members of a group side by side.
        std::vector<std::size_t> order(data.tasks.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return data.tasks[a] < data.tasks[b]; });
        sorted.features.columns = data.features.columns;
        std::vector<float> orderedLabels;
        const auto columns = static_cast<std::size_t>(data.features.columns);
        for (std::size_t i = 0; i < order.size(); ++i) {
            sorted.features.append(std::span(data.features.values).subspan(order[i] * columns, columns));
            orderedLabels.push_back(labels[order[i]]);
            if (i == 0 || data.tasks[order[i]] != data.tasks[order[i - 1]])
                groups.push_back(0);
            ++groups.back();
        }
        labels = std::move(orderedLabels);
        source = &sorted;
    }
    if (m_options.objective == Objective::Regression)
        for (float& label : labels)
            label = std::max(-4.0f, std::log2(std::max(label, 1e-6f)));

    LATHE_TRY_ASSIGN(BoosterRows rows, rowsOf(source->features));
    if (m_options.objective != Objective::PackSum)
        LATHE_TRY(rows.setLabels(labels));
    if (m_options.objective == Objective::Regression && !data.weights.empty())
        LATHE_TRY(rows.setWeights(data.weights));
    if (!groups.empty())
        LATHE_TRY(rows.setGroups(groups));
    LATHE_TRY_ASSIGN(Booster booster, Booster::create(rows, boosterOptions()));
    if (m_options.objective == Objective::PackSum)
        LATHE_TRY(boostPacks(booster, rows, data, labels, stop));
    else
        LATHE_TRY(booster.train(rows, m_options.rounds, stop));
    m_booster = std::move(booster);
    m_columns = data.features.columns;
    // The booster remembers predictions of rows it has seen; a first call here keeps predict() free of set-up.
    LATHE_TRY(m_booster->predict(rows));
    return {};
}

Result<std::vector<float>> XGBoostModel::predict(const FeatureMatrix& features) const
{
    LATHE_CHECK(m_booster.has_value());
    if (features.programs() == 0)
        return std::vector<float>();
    if (m_columns != 0 && features.columns != m_columns)
        return makeError(Errc::InvalidArgument, "the model was trained on rows of " + std::to_string(m_columns)
                                                    + " features, not " + std::to_string(features.columns));
    LATHE_TRY_ASSIGN(const BoosterRows rows, rowsOf(features));
    LATHE_TRY_ASSIGN(const std::vector<float> sums, m_booster->predict(rows));
    return sumPacks(sums, features.rowsPerProgram);
}

Result<std::vector<std::byte>> XGBoostModel::save() const
{
    if (!m_booster)
        return makeError(Errc::NotFound, "the model has not been trained");
    return m_booster->save();
}

} // namespace

std::unique_ptr<CostModel> makeXGBoostModel(const XGBoostOptions& options)
{
    return std::make_unique<XGBoostModel>(options);
}

} // namespace lathe::search
