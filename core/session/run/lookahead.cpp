#include "core/session/run/lookahead.h"

#include <chrono>

namespace lathe::session {

Lookahead::Lookahead(search::Policy& policy, std::uint64_t round, std::int32_t count, Executor& executor)
    : m_count(count)
    , m_answer(std::async(std::launch::async, [&policy, round, count, &executor, stop = m_stop.get_token()]() {
        const std::int64_t before = rejectedBy(policy);
        auto candidates = policy.propose(round, count, executor, stop);
        if (!candidates)
            return Result<Answer>(candidates.error());
        return Result<Answer>(Answer{*std::move(candidates), rejectedBy(policy) - before});
    }))
{
}

Lookahead::~Lookahead()
{
    stop(); // the future waits
}

bool Lookahead::hasAnswer() const
{
    return m_answer.valid() && m_answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

Result<Lookahead::Answer> Lookahead::take()
{
    return m_answer.get();
}

std::int64_t rejectedBy(const search::Policy& policy)
{
    const auto statistics = policy.statistics();
    const auto found = statistics.find("rejected");
    return found != statistics.end() ? static_cast<std::int64_t>(found->second) : 0;
}

} // namespace lathe::session
