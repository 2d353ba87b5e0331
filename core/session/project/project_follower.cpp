#include "core/session/project/project_follower.h"

#include "core/session/project/stored_events.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <utility>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr auto kPause = std::chrono::milliseconds(250); ///< with what a view takes, far less than a second behind

/// As updateSession() was told it; Idle: none of the states of a run.
RunState stateIn(const std::string& text)
{
    for (const RunState state : {RunState::Starting, RunState::Running, RunState::Pausing, RunState::Paused,
                                 RunState::Stopping, RunState::Stopped, RunState::Finished, RunState::Failed})
        if (toString(state) == text)
            return state;
    return RunState::Idle;
}

} // namespace

Message sayWriter(const ProjectWriter& writer)
{
    return store::sayWriter({writer.program, writer.pid, writer.host, 0});
}

ProjectFollower::ProjectFollower(std::filesystem::path project, std::int64_t modelRow,
                                 std::shared_ptr<const LoadedModel> model, RunControl& control,
                                 std::function<std::vector<TaskView>()> tasks)
    : m_project(std::move(project))
    , m_modelRow(modelRow)
    , m_model(std::move(model))
    , m_control(control)
    , m_tasks(std::move(tasks))
{
    for (std::size_t i = 0; i < m_model->partition.tasks.size(); ++i)
        m_taskOfKey[m_model->partition.tasks[i].key] = static_cast<std::int32_t>(i);
    std::vector<Event> unheard;
    lookForWriter(unheard);
}

ProjectFollower::~ProjectFollower()
{
    m_stop.request_stop();
    if (m_thread.joinable())
        m_thread.join();
}

void ProjectFollower::begin()
{
    if (!m_thread.joinable())
        m_thread = std::thread([this] { follow(m_stop.get_token()); });
}

std::optional<ProjectWriter> ProjectFollower::writer() const
{
    const std::scoped_lock lock(m_mutex);
    return m_writer;
}

std::int32_t ProjectFollower::taskOf(const std::string& key) const
{
    const auto found = m_taskOfKey.find(key);
    return found == m_taskOfKey.end() ? -1 : found->second;
}

void ProjectFollower::follow(std::stop_token stop)
{
    std::mutex mutex;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
        std::vector<Event> events;
        lookForWriter(events);
        // A file that cannot be read just now (it is being made, the disk is full) may be readable the next time; the
        // views, which read it too, say what is wrong.
        (void)look(events);
        m_control.tell(events);
        std::unique_lock lock(mutex);
        never.wait_for(lock, stop, kPause, [] { return false; });
    }
}

void ProjectFollower::lookForWriter(std::vector<Event>& events)
{
    const std::optional<store::LockHolder> holder = store::Project::writerOf(m_project);
    const std::optional<ProjectWriter> now = holder ? std::optional(
                                                 ProjectWriter{holder->program, holder->pid, holder->host})
                                                    : std::nullopt;
    const std::int64_t since = holder ? holder->sinceMs : 0;
    const std::scoped_lock lock(m_mutex);
    if (now == m_writer && since == m_writesSinceMs)
        return;
    m_writer = now;
    m_writesSinceMs = since;
    m_version = -1; // whether the run goes on has to be looked at anew
    events.push_back({0, WriterEvent{now}});
}

Result<> ProjectFollower::look(std::vector<Event>& events)
{
    if (!m_reader) {
        LATHE_TRY_ASSIGN(m_reader, store::RecordReader::open(m_project));
    }
    const store::Project& project = m_reader->project();
    LATHE_TRY_ASSIGN(const std::int64_t version, project.version());
    if (version == m_version)
        return {};
    std::vector<Event> told;
    LATHE_TRY(project.atOnce([&]() -> Result<> {
        LATHE_TRY_ASSIGN(const auto runs, project.sessions());
        const auto mine = [this](const store::SessionRow& row) {
            return row.model == m_modelRow && row.target == m_model->target.text();
        };
        const auto run = std::find_if(runs.rbegin(), runs.rend(), mine);
        if (run != runs.rend())
            return lookAt(*run, told);
        m_begun = true;
        return {};
    }));
    m_version = version;
    std::stable_sort(told.begin(), told.end(),
                     [](const Event& a, const Event& b) { return a.atSeconds < b.atSeconds; });
    const double at = told.empty() ? 0 : told.back().atSeconds;
    events.insert(events.end(), std::make_move_iterator(told.begin()), std::make_move_iterator(told.end()));
    events.push_back({at, TasksEvent{m_tasks()}}); // last: what was counted before does not matter then
    return {};
}

Result<> ProjectFollower::lookAt(const store::SessionRow& run, std::vector<Event>& events)
{
    const bool first = !std::exchange(m_begun, true);
    if (run.id != m_run) {
        m_run = run.id;
        m_lastEvent = 0;
        m_rounds = 0;
        m_open.clear();
        if (!first)
            events.push_back({0, RunBegunEvent{m_run}});
    }
    if (!first) {
        LATHE_TRY(readEvents(events));
        LATHE_TRY(readTrials(events));
        LATHE_TRY(readRounds(events));
        tellState(run, events);
        return {};
    }
    // Views read what there is: here is where the run stands.
    LATHE_TRY_ASSIGN(m_lastRow, m_reader->lastRow());
    LATHE_TRY_ASSIGN(const auto last, m_reader->rows(std::span(&m_lastRow, 1)));
    m_latestMs = last.empty() ? 0 : last.back().timeMs;
    LATHE_TRY_ASSIGN(const auto rounds, m_reader->project().rounds(m_run));
    m_rounds = rounds.empty() ? 0 : rounds.back().index + 1;
    std::vector<Event> past;
    LATHE_TRY(readEvents(past));
    const bool live = isLive(run);
    if (!rounds.empty())
        for (Event& event : roundEndOf(rounds.back(), -1, rounds.back().atSeconds))
            events.push_back(std::move(event)); // the estimate
    std::erase_if(past,
                  [live](const Event& event) { return !live || !std::holds_alternative<RoundEvent>(event.what); });
    if (!past.empty())
        events.push_back(std::move(past.back())); // the round that goes on
    tellState(run, events);
    return {};
}

Result<> ProjectFollower::readEvents(std::vector<Event>& events)
{
    return m_reader->project().forEachEventAfter(
        m_lastEvent, m_run, [&](std::int64_t id, std::string_view kind, double at, std::string_view content) {
            m_lastEvent = id;
            const json event = json::parse(content, nullptr, false);
            if (kind == "asked") {
                RoundEvent begun = roundBegunIn(event, [this](const std::string& key) { return taskOf(key); });
                if (begun.index < m_rounds)
                    return;
                m_open[begun.index] = {at, 0};
                if (begun.task >= 0)
                    events.push_back({at, std::move(begun)});
            } else if (kind == "done") {
                events.push_back({at, doneIn(at, event)});
            } else {
                for (Event& told : eventsOf(kind, at, event, m_taskOfKey.size()))
                    events.push_back(std::move(told));
            }
        });
}

Result<> ProjectFollower::readTrials(std::vector<Event>& events)
{
    store::RecordQuery query;
    query.afterRow = m_lastRow;
    LATHE_TRY_ASSIGN(const std::vector<std::int64_t> rows, m_reader->find(query));
    LATHE_TRY_ASSIGN(const std::vector<store::RecordSummary> records, m_reader->rows(rows));
    for (const store::RecordSummary& record : records) {
        m_lastRow = std::max(m_lastRow, record.row);
        m_latestMs = std::max(m_latestMs, record.timeMs);
        const std::int32_t task = taskOf(record.task);
        if (record.session != m_run || !record.repeats.empty() || task < 0)
            continue; // it is among the tasks' figures
        Round& round = m_open[record.round];
        if (round.firstMs == 0)
            round.firstMs = record.timeMs;
        const double at = round.began
                          + static_cast<double>(std::max<std::int64_t>(0, record.timeMs - round.firstMs)) * 1e-3;
        events.push_back({at, TrialEvent{{record.trial, record.round, record.index, task, std::string(), record.sketch,
                                          record.code == "Ok" ? record.meanNs * 1e-6 : kUnknown, record.stage,
                                          record.code, record.text, record.about}}});
    }
    return {};
}

Result<> ProjectFollower::readRounds(std::vector<Event>& events)
{
    LATHE_TRY_ASSIGN(const auto rounds, m_reader->project().rounds(m_run));
    for (const store::RoundRow& round : rounds) {
        if (round.index < m_rounds)
            continue;
        m_rounds = round.index + 1;
        m_open.erase(m_open.begin(), m_open.upper_bound(round.index));
        for (Event& event : roundEndOf(round, taskOf(round.task), round.atSeconds))
            events.push_back(std::move(event));
    }
    return {};
}

/// Its process holds the project, and has stored something since it does.
bool ProjectFollower::isLive(const store::SessionRow& run) const
{
    return isActive(stateIn(run.state)) && m_writesSinceMs > 0
           && std::max(run.startedMs, m_latestMs) >= m_writesSinceMs;
}

void ProjectFollower::tellState(const store::SessionRow& run, std::vector<Event>& events)
{
    StateEvent told{stateIn(run.state), {}, {}};
    if (isActive(told.state) && !isLive(run)) {
        told.state = RunState::Stopped;
        told.about = about(say(Msg::WriterCutOff));
        told.text = textOf(*told.about);
    }
    if (told.state == m_control.state())
        return;
    m_control.setState(told.state);
    double at = run.activeSeconds;
    for (const Event& event : events)
        at = std::max(at, event.atSeconds);
    events.push_back({at, std::move(told)});
}

} // namespace lathe::session
