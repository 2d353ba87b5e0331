#pragma once

#include "core/measure/machine_state.h"
#include "core/session/run/lookahead.h"
#include "core/session/run/runoffs.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::session {

/// How many candidates a round asked its policy for.
struct Asked
{
    std::int32_t first = 0; ///< of firstRound(), in a task's first round; 0: it was not asked
    std::int32_t count = 0; ///< of propose(); 0: likewise
};
/// Of a stored round's durations; nothing: it is of a version that did not store it.
std::optional<Asked> askedOf(std::string_view durations);

/// The rounds of a run: candidates of one task are proposed, measured, stored and told.
///
/// What a round sees is fixed by its number: results of all rounds before it, the seed, and recorded durations. So a
/// run that was killed goes on as if nothing had happened: stored rounds are told again in order, a round that was cut
/// short is proposed again (the same candidates) and only its missing trials are measured. Where builders work while
/// devices measure, and the next round is sure to be of the same task, it is proposed and built while a round is
/// measured; such a round sees the results of all but the one before it. How many candidates a round
/// asks for depends on the budget, and on how long trials took; so that is stored too, when the round begins and with
/// its end.
class Rounds
{
public:
    explicit Rounds(RunParts& parts)
        : m_parts(parts)
        , m_runoffs(parts)
    {
    }

    /// Tells the stored rounds of the run again. Incompatible: they are of other tasks; Cancelled.
    Result<> restore(std::stop_token stop);
    /// Whether restore() can follow that run. Incompatible: not with these tasks, this device or this state of caches.
    Result<> canGoOn(std::int64_t run) const;
    /// What an earlier run measured is known to policies, cost model and scheduler, as if it were of this run, whose
    /// counts and time stay as they are. Before the first round, and before restore(); returns the number of trials.
    /// Errors: as restore().
    Result<std::size_t> inherit(std::int64_t run, std::stop_token stop);
    /// The task of the round that was cut short, whatever was asked for since; -1: none was.
    std::int32_t cutShort() const;
    std::int64_t cutShortTrials() const { return std::ssize(m_partial); } ///< that it has

    /// One round of a task. Errors: Cancelled by `stop`; StoreFailed; those of policies and devices. The budget's end
    /// in the middle of it is no error.
    Result<> hold(std::int32_t task, std::stop_token stop);

    std::int32_t held() const { return m_index; } ///< rounds so far, earlier lives included
    const std::map<std::string, std::int64_t>& errors() const { return m_errors; } ///< trials by code
    std::int64_t rejected() const { return m_rejected; } ///< RoundDoneEvent::rejected of them

private:
    /// The round that goes on.
    struct Round
    {
        std::int32_t task = -1;
        std::chrono::steady_clock::time_point start;
        search::Terms terms;
        std::string reason;
        Asked asked;
        std::vector<Candidate> candidates;
        std::vector<Record> records; ///< one per candidate
        std::vector<Ahead> runners; ///< the same, where runoffs are held
        std::vector<measure::MeasureRequest> requests; ///< what no earlier life of the run has stored
        std::vector<std::size_t> places; ///< of the requests, among the candidates
        double began = 0; ///< seconds of the run
        measure::MachineCounters machine; ///< as it began
        std::vector<measure::BuiltKernelPtr> built; ///< by candidate, where they were built ahead; else empty
        std::int32_t ahead = 0; ///< candidates that were asked for, for the round after it, while it was measured
        double elapsed = 0; ///< as the scheduler is told
        RoundBest best;
        std::int64_t rejected = 0; ///< candidates that the device cannot run: they went to no builder
    };
    /// The round after the one that is measured: of the same task, proposed without what comes of that.
    struct Next
    {
        std::int32_t task = -1, count = 0;
        Lookahead::Answer answer;
        std::vector<measure::BuiltKernelPtr> built; ///< by candidate
    };
    /// A run as the project holds it.
    struct Stored
    {
        std::vector<Record> records; ///< without finals
        std::map<std::int64_t, std::vector<Record>> finals; ///< by the number of rounds before them
        std::vector<store::RoundRow> rounds;
    };
    Result<Stored> read(std::int64_t run) const;
    Result<std::size_t> retell(const Stored& stored, bool own, std::stop_token stop);
    Round begin(std::int32_t task) const;
    Result<> propose(Round& round, std::stop_token stop);
    bool takeNext(Round& round);
    Result<> proposeAgain(std::int32_t task, std::int32_t index, std::int32_t count, std::int32_t ahead,
                          std::stop_token stop);
    std::int32_t wantedAhead(const Round& round) const;
    Result<std::vector<measure::MeasureRequest>> takeAhead(const Round& round, Lookahead& lookahead);
    Record recordOf(std::int32_t round, std::size_t place, const Candidate& candidate) const;
    Result<measure::MeasureRequest> requestOf(const Record& record, std::int32_t task, std::int64_t ordinal);
    Result<> readAsked();
    Result<> goOnWithStored(Round& round) const;
    Result<> request(Round& round);
    Result<> measure(Round& round, std::stop_token stop);
    void cut(Round& round, std::size_t given) const;
    Result<> judge(Round& round, std::stop_token stop);
    Result<> tell(std::int32_t task, std::span<const Record> records, double elapsedSeconds,
                  std::optional<double> bestSeconds, std::stop_token stop);
    Result<> keep(const Round& round);
    void count(const Record& record, std::vector<Event>& events);

    RunParts& m_parts;
    Runoffs m_runoffs;
    measure::MachineReader m_machine;
    std::int32_t m_index = 0;
    std::vector<Record> m_partial; ///< stored trials of the round that was cut short
    std::optional<Asked> m_partialAsked; ///< what that round had asked for
    std::vector<std::pair<double, std::int32_t>> m_told; ///< when which trials of the round were told of
    std::optional<Next> m_next;
    std::map<std::string, std::int64_t> m_errors;
    std::int64_t m_rejected = 0;
};

} // namespace lathe::session
