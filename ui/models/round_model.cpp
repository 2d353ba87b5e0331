#include "ui/models/round_model.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::ui {

namespace {

constexpr std::size_t kMostBand = 4000;

/// What the strategy decided by: Lathe's gain per second, or the reference's gradient, which is the less the better.
double promise(const RoundModel::Round& round)
{
    const double gain = round.terms["gain_per_second"];
    return std::isfinite(gain) ? gain : round.terms["gradient"];
}

/// Of a second; per second of search, where it is a gain.
QString small(double seconds)
{
    if (!std::isfinite(seconds))
        return QStringLiteral("–");
    return std::abs(seconds) >= 0.9995e-3 ? QCoreApplication::translate("Texts", "%1 ms").arg(seconds * 1e3, 0, 'f', 2)
                                          : QCoreApplication::translate("Texts", "%1 µs").arg(seconds * 1e6, 0, 'f', 1);
}

} // namespace

RoundModel& RoundModel::of(Workspace& workspace)
{
    if (auto* model = workspace.findChild<RoundModel*>(QString(), Qt::FindDirectChildrenOnly))
        return *model;
    return *new RoundModel(workspace);
}

RoundModel::RoundModel(Workspace& workspace)
    : QAbstractTableModel(&workspace)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("roundModel"));
    connect(&workspace.bridge(), &SessionBridge::opened, this, &RoundModel::onOpened);
    connect(&workspace.bridge(), &SessionBridge::closed, this, [this] {
        m_reader.setHistory(nullptr);
        m_reading = false;
        m_early.clear();
        clear();
    });
    connect(&workspace.bridge(), &SessionBridge::eventsArrived, this, &RoundModel::onEvents);
    connect(&workspace, &Workspace::runCleared, this, &RoundModel::clear);
    if (workspace.session() != nullptr)
        onOpened();
}

void RoundModel::clear()
{
    m_kept.clear();
    m_keptBest = session::kUnknown;
    beginResetModel();
    m_rounds.clear();
    m_measured.clear();
    m_finals.clear();
    m_timePieces.clear();
    m_time = {};
    m_band.clear();
    m_network = {};
    m_eta = m_forecastLow = m_forecastHigh = session::kUnknown;
    m_seconds = 0;
    m_open = false;
    endResetModel();
    emit changed();
}

void RoundModel::onOpened()
{
    m_taskNames.clear();
    for (int i = 0; i < m_workspace.tasks().rowCount(); ++i)
        m_taskNames << QString::fromStdString(m_workspace.tasks().task(i).name);
    m_early.clear();
    m_reading = false;
    clear();
    auto history = m_workspace.session()->history();
    if (!history)
        return; // without a project there is nothing to read
    m_reader.setHistory(*std::move(history));
    struct Stored
    {
        session::RunView run;
        std::vector<session::RoundView> rounds;
    };
    m_reader.ask(
        [](session::History& reader, std::stop_token) -> Result<Stored> {
            LATHE_TRY_ASSIGN(auto runs, reader.runs());
            if (runs.empty())
                return Stored{};
            LATHE_TRY_ASSIGN(auto rounds, reader.rounds(runs.back().id));
            return Stored{std::move(runs.back()), std::move(rounds)};
        },
        [this](Result<Stored> stored) {
            m_reading = false;
            if (!stored)
                m_workspace.addIssue(tr("scheduler"), stored.error());
            else if (m_rounds.empty()) // else a run has begun meanwhile
                takeStored(stored->run, stored->rounds);
            takeEarly();
        });
    m_reading = m_workspace.follow() != nullptr;
}

void RoundModel::takeStored(const session::RunView& run, const std::vector<session::RoundView>& rounds)
{
    beginResetModel();
    m_rounds.reserve(rounds.size());
    for (const session::RoundView& round : rounds) {
        m_rounds.push_back({round.index, round.task, round.trials, NamedNumbers(round.terms),
                            NamedNumbers(round.time.activities), &shared(round.reason), round.atSeconds,
                            round.estimateMs, round.bestMs, round.tasksMs, round.rejected});
        m_time += round.time;
        if (std::isfinite(round.lowMs) && std::isfinite(round.highMs))
            m_band.push_back({round.atSeconds, round.lowMs, round.highMs});
    }
    m_network = session::networkLatency(run);
    m_seconds = run.activeSeconds;
    for (const session::RunView::Finals& finals : run.finals) {
        m_finals.push_back({finals.atSeconds, finals.ms});
        addPiece(finals.atSeconds, finals.time);
    }
    for (const auto& [at, rest] : run.rests)
        addPiece(at, rest);
    m_measured = run.measured;
    showTurns();
    std::vector<QList<double>> gains(static_cast<std::size_t>(m_workspace.tasks().rowCount()));
    for (const Round& round : m_rounds) {
        if (round.task < 0 || static_cast<std::size_t>(round.task) >= gains.size() || !std::isfinite(round.bestMs))
            continue;
        QList<double>& task = gains[static_cast<std::size_t>(round.task)];
        if (task.isEmpty() || round.bestMs < task.last())
            task << round.bestMs;
    }
    for (std::size_t i = 0; i < gains.size(); ++i)
        m_workspace.tasks().setHistory(static_cast<int>(i), gains[i]);
    endResetModel();
    emit changed();
}

/// What came of a run that is followed while its history was read, as far as that does not hold it.
void RoundModel::takeEarly()
{
    const int rounds = m_rounds.empty() ? -1 : m_rounds.back().index;
    double known = m_rounds.empty() ? -1 : m_rounds.back().atSeconds;
    for (const Measured& measured : m_measured)
        known = std::max(known, measured.atSeconds);
    for (const Finals& finals : m_finals)
        known = std::max(known, finals.atSeconds);
    for (const TimePiece& piece : m_timePieces)
        known = std::max(known, piece.atSeconds);
    std::vector<session::Event> early = std::exchange(m_early, {});
    std::erase_if(early, [&](const session::Event& event) {
        if (const auto* begun = std::get_if<session::RoundEvent>(&event.what))
            return begun->index <= rounds;
        if (const auto* trial = std::get_if<session::TrialEvent>(&event.what))
            return trial->trial.round <= rounds;
        const bool stored = std::holds_alternative<session::RoundDoneEvent>(event.what)
                            || std::holds_alternative<session::MeasuredEvent>(event.what)
                            || std::holds_alternative<session::FinalsEvent>(event.what)
                            || std::holds_alternative<session::DoneEvent>(event.what);
        return stored && event.atSeconds <= known;
    });
    if (!early.empty())
        onEvents(early);
}

/// The latest figure of the whole network is the one that all places show.
void RoundModel::showTurns()
{
    if (m_network.inTurns && !m_measured.empty())
        m_measured.back().ms = m_network.ms;
}

void RoundModel::addPiece(double at, const session::TimeSpent& time)
{
    if (time.activities.empty())
        return;
    const auto later = std::find_if(m_timePieces.begin(), m_timePieces.end(),
                                    [at](const TimePiece& piece) { return piece.atSeconds > at; });
    m_timePieces.insert(later, {at, NamedNumbers(time.activities)});
    m_time += time;
}

void RoundModel::setHeld(bool held)
{
    if (std::exchange(m_held, held) == held)
        return;
    if (!held)
        take(std::exchange(m_kept, {}));
    emit heldChanged(held);
}

/// Of the trials only those that are the best of their round so far: an hour of them would fill the memory.
void RoundModel::keep(const std::vector<session::Event>& events)
{
    for (const session::Event& event : events) {
        if (std::holds_alternative<session::RoundEvent>(event.what))
            m_keptBest = session::kUnknown;
        if (const auto* trial = std::get_if<session::TrialEvent>(&event.what)) {
            if (trial->trial.code != "Ok" || trial->trial.costMs >= m_keptBest)
                continue;
            m_keptBest = trial->trial.costMs;
        }
        m_kept.push_back(event);
    }
}

void RoundModel::onEvents(const std::vector<session::Event>& events)
{
    if (m_reading)
        m_early.insert(m_early.end(), events.begin(), events.end());
    else if (m_held && !m_rounds.empty())
        keep(events);
    else
        take(events);
}

void RoundModel::take(const std::vector<session::Event>& events)
{
    for (const session::Event& event : events) {
        if (std::holds_alternative<session::RewindEvent>(event.what))
            clear();
        if (!std::holds_alternative<session::WriterEvent>(event.what)) // its time says nothing
            m_seconds = std::max(m_seconds, event.atSeconds);
        if (const auto* begun = std::get_if<session::RoundEvent>(&event.what)) {
            Round round{begun->index,           begun->task,    begun->trials, NamedNumbers(begun->terms), {},
                        &shared(begun->reason), event.atSeconds};
            const bool again = !m_rounds.empty() && m_rounds.back().index == begun->index;
            if (!again)
                beginInsertRows({}, 0, 0);
            if (again)
                m_rounds.back() = round;
            else
                m_rounds.push_back(round);
            if (!again)
                endInsertRows();
            m_open = true;
        } else if (const auto* done = std::get_if<session::RoundDoneEvent>(&event.what)) {
            if (m_rounds.empty() || m_rounds.back().index != done->index)
                continue;
            Round& round = m_rounds.back();
            round.trials = done->trials;
            round.activitySeconds = NamedNumbers(done->time.activities);
            m_time += done->time;
            round.estimateMs = done->estimateMs;
            round.rejected = done->rejected;
            round.atSeconds = event.atSeconds;
            m_open = false;
            emit dataChanged(index(0, 0), index(0, ColumnCount - 1));
        } else if (const auto* trial = std::get_if<session::TrialEvent>(&event.what)) {
            if (!m_rounds.empty() && trial->trial.round == m_rounds.back().index && trial->trial.code == "Ok") {
                double& best = m_rounds.back().bestMs;
                best = std::isnan(best) ? trial->trial.costMs : std::min(best, trial->trial.costMs);
            }
        } else if (const auto* measured = std::get_if<session::MeasuredEvent>(&event.what)) {
            m_network.take(*measured);
            if (!measured->untuned)
                m_measured.push_back({event.atSeconds, measured->ms, measured->estimated});
        } else if (const auto* verdict = std::get_if<session::VerdictEvent>(&event.what)) {
            m_network.take(*verdict);
            showTurns();
        } else if (const auto* finals = std::get_if<session::FinalsEvent>(&event.what)) {
            m_finals.push_back({event.atSeconds, finals->afterMs});
            addPiece(event.atSeconds, finals->time);
        } else if (const auto* end = std::get_if<session::DoneEvent>(&event.what)) {
            addPiece(event.atSeconds, end->rest);
        } else if (const auto* estimate = std::get_if<session::EstimateEvent>(&event.what)) {
            if (std::isfinite(estimate->low) && std::isfinite(estimate->high))
                m_band.push_back({event.atSeconds, estimate->low, estimate->high});
            if (m_band.size() > kMostBand) { // every second one, but the first and the last
                std::size_t kept = 1;
                for (std::size_t i = 2; i < m_band.size(); i += 2)
                    m_band[kept++] = m_band[i];
                m_band.resize(kept);
            }
            if (!m_rounds.empty() && m_rounds.back().atSeconds == event.atSeconds)
                m_rounds.back().tasksMs = estimate->tasksMs;
            m_eta = estimate->etaSeconds;
            m_forecastLow = estimate->forecastLow;
            m_forecastHigh = estimate->forecastHigh;
        } else if (const auto* state = std::get_if<session::StateEvent>(&event.what)) {
            using session::RunState;
            if (state->state != RunState::Running && state->state != RunState::Pausing
                && state->state != RunState::Paused) // what is left stands still in a pause
                m_eta = session::kUnknown;
        }
    }
    emit changed();
}

QString RoundModel::taskName(int task) const
{
    return task >= 0 && task < m_taskNames.size() ? m_taskNames[task] : tr("another network's task");
}

double RoundModel::estimateAt(double seconds) const
{
    double at = 0, ms = session::kUnknown;
    auto round = std::upper_bound(m_rounds.begin(), m_rounds.end(), seconds,
                                  [](double time, const Round& r) { return time < r.atSeconds; });
    while (round != m_rounds.begin() && std::isnan(ms))
        if (--round; std::isfinite(round->estimateMs)) {
            at = round->atSeconds;
            ms = round->estimateMs;
        }
    for (const Finals& finals : m_finals)
        if (finals.atSeconds <= seconds && finals.atSeconds >= at && std::isfinite(finals.ms))
            ms = finals.ms;
    return ms;
}

QString RoundModel::forecast() const
{
    const double now = estimateAt(m_seconds);
    QStringList parts;
    if (std::isfinite(m_eta))
        parts << tr("%1 left").arg(minutesText(m_eta));
    if (!std::isfinite(now))
        return parts.join(QString());
    if (std::isfinite(m_eta) && std::isfinite(m_forecastLow) && std::isfinite(m_forecastHigh))
        parts << tr("likely %1").arg(msRangeText(m_forecastLow, m_forecastHigh));
    const double window = std::min(300.0, m_seconds / 2);
    const double before = estimateAt(m_seconds - window);
    if (std::isfinite(before) && window >= 5 && now <= before) // finals may have taken back what was luck
        parts << (window >= 120 ? tr("the last %1 min gained %2 %")
                                      .arg(window / 60, 0, 'f', 0)
                                      .arg(100 * (before - now) / before, 0, 'f', 1)
                                : tr("the last %1 s gained %2 %")
                                      .arg(window, 0, 'f', 0)
                                      .arg(100 * (before - now) / before, 0, 'f', 1));
    return parts.join(QStringLiteral(", "));
}

qint64 RoundModel::trials() const
{
    qint64 sum = 0;
    for (const Round& round : m_rounds)
        sum += round.trials;
    return sum;
}

QString RoundModel::rejectedText() const
{
    qint64 sum = 0;
    for (const Round& round : m_rounds)
        sum += round.rejected;
    return rejected(sum);
}

QString RoundModel::rejected(qint64 count)
{
    if (count <= 0)
        return {};
    return tr("%n candidates were rejected before building: more threads or memory than the device has.", nullptr,
              static_cast<int>(std::min<qint64>(count, std::numeric_limits<int>::max())));
}

QString RoundModel::why(int row) const
{
    return QStringLiteral("%1 %2").arg(whyThisTask(row), rejected(at(row).rejected)).trimmed();
}

QString RoundModel::whyThisTask(int row) const
{
    const Round& round = at(row);
    const QString task = taskName(round.task);
    if (*round.reason == "first")
        return tr("First round of %1: every task gets one.").arg(task);
    QString text;
    if (*round.reason == "pinned")
        text = tr("%1 is pinned, and pinned tasks go first.").arg(task);
    else if (*round.reason == "revived")
        text = tr("All tasks had stopped; %1 had the largest expected gain.").arg(task);
    else if (*round.reason == "continued")
        text = tr("The round was interrupted with its run and continued.");
    const double gain = round.terms["gain_per_second"];
    if (std::isfinite(gain)) {
        text += QLatin1Char(' ')
                + tr("%1 was expected to make the network %2 faster per second of search.").arg(task, small(gain));
        text += QLatin1Char(' ')
                + tr("Weight %1; its last rounds gained %2 each, about %3 more can be gained; a round takes %4 s.")
                      .arg(round.terms["weight"])
                      .arg(small(round.terms["recent"]), small(round.terms["potential"]))
                      .arg(round.terms["round_seconds"], 0, 'f', 1);
    } else if (std::isfinite(round.terms["gradient"])) {
        text += QLatin1Char(' ')
                + tr("The gradient of the network's latency by %1 was the steepest: %2 (backward %3, forward %4, "
                     "weight %5).")
                      .arg(task, small(round.terms["gradient"]), small(round.terms["backward"]),
                           small(round.terms["forward"]))
                      .arg(round.terms["chain"]);
    } else if (std::isfinite(round.terms["rounds"])) {
        text += QLatin1Char(' ')
                + tr("Tasks take turns; rounds of %1 before: %2.").arg(task).arg(round.terms["rounds"]);
    }
    if (const double next = round.terms["next_best_task"]; std::isfinite(next))
        text += QLatin1Char(' ')
                + tr("Next was %1 with %2.").arg(taskName(static_cast<int>(next)), small(round.terms["next_best"]));
    return text.trimmed();
}

int RoundModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rounds.size());
}

int RoundModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RoundModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Round& round = at(index.row());
    if (role == TaskIdRole)
        return round.task;
    if (role == Qt::TextAlignmentRole) {
        const bool text = index.column() == TaskColumn || index.column() == WhyColumn || index.column() == NextColumn;
        return QVariant::fromValue((text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole)
        return why(index.row());
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case IndexColumn: return QString::number(round.index);
    case AtColumn: return minutesText(round.atSeconds);
    case TaskColumn: return taskName(round.task);
    case TrialsColumn: return QString::number(round.trials);
    case WhyColumn:
        if (*round.reason == "first")
            return tr("its first round");
        if (*round.reason == "pinned")
            return tr("pinned");
        if (*round.reason == "revived")
            return tr("all have stopped");
        if (*round.reason == "continued")
            return tr("was cut short");
        return std::isfinite(promise(round)) ? tr("largest expected gain") : tr("its turn");
    case PromiseColumn: return small(promise(round));
    case NextColumn:
        if (const double next = round.terms["next_best_task"]; std::isfinite(next))
            return QStringLiteral("%1  %2").arg(small(round.terms["next_best"]), taskName(static_cast<int>(next)));
        return QStringLiteral("–");
    case BestColumn: return std::isfinite(round.bestMs) ? QString::number(round.bestMs, 'f', 4) : QStringLiteral("–");
    case EstimateColumn:
        return std::isfinite(round.estimateMs) ? QString::number(round.estimateMs, 'f', 3) : QStringLiteral("–");
    default: return {};
    }
}

QVariant RoundModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
        return {};
    const bool tip = role == Qt::ToolTipRole;
    switch (section) {
    case IndexColumn: return tip ? tr("Rounds of the latest run") : tr("Round");
    case AtColumn: return tip ? tr("Time of the run at its end") : tr("At");
    case TaskColumn: return tip ? tr("Which task got the trials") : tr("Task");
    case TrialsColumn: return tip ? tr("How many trials") : tr("Trials");
    case WhyColumn: return tip ? tr("Why this task") : tr("Why");
    case PromiseColumn:
        return tip ? tr("What decided: expected gain of the network per second of search, or the reference's gradient")
                   : tr("Expected gain");
    case NextColumn: return tip ? tr("Expected gain of the next task in line") : tr("Next in line");
    case BestColumn: return tip ? tr("Fastest trial of the round") : tr("Best (ms)");
    case EstimateColumn: return tip ? tr("Estimated latency of the network after it") : tr("Estimate (ms)");
    default: return {};
    }
}

} // namespace lathe::ui
