#include "core/session/session.h"

#include "core/measure/measurer.h"
#include "core/session/back_ends.h"
#include "core/session/exports/exporter.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/exports/network_bench.h"
#include "core/session/model_limits.h"
#include "core/session/options/options_json.h"
#include "core/session/options/tune_options.h"
#include "core/session/plan/network_layouts.h"
#include "core/session/project/best_schedule.h"
#include "core/session/project/known_model.h"
#include "core/session/project/log_importer.h"
#include "core/session/project/measure_again.h"
#include "core/session/project/project_follower.h"
#include "core/session/project/project_history.h"
#include "core/session/project/remeasure.h"
#include "core/session/project/run_choices.h"
#include "core/session/project/template_log_export.h"
#include "core/session/replay/replay.h"
#include "core/session/roofline.h"
#include "core/session/run/steering.h"
#include "core/session/run/tuning_run.h"
#include "core/session/session_base.h"
#include "core/session/tbb_executor.h"
#include "core/store/log_line.h"
#include "core/store/project.h"
#include "core/support/message.h"
#include "core/templates/user_template.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

namespace lathe::session {

namespace {

class Session final : public SessionBase, public ProjectPart, public ExportPart, public FollowPart, public LayoutPart
{
public:
    Session(OpenOptions options, std::shared_ptr<const LoadedModel> model, std::optional<store::Project> project,
            std::vector<Message> remembered)
        : SessionBase(std::move(options), std::move(model))
        , m_remembered(std::move(remembered))
        , m_executor(makeTbbExecutor())
        , m_project(project ? std::make_unique<store::Project>(*std::move(project)) : nullptr)
        , m_limits(m_model, m_project.get())
    {
    }
    ~Session() override
    {
        m_follower.reset();
        stop();
        wait();
        // A budget that was set after the last round's end.
        if (m_project && !m_project->readOnly())
            for (const auto& [task, budget] : m_steering.takeChanges())
                (void)storeBudget(task, budget); // the session ends: nobody is left to be told
    }

    Result<> registerModel();
    Result<> restoreBudgets();
    Result<> restoreHardware() { return m_limits.restore(); }
    void lookForRuns(); ///< that can be resumed

    std::vector<TaskView> tasks() const override;
    std::vector<Message> notices() const override
    {
        std::vector<Message> notices = m_remembered;
        notices.insert(notices.end(), m_model->notices.begin(), m_model->notices.end());
        if (m_project && !m_project->readOnlyReason().empty())
            notices.push_back(messageOf(m_project->readOnlyError()));
        for (const std::string& refused : loadBackEnds())
            notices.push_back(phrase(refused));
        return notices;
    }
    bool canResume() const override { return m_canResume; }

    void setObserver(SessionObserver* observer) override
    {
        SessionBase::setObserver(observer);
        if (m_follower && observer != nullptr)
            m_follower->begin();
    }
    void followWriter();
    const FollowPart* follow() const override { return m_follower ? this : nullptr; }
    std::optional<ProjectWriter> writer() const override { return m_follower->writer(); }
    std::optional<Message> readOnly() const override
    {
        return m_project && m_project->readOnly() ? std::optional(whyReadOnly()) : std::nullopt;
    }

    Result<> start(TuneOptions options) override;
    ProjectPart* project() override { return this; }
    ExportPart* exports() override { return this; }
    LayoutPart* layouts() override { return this; }
    Result<std::shared_ptr<const NetworkLayouts>> chooseLayouts(const LayoutRequest& request,
                                                                std::stop_token stop) override;

    std::vector<TaskBudget> budgets() const override { return m_steering.budgets(); }
    Result<> setBudget(std::int32_t task, const TaskBudget& budget) override;
    Result<> setRunTimeout(double seconds) override;
    Result<> setRunBudget(double seconds, std::int64_t trials) override
    {
        if (!isActive())
            return makeError(Errc::InvalidArgument, say(Msg::NoRunToChange));
        if (!(seconds >= 0) || !std::isfinite(seconds) || trials < 0)
            return makeError(Errc::InvalidArgument, say(Msg::TimeLimitNotPositive, seconds));
        m_steering.setRunBudget({seconds, trials});
        return {};
    }
    double runTimeout() const override { return m_steering.runTimeout().value_or(TuneOptions().timeoutSeconds); }

    Result<std::vector<RemeasuredTrial>> remeasure(std::span<const std::string> trials, const RemeasureOptions& options,
                                                   const Progress& progress, std::stop_token stop) override;
    Result<VerdictEvent> measureAgain(std::stop_token stop) override;
    bool isRemeasuring() const override
    {
        const std::scoped_lock lock(m_oneAtATime);
        return m_remeasuring;
    }
    Result<LogImport> importLogs(std::span<const std::filesystem::path> files, const Progress& progress,
                                 std::stop_token stop) override;
    Result<LogExport> exportTemplateLog(const std::filesystem::path& file, std::stop_token stop) const override;
    Result<LogPreview> previewLogs(std::span<const std::filesystem::path> files, const Progress& progress,
                                   std::stop_token stop) override;
    Result<> setNote(const std::string& trial, const std::string& text) override;
    std::vector<DeviceView::Limit> hardware() const override { return m_limits.all(); }
    Result<> setHardware(std::string_view name, std::optional<std::int64_t> value) override;

    Result<TuneOptions> usualOptions() const override;
    Result<RunChoices> choices() const override;
    Result<> setChoices(const RunChoices& choices) override;
    Result<std::vector<std::string>> targets() const override;
    Result<ScheduleView> bestSchedule(std::int32_t task) const override;
    Result<std::unique_ptr<History>> history() const override;
    Result<Coverage> coverage(const CompileOptions& options) const override;
    Result<> destination(const CompileOptions& options) const override { return checkExportFiles(options); }
    Result<CompileReport> compile(const CompileOptions& options, const Progress& progress,
                                  std::stop_token stop) override;

private:
    template<typename Measured>
    Result<Measured> alone(const std::function<Result<Measured>(store::Project& writer)>& measure);
    /// A reader's own connection, so that views never wait for the run's writer.
    Result<store::Project> reader() const
    {
        return store::Project::open(m_project->file(), store::Project::Access::Read);
    }
    std::map<std::string, std::int32_t> taskIndices() const;
    bool isActive() const;
    /// As it is now: the writer may have ended, or be another one.
    Message whyReadOnly() const
    {
        if (!m_follower)
            return m_project->readOnlyReason().empty() ? say(Msg::ProjectReadOnly)
                                                       : messageOf(m_project->readOnlyError());
        const std::optional<ProjectWriter> now = m_follower->writer();
        return now ? say(Msg::ReadOnlyWriter, m_project->file().string(), sayWriter(*now))
                   : say(Msg::WriterEnded, m_project->file().string());
    }
    Error refusal() const { return makeError(Errc::StoreFailed, whyReadOnly()); }
    Result<> storeBudget(std::int32_t task, const TaskBudget& budget);

    const std::vector<Message> m_remembered; ///< what the project said of how the model is opened
    std::unique_ptr<Executor> m_executor;
    std::unique_ptr<store::Project> m_project;
    std::int64_t m_modelRow = 0;
    Steering m_steering;
    ModelLimits m_limits;
    mutable std::mutex m_oneAtATime; ///< a run, or trials that are measured again
    bool m_remeasuring = false;
    std::atomic<bool> m_canResume = false; ///< kept, since views ask ten times a second
    std::unique_ptr<ProjectFollower> m_follower; ///< null: nobody is followed
};

/// With a connection that writes, while no run goes on or starts, and nothing else is measured.
template<typename Measured>
Result<Measured> Session::alone(const std::function<Result<Measured>(store::Project& writer)>& measure)
{
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectToMeasure));
    if (m_project->readOnly())
        return refusal();
    {
        const std::scoped_lock lock(m_oneAtATime);
        if (isActive())
            return makeError(Errc::InvalidArgument, say(Msg::RunGoesOnMeasure));
        if (std::exchange(m_remeasuring, true))
            return makeError(Errc::InvalidArgument, say(Msg::MeasuringGoesOn));
    }
    const auto work = [&]() -> Result<Measured> {
        LATHE_TRY_ASSIGN(store::Project writer, m_project->beside());
        return measure(writer);
    };
    auto measured = work();
    const std::scoped_lock lock(m_oneAtATime);
    m_remeasuring = false;
    return measured;
}

std::map<std::string, std::int32_t> Session::taskIndices() const
{
    std::map<std::string, std::int32_t> indices;
    for (std::size_t i = 0; i < m_model->partition.tasks.size(); ++i)
        indices[m_model->partition.tasks[i].key] = static_cast<std::int32_t>(i);
    return indices;
}

Result<> Session::registerModel()
{
    if (!m_project)
        return {};
    LATHE_TRY_ASSIGN(m_modelRow, enterModel(*m_model, *m_project));
    return {};
}

std::vector<TaskView> Session::tasks() const
{
    std::vector<TaskView> views = viewTasks(*m_model);
    if (!m_project)
        return views;
    auto project = reader();
    if (!project)
        return views;
    const auto indices = taskIndices();
    double total = 0;
    if (const auto best = chooseRecords(*m_model, *project, {})) {
        for (const auto& [key, row] : *best) {
            const auto index = indices.find(key);
            if (index == indices.end())
                continue;
            TaskView& view = views[static_cast<std::size_t>(index->second)];
            view.bestMs = row.costNs * 1e-6;
            view.gflops = view.flop / row.costNs;
            view.bestAlternative = row.alternative;
            view.state = TaskState::Waiting;
            total += view.bestMs * view.weight;
        }
    }
    setLeastMs(views, latestLimits(*project, m_model->target.text()));
    for (TaskView& view : views) {
        view.share = view.bestMs * view.weight / total;
        if (const auto totals = project->totals(view.key)) {
            view.trials = totals->trials;
            view.errors = totals->errors;
        }
    }
    return views;
}

void Session::lookForRuns()
{
    if (!m_project || m_project->readOnly())
        return;
    const auto project = reader();
    const auto sessions = project ? project->sessions() : Result<std::vector<store::SessionRow>>(project.error());
    if (sessions) // else the next one that writes says what is wrong
        m_canResume = std::any_of(sessions->begin(), sessions->end(), [this](const store::SessionRow& row) {
            return row.model == m_modelRow && row.target == m_model->target.text() && row.state != "finished";
        });
}

/// Where another program holds the project.
void Session::followWriter()
{
    if (m_project && m_project->lockedOut())
        m_follower = std::make_unique<ProjectFollower>(m_project->file(), m_modelRow, m_model, m_control,
                                                       [this] { return tasks(); });
}

bool Session::isActive() const
{
    return session::isActive(m_control.state());
}

Result<> Session::restoreBudgets()
{
    std::vector<TaskBudget> budgets(m_model->partition.tasks.size());
    if (m_project) {
        const auto indices = taskIndices();
        LATHE_TRY_ASSIGN(const auto rows, m_project->budgets(m_modelRow));
        for (const store::BudgetRow& row : rows)
            if (const auto index = indices.find(row.task); index != indices.end())
                budgets[static_cast<std::size_t>(index->second)] = {row.pinned, row.muted, row.boost, row.trialCap};
    }
    m_steering.restore(std::move(budgets));
    return {};
}

Result<> Session::storeBudget(std::int32_t task, const TaskBudget& budget)
{
    return m_project->setBudget({m_modelRow, m_model->partition.tasks[static_cast<std::size_t>(task)].key,
                                 budget.pinned, budget.muted, budget.boost, budget.trialCap});
}

Result<> Session::setBudget(std::int32_t task, const TaskBudget& budget)
{
    if (task < 0 || task >= static_cast<std::int32_t>(m_model->partition.tasks.size()))
        return makeError(Errc::InvalidArgument, say(Msg::NoTask, task));
    if (!(budget.boost > 0) || !std::isfinite(budget.boost))
        return makeError(Errc::InvalidArgument, say(Msg::BoostNotPositive, budget.boost));
    if (budget.trialCap < 0)
        return makeError(Errc::InvalidArgument, say(Msg::NoNumberOfTrials, budget.trialCap));
    if (m_project && m_project->readOnly())
        return refusal();
    m_steering.setBudget(task, budget);
    // While a run goes on its thread writes to the project; else this one may.
    if (isActive() || !m_project)
        return {};
    wait();
    for (const auto& [changed, value] : m_steering.takeChanges())
        LATHE_TRY(storeBudget(changed, value));
    return {};
}

Result<> Session::setHardware(std::string_view name, std::optional<std::int64_t> value)
{
    if (isActive() || isRemeasuring())
        return makeError(Errc::InvalidArgument, say(Msg::LimitsWhileRunning));
    if (m_project && m_project->readOnly())
        return refusal();
    wait();
    return m_limits.set(name, value);
}

Result<> Session::setRunTimeout(double seconds)
{
    if (!(seconds > 0) || !std::isfinite(seconds))
        return makeError(Errc::InvalidArgument, say(Msg::TimeLimitNotPositive, seconds));
    m_steering.setRunTimeout(seconds);
    return {};
}

Result<std::vector<RemeasuredTrial>> Session::remeasure(std::span<const std::string> trials,
                                                        const RemeasureOptions& options, const Progress& progress,
                                                        std::stop_token stop)
{
    RemeasureOptions wanted = options;
    if (!(wanted.timeoutSeconds > 0))
        wanted.timeoutSeconds = runTimeout();
    return alone<std::vector<RemeasuredTrial>>([&](store::Project& writer) {
        return remeasureTrials(*m_limits.model(), writer, wanted, trials, progress, stop);
    });
}

Result<VerdictEvent> Session::measureAgain(std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const std::vector<Event> events, alone<std::vector<Event>>([&](store::Project& writer) {
                         return measureNetworkAgain(m_limits.model(), writer, m_modelRow, tasks(),
                                                    latestLimits(writer, m_model->target.text()), stop);
                     }));
    m_control.tell(events);
    return std::get<VerdictEvent>(events.back().what);
}

Result<LogExport> Session::exportTemplateLog(const std::filesystem::path& file, std::stop_token stop) const
{
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectNoRecords));
    LATHE_TRY_ASSIGN(const store::Project project, reader());
    return writeTemplateLog(*m_model, project, file, std::move(stop));
}

Result<LogImport> Session::importLogs(std::span<const std::filesystem::path> files, const Progress& progress,
                                      std::stop_token stop)
{
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectToImport));
    if (m_project->readOnly())
        return refusal();
    LATHE_TRY_ASSIGN(store::Project writer, m_project->beside());
    return importTuningLogs(*m_model, writer, files, progress, std::move(stop));
}

Result<LogPreview> Session::previewLogs(std::span<const std::filesystem::path> files, const Progress& progress,
                                        std::stop_token stop)
{
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectToImport));
    LATHE_TRY_ASSIGN(const store::Project project, reader());
    return previewTuningLogs(*m_model, project, files, progress, std::move(stop));
}

Result<> Session::setNote(const std::string& trial, const std::string& text)
{
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectToNote));
    if (m_project->readOnly())
        return refusal();
    LATHE_TRY_ASSIGN(store::Project writer, m_project->beside());
    if (!trial.empty())
        LATHE_TRY(writer.record(trial));
    return writer.setNote(trial.empty() ? std::string(store::kProjectNote) : store::noteOf(trial), text);
}

Result<> Session::start(TuneOptions options)
{
    const std::scoped_lock lock(m_oneAtATime);
    if (m_remeasuring)
        return makeError(Errc::InvalidArgument, say(Msg::MeasuringBeforeRun));
    if (m_project && m_project->readOnly())
        return refusal();
    if (isActive())
        return makeError(Errc::InvalidArgument, say(Msg::RunGoesOn));
    LATHE_TRY(check(options));
    if (options.broker.empty() && !options.resume)
        LATHE_TRY(measure::checkMeasurable(m_model->target));
    if (!options.resume) // else the run's own counts
        LATHE_TRY(checkPolicy(m_model->target, options.policy));
    wait();
    RunSetup setup;
    setup.model = m_limits.model();
    setup.project = m_project.get();
    setup.modelRow = m_modelRow;
    setup.options = std::move(options);
    setup.executor = m_executor.get();
    setup.control = &m_control;
    setup.steering = &m_steering;
    const BackendTraits& traits = m_model->target.traits();
    if (traits.libraries && traits.standsFor.empty() && (traits.runsHere || !setup.options.broker.empty()))
        setup.measureNetwork = [bench = std::make_shared<NetworkBench>([this] { return m_limits.model(); },
                                                                       m_project.get())](const NetworkRequest& request,
                                                                                         std::stop_token stop) {
            return bench->measure(request, std::move(stop));
        };
    setup.deviceOpened = [this](std::string_view device) { return m_limits.deviceOpened(device); };
    m_control.requestPause(false);
    m_control.setState(RunState::Starting);
    begin([this, setup = std::move(setup)](std::stop_token stop) mutable {
        TuningRun run(std::move(setup));
        (void)run.run(stop); // a failure is the run's last StateEvent
        lookForRuns();
    });
    return {};
}

Result<TuneOptions> Session::usualOptions() const
{
    TuneOptions usual;
    if (m_project) {
        LATHE_TRY_ASSIGN(const auto project, reader());
        LATHE_TRY_ASSIGN(usual, usualOptionsOf(project, m_modelRow, m_model->target.text()));
    }
    return forTarget(m_model->target, std::move(usual));
}

Result<RunChoices> Session::choices() const
{
    if (!m_project)
        return RunChoices();
    LATHE_TRY_ASSIGN(const auto project, reader());
    return choicesOf(project);
}

Result<> Session::setChoices(const RunChoices& choices)
{
    if (!m_project)
        return {};
    if (m_project->readOnly())
        return refusal();
    LATHE_TRY_ASSIGN(store::Project writer, m_project->beside());
    return keepChoices(writer, choices);
}

Result<std::vector<std::string>> Session::targets() const
{
    if (!m_project)
        return std::vector<std::string>();
    LATHE_TRY_ASSIGN(const auto project, reader());
    LATHE_TRY_ASSIGN(auto targets, project.targets());
    std::erase_if(targets, [](const std::string& target) { return target.starts_with(store::kImportedTarget); });
    return targets;
}

Result<ScheduleView> Session::bestSchedule(std::int32_t task) const
{
    if (task < 0 || task >= static_cast<std::int32_t>(m_model->partition.tasks.size()))
        return makeError(Errc::InvalidArgument, say(Msg::NoTask, task));
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectNoRecords));
    LATHE_TRY_ASSIGN(const auto project, reader());
    return bestScheduleOf(*m_model, project, m_model->partition.tasks[static_cast<std::size_t>(task)]);
}

Result<std::unique_ptr<History>> Session::history() const
{
    if (!m_project)
        return makeError(Errc::NotFound, say(Msg::NoProjectNoHistory));
    return openHistory({m_project->file(), m_modelRow, m_limits.model(), nullptr});
}

Result<Coverage> Session::coverage(const CompileOptions& options) const
{
    std::optional<store::Project> project;
    if (m_project) {
        LATHE_TRY_ASSIGN(project, reader());
    }
    const auto model = m_limits.model();
    LATHE_TRY_ASSIGN(AppliedLogs applied, recordsOfFiles(*model, options));
    return coverageOf(*model, project ? &*project : nullptr,
                      {{}, options.strict, layoutChoiceOf(options),
                       std::make_shared<const AppliedLogs>(std::move(applied))});
}

Result<CompileReport> Session::compile(const CompileOptions& options, const Progress& progress, std::stop_token stop)
{
    std::optional<store::Project> project; // that keeps what conversions take, where this program may write to it
    if (m_project) {
        LATHE_TRY_ASSIGN(project, m_project->readOnly() ? reader() : m_project->beside());
    }
    LATHE_TRY_ASSIGN(const ModelVariants variants, loadVariants(m_limits.model(), m_options.variants));
    return exportLibrary(variants, project ? &*project : nullptr, options, progress, stop);
}

Result<std::shared_ptr<const NetworkLayouts>> Session::chooseLayouts(const LayoutRequest& request, std::stop_token stop)
{
    if (!m_project && request.options.logs.empty())
        return makeError(Errc::NotFound, say(Msg::NoProjectNoRecords));
    const auto choose = [&](const store::Project* project) {
        return chooseNetworkLayouts(m_limits.model(), project, request, stop);
    };
    if (!m_project)
        return choose(nullptr);
    if (request.measures && !m_project->readOnly())
        return alone<std::shared_ptr<const NetworkLayouts>>([&](store::Project& writer) { return choose(&writer); });
    LATHE_TRY_ASSIGN(const store::Project project, reader());
    return choose(&project);
}

} // namespace

Result<std::unique_ptr<TuningSession>> TuningSession::open(OpenOptions options)
{
    for (const std::string& file : options.templateFiles) {
        LATHE_TRY_ASSIGN(auto own, templates::readTemplateFile(file));
        LATHE_TRY(templates::addUserTemplate(std::move(own)));
    }
    if (options.replay)
        return openReplay(std::move(options));
    settleSource(options.model);
    if (options.target.empty()) {
        LATHE_TRY_ASSIGN(options.target, latestTarget(options.project));
        if (options.target.empty())
            options.target = kDefaultTarget;
    }
    // A model that is named is read first, so that one that cannot be read leaves no empty project behind.
    std::shared_ptr<const LoadedModel> model;
    std::vector<Message> remembered;
    if (!options.model.source.empty()) {
        LATHE_TRY_ASSIGN(options.model, withSizesOfProject(std::move(options.model), options.project, remembered));
        LATHE_TRY_ASSIGN(model, loadModel(options.model, options.target));
    }
    std::optional<store::Project> project;
    if (!options.project.empty()) {
        const auto access = options.readOnly ? store::Project::Access::Read : store::Project::Access::Write;
        LATHE_TRY_ASSIGN(project, store::Project::open(options.project, access));
    }
    if (!model) {
        if (!project)
            return makeError(Errc::InvalidArgument, say(Msg::SayWhichModel));
        LATHE_TRY_ASSIGN(const auto models, project->models());
        if (models.empty())
            return makeError(Errc::NotFound, say(Msg::ProjectWithoutModel, options.project.string()));
        LATHE_TRY_ASSIGN(ModelSpec last, modelSpecFromJson(models.back().options));
        if (saysSizes(options.model)) { // a variant of it
            takeSizes(options.model, last);
            LATHE_TRY_ASSIGN(last, withSizesOfProject(std::move(last), options.project, remembered));
        }
        options.model = std::move(last);
        LATHE_TRY_ASSIGN(model, loadModelOf(options.project, options.model, options.target));
    }
    auto session = std::make_unique<Session>(std::move(options), std::move(model), std::move(project),
                                             std::move(remembered));
    LATHE_TRY(session->registerModel());
    LATHE_TRY(session->restoreBudgets());
    LATHE_TRY(session->restoreHardware());
    session->lookForRuns();
    session->followWriter();
    return std::unique_ptr<TuningSession>(std::move(session));
}

} // namespace lathe::session
