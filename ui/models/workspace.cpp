#include "ui/models/workspace.h"

#include "core/session/options/options_json.h"
#include "ui/bridge/device_list.h"
#include "ui/bridge/farm_link.h"
#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/core_text.h"
#include "ui/models/edits.h"
#include "ui/models/error_advice.h"
#include "ui/models/history_reader.h"
#include "ui/models/import_problems.h"
#include "ui/models/issue_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lathe::ui {

namespace {

constexpr double kPaceSeconds = 30;
constexpr qsizetype kMaxNodes = 4; ///< that a row among the issues names
constexpr qsizetype kMaxCurve = 4000;
constexpr double kReplaySpeed = 10; ///< when it opens

/// "Finished: no candidates left", of a state and what is said about it.
QString stateText(QString state, const QString& said)
{
    state[0] = state[0].toUpper();
    return said.isEmpty() ? state : state + QStringLiteral(": ") + said;
}

/// Whether other sizes of the inputs may help.
bool isAboutSizes(const Error& error)
{
    if (error.code != Errc::InvalidArgument || !error.about)
        return false;
    for (const char* name : {"dimensions", "names", "other", "input", "nodes"})
        if (error.about->find(name) != nullptr)
            return true;
    return false;
}

/// Else its time says nothing.
bool isOfRun(const session::Event& event)
{
    return !std::holds_alternative<session::WriterEvent>(event.what)
           && !std::holds_alternative<session::TasksEvent>(event.what);
}

QString codeText(Errc code)
{
    return QString::fromUtf8(toString(code).data());
}

} // namespace

Workspace::Workspace(QObject* parent)
    : QObject(parent)
{
    m_bridge = new SessionBridge(this);
    m_tasks = new TaskModel(this);
    m_issues = new IssueModel(this);
    m_selection = new Selection(this);
    m_trialJobs = new TrialJobs(*m_bridge, this);
    m_edits = new Edits(*this);
    m_devices = new DeviceList(this);
    m_farm = new FarmLink(this);
    m_reader = new HistoryReader(this);
    connect(m_bridge, &SessionBridge::closed, this, [this] { m_reader->setHistory(nullptr); });
    connect(m_bridge, &SessionBridge::opened, this, &Workspace::onOpened);
    connect(m_bridge, &SessionBridge::eventsArrived, this, &Workspace::onEvents);
    connect(m_trialJobs, &TrialJobs::ended, this, &Workspace::onRemeasured);
    connect(m_trialJobs, &TrialJobs::failed, this,
            [this](const Error& error) { addIssue(tr("measuring again"), error); });
    connect(m_trialJobs, &TrialJobs::gainEnded, this, [this](const Result<>& result) {
        if (!result)
            addIssue(tr("measuring again"), result.error());
    });
    connect(m_trialJobs, &TrialJobs::imported, this, &Workspace::onImported);
    connect(m_trialJobs, &TrialJobs::importFailed, this,
            [this](const Error& error, const std::vector<session::TaskView>& tasks) {
                addIssue(tr("tuning log"), error);
                takeTasks(tasks);
            });
    connect(m_bridge, &SessionBridge::openFailed, this, &Workspace::onOpenFailed);
    connect(m_bridge, &SessionBridge::startFailed, this, [this](const Error& error) { addIssue(m_source, error); });
    connect(m_bridge, &SessionBridge::compileFailed, this,
            [this](const Error& error) { addIssue(tr("export"), error); });
    connect(m_bridge, &SessionBridge::compiled, this, [this](const session::CompileReport& report) {
        log(tr("Exported %1").arg(QString::fromStdString(report.library.string())));
    });
}

Workspace::~Workspace()
{
    m_bridge->disconnect(this); // it may speak up while it ends, when the models are gone
    delete m_edits;
    delete m_trialJobs;
    delete m_bridge;
}

session::TuningSession* Workspace::session() const
{
    return m_bridge->session();
}

QString Workspace::projectFor(const QString& source)
{
    if (source.endsWith(QStringLiteral(".lathe")))
        return source;
    if (!source.startsWith(QStringLiteral("zoo:"))) {
        const QFileInfo info(source);
        if (QFileInfo(info.absolutePath()).isWritable())
            return info.absoluteDir().filePath(info.completeBaseName() + QStringLiteral(".lathe"));
    }
    // Networks of the zoo, and models in folders that cannot be written.
    const QDir folder(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation));
    folder.mkpath(QStringLiteral("."));
    const QString stem = QFileInfo(QString(source).remove(QStringLiteral("zoo:"))).fileName();
    return folder.filePath(stem + QStringLiteral(".lathe"));
}

void Workspace::open(const QString& source, const QString& target, const session::ModelSpec& sizes)
{
    session::OpenOptions options;
    if (!source.endsWith(QStringLiteral(".lathe")))
        options.model.source = source.toStdString();
    session::takeSizes(sizes, options.model);
    options.target = target.toStdString();
    options.project = projectFor(source).toStdString();
    m_asked = source;
    m_clearIssues = true;
    m_bridge->open(options);
}

void Workspace::onOpenFailed(const QString& what, const Error& error)
{
    const QString asked = std::exchange(m_asked, m_source); // which stays open, or comes back
    m_clearIssues = false;
    const std::vector<ImportProblem> problems = importProblems(error.about);
    if (!problems.empty())
        m_refusals[asked] = error.about;
    for (const ImportProblem& problem : problems) {
        const qsizetype more = problem.count - problem.nodes.size();
        const QString nodes = problem.nodes.mid(0, kMaxNodes).join(QStringLiteral(", "));
        const qsizetype unnamed = more + std::max<qsizetype>(0, problem.nodes.size() - kMaxNodes);
        m_issues->add({codeText(error.code),
                       unnamed > 0 ? tr("%1 and %2 more").arg(nodes).arg(unnamed) : nodes,
                       tr("%1 uses unsupported features: %2").arg(QFileInfo(what).fileName(), problem.what),
                       -1,
                       problem.count,
                       {},
                       {IssueAction::Kind::ListUnsupported, asked}});
    }
    if (problems.empty()) {
        IssueModel::Issue issue{codeText(error.code), what, QString::fromStdString(error.message), -1, 1, error.about};
        if (isAboutSizes(error))
            issue.action = {IssueAction::Kind::InputSizes, asked};
        addIssue(issue);
        return;
    }
    log(errorText(error));
    emit issueRaised();
}

/// A remark of a session is no error, unless it says that nothing can be written. Where another program writes, nothing
/// is lost, and the reader's bar tells the rest.
IssueModel::Issue Workspace::noticeOf(const Message& notice) const
{
    const bool unwritten = notice.id == Msg::ReadOnly || notice.id == Msg::ReadOnlyFolder;
    const bool sizes = notice.id == Msg::SizesOfLastTime || notice.id == Msg::BatchSetToOne;
    return {unwritten ? codeText(Errc::StoreFailed) : QLatin1String(kNotice),
            m_source,
            QString::fromStdString(textOf(notice)),
            -1,
            1,
            about(notice),
            sizes ? IssueAction{IssueAction::Kind::InputSizes, m_source} : IssueAction()};
}

void Workspace::openReplay(const QString& project, qint64 run)
{
    session::OpenOptions options;
    options.project = project.toStdString();
    options.replay = session::ReplayOptions{run, kReplaySpeed};
    m_asked = project;
    m_clearIssues = true;
    m_bridge->open(options);
}

session::Replay* Workspace::replay() const
{
    return session() == nullptr ? nullptr : session()->replay();
}

const session::FollowPart* Workspace::follow() const
{
    return session() == nullptr ? nullptr : session()->follow();
}

QString Workspace::whyReadOnly() const
{
    const std::optional<Message> why = session() == nullptr ? std::nullopt : session()->readOnly();
    return why ? coreText(*why) : QString();
}

void Workspace::onOpened()
{
    const session::TuningSession& opened = *m_bridge->session();
    m_source = m_asked;
    if (std::exchange(m_clearIssues, false))
        m_issues->clear();
    m_selection->reset();
    m_tasks->setTasks(m_bridge->openedTasks());
    m_figures = {};
    m_pace.clear();
    m_curve.clear();
    setVerdict({});
    m_lastData.invalidate();
    countTrials();
    readHistory();
    for (const Message& notice : opened.notices())
        addIssue(noticeOf(notice));
    log(tr("Opened %1: %2, %3")
            .arg(m_source, tr("%n tasks", nullptr, m_tasks->rowCount()),
                 tr("%n functions not tuned", nullptr, static_cast<int>(opened.untuned().size()))));
    if (const QString sizes = inputSizesText(opened.inputSizes()); !sizes.isEmpty())
        log(tr("Input sizes: %1").arg(sizes));
    emit figuresChanged();
}

/// Those that the tasks have: all places show one count.
void Workspace::countTrials()
{
    m_figures.trials = m_figures.failed = 0;
    for (int row = 0; row < m_tasks->rowCount(); ++row) {
        m_figures.trials += m_tasks->task(row).trials;
        m_figures.failed += m_tasks->task(row).errors;
    }
}

bool Workspace::hasOtherTargets() const
{
    const auto& targets = m_bridge->openedTargets();
    return session() != nullptr && std::any_of(targets.begin(), targets.end(), [this](const std::string& target) {
               return !target.empty() && target != session()->options().target; // empty: nobody knows whose
           });
}

QString Workspace::targetName() const
{
    return hasOtherTargets() ? targetTitle(session()->options().target) : QString();
}

/// What the latest run of a project that is opened again has measured, and on which device.
void Workspace::readHistory()
{
    auto history = session()->history();
    if (!history || replay() != nullptr)
        return;
    m_figuresCame = false;
    emit deviceKnown({}, {});
    m_reader->setHistory(*std::move(history));
    m_reader->ask([](session::History& reader, std::stop_token) { return reader.runs(); },
                  [this](Result<std::vector<session::RunView>> runs) {
                      m_reader->setHistory(nullptr);
                      // A failure is told by the pages that show more of it; a run that has begun here knows better,
                      // and of one that is followed, what came meanwhile is stored, too.
                      if (!runs || runs->empty() || (m_lastData.isValid() && follow() == nullptr))
                          return;
                      for (const session::RunView& run : *runs) {
                          if (m_figuresCame)
                              break; // what came is of a later minute than what was read
                          m_figures.takeBeside(run.besideMs);
                          const session::NetworkLatency latency = session::networkLatency(run);
                          if (std::isfinite(latency.ms) || std::isfinite(latency.untunedMs))
                              m_figures.network = latency;
                          if (!run.measured.empty())
                              m_figures.measuredParts = run.measured.back().parts;
                      }
                      m_figures.runSeconds = std::max(m_figures.runSeconds, runs->back().activeSeconds);
                      if (const auto options = session::tuneOptionsFromJson(runs->back().options);
                          options && !options->devices.empty())
                          emit deviceKnown(QString::fromStdString(options->devices.front()),
                                           QString::fromStdString(options->broker));
                      if (const session::VerdictEvent& verdict = runs->back().verdict; verdict.isKnown())
                          setVerdict(verdict);
                      emit figuresChanged();
                  });
}

void Workspace::setVerdict(std::optional<session::VerdictEvent> verdict)
{
    std::vector<IssueModel::Issue> found;
    for (const session::Finding& finding : verdict ? verdict->findings : std::vector<session::Finding>()) {
        const bool known = finding.task >= 0 && finding.task < m_tasks->rowCount();
        found.push_back({QString::fromStdString(finding.rule),
                         known ? QString::fromStdString(m_tasks->task(finding.task).name) : tr("network"),
                         QString::fromStdString(textOf(finding.evidence)),
                         known ? finding.task : -1,
                         1,
                         about(finding.evidence),
                         {},
                         about(finding.title),
                         about(finding.cure)});
    }
    m_issues->setDiagnoses(std::move(found));
    m_verdict = std::move(verdict);
    emit verdictChanged();
}

double Workspace::estimatedMs() const
{
    return m_tasks->estimatedMs() + m_figures.besideTasksMs;
}

void Workspace::clearRun()
{
    m_figuresCame = true;
    m_figures.network = {};
    m_figures.measuredParts = {};
    m_figures.besideTasksMs = 0;
    m_pace.clear();
    m_curve.clear();
    setVerdict({});
    emit runCleared();
    emit figuresChanged();
}

double Workspace::dataAge() const
{
    return m_lastData.isValid() ? static_cast<double>(m_lastData.elapsed()) / 1000 : session::kUnknown;
}

void Workspace::onEvents(const std::vector<session::Event>& events)
{
    m_tasks->apply(events);
    m_lastData.start();
    const auto taskName = [this](int task) {
        return task >= 0 && task < m_tasks->rowCount() ? QString::fromStdString(m_tasks->task(task).name) : QString();
    };
    for (const session::Event& event : events) {
        m_figures.runSeconds = isOfRun(event) ? event.atSeconds : m_figures.runSeconds;
        if (std::holds_alternative<session::RewindEvent>(event.what)) {
            m_issues->clear();
            m_figures = {};
            m_pace.clear();
            m_curve.clear();
            setVerdict({});
        }
        if (std::holds_alternative<session::RunBegunEvent>(event.what)) {
            clearRun();
        } else if (std::holds_alternative<session::WriterEvent>(event.what)) {
            emit writerChanged();
        } else if (const auto* trial = std::get_if<session::TrialEvent>(&event.what)) {
            if (trial->trial.code != "Ok") {
                m_issues->add({QString::fromStdString(trial->trial.code), taskName(trial->trial.task),
                               QString::fromStdString(trial->trial.text), trial->trial.task, 1, trial->trial.about});
            }
        } else if (const auto* estimate = std::get_if<session::EstimateEvent>(&event.what)) {
            m_figures.etaSeconds = estimate->etaSeconds;
            m_figures.low = estimate->low;
            m_figures.high = estimate->high;
            if (std::isfinite(estimate->ms) && (m_curve.isEmpty() || m_curve.last().y() != estimate->ms))
                m_curve << QPointF(event.atSeconds, estimate->ms);
            if (m_curve.size() > kMaxCurve)
                for (qsizetype i = m_curve.size() - 2; i > 0; i -= 2)
                    m_curve.removeAt(i);
        } else if (const auto* measured = std::get_if<session::MeasuredEvent>(&event.what)) {
            m_figuresCame = true;
            m_figures.network.take(*measured);
            m_figures.takeBeside(measured->beside());
            log(measured->untuned ? tr("Whole network, untuned: %1").arg(msText(measured->ms))
                                  : tr("Whole network: %1").arg(msText(measured->ms)));
            if (!measured->untuned)
                m_figures.measuredParts = measured->estimated;
            if (!measured->untuned && std::isfinite(measured->estimated.totalMs()))
                log(estimatePartsText(measured->estimated));
        } else if (const auto* verdict = std::get_if<session::VerdictEvent>(&event.what)) {
            m_figuresCame = true;
            m_figures.network.take(*verdict);
            log(coreText(session::sayGain(verdict->gain)));
            setVerdict(*verdict);
        } else if (const auto* round = std::get_if<session::RoundEvent>(&event.what)) {
            log(tr("%1  round %2: %3 of %4")
                    .arg(minutesText(event.atSeconds))
                    .arg(round->index)
                    .arg(tr("%n trials", nullptr, round->trials), taskName(round->task)));
        } else if (const auto* finals = std::get_if<session::FinalsEvent>(&event.what)) {
            log(tr("%1  finals: %2 of %3 in %4; the best changed for %5; estimate %6, before %7")
                    .arg(minutesText(event.atSeconds), tr("%n candidates", nullptr, finals->finalists),
                         tr("%n tasks", nullptr, finals->tasks), tr("%n passes", nullptr, finals->passes),
                         tr("%n tasks", nullptr, finals->changed), msText(finals->afterMs), msText(finals->beforeMs)));
        } else if (const auto* text = std::get_if<session::LogEvent>(&event.what)) {
            log(coreText(text->text, text->about));
        } else if (const auto* error = std::get_if<session::ErrorEvent>(&event.what)) {
            addIssue(tr("run"), Error{.code = error->code, .message = error->text, .about = error->about});
        } else if (const auto* state = std::get_if<session::StateEvent>(&event.what)) {
            const QString said = state->about ? coreText(*state->about) : coreText(phrase(state->text));
            m_figures.progress = state->state == session::RunState::Starting ? said : QString();
            if (m_figures.progress.isEmpty()) // that is for the moment
                log(minutesText(event.atSeconds) + QStringLiteral("  ")
                    + stateText(coreText(phrase(toString(state->state))), said));
            if (state->state == session::RunState::Failed)
                addIssue(tr("run"), Error{.code = Errc::Internal, .message = state->text, .about = state->about});
            if (state->state != session::RunState::Running) {
                m_figures.etaSeconds = session::kUnknown;
                m_pace.clear();
            }
        }
    }
    countTrials();
    m_pace.emplace_back(m_figures.runSeconds, m_figures.trials);
    while (m_pace.size() > 2 && m_pace.front().first < m_figures.runSeconds - kPaceSeconds)
        m_pace.erase(m_pace.begin());
    const double span = m_pace.back().first - m_pace.front().first;
    m_figures.trialsPerSecond = span > 1 ? static_cast<double>(m_pace.back().second - m_pace.front().second) / span
                                         : session::kUnknown;
    emit figuresChanged();
}

QString Workspace::importText(const session::LogImport& done)
{
    QString text = tr("%L1 of %L2 lines imported (tasks: %L3).").arg(done.taken).arg(done.lines).arg(done.tasks);
    if (done.known > 0)
        text += QLatin1Char(' ') + tr("Already present: %L1.").arg(done.known);
    if (const auto skipped = done.skippedLines(); skipped > 0)
        text += QLatin1Char(' ') + tr("Skipped lines: %L1; see the issues.").arg(skipped);
    if (done.foreign > 0)
        text += QLatin1Char(' ')
                + tr("Measured elsewhere by another tuner: %L1. Exports use these only after they are measured again "
                     "here.")
                      .arg(done.foreign);
    return text;
}

void Workspace::onImported(const session::LogImport& done, const std::vector<session::TaskView>& tasks)
{
    for (const session::SkippedLines& lines : done.skipped)
        m_issues->add({codeText(Errc::BadFile),
                       tr("%1, line %2").arg(QString::fromStdString(lines.file)).arg(lines.line),
                       QString::fromStdString(lines.reason), -1,
                       static_cast<int>(std::min<std::int64_t>(lines.count, 1'000'000'000)), lines.about});
    if (done.taken + done.known == 0 && done.skipped.empty())
        m_issues->add({codeText(Errc::BadFile), tr("tuning log"), tr("The files contain no lines of a log"), -1, 1});
    log(importText(done));
    if (done.taken + done.known == 0 || !done.skipped.empty())
        emit issueRaised();
    takeTasks(tasks);
}

void Workspace::takeTasks(const std::vector<session::TaskView>& tasks)
{
    // What a run tells goes before: it does not learn from logs.
    const session::RunState state = session()->state();
    if (!session::isActive(state)) {
        m_tasks->updateTasks(tasks);
        countTrials();
    }
    emit figuresChanged();
}

/// The tasks' figures; trials that are measured again are no part of a run, so that its views do not move.
void Workspace::onRemeasured(const std::vector<session::RemeasuredTrial>& trials)
{
    std::vector<session::Event> events;
    std::map<int, double> best;
    for (const session::RemeasuredTrial& trial : trials) {
        if (trial.trial.empty() || trial.task < 0 || trial.task >= m_tasks->rowCount())
            continue;
        session::TrialEvent event;
        event.trial.id = trial.trial;
        event.trial.task = trial.task;
        event.trial.code = trial.code;
        ++m_figures.trials;
        m_figures.failed += trial.code == "Ok" ? 0 : 1;
        events.push_back({m_figures.runSeconds, event});
        double& bestMs = best.try_emplace(trial.task, m_tasks->task(trial.task).bestMs).first->second;
        if (trial.code == "Ok" && !(trial.costMs >= bestMs))
            events.push_back(
                {m_figures.runSeconds, session::BestEvent{trial.task, bestMs = trial.costMs, trial.alternative}});
    }
    m_tasks->apply(events);
    emit figuresChanged();
}

void Workspace::addIssue(const QString& code, const QString& where, const QString& text, int task)
{
    m_issues->add({code, where, text, task, 1});
    if (task >= 0)
        return; // failed trials are part of every search: counted, not pushed to the front
    log(text);
    emit issueRaised();
}

void Workspace::addIssue(const QString& where, const Error& error, int task)
{
    addIssue({codeText(error.code), where, QString::fromStdString(error.message), task, 1, error.about});
}

void Workspace::addIssue(const IssueModel::Issue& issue)
{
    m_issues->add(issue);
    if (issue.task >= 0)
        return;
    log(coreText(issue.text.toStdString(), issue.about));
    emit issueRaised();
}

void Workspace::log(const QString& text)
{
    emit logged(QDateTime::currentDateTime().toString(QStringLiteral("HH:mm:ss  ")) + text);
}

} // namespace lathe::ui
