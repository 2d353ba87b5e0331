#include "core/schedule/least_alive.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace lathe::schedule {

namespace {

class LateOrder
{
public:
    LateOrder(std::span<const OrderedStatement> statements, std::span<const OrderedValue> values)
        : m_statements(statements)
        , m_values(values)
        , m_uses(values.size())
        , m_isThere(values.size())
        , m_behind(statements.size())
        , m_before(statements.size())
        , m_waits(statements.size())
    {
        for (std::size_t v = 0; v < values.size(); ++v)
            if (values[v].isBefore) {
                m_isThere[v] = true;
                m_alive += values[v].words;
            }
        orderByValues();
    }

    /// Always what is best next.
    std::int32_t most()
    {
        m_most = m_alive;
        for (std::size_t s = 0; s < m_statements.size(); ++s)
            if (m_waits[s] == 0)
                m_ready.push_back(s);
        while (!m_ready.empty()) {
            std::size_t best = 0;
            std::tuple fewest = rankOf(m_ready[0]);
            for (std::size_t i = 1; i < m_ready.size(); ++i)
                if (const std::tuple rank = rankOf(m_ready[i]); rank < fewest) {
                    best = i;
                    fewest = rank;
                }
            const std::size_t next = m_ready[best];
            m_ready[best] = m_ready.back();
            m_ready.pop_back();
            take(next);
        }
        return m_most;
    }

    /// One result after the other, each with all that it needs just in front of it.
    std::int32_t mostByResults()
    {
        m_most = m_alive;
        std::vector<bool> isTaken(m_statements.size());
        std::vector<std::pair<std::size_t, std::size_t>> open; // a statement, and how much of what it needs is there
        for (std::size_t result = 0; result < m_statements.size(); ++result) {
            if (!m_behind[result].empty())
                continue;
            open.emplace_back(result, 0);
            while (!open.empty()) {
                auto& [s, next] = open.back();
                if (isTaken[s]) {
                    open.pop_back();
                } else if (next < m_before[s].size()) {
                    open.emplace_back(m_before[s][next++], 0);
                } else {
                    isTaken[s] = true;
                    take(s);
                    open.pop_back();
                }
            }
        }
        return m_most;
    }

private:
    std::size_t indexOf(std::int32_t value) const { return static_cast<std::size_t>(value); }

    void before(std::size_t first, std::size_t second)
    {
        m_behind[first].push_back(second);
        m_before[second].push_back(first);
        ++m_waits[second];
    }

    /// What reads a value comes behind what wrote it last; what writes it again, behind all that read it.
    void orderByValues()
    {
        std::vector<std::ptrdiff_t> writer(m_values.size(), -1);
        std::vector<std::vector<std::size_t>> readers(m_values.size());
        for (std::size_t s = 0; s < m_statements.size(); ++s) {
            const OrderedStatement& statement = m_statements[s];
            for (const std::int32_t value : statement.uses) {
                const std::size_t v = indexOf(value);
                ++m_uses[v];
                if (writer[v] >= 0)
                    before(static_cast<std::size_t>(writer[v]), s);
                if (value != statement.makes)
                    readers[v].push_back(s);
            }
            if (statement.makes < 0)
                continue;
            const std::size_t made = indexOf(statement.makes);
            for (const std::size_t reader : readers[made])
                if (reader != s)
                    before(reader, s);
            readers[made].clear();
            writer[made] = static_cast<std::ptrdiff_t>(s);
        }
    }

    bool dies(std::size_t value, bool isUsed) const
    {
        return m_uses[value] == (isUsed ? 1 : 0) && !m_values[value].isBehind;
    }

    /// Words that are alive more behind a statement than before it.
    std::int32_t changeBy(std::size_t s) const
    {
        const OrderedStatement& statement = m_statements[s];
        std::int32_t change = 0;
        bool isMade = statement.makes < 0;
        for (const std::int32_t value : statement.uses) {
            const std::size_t v = indexOf(value);
            isMade = isMade || value == statement.makes;
            change += m_isThere[v] ? 0 : m_values[v].words;
            change -= dies(v, true) ? m_values[v].words : 0;
        }
        if (!isMade && !m_isThere[indexOf(statement.makes)] && !dies(indexOf(statement.makes), false))
            change += m_values[indexOf(statement.makes)].words;
        return change;
    }

    /// What makes values fewer comes at once. Of all others, those of the first array; of these, by what is alive more
    /// behind it; of equals, those that load less, and then those that use values up.
    std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::size_t> rankOf(std::size_t s) const
    {
        const std::int32_t change = changeBy(s);
        std::int32_t loaded = 0, uses = 0;
        for (const std::int32_t value : m_statements[s].uses) {
            loaded += m_isThere[indexOf(value)] ? 0 : m_values[indexOf(value)].words;
            uses += value == m_statements[s].makes ? 0 : m_uses[indexOf(value)];
        }
        return {change < 0 ? -1 : m_statements[s].array, change, loaded, uses, s};
    }

    void take(std::size_t s)
    {
        const OrderedStatement& statement = m_statements[s];
        const std::int32_t behind = m_alive + changeBy(s);
        std::int32_t within = m_alive; // all that it reads at once
        for (const std::int32_t value : statement.uses) {
            const std::size_t v = indexOf(value);
            within += m_isThere[v] ? 0 : m_values[v].words;
            m_isThere[v] = true;
            --m_uses[v];
        }
        if (statement.makes >= 0)
            m_isThere[indexOf(statement.makes)] = true;
        m_alive = behind;
        m_most = std::max({m_most, within, behind});
        for (const std::size_t next : m_behind[s])
            if (--m_waits[next] == 0)
                m_ready.push_back(next);
    }

    std::span<const OrderedStatement> m_statements;
    std::span<const OrderedValue> m_values;
    std::vector<std::int32_t> m_uses; ///< by statements that are still to come
    std::vector<bool> m_isThere;
    std::vector<std::vector<std::size_t>> m_behind, m_before;
    std::vector<std::int32_t> m_waits; ///< for so many statements
    std::vector<std::size_t> m_ready;
    std::int32_t m_alive = 0, m_most = 0;
};

} // namespace

std::int32_t leastAlive(std::span<const OrderedStatement> statements, std::span<const OrderedValue> values)
{
    return LateOrder(statements, values).most();
}

std::int32_t aliveByResults(std::span<const OrderedStatement> statements, std::span<const OrderedValue> values)
{
    return LateOrder(statements, values).mostByResults();
}

} // namespace lathe::schedule
