#include "core/search/cost_model.h"

#include "core/support/check.h"
#include "core/support/hash.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

namespace lathe::search {

void FeatureMatrix::append(std::span<const float> rows)
{
    LATHE_CHECK(columns > 0 && rows.size() % static_cast<std::size_t>(columns) == 0)
        << rows.size() << " values in rows of " << columns;
    values.insert(values.end(), rows.begin(), rows.end());
    rowsPerProgram.push_back(static_cast<std::int32_t>(rows.size() / static_cast<std::size_t>(columns)));
}

namespace {

std::map<std::int32_t, double> leastCosts(const TrainingSet& data)
{
    std::map<std::int32_t, double> least;
    for (std::size_t i = 0; i < data.costs.size(); ++i) {
        double& cost = least.emplace(data.tasks[i], std::numeric_limits<double>::infinity()).first->second;
        cost = std::min(cost, data.costs[i]);
    }
    return least;
}

class RandomModel final : public CostModel
{
public:
    explicit RandomModel(std::uint64_t seed)
        : m_seed(seed)
    {
    }
    Result<> train(const TrainingSet&, std::stop_token) override { return {}; }
    bool trained() const override { return false; }
    Result<std::vector<float>> predict(const FeatureMatrix& features) const override
    {
        std::vector<float> scores;
        scores.reserve(features.programs());
        std::size_t row = 0;
        for (const std::int32_t rows : features.rowsPerProgram) {
            const std::size_t length = static_cast<std::size_t>(rows) * static_cast<std::size_t>(features.columns);
            const auto bytes = std::as_bytes(std::span(features.values).subspan(row, length));
            row += length;
            const std::uint64_t bits = contentHash(bytes).low ^ (m_seed * 0x9e3779b97f4a7c15ULL);
            scores.push_back(static_cast<float>((bits * 0xbf58476d1ce4e5b9ULL) >> 40) * 0x1.0p-24f);
        }
        return scores;
    }
    Result<std::vector<std::byte>> save() const override
    {
        std::vector<std::byte> bytes(8);
        for (std::size_t i = 0; i < 8; ++i)
            bytes[i] = static_cast<std::byte>(m_seed >> (8 * i));
        return bytes;
    }

private:
    const std::uint64_t m_seed;
};

} // namespace

std::vector<float> throughputLabels(const TrainingSet& data)
{
    const auto least = leastCosts(data);
    std::vector<float> labels;
    labels.reserve(data.costs.size());
    for (std::size_t i = 0; i < data.costs.size(); ++i) {
        const double cost = data.costs[i];
        labels.push_back(std::isfinite(cost) && cost > 0 ? static_cast<float>(least.at(data.tasks[i]) / cost) : 0.0f);
    }
    return labels;
}

XGBoostOptions referenceModelOptions()
{
    XGBoostOptions options;
    options.objective = Objective::PackSum;
    options.maxDepth = 10;
    options.eta = 0.2;
    options.gamma = 0.001;
    options.minChildWeight = 0;
    options.rounds = 10000;
    options.patience = 50;
    options.seed = 43;
    return options;
}

std::unique_ptr<CostModel> makeRandomModel(std::uint64_t seed)
{
    return std::make_unique<RandomModel>(seed);
}

} // namespace lathe::search
