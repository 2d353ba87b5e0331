#include "ui/pages/records_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/edits.h"
#include "ui/models/history_reader.h"
#include "ui/models/language.h"
#include "ui/models/record_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/pages/record_detail_page.h"
#include "ui/pages/remeasure_bar.h"
#include "ui/pages/scatter_panel.h"
#include "ui/views/empty_state.h"
#include "ui/views/record_table.h"
#include "ui/views/spacing.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QSettings>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kTypingMs = 250;
constexpr int kRecordsPageRefreshMs = 1000; ///< at least, between two looks at a running project
constexpr int kSideBySide = 900; ///< pixels from which the details stand beside the list
constexpr int kOneAboveOther = 640; ///< pixels from which list and chart both have room

} // namespace

RecordsPage::RecordsPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
    , m_filter(TrialFilter::of(workspace))
{
    setObjectName(QStringLiteral("recordsPage"));
    m_exporter = new HistoryReader(this);
    makeTable();
    makeDetail();
    makeEmptyState();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->addWidget(makeFilterBar());
    layout->addWidget(m_splitter, 1);
    layout->addWidget(new RemeasureBar(m_workspace, RemeasureBar::Tells::MeasuredAndImported, this));

    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingMs);
    m_refresh.setSingleShot(true);
    connect(&m_typing, &QTimer::timeout, this, &RecordsPage::applyFilter);
    connect(&m_refresh, &QTimer::timeout, this, &RecordsPage::readAgain);
    connectTable();
    connectModel();
    connectEdits();
    connectWorkspace();
    showFilter();
    updateCount();
    updateProjectNote();
    if (m_workspace.session() != nullptr)
        onOpened();
}

void RecordsPage::makeTable()
{
    m_model = new RecordModel(this);
    m_model->setObjectName(QStringLiteral("recordModel"));
    m_table = new RecordTable("recordTable", this);
    m_table->setModel(m_model);
    retranslated(m_table, [this] { m_model->retranslate(); });
    m_table->setSortingEnabled(false);
    m_table->horizontalHeader()->setSectionsClickable(true);
    m_table->horizontalHeader()->setSortIndicatorShown(true);
    m_table->horizontalHeader()->setSortIndicator(RecordModel::TimeColumn, Qt::DescendingOrder);
    const int widths[] = {145, 210, 106, 100, 110, 80, 150, 60, 60, 80, 200, 160, 80};
    for (int column = 0; column < RecordModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    m_table->horizontalHeader()->setSortIndicator(RecordModel::TimeColumn, Qt::DescendingOrder);
}

void RecordsPage::makeEmptyState()
{
    m_empty = new EmptyState(m_table, [this]() -> EmptyState::Text {
        if (m_workspace.session() == nullptr)
            return {tr("Open a network to see its trials."), QStringLiteral("actionOpen")};
        if (m_model->isReading())
            return {};
        return m_workspace.figures().trials > 0 ? EmptyState::Text{tr("No trial matches the filters."), {}}
                                                : EmptyState::Text{tr("No trials yet. Start a run to see them here."),
                                                                   QStringLiteral("actionStart")};
    });
}

/// The list and its chart, and beside or beneath them one trial in full.
void RecordsPage::makeDetail()
{
    m_detail = new RecordDetailPage(this);
    m_detail->setObjectName(QStringLiteral("recordDetail"));
    m_splitter = new QSplitter(Qt::Vertical, this);
    m_splitter->setObjectName(QStringLiteral("recordSplitter"));
    m_scatter = new ScatterPanel(this);
    m_lists = new QSplitter(Qt::Vertical, this);
    m_lists->setObjectName(QStringLiteral("recordLists"));
    m_lists->addWidget(m_table);
    m_lists->addWidget(m_scatter);
    m_scatter->setVisible(QSettings().value(QStringLiteral("scatter/shown")).toBool());
    m_splitter->addWidget(m_lists);
    m_splitter->addWidget(m_detail);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
}

void RecordsPage::connectTable()
{
    // Clicks on a heading: numbers and times start with what one looks for first.
    connect(m_table->horizontalHeader(), &QHeaderView::sortIndicatorChanged, m_model, &RecordModel::sort);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RecordsPage::selectCurrent);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RecordsPage::updateCount);
    connect(m_table, &TableView::menuAboutToShow, this, [this](QMenu* menu, const QModelIndex& row) {
        fillMenu(*menu, row.data(RecordModel::TaskIdRole).toInt(), row.data(RecordModel::RunIdRole).toLongLong());
    });
    connect(m_table, &RecordTable::exportRequested, this, &RecordsPage::exportRows);
    connect(m_table, &RecordTable::copyRequested, this, &RecordsPage::copyRows);
    connect(m_table, &RecordTable::remeasureRequested, this, &RecordsPage::remeasureSelected);
    connect(m_table, &RecordTable::noteRequested, this, &RecordsPage::writeNote);
    connect(m_table, &RecordTable::remeasureCommandRequested, this, &RecordsPage::copyRemeasureCommand);
    connect(m_table, &RecordTable::exportCommandRequested, this, &RecordsPage::copyExportCommand);
}

void RecordsPage::connectModel()
{
    connect(m_model, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
        const QModelIndex current = m_table->currentIndex();
        m_kept = current.isValid() ? current.data(RecordModel::RowIdRole).toLongLong() : m_kept;
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        if (const int row = m_kept == 0 ? -1 : m_model->find(m_kept); row >= 0)
            m_table->setCurrentIndex(m_model->index(row, 0));
    });
    connect(m_model, &RecordModel::queryStarted, this, &RecordsPage::updateCount);
    connect(m_model, &RecordModel::queryEnded, this, &RecordsPage::updateCount);
    connect(m_model, &RecordModel::queryFailed, this,
            [this](const QString& text) { m_workspace.addIssue(QStringLiteral("StoreFailed"), tr("records"), text); });
    connect(m_scatter, &ScatterPanel::picked, this, &RecordsPage::select);
    connect(m_scatter, &ScatterPanel::menuAboutToShow, this, [this](QMenu* menu, qint64 row) {
        if (row != 0)
            menu->addAction(tr("Show the &trial"), this, [this, row] { select(row); });
    });
}

/// Notes, trials that are measured again or imported.
void RecordsPage::connectEdits()
{
    connect(m_detail, &RecordDetailPage::noteEdited, this,
            [this](const QString& trial, const QString& before, const QString& after) {
                m_workspace.edits().setNote(trial, before, after);
            });
    connect(&m_workspace.edits(), &Edits::noteChanged, this, [this](const QString& trial, const QString& text) {
        updateProjectNote();
        m_detail->setNote(trial, text);
        m_model->forgetNote(trial);
        if (m_filter.query().noted)
            m_model->reread();
    });
    const TrialJobs& jobs = m_workspace.trialJobs();
    connect(&jobs, &TrialJobs::started, this, &RecordsPage::updateCount);
    connect(&jobs, &TrialJobs::failed, this, &RecordsPage::updateCount);
    connect(&jobs, &TrialJobs::imported, this, &RecordsPage::readAgain);
    connect(&jobs, &TrialJobs::importFailed, this, &RecordsPage::readAgain);
    connect(&jobs, &TrialJobs::ended, this, [this] {
        updateCount();
        readAgain();
        if (m_detail->row() != 0)
            m_detail->showRow(m_detail->row()); // it names its repetitions
    });
}

void RecordsPage::connectWorkspace()
{
    connect(m_detail, &RecordDetailPage::shown, this, [this](const QString& trial, int task) {
        if (m_workspace.selection().current().record != trial)
            m_workspace.selection().selectRecord(trial, task);
    });
    connect(&m_workspace.selection(), &Selection::changed, this, &RecordsPage::followSelection);
    connect(&m_filter, &TrialFilter::changed, this, [this] {
        showFilter();
        m_model->setQuery(m_filter.query());
        m_scatter->setQuery(m_filter.query());
    });
    connect(&m_filter, &TrialFilter::showRequested, this, [this] {
        const session::TrialQuery& query = m_filter.query();
        if (!query.cause.empty() || (!query.code.empty() && query.code != "Ok"))
            m_chart->setChecked(false); // what failed has no cost: no point of the chart is one of these
        emit frontRequested();
    });
    connect(&m_filter, &TrialFilter::rowRequested, this, [this](qint64 row) {
        readNow(); // who is shown for the first time has no list yet: the row is chosen when that comes
        select(row);
    });
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &RecordsPage::onOpened);
    connect(&m_workspace.bridge(), &SessionBridge::closing, m_detail, &RecordDetailPage::commitNote);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, &RecordsPage::onClosed);
    connect(&m_workspace.bridge(), &SessionBridge::eventsArrived, this, &RecordsPage::onEvents);
    connect(&m_workspace, &Workspace::writerChanged, this, &RecordsPage::updateCount);
}

RecordsPage::~RecordsPage()
{
    m_table->selectionModel()->disconnect(this);
    m_model->disconnect(this);
}

void RecordsPage::updateProjectNote()
{
    const QString note = m_workspace.edits().projectNote();
    m_projectNote->setText(note);
    m_projectNote->setVisible(!note.isEmpty());
}

void RecordsPage::onOpened()
{
    updateProjectNote();
    const QStringList names = taskNames();
    {
        const QSignalBlocker blocker(m_task);
        m_task->clear();
        m_task->addItem(tr("all tasks"), -1);
        for (int i = 0; i < names.size(); ++i)
            m_task->addItem(names[i], i);
    }
    m_model->setTaskNames(names);
    m_detail->setTaskNames(names);
    m_kept = 0;
    m_open = false;
    m_stale = true;
    m_filter.set({}, false);
    if (isVisible())
        readNow();
}

void RecordsPage::onClosed()
{
    m_exporting = false; // dropped with its reader
    m_model->setHistory(nullptr);
    m_detail->setHistory(nullptr);
    m_exporter->setHistory(nullptr);
    m_scatter->setHistory(nullptr);
}

void RecordsPage::readAgain()
{
    m_stale = true;
    if (isVisible())
        readNow();
}

void RecordsPage::readNow()
{
    session::TuningSession* session = m_workspace.session();
    if (session == nullptr || !std::exchange(m_stale, false))
        return;
    readRuns();
    if (!std::exchange(m_open, true)) {
        const auto open = [session] {
            auto history = session->history();
            return history ? *std::move(history) : nullptr;
        };
        m_detail->setHistory(open());
        m_exporter->setHistory(open());
        m_scatter->setHistory(open());
        m_model->setHistory(open());
    } else {
        m_model->refresh();
        m_scatter->refresh();
    }
}

void RecordsPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    readNow();
}

void RecordsPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

/// On a small screen the chart takes the place of the list: a picked point is shown in full beneath it.
void RecordsPage::arrange()
{
    const bool beside = width() >= kSideBySide;
    m_splitter->setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
    m_table->setVisible(m_scatter->isHidden() || height() >= (beside ? kOneAboveOther * 2 / 3 : kOneAboveOther));
}

void RecordsPage::onEvents(const std::vector<session::Event>& events)
{
    if (std::any_of(events.begin(), events.end(),
                    [](const session::Event& e) { return std::holds_alternative<session::RewindEvent>(e.what); }))
        m_model->setQuery(m_model->query()); // rows have gone
    const bool trials = std::any_of(events.begin(), events.end(), [](const session::Event& e) {
        return std::holds_alternative<session::TrialEvent>(e.what);
    });
    if (!trials || m_refresh.isActive())
        return;
    // A list in another order than that of time is read as a whole: never more than a hundredth of the time.
    m_refresh.start(std::max(kRecordsPageRefreshMs, static_cast<int>(m_model->seconds() * 100 * 1000)));
}

void RecordsPage::selectCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid())
        return;
    const auto row = current.data(RecordModel::RowIdRole).toLongLong();
    if (row == m_detail->row())
        return;
    m_kept = row;
    m_detail->showRow(row);
    m_scatter->setMarked(row);
}

/// A trial that was chosen elsewhere, or on the way back, is shown where the list has it.
void RecordsPage::followSelection()
{
    const QString record = m_workspace.selection().current().record;
    const QModelIndex current = m_table->currentIndex();
    if (record.isEmpty() || (current.isValid() && current.data(RecordModel::TrialIdRole).toString() == record))
        return;
    m_exporter->ask(
        [trial = record.toStdString()](session::History& history, std::stop_token) { return history.rowOf(trial); },
        [this, record](Result<std::int64_t> row) {
            if (row && m_workspace.selection().current().record == record)
                select(*row);
        });
}

void RecordsPage::select(std::int64_t row)
{
    m_kept = row;
    if (const int at = m_model->find(row); at >= 0) {
        m_table->setCurrentIndex(m_model->index(at, 0));
        m_table->scrollTo(m_model->index(at, 0));
    } else {
        m_table->selectionModel()->clear();
        m_kept = row;
        m_detail->showRow(row); // not in the list, or not yet
        m_scatter->setMarked(row);
    }
}

QStringList RecordsPage::taskNames() const
{
    QStringList names;
    for (int i = 0; i < m_workspace.tasks().rowCount(); ++i)
        names << QString::fromStdString(m_workspace.tasks().task(i).name);
    return names;
}

QString RecordsPage::taskName(int task) const
{
    return taskNames().value(task);
}

} // namespace lathe::ui
