#include "core/search/policy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace lathe::search {
namespace {

constexpr double kHalfAfter = 256; ///< own trials, after which inherited rows weigh half
constexpr double kLeastWeight = 1.0 / 16;

} // namespace

SharedModel::SharedModel(std::unique_ptr<CostModel> model, std::int32_t columns, std::size_t warmup)
    : m_model(std::move(model))
    , m_warmup(warmup)
{
    m_data.features.columns = m_inherited.features.columns = columns;
}

void SharedModel::addTo(TrainingSet& data, Ids& ids, std::string_view task, std::span<const float> rows, double seconds)
{
    auto id = ids.find(task);
    if (id == ids.end())
        id = ids.emplace(std::string(task), static_cast<std::int32_t>(ids.size())).first;
    data.features.append(rows);
    data.tasks.push_back(id->second);
    data.costs.push_back(std::isfinite(seconds) && seconds > 0 ? seconds : std::numeric_limits<double>::infinity());
}

void SharedModel::add(std::string_view task, std::span<const float> rows, double seconds)
{
    addTo(m_data, m_taskIds, task, rows, seconds);
}

void SharedModel::inherit(std::string_view group, std::span<const float> rows, double seconds)
{
    addTo(m_inherited, m_groupIds, group, rows, seconds);
}

double SharedModel::inheritedWeight() const
{
    const double weight = kHalfAfter / (kHalfAfter + static_cast<double>(m_data.costs.size()));
    return m_inherited.costs.empty() || weight < kLeastWeight ? 0 : weight;
}

Result<> SharedModel::trainInherited(std::stop_token stop)
{
    if (m_inherited.costs.empty())
        return {};
    LATHE_TRY(m_model->train(m_inherited, stop));
    ++m_version;
    return {};
}

Result<std::vector<float>> SharedModel::predict(const FeatureMatrix& features)
{
    const auto start = std::chrono::steady_clock::now();
    auto scores = m_model->predict(features);
    m_predictSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return scores;
}

Result<> SharedModel::trainIfDue(std::stop_token stop)
{
    const std::size_t size = m_data.costs.size();
    const double weight = inheritedWeight();
    // Training time grows with the data; a twentieth of news is worth it. Own trials say more of the run's tasks than
    // inherited rows: of these a quarter counts.
    const std::size_t known = m_trainedOn
                              + static_cast<std::size_t>(weight * static_cast<double>(m_inherited.costs.size())) / 4;
    if (size < m_warmup || size == m_trainedOn || (m_version > 0 && (size - m_trainedOn) * 20 < known))
        return {};
    if (weight > 0) {
        TrainingSet both = m_data;
        both.weights.assign(size, 1.0f);
        both.weights.resize(size + m_inherited.costs.size(), static_cast<float>(weight));
        both.costs.insert(both.costs.end(), m_inherited.costs.begin(), m_inherited.costs.end());
        for (const std::int32_t group : m_inherited.tasks)
            both.tasks.push_back(static_cast<std::int32_t>(m_taskIds.size()) + group);
        FeatureMatrix& features = both.features;
        features.values.insert(features.values.end(), m_inherited.features.values.begin(),
                               m_inherited.features.values.end());
        features.rowsPerProgram.insert(features.rowsPerProgram.end(), m_inherited.features.rowsPerProgram.begin(),
                                       m_inherited.features.rowsPerProgram.end());
        LATHE_TRY(m_model->train(both, stop));
    } else {
        LATHE_TRY(m_model->train(m_data, stop));
    }
    m_trainedOn = size;
    ++m_version;
    return {};
}

} // namespace lathe::search
