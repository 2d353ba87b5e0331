#include "core/session/run/run_journal.h"

#include "core/support/message.h"

#include <nlohmann/json.hpp>

namespace lathe::session {

using nlohmann::json;

LogEvent logged(const Message& message)
{
    return {textOf(message), about(message)};
}

ErrorEvent told(Errc code, const Message& message)
{
    return {code, textOf(message), about(message)};
}

json withAbout(json event, const About& about)
{
    if (about)
        event["about"] = json::parse(toJsonText(about));
    return event;
}

namespace {

/// Kind and content of an event as the store keeps it; replay.cpp reads them back.
std::pair<const char*, json> keptForm(const decltype(Event::what)& what)
{
    if (const auto* error = std::get_if<ErrorEvent>(&what))
        return {"error", withAbout({{"code", toString(error->code)}, {"text", error->text}}, error->about)};
    if (const auto* log = std::get_if<LogEvent>(&what))
        return {"log", withAbout({{"text", log->text}}, log->about)};
    const auto& [task, budget] = std::get<BudgetEvent>(what);
    return {"budget",
            {{"task", task},
             {"pinned", budget.pinned},
             {"muted", budget.muted},
             {"boost", budget.boost},
             {"trial_cap", budget.trialCap}}};
}

} // namespace

Result<> RunJournal::begin(const store::SessionRow& row)
{
    if (m_project != nullptr) {
        LATHE_TRY_ASSIGN(m_session, m_project->addSession(row));
    }
    return {};
}

Result<> RunJournal::keep(decltype(Event::what) what)
{
    const double at = m_clock.atSeconds();
    const auto [kind, content] = keptForm(what);
    tell({Event{at, std::move(what)}});
    return keeps() ? addEvent(at, kind, content.dump(-1, ' ', false, json::error_handler_t::replace)) : Result<>();
}

void RunJournal::setState(RunState state, std::string text, About about)
{
    m_control.setState(state);
    tellNow(StateEvent{state, std::move(text), std::move(about)});
    if (keeps() && !m_project->readOnly())
        (void)m_project->updateSession(m_session, toString(state), m_clock.atSeconds());
}

Result<> RunJournal::addRecords(std::span<const Record> records)
{
    return m_project != nullptr ? m_project->addRecords(records) : Result<>();
}

Result<> RunJournal::addRound(store::RoundRow round)
{
    if (m_project == nullptr)
        return {};
    round.session = m_session;
    LATHE_TRY(m_project->addRound(round));
    return m_project->updateSession(m_session, "running", round.atSeconds);
}

Result<> RunJournal::addEvent(double atSeconds, std::string_view kind, std::string_view content)
{
    return m_project != nullptr ? m_project->addEvent(m_session, atSeconds, kind, content) : Result<>();
}

Result<> RunJournal::setOptions(std::string_view options)
{
    return m_project != nullptr ? m_project->setSessionOptions(m_session, options) : Result<>();
}

Result<> RunJournal::putSnapshot(std::string_view kind, std::int32_t round, std::span<const std::byte> bytes)
{
    return m_project != nullptr ? m_project->putSnapshot(m_session, kind, round, bytes) : Result<>();
}

void RunJournal::pauseIfAsked(std::stop_token stop)
{
    if (!m_control.pauseRequested())
        return;
    setState(RunState::Paused);
    {
        const auto pause = m_clock.account().in({});
        m_control.waitWhilePaused(stop);
    }
    if (!stop.stop_requested())
        setState(RunState::Running);
}

} // namespace lathe::session
