#pragma once

#include "app/cli/template_progress.h"
#include "core/session/session.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace lathe::cli {

/// Prints a run as it goes: lines of JSON, or a table that is redrawn on a terminal and a line per round elsewhere.
/// onEvents comes on the session's threads, all else on the main thread.
class TuneOutput final : public session::SessionObserver
{
public:
    /// `progress`: shown in the place of the table, and of a line per round; nothing: the run tunes by no templates.
    TuneOutput(const session::TuningSession& session, bool json, bool verbose,
               std::optional<TemplateProgress> progress = std::nullopt);
    void onEvents(std::span<const session::Event> events) override;

    bool ended() const;
    void waitFor(std::chrono::milliseconds time);
    /// The run's failure, if it failed.
    Result<> result() const;

private:
    void printText(const session::Event& event);
    void printProgress();
    void printTable();
    void printTime(const session::TimeSpent& time);
    double tasksMs() const; ///< with the best of all runs, as the whole network is measured
    double estimatedMs() const; ///< that, and what the network has beside its tasks
    double trialsPerSecond() const; ///< since the run was started or resumed

    const session::TuningSession& m_session;
    const bool m_json, m_verbose, m_terminal;
    const bool m_isExpected; ///< no latency is measured, as the target's devices compute nothing
    const char* const m_word; ///< what the latency of the network is called
    std::optional<TemplateProgress> m_progress;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    session::RunState m_state = session::RunState::Starting;
    bool m_began = false; ///< to measure; a run that did not has only its failure to tell
    std::string m_failure;
    std::vector<session::TaskView> m_tasks; ///< for names; figures are kept up to date from events
    session::EstimateEvent m_estimate;
    std::optional<session::VerdictEvent> m_verdict;
    double m_measuredMs = session::kUnknown, m_untunedMs = session::kUnknown;
    std::int64_t m_trials = 0, m_errors = 0;
    std::int32_t m_next = -1;
    double m_atSeconds = 0, m_startSeconds = 0; ///< active time, over all resumptions; when this one began to measure
    int m_drawnLines = 0;
};

} // namespace lathe::cli
