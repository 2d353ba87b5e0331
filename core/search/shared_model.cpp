#include "core/search/policy.h"

#include <cmath>
#include <limits>

namespace lathe::search {

SharedModel::SharedModel(std::unique_ptr<CostModel> model, std::int32_t columns, std::size_t warmup)
    : m_model(std::move(model)), m_warmup(warmup)
{
    m_data.features.columns = columns;
}

void SharedModel::add(std::string_view task, std::span<const float> rows, double seconds)
{
    auto id = m_taskIds.find(task);
    if (id == m_taskIds.end())
        id = m_taskIds.emplace(std::string(task), static_cast<std::int32_t>(m_taskIds.size())).first;
    m_data.features.append(rows);
    m_data.tasks.push_back(id->second);
    m_data.costs.push_back(std::isfinite(seconds) && seconds > 0 ? seconds : std::numeric_limits<double>::infinity());
}

Result<> SharedModel::trainIfDue(std::stop_token stop)
{
    const std::size_t size = m_data.costs.size();
    // Training time grows with the data; a twentieth of news is worth it.
    if (size < m_warmup || size == m_trainedOn || (m_trainedOn > 0 && (size - m_trainedOn) * 20 < m_trainedOn))
        return {};
    LATHE_TRY(m_model->train(m_data, stop));
    m_trainedOn = size;
    ++m_version;
    return {};
}

} // namespace lathe::search
