#include "core/templates/tuner.h"

#include "core/support/message.h"
#include "core/templates/refusal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::templates {

Tuner::Tuner(const ConfigSpace& space, std::optional<IndexRange> range)
    : m_space(space)
{
    const IndexRange all{0, space.size() - 1}; // a space has at least one configuration
    const IndexRange part = range.value_or(all);
    const std::uint64_t last = std::min(part.last, all.last);
    if (part.first <= last) {
        m_first = part.first;
        m_count = last - part.first + 1;
    }
    m_left = m_count;
}

bool Tuner::see(std::uint64_t index)
{
    if (!m_seen.insert(index).second)
        return false;
    if (inRange(index))
        --m_left;
    return true;
}

bool Tuner::isOpen(std::uint64_t index)
{
    if (!inRange(index) || seen(index))
        return false;
    if (!isRefused(m_space, index))
        return true;
    see(index);
    ++m_refused;
    return false;
}

Result<std::vector<std::uint64_t>> Tuner::next(std::size_t count, std::stop_token stop)
{
    std::vector<std::uint64_t> indices;
    if (count == 0 || exhausted())
        return indices;
    if (!m_gaveUp && !stop.stop_requested())
        LATHE_TRY(prepare(count, stop));
    while (indices.size() < count && !exhausted() && !stop.stop_requested()) {
        if (!m_returned.empty()) {
            const std::uint64_t index = m_returned.back();
            m_returned.pop_back();
            if (see(index))
                indices.push_back(index);
            continue;
        }
        const std::optional<std::uint64_t> index = draw();
        if (!index)
            break;
        if (!see(*index))
            continue;
        if (isRefused(m_space, *index)) {
            ++m_refused;
            m_gaveUp = ++m_refusedInARow >= kMostRefusedInARow;
            continue;
        }
        m_refusedInARow = 0;
        given(*index);
        indices.push_back(*index);
    }
    if (indices.empty() && !exhausted() && stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::SearchStopped));
    return indices;
}

void Tuner::takeBack(std::uint64_t index)
{
    if (m_told.contains(index) || m_seen.erase(index) == 0)
        return;
    if (inRange(index))
        ++m_left;
    m_returned.insert(m_returned.begin(), index);
}

void Tuner::tell(std::uint64_t index, double seconds)
{
    if (index >= m_space.size() || !m_told.insert(index).second)
        return;
    see(index);
    std::erase(m_returned, index);
    learn(index, std::isfinite(seconds) && seconds > 0 ? seconds : std::numeric_limits<double>::infinity());
}

} // namespace lathe::templates
