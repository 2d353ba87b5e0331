#pragma once

#include "core/session/run/heats.h"

#include <limits>
#include <optional>

namespace lathe::session {

/// What a round's runoff found out about its task, as it is stored with the round.
struct RoundBest
{
    double ms = kUnknown; ///< of the best program; NaN: there is none yet
    std::string alternative;
    bool final = false; ///< decided by a runoff, not by a single trial
    /// The cost that the scheduler is told; infinite: the round gained nothing.
    double toldSeconds = std::numeric_limits<double>::infinity();
};

/// The runoffs of a run (finals.h): after each round of a task, the best program so far and the fastest of the round
/// are measured in alternation.
class Runoffs
{
public:
    explicit Runoffs(RunParts& parts)
        : m_parts(parts)
        , m_heats(parts)
    {
    }

    /// Measures the best of the round beside the task's best so far; the winner becomes the task's best. `round`: the
    /// round's trials, `roundSeconds`: how long it took, `index`: its number. If a device fails, nothing changes.
    Result<RoundBest> hold(std::int32_t task, std::span<const Ahead> round, double roundSeconds, std::int32_t index,
                           std::stop_token stop);

    /// Restores which program was the best after a stored round, whose trials were `told`. Returns the cost that the
    /// scheduler was told then; nothing: no runoffs were held.
    static std::optional<double> restore(RunTask& task, const std::string& durations, std::span<const Record> told);

private:
    Result<std::vector<Ahead>> fromEarlierRuns(const RunTask& task) const;
    static std::vector<Ahead> competitors(const RunTask& task, std::span<const Ahead> round);
    Result<std::vector<Record>> measure(std::int32_t task, std::span<const Ahead> competing, double roundSeconds,
                                        std::int32_t index, std::stop_token stop);
    void takeWinner(RunTask& task, double toldBefore, std::span<const Record> records, std::span<const Ahead> competing,
                    RoundBest& best) const;

    RunParts& m_parts;
    Heats m_heats;
};

} // namespace lathe::session
