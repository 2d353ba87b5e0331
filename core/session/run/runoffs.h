#pragma once

#include "core/session/run/heats.h"

#include <limits>
#include <optional>

namespace lathe::session {

/// What a round's runoff says of its task, as it is kept with the round.
struct RoundBest
{
    double ms = kUnknown; ///< NaN: nothing stands yet
    std::string alternative;
    bool final = false; ///< by a runoff, not by a single trial
    double toldSeconds = std::numeric_limits<double>::infinity(); ///< to the scheduler; infinite: nothing was won
};

/// The runoffs of a run (finals.h): after each round of a task, what stands and the fastest of the round are measured
/// in turns.
class Runoffs
{
public:
    explicit Runoffs(RunParts& parts)
        : m_parts(parts)
        , m_heats(parts)
    {
    }

    /// Measures the best of the round beside what stands, and takes over who wins. `round`: its trials, `roundSeconds`:
    /// that it took, `index`: its number. A device that fails changes nothing.
    Result<RoundBest> hold(std::int32_t task, std::span<const Ahead> round, double roundSeconds, std::int32_t index,
                           std::stop_token stop);

    /// Of a stored round, whose trials were `told`: who stands best since. What the scheduler was told then; nothing:
    /// no runoffs were held.
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
