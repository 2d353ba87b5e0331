#pragma once

#include "core/session/run/run_parts.h"

#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::session {

/// The finalists of one task.
struct FinalsGroup
{
    struct Finalist
    {
        Record repeated;
        measure::BuiltKernelPtr built;
        TrialResult result; ///< the first failure, or of the first pass; durations of all
        std::vector<double> costsNs; ///< one per pass
    };
    std::int32_t task = -1;
    double weight = 0; ///< what the task has of the network's latency
    double passSeconds = 0; ///< that its last pass took
    std::vector<Finalist> finalists;
};

/// Measures programs side by side, in turns: what runoffs and finals (finals.h) have in common.
class Heats
{
public:
    explicit Heats(RunParts& parts)
        : m_parts(parts)
    {
    }

    enum class Look
    {
        Glance, ///< a few milliseconds
        Whole ///< as a trial that may be the best
    };
    /// One pass over the groups, forwards or backwards: finalists of one task stay next to each other. Those that
    /// failed sit out.
    Result<> pass(std::span<FinalsGroup> groups, bool backwards, Look look, std::stop_token stop);

    /// What is stored of a task's heats, one record for each finalist in their order. `roundsBefore`: of the run, as
    /// restoring it counts them. The finalists' candidates and results go into the records.
    std::vector<Record> recordsOf(FinalsGroup& group, const std::string& id, std::int32_t roundsBefore,
                                  bool runoff) const;

    /// A new id, of this moment: a round that was cut short behind its runoff holds another one.
    std::string newId(std::int32_t round) const;

private:
    std::int64_t toLevelOfRun(const FinalsGroup& group, std::vector<double>& costs) const;

    RunParts& m_parts;
};

} // namespace lathe::session
