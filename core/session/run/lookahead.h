#pragma once

#include "core/search/policy.h"
#include "core/support/executor.h"

#include <future>
#include <optional>

namespace lathe::session {

/// Asks a policy for the next round of its task while the present one is measured, on a thread of its own. Until it has
/// answered, nobody else may ask or tell the policy anything.
class Lookahead
{
public:
    struct Answer
    {
        std::vector<Candidate> candidates;
        std::int64_t rejected = 0; ///< RoundDoneEvent::rejected of them
    };

    /// Begins. What is given by reference outlives this.
    Lookahead(search::Policy& policy, std::uint64_t round, std::int32_t count, Executor& executor);
    Lookahead(const Lookahead&) = delete;
    Lookahead& operator=(const Lookahead&) = delete;
    ~Lookahead();

    std::int32_t count() const { return m_count; } ///< that it asked for
    bool hasAnswer() const;
    /// Waits for it; once. Errors: those of the policy.
    Result<Answer> take();
    /// It is not to go on: take() gives what there is, or Cancelled.
    void stop() { m_stop.request_stop(); }

private:
    std::int32_t m_count;
    std::stop_source m_stop;
    std::future<Result<Answer>> m_answer;
};

/// Candidates that a policy kept to itself so far, as the device cannot run them.
std::int64_t rejectedBy(const search::Policy& policy);

} // namespace lathe::session
