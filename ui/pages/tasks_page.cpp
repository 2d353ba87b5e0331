#include "ui/pages/tasks_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/budget_bar.h"
#include "ui/pages/task_actions.h"
#include "ui/views/empty_state.h"
#include "ui/views/share_delegate.h"
#include "ui/views/spacing.h"
#include "ui/views/sparkline_delegate.h"
#include "ui/views/table_view.h"
#include "ui/views/wrap_delegate.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kHeadingMargin = 12, kSortMark = 16; ///< pixels beside a column's heading
constexpr int kNumberMargin = 10;

} // namespace

TasksPage::TasksPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    m_order = new QSortFilterProxyModel(this);
    m_order->setSourceModel(&workspace.tasks());
    m_order->setSortRole(TaskModel::SortRole);
    m_order->setFilterKeyColumn(-1);
    m_order->setFilterCaseSensitivity(Qt::CaseInsensitive);
    auto* filter = new QLineEdit(this);
    filter->setObjectName(QStringLiteral("taskFilter"));
    filter->setClearButtonEnabled(true);
    filter->setAcceptDrops(false); // files are dropped on the window
    connect(filter, &QLineEdit::textChanged, m_order, &QSortFilterProxyModel::setFilterFixedString);
    m_table = new TableView("taskTable", this);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setModel(m_order);
    for (const int column : {TaskModel::NameColumn, TaskModel::BudgetColumn})
        m_table->setItemDelegateForColumn(column, new WrapDelegate(m_table));
    m_table->setItemDelegateForColumn(TaskModel::ShareColumn, new ShareDelegate(m_table));
    m_table->setItemDelegateForColumn(TaskModel::CurveColumn, new SparklineDelegate(TaskModel::HistoryRole, m_table));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(TaskModel::ShareColumn, Qt::DescendingOrder); // equal ones stay in the network's order
    // What a dock of the default width shows: the name in what room is left, then share, latency, curve, budget.
    const std::pair<int, int> widths[] = {
        {TaskModel::NumberColumn, 38},  {TaskModel::NameColumn, 140},  {TaskModel::ShareColumn, 54},
        {TaskModel::LatencyColumn, 62}, {TaskModel::CurveColumn, 46},  {TaskModel::BudgetColumn, 56},
        {TaskModel::TrialsColumn, 60},  {TaskModel::ErrorsColumn, 60}, {TaskModel::StateColumn, 80},
        {TaskModel::GflopsColumn, 72},  {TaskModel::LimitColumn, 64},  {TaskModel::WeightColumn, 64},
        {TaskModel::FlopColumn, 72},    {TaskModel::ShapeColumn, 220}};
    QHeaderView* header = m_table->horizontalHeader();
    int visual = 0;
    for (const auto& [column, width] : widths) {
        // No heading is cut, nor what marks the column that the rows are sorted by.
        const int room = column == TaskModel::ShareColumn ? kSortMark + kHeadingMargin : kHeadingMargin;
        const QString heading = m_order->headerData(column, Qt::Horizontal).toString();
        const int text = header->fontMetrics().horizontalAdvance(heading) + room;
        header->resizeSection(column, std::max(width, text));
        header->moveSection(header->visualIndex(column), visual++);
    }
    m_table->setRoomColumn(TaskModel::NameColumn,
                           {TaskModel::NumberColumn, TaskModel::ShareColumn, TaskModel::LatencyColumn,
                            TaskModel::CurveColumn, TaskModel::BudgetColumn},
                           94);
    m_table->restoreColumns();
    connect(m_order, &QAbstractItemModel::modelReset, this, &TasksPage::fitNumbers);
    fitNumbers();
    fitRowsLater();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kHair);
    layout->addWidget(filter);
    layout->addWidget(m_table);
    layout->addWidget(new BudgetBar(workspace, this));
    setFocusProxy(m_table);
    auto* empty = new EmptyState(m_table, [this, filter]() -> EmptyState::Text {
        if (!filter->text().isEmpty())
            return {tr("No task matches the filter."), {}};
        return m_workspace.session() == nullptr
                   ? EmptyState::Text{tr("Open a network to see its tasks."), QStringLiteral("actionOpen")}
                   : EmptyState::Text{tr("This network has no tasks to tune."), {}};
    });
    connect(&workspace.bridge(), &SessionBridge::opened, empty, &EmptyState::refresh);
    connect(&workspace.bridge(), &SessionBridge::closed, empty, &EmptyState::refresh);
    retranslated(this, [this, filter] {
        filter->setPlaceholderText(tr("Filter the tasks"));
        filter->setAccessibleName(tr("Filter the tasks"));
        m_table->setAccessibleName(tr("Tasks"));
    });

    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (m_following || !current.isValid())
                    return;
                const int task = current.data(TaskModel::TaskIdRole).toInt();
                if (task != m_workspace.selection().current().task)
                    m_workspace.selection().selectTask(task);
            });
    connect(m_table, &TableView::menuAboutToShow, this, [this](QMenu* menu, const QModelIndex& row) {
        addTaskActions(*menu, m_workspace, row.data(TaskModel::TaskIdRole).toInt());
    });
    connect(&workspace.selection(), &Selection::changed, this,
            [this](const Selection::Place& place) { showTask(place.task); });
}

/// No number is cut, however many tasks a network has; who made the column wider keeps it so.
void TasksPage::fitNumbers()
{
    int widest = 0;
    for (int row = 0; row < m_order->rowCount(); ++row) {
        const QString number = m_order->index(row, TaskModel::NumberColumn).data().toString();
        widest = std::max(widest, m_table->fontMetrics().horizontalAdvance(number));
    }
    QHeaderView* const header = m_table->horizontalHeader();
    header->resizeSection(TaskModel::NumberColumn,
                          std::max(header->sectionSize(TaskModel::NumberColumn), widest + kNumberMargin));
}

/// Names and budgets that do not fit into a line take more.
void TasksPage::fitRowsLater()
{
    auto* const soon = new QTimer(this);
    soon->setSingleShot(true);
    soon->setInterval(0);
    const auto ask = [soon] { soon->start(); };
    connect(soon, &QTimer::timeout, this, [this] {
        WrapDelegate::fitRows(*m_table, {TaskModel::NameColumn, TaskModel::BudgetColumn});
    });
    connect(m_order, &QAbstractItemModel::modelReset, soon, ask);
    connect(m_order, &QAbstractItemModel::layoutChanged, soon, ask);
    connect(m_order, &QAbstractItemModel::rowsInserted, soon, ask);
    connect(m_order, &QAbstractItemModel::rowsRemoved, soon, ask);
    connect(m_order, &QAbstractItemModel::dataChanged, soon, ask);
    connect(m_table->horizontalHeader(), &QHeaderView::sectionResized, soon, ask);
    ask();
}

void TasksPage::showTask(int task)
{
    const QScopedValueRollback guard(m_following, true);
    if (task < 0) {
        m_table->clearSelection();
        return;
    }
    for (int row = 0; row < m_order->rowCount(); ++row) {
        if (m_order->index(row, 0).data(TaskModel::TaskIdRole).toInt() == task) {
            m_table->selectRow(row);
            m_table->scrollTo(m_order->index(row, m_table->horizontalHeader()->logicalIndex(0)));
            return;
        }
    }
    m_table->clearSelection(); // filtered out
}

} // namespace lathe::ui
