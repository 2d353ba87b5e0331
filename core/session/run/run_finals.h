#pragma once

#include "core/session/run/heats.h"

#include <functional>

namespace lathe::session {

/// The finals of a run (finals.h): at its end the best of every task are measured in passes over all tasks.
class RunFinals
{
public:
    /// `pauseIfAsked` is called between two passes.
    RunFinals(RunParts& parts, std::function<void(std::stop_token)> pauseIfAsked)
        : m_parts(parts)
        , m_heats(parts)
        , m_pauseIfAsked(std::move(pauseIfAsked))
    {
    }

    /// Holds the finals, in the time that the budget leaves for them; does nothing without a project, or if no task has
    /// two candidates to choose from. `rounds`: number of rounds of the run so far. The results are stored and emitted.
    Result<> hold(std::int32_t rounds, std::stop_token stop);

private:
    struct Allowed
    {
        bool timed = false; ///< else the passes are counted
        double begun = 0, seconds = 0;
    };
    Allowed allowed() const;
    Result<std::vector<FinalsGroup>> finalists(double seconds);
    Result<> firstPass(std::vector<FinalsGroup>& groups, const Allowed& allowed, std::stop_token stop);
    Result<std::int32_t> morePasses(std::vector<FinalsGroup>& groups, const Allowed& allowed, std::stop_token stop);
    Result<> judge(std::vector<FinalsGroup>& groups, std::int32_t passes, double begun, std::int32_t rounds);

    RunParts& m_parts;
    Heats m_heats;
    std::function<void(std::stop_token)> m_pauseIfAsked;
};

} // namespace lathe::session
