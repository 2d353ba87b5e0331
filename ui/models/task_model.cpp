#include "ui/models/task_model.h"

#include "core/session/roofline.h"

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr qsizetype kMostGains = 2000; ///< of a task's curve

QString number(double value, int decimals)
{
    return std::isfinite(value) ? QString::number(value, 'f', decimals) : QStringLiteral("–");
}

QString shapes(const std::vector<session::TensorView>& tensors)
{
    QStringList parts;
    for (const auto& tensor : tensors) {
        QStringList dims;
        for (const auto dim : tensor.shape)
            dims << QString::number(dim);
        parts << dims.join(QStringLiteral("×"));
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace

void TaskModel::setTasks(std::vector<session::TaskView> tasks)
{
    beginResetModel();
    m_tasks = std::move(tasks);
    m_histories.assign(m_tasks.size(), {});
    m_budgets.assign(m_tasks.size(), {});
    updateShares();
    endResetModel();
}

void TaskModel::updateTasks(std::vector<session::TaskView> tasks)
{
    if (tasks.size() != m_tasks.size() || tasks.empty())
        return;
    m_tasks = std::move(tasks);
    updateShares();
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

double TaskModel::estimatedMs() const
{
    double total = 0;
    for (const auto& task : m_tasks)
        total += task.bestMs * task.weight;
    return m_tasks.empty() ? session::kUnknown : total;
}

void TaskModel::updateShares()
{
    double total = 0;
    for (const auto& task : m_tasks)
        total += std::isfinite(task.bestMs) ? task.bestMs * task.weight : 0;
    for (auto& task : m_tasks)
        task.share = task.bestMs * task.weight / total;
}

void TaskModel::forgetRun()
{
    for (auto& task : m_tasks) {
        task.bestMs = task.gflops = session::kUnknown;
        task.trials = task.errors = 0;
        task.bestAlternative.clear();
        task.state = session::TaskState::Untuned; // what the device can do at most stays known
    }
    m_histories.assign(m_tasks.size(), {});
    m_budgets.assign(m_tasks.size(), {});
}

void TaskModel::apply(const std::vector<session::Event>& events)
{
    // Rows that have changed: the others need not be painted anew.
    int first = rowCount(), last = -1;
    const auto touch = [&first, &last](int row) {
        first = std::min(first, row);
        last = std::max(last, row);
    };
    const auto touchAll = [&] {
        first = 0;
        last = rowCount() - 1;
    };
    const auto rest = [&] { // no task is active any more
        for (auto& task : m_tasks)
            if (task.state == session::TaskState::Active) {
                task.state = session::TaskState::Waiting;
                touch(static_cast<int>(&task - m_tasks.data()));
            }
    };
    for (const session::Event& event : events) {
        if (const auto* limits = std::get_if<session::LimitsEvent>(&event.what)) {
            session::setLeastMs(m_tasks, limits->limits);
            touchAll();
        }
        if (const auto* read = std::get_if<session::TasksEvent>(&event.what);
            read && read->tasks.size() == m_tasks.size()) {
            for (std::size_t i = 0; i < m_tasks.size(); ++i) {
                const bool active = m_tasks[i].state == session::TaskState::Active;
                m_tasks[i] = read->tasks[i];
                if (active)
                    m_tasks[i].state = session::TaskState::Active;
            }
            touchAll();
        }
        if (const auto* trial = std::get_if<session::TrialEvent>(&event.what)) {
            if (trial->trial.task < 0 || trial->trial.task >= rowCount())
                continue;
            auto& task = m_tasks[static_cast<std::size_t>(trial->trial.task)];
            ++task.trials;
            task.errors += trial->trial.code != "Ok";
            touch(trial->trial.task);
        } else if (const auto* best = std::get_if<session::BestEvent>(&event.what)) {
            auto& task = m_tasks[static_cast<std::size_t>(best->task)];
            task.bestMs = best->costMs;
            task.gflops = task.flop / best->costMs / 1e6;
            task.bestAlternative = best->alternative;
            QList<double>& history = m_histories[static_cast<std::size_t>(best->task)];
            history << best->costMs;
            if (history.size() > kMostGains) // every second one, but the first and the last
                for (qsizetype i = history.size() - 2; i > 0; i -= 2)
                    history.removeAt(i);
            touchAll(); // shares of all
        } else if (const auto* round = std::get_if<session::RoundEvent>(&event.what)) {
            rest();
            m_tasks[static_cast<std::size_t>(round->task)].state = session::TaskState::Active;
            touch(round->task);
        } else if (const auto* budget = std::get_if<session::BudgetEvent>(&event.what)) {
            m_budgets[static_cast<std::size_t>(budget->task)] = budget->budget;
            touch(budget->task);
        } else if (std::holds_alternative<session::RewindEvent>(event.what)) {
            forgetRun();
            touchAll();
        } else if (const auto* state = std::get_if<session::StateEvent>(&event.what)) {
            if (state->state != session::RunState::Running)
                rest();
        }
    }
    if (last < 0)
        return;
    if (first == 0 && last == rowCount() - 1)
        updateShares();
    emit dataChanged(index(first, 0), index(last, ColumnCount - 1));
}

void TaskModel::setHistory(int task, const QList<double>& bests)
{
    if (task < 0 || task >= rowCount() || !m_histories[static_cast<std::size_t>(task)].isEmpty())
        return;
    m_histories[static_cast<std::size_t>(task)] = bests;
    emit dataChanged(index(task, CurveColumn), index(task, CurveColumn));
}

void TaskModel::setBudget(int task, const session::TaskBudget& budget)
{
    if (task < 0 || task >= rowCount())
        return;
    m_budgets[static_cast<std::size_t>(task)] = budget;
    emit dataChanged(index(task, BudgetColumn), index(task, BudgetColumn));
}

QString TaskModel::budgetText(const session::TaskBudget& budget)
{
    QStringList parts;
    if (budget.pinned)
        parts << tr("pinned");
    if (budget.muted)
        parts << tr("muted");
    if (budget.boost != 1)
        parts << QStringLiteral("×%1").arg(budget.boost);
    if (budget.trialCap > 0)
        parts << QStringLiteral("≤ %1").arg(budget.trialCap);
    return parts.join(QStringLiteral(", "));
}

int TaskModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_tasks.size());
}

int TaskModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant TaskModel::text(const session::TaskView& task, int column) const
{
    switch (column) {
    case NameColumn: return QString::fromStdString(task.name);
    case NumberColumn: return QStringLiteral("#%1").arg(task.id);
    case WeightColumn: return QString::number(task.weight);
    case ShapeColumn: // the first input is the activation; the others are weights or residuals of the same shape
        return (task.inputs.empty() ? QString() : shapes({task.inputs.front()})) + QStringLiteral(" → ")
               + shapes(task.outputs);
    case FlopColumn: return number(task.flop / 1e6, 1);
    case LatencyColumn: return number(task.bestMs, 4);
    case ShareColumn:
        return std::isfinite(task.share) ? number(task.share * 100, 1) + QStringLiteral(" %") : number(task.share, 1);
    case GflopsColumn: return number(task.gflops, 1);
    case LimitColumn:
        if (!std::isfinite(task.lowerBoundMs / task.bestMs))
            return number(task.lowerBoundMs / task.bestMs, 0);
        return session::isEffective(task) ? tr("%1 % eff.").arg(100 * task.lowerBoundMs / task.bestMs, 0, 'f', 0)
                                          : number(100 * task.lowerBoundMs / task.bestMs, 0) + QStringLiteral(" %");
    case TrialsColumn: return QString::number(task.trials);
    case ErrorsColumn: return QString::number(task.errors);
    case BudgetColumn: return budgetText(m_budgets[static_cast<std::size_t>(task.id)]);
    case StateColumn:
        switch (task.state) {
        case session::TaskState::Untuned: return tr("untuned");
        case session::TaskState::Waiting: return tr("waiting");
        case session::TaskState::Active: return tr("active");
        case session::TaskState::Exhausted: return tr("exhausted");
        }
    }
    return {};
}

QVariant TaskModel::sortValue(const session::TaskView& task, int column) const
{
    switch (column) {
    case NumberColumn: return task.id;
    case WeightColumn: return task.weight;
    case FlopColumn: return task.flop;
    case LatencyColumn: return std::isfinite(task.bestMs) ? task.bestMs : 1e30;
    case ShareColumn: return std::isfinite(task.share) ? task.share : -1.0;
    case GflopsColumn: return std::isfinite(task.gflops) ? task.gflops : -1.0;
    case LimitColumn: return std::isfinite(task.lowerBoundMs / task.bestMs) ? task.lowerBoundMs / task.bestMs : -1.0;
    case TrialsColumn: return static_cast<qlonglong>(task.trials);
    case ErrorsColumn: return static_cast<qlonglong>(task.errors);
    default: return text(task, column);
    }
}

QVariant TaskModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::TaskView& task = m_tasks[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole: return text(task, column);
    case SortRole: return sortValue(task, column);
    case TaskIdRole: return task.id;
    case HistoryRole: return QVariant::fromValue(m_histories[static_cast<std::size_t>(index.row())]);
    case Qt::TextAlignmentRole:
        if (column == NameColumn || column == ShapeColumn || column == StateColumn || column == BudgetColumn)
            return QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter);
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return tr("%1\n%2\nbest: %3 ms%4\nkey: %5")
            .arg(QString::fromStdString(task.name), QString::fromStdString(task.description), number(task.bestMs, 4),
                 task.bestAlternative.empty()
                     ? QString()
                     : QStringLiteral(" (%1)").arg(QString::fromStdString(task.bestAlternative)),
                 QString::fromStdString(task.key));
    default: return {};
    }
}

QVariant TaskModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Horizontal && role == Qt::ToolTipRole && section == LimitColumn)
        return tr("The least time that this device's limits allow, relative to the best one. Effective figures (eff.) "
                  "count the\noperations of the direct algorithm; winograd needs fewer, so they may exceed 100 %.");
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn: return tr("Task");
    case NumberColumn: return QStringLiteral("#");
    case WeightColumn: return tr("Weight");
    case ShapeColumn: return tr("Shapes");
    case FlopColumn: return tr("MFLOP");
    case LatencyColumn: return tr("Best (ms)");
    case ShareColumn: return tr("Share");
    case GflopsColumn: return tr("GFLOP/s");
    case LimitColumn: return tr("Of limit");
    case TrialsColumn: return tr("Trials");
    case ErrorsColumn: return tr("Failed");
    case StateColumn: return tr("State");
    case CurveColumn: return tr("Curve");
    case BudgetColumn: return tr("Budget");
    default: return {};
    }
}

} // namespace lathe::ui
