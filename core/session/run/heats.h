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
        TrialResult result; ///< of the first failure, else of the first pass; durations are those of all passes
        std::vector<double> costsNs; ///< one per pass
    };
    std::int32_t task = -1;
    double weight = 0; ///< the task's share of the network's latency
    double passSeconds = 0; ///< how long its last pass took
    std::vector<Finalist> finalists;
};

/// Measures programs side by side, in alternation: what runoffs and finals (finals.h) have in common.
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

    /// What is stored about a task's heats: one record for each finalist, in their order. `roundsBefore`: rounds of the
    /// run so far, as counted when the run is restored. The finalists' candidates and results are moved into the
    /// records.
    std::vector<Record> recordsOf(FinalsGroup& group, const std::string& id, std::int32_t roundsBefore,
                                  bool runoff) const;

    /// A new id, made from the present moment too: if a round was cut short after its runoff, it holds a second one.
    std::string newId(std::int32_t round) const;

private:
    std::int64_t toLevelOfRun(const FinalsGroup& group, std::vector<double>& costs) const;

    RunParts& m_parts;
};

} // namespace lathe::session
