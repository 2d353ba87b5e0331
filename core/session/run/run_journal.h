#pragma once

#include "core/session/events.h"
#include "core/session/run/budget_clock.h"
#include "core/session/run_control.h"
#include "core/store/project.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// The JSON of an event, with what its text is about.
nlohmann::json withAbout(nlohmann::json event, const About& about);

/// Writes a run into its project and tells the run's observer about it; whatever is acknowledged is on disk first. A
/// run without a project only tells its observer. Used on the run's thread. Errors of everything that writes:
/// StoreFailed.
class RunJournal
{
public:
    /// `project` null: nothing is kept.
    RunJournal(store::Project* project, RunControl& control, BudgetClock& clock)
        : m_project(project)
        , m_control(control)
        , m_clock(clock)
    {
    }

    store::Project* project() const { return m_project; }
    std::int64_t session() const { return m_session; } ///< the run's row in the project; 0: none yet

    /// A new run.
    Result<> begin(const store::SessionRow& row);
    /// A stored one goes on.
    void goOn(std::int64_t session) { m_session = session; }

    void tell(std::vector<Event> events) { m_control.tell(events); }
    void tellNow(decltype(Event::what) what) { tell({Event{m_clock.atSeconds(), std::move(what)}}); }
    /// Told, and stored with the run so that it can be replayed: errors, logs, budgets.
    Result<> keep(decltype(Event::what) what);
    /// No error is returned if the state cannot be stored: a failing disk shows at the next trial.
    void setState(RunState state, std::string text = {}, About about = {});
    RunState state() const { return m_control.state(); }

    /// All or nothing, on disk when it returns.
    Result<> addRecords(std::span<const Record> records);
    /// With the time that the run has had until then.
    Result<> addRound(store::RoundRow round);
    Result<> addEvent(double atSeconds, std::string_view kind, std::string_view content); ///< JSON
    Result<> setOptions(std::string_view options);
    Result<> putSnapshot(std::string_view kind, std::int32_t round, std::span<const std::byte> bytes);

    /// Waits, without using up time, while a pause is asked for.
    void pauseIfAsked(std::stop_token stop);

private:
    bool keeps() const { return m_project != nullptr && m_session != 0; }

    store::Project* const m_project;
    RunControl& m_control;
    BudgetClock& m_clock;
    std::int64_t m_session = 0;
};

} // namespace lathe::session
