#include "core/session/replay/replay.h"

#include "core/session/options/options_json.h"
#include "core/session/project/project_history.h"
#include "core/session/replay/replay_script.h"
#include "core/session/session_base.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace lathe::session {

namespace {

using std::chrono::steady_clock;

constexpr double kMinSpeed = 0.1, kMaxSpeed = 1'000'000;
constexpr auto kTick = std::chrono::milliseconds(50); ///< the position moves at least so often
constexpr std::size_t kBatch = 2000; ///< events told at once: a replay can be stopped between two batches

class ReplaySession final : public SessionBase, public Replay
{
public:
    ReplaySession(OpenOptions options, std::shared_ptr<const LoadedModel> model, store::SessionRow run,
                  std::vector<RunView> runs, std::size_t place, ReplayScript script)
        : SessionBase(std::move(options), std::move(model))
        , m_run(std::move(run))
        , m_runs(std::move(runs))
        , m_place(place)
        , m_script(std::move(script))
        , m_speed(m_options.replay->speed)
        , m_length(m_script.length())
        , m_front(std::make_shared<ReplayFront>())
    {
        m_front->run = m_run.id;
        m_tasks = viewTasks(*m_model);
    }
    ~ReplaySession() override
    {
        stop();
        wait();
    }

    std::vector<TaskView> tasks() const override
    {
        const std::scoped_lock lock(m_mutex);
        return m_tasks;
    }
    std::vector<Message> notices() const override { return m_model->notices; }
    bool canResume() const override { return false; }

    Result<> start(TuneOptions options) override;

    Replay* replay() override { return this; }
    RunView run() const override { return m_runs[m_place]; }
    std::vector<RunView> runs() const override { return m_runs; }
    double length() const override { return m_length; }
    double position() const override { return m_position; }
    double speed() const override { return m_speed; }
    Result<> setSpeed(double factor) override;
    Result<> seek(double seconds) override;

    std::vector<DeviceView::Limit> hardware() const override
    {
        std::vector<DeviceView::Limit> limits;
        for (const auto& [name, limit] : m_model->hardware.limits)
            limits.push_back({name, limit.value, limit.origin});
        return limits;
    }
    Result<std::unique_ptr<History>> history() const override
    {
        return openHistory({m_options.project, m_run.model, m_model, m_front});
    }

private:
    void play(std::stop_token stop);
    Result<> tellUntil(double position, std::stop_token stop, bool& atEnd);
    void goTo(double seconds);
    void note(const ReplayScript::Item& item);
    void setState(RunState state, std::string text = {}, About about = {})
    {
        m_control.setState(state);
        const Event event{m_position, StateEvent{state, std::move(text), std::move(about)}};
        m_control.tell({&event, 1});
    }
    /// Whether the playing ends here; then the next seek() starts it anew.
    bool ends()
    {
        const std::scoped_lock lock(m_mutex);
        m_playing = std::isfinite(m_seek);
        return !m_playing;
    }

    store::SessionRow m_run;
    std::vector<RunView> m_runs; ///< of the project
    std::size_t m_place; ///< this one's
    ReplayScript m_script; ///< of the playing thread
    std::atomic<double> m_speed, m_position = 0, m_length;
    std::shared_ptr<ReplayFront> m_front;
    mutable std::mutex m_mutex; ///< of what follows
    std::condition_variable_any m_changed;
    std::vector<TaskView> m_tasks;
    double m_seek = kUnknown; ///< asked for, not done yet
    bool m_playing = false; ///< the thread looks at m_seek
};

Result<> ReplaySession::setSpeed(double factor)
{
    if (!(factor >= kMinSpeed && factor <= kMaxSpeed))
        return makeError(Errc::InvalidArgument, say(Msg::ReplaySpeed, factor, kMinSpeed, kMaxSpeed));
    m_speed = factor;
    m_changed.notify_all();
    return {};
}

Result<> ReplaySession::seek(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0)
        return makeError(Errc::InvalidArgument, say(Msg::ReplayPlace, seconds));
    bool playing = false;
    {
        const std::scoped_lock lock(m_mutex);
        m_seek = std::min(seconds, m_length.load());
        playing = m_playing;
    }
    m_changed.notify_all();
    return playing ? Result<>() : start({});
}

Result<> ReplaySession::start(TuneOptions)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (std::exchange(m_playing, true))
            return makeError(Errc::InvalidArgument, say(Msg::ReplayGoesOn));
    }
    wait(); // for the thread of the last playing, which has little left to do
    m_control.requestPause(false);
    m_control.setState(RunState::Starting);
    begin([this](std::stop_token stop) { play(stop); });
    return {};
}

/// What tasks() and history() know of an event.
void ReplaySession::note(const ReplayScript::Item& item)
{
    if (const auto* trial = std::get_if<TrialEvent>(&item.event.what)) {
        TaskView& task = m_tasks[static_cast<std::size_t>(trial->trial.task)];
        ++task.trials;
        task.errors += trial->trial.code != "Ok";
    } else if (const auto* best = std::get_if<BestEvent>(&item.event.what)) {
        TaskView& task = m_tasks[static_cast<std::size_t>(best->task)];
        task.bestMs = best->costMs;
        task.gflops = task.flop / best->costMs / 1e6;
        task.bestAlternative = best->alternative;
        task.state = TaskState::Waiting;
    }
    m_front->row = std::max(m_front->row.load(), item.row);
    m_front->seconds = std::max(m_front->seconds.load(), item.event.atSeconds);
}

Result<> ReplaySession::tellUntil(double position, std::stop_token stop, bool& atEnd)
{
    while (!stop.stop_requested()) {
        std::vector<Event> batch;
        atEnd = false;
        while (batch.size() < kBatch) {
            LATHE_TRY_ASSIGN(const ReplayScript::Item* const item, m_script.front());
            atEnd = item == nullptr;
            if (item == nullptr || item->event.atSeconds > position)
                break;
            {
                const std::scoped_lock lock(m_mutex);
                note(*item);
            }
            batch.push_back(item->event);
            m_script.pop();
        }
        m_control.tell(batch);
        if (batch.size() < kBatch)
            return {};
    }
    return {};
}

void ReplaySession::goTo(double seconds)
{
    if (seconds < m_position) {
        m_script.rewind();
        {
            const std::scoped_lock lock(m_mutex);
            m_tasks = viewTasks(*m_model);
            m_front->row = 0;
            m_front->seconds = 0;
        }
        m_position = 0;
        const Event event{0, RewindEvent()};
        m_control.tell({&event, 1});
    }
    m_position = seconds;
}

void ReplaySession::play(std::stop_token stop)
{
    // Played to its end before: from the beginning, unless another place was asked for.
    {
        const std::scoped_lock lock(m_mutex);
        if (std::isnan(m_seek) && m_position > 0)
            m_seek = 0;
    }
    setState(RunState::Starting);
    setState(RunState::Running);
    const auto body = [&]() -> Result<> {
        auto last = steady_clock::now();
        bool atEnd = false;
        while (!stop.stop_requested()) {
            const auto now = steady_clock::now();
            double position = m_position + std::chrono::duration<double>(now - last).count() * m_speed;
            last = now;
            double wanted = kUnknown;
            {
                const std::scoped_lock lock(m_mutex);
                std::swap(wanted, m_seek);
            }
            if (std::isfinite(wanted)) {
                goTo(wanted);
                position = wanted;
            } else if (m_control.pauseRequested()) {
                if (m_control.state() != RunState::Paused)
                    setState(RunState::Paused);
                std::unique_lock lock(m_mutex);
                m_changed.wait_for(lock, stop, kTick, [this] { return std::isfinite(m_seek); });
                continue;
            }
            if (m_control.state() == RunState::Paused && !m_control.pauseRequested())
                setState(RunState::Running);
            m_position = std::min(position, m_length.load());
            LATHE_TRY(tellUntil(position, stop, atEnd));
            if (atEnd && position >= m_length && ends())
                return {};
            LATHE_TRY_ASSIGN(const ReplayScript::Item* const next, m_script.front());
            const double until = (next == nullptr ? m_length.load() : next->event.atSeconds) - position;
            const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::duration<double>(std::clamp(until / m_speed, 0.0, 1.0)));
            std::unique_lock lock(m_mutex);
            m_changed.wait_for(lock, stop,
                               std::clamp<std::chrono::nanoseconds>(rest, std::chrono::milliseconds(1), kTick),
                               [this] { return std::isfinite(m_seek); });
        }
        return {};
    };
    const auto played = body();
    {
        const std::scoped_lock lock(m_mutex);
        m_playing = false; // stopped or failed
    }
    if (!played) {
        setState(RunState::Failed, played.error().message, played.error().about);
    } else if (stop.stop_requested()) {
        setState(RunState::Stopped);
    } else {
        const StateEvent ending = m_script.ending();
        setState(ending.state, ending.text, ending.about);
        const Event done{m_script.done().seconds, m_script.done()};
        m_control.tell({&done, 1});
    }
}

} // namespace

Result<std::unique_ptr<TuningSession>> openReplay(OpenOptions options)
{
    ReplayOptions& wanted = *options.replay;
    if (!(wanted.speed >= kMinSpeed && wanted.speed <= kMaxSpeed))
        return makeError(Errc::InvalidArgument, say(Msg::ReplaySpeed, wanted.speed, kMinSpeed, kMaxSpeed));
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(options.project, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto runs, project.sessions());
    if (runs.empty())
        return makeError(Errc::NotFound, say(Msg::NoRunToReplay, options.project.string()));
    const auto run = wanted.run == 0 ? runs.end() - 1
                                     : std::find_if(runs.begin(), runs.end(), [&wanted](const store::SessionRow& row) {
                                           return row.id == wanted.run;
                                       });
    if (run == runs.end())
        return makeError(Errc::NotFound, say(Msg::NoSuchRun, options.project.string(), wanted.run, runs.back().id));
    wanted.run = run->id;
    LATHE_TRY_ASSIGN(const auto models, project.models());
    const auto row = std::find_if(models.begin(), models.end(),
                                  [&run](const store::ModelRow& model) { return model.id == run->model; });
    if (row == models.end())
        return makeError(Errc::BadFile, say(Msg::NoModelOfRun, options.project.string(), run->id));
    LATHE_TRY_ASSIGN(options.model, modelSpecFromJson(row->options));
    options.target = run->target;
    options.readOnly = true;
    LATHE_TRY_ASSIGN(auto model, loadModelOf(options.project, options.model, options.target));
    LATHE_TRY_ASSIGN(ReplayScript script, ReplayScript::open(options.project, *run, *model));
    std::vector<RunView> views;
    for (const store::SessionRow& other : runs)
        views.push_back({other.id,
                         other.target,
                         other.startedMs,
                         other.activeSeconds,
                         other.state,
                         other.options,
                         kUnknown,
                         {},
                         {}});
    return std::unique_ptr<TuningSession>(
        std::make_unique<ReplaySession>(std::move(options), std::move(model), *run, std::move(views),
                                        static_cast<std::size_t>(run - runs.begin()), std::move(script)));
}

Error notInReplay(std::string_view what)
{
    return makeError(Errc::InvalidArgument, say(Msg::ReplayRefuses, phrase(what)));
}

} // namespace lathe::session
