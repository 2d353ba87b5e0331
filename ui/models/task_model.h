#pragma once

#include "core/session/events.h"
#include "core/session/views.h"

#include <QAbstractTableModel>
#include <QList>

#include <vector>

namespace lathe::ui {

/// The tasks of the open network with their moving figures. One reset per model opened; a run changes cells in place,
/// one dataChanged per batch of events, from the first to the last row that it moved.
class TaskModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NameColumn,
        WeightColumn,
        FlopColumn,
        LatencyColumn,
        ShareColumn,
        GflopsColumn,
        LimitColumn, ///< part of the roofline that is reached
        TrialsColumn,
        ErrorsColumn,
        StateColumn,
        ShapeColumn,
        CurveColumn, ///< drawn by a delegate from HistoryRole
        BudgetColumn,
        NumberColumn, ///< by which the graph and the properties name it
        ColumnCount
    };
    enum Role
    {
        SortRole = Qt::UserRole, ///< a number where the column holds one
        TaskIdRole,
        HistoryRole ///< QList<double>: the best latency after each gain, in ms
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Figures of the same tasks, read anew: selection, budgets and sparklines stay.
    void updateTasks(std::vector<session::TaskView> tasks);
    void setTasks(std::vector<session::TaskView> tasks);
    void apply(const std::vector<session::Event>& events);
    /// Gains of the run before its events came; no effect on a task that has some.
    void setHistory(int task, const QList<double>& bests);
    void setBudget(int task, const session::TaskBudget& budget);
    const session::TaskBudget& budget(int task) const { return m_budgets[static_cast<std::size_t>(task)]; }
    /// "pinned, ×2, ≤ 500"; empty: nothing in particular.
    static QString budgetText(const session::TaskBudget& budget);

    const session::TaskView& task(int row) const { return m_tasks[static_cast<std::size_t>(row)]; }
    /// Sum of weight x best; NaN while some task has no valid program.
    double estimatedMs() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant text(const session::TaskView& task, int column) const;
    QVariant sortValue(const session::TaskView& task, int column) const;
    void updateShares();
    void forgetRun();
    std::vector<session::TaskView> m_tasks;
    std::vector<QList<double>> m_histories; ///< by task, as the two others
    std::vector<session::TaskBudget> m_budgets;
};

} // namespace lathe::ui
