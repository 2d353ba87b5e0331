#include "ui/pages/records_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/edits.h"
#include "ui/models/error_advice.h"
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
#include "ui/views/record_table.h"

#include <QComboBox>
#include <QDoubleValidator>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSettings>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kTypingMs = 250;
constexpr int kRecordsPageRefreshMs = 1000; ///< at least, between two looks at a running project
constexpr int kSideBySide = 900; ///< pixels from which the details stand beside the list
constexpr int kOneAboveOther = 640; ///< pixels from which list and chart both have room

const char* const kStates[] = {
    "",           "Ok",          "failed",     "IllegalSchedule", "BuildFailed", "BuildTimeout",
    "RunTimeout", "WrongAnswer", "DeviceLost", "WorkerCrashed"};

double number(const QLineEdit* edit)
{
    bool good = false;
    const double value = edit->text().toDouble(&good);
    return good ? value : session::kUnknown;
}

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
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
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
    const int widths[] = {145, 210, 90, 100, 110, 80, 150, 60, 60, 80, 200, 160, 80};
    for (int column = 0; column < RecordModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    m_table->horizontalHeader()->setSortIndicator(RecordModel::TimeColumn, Qt::DescendingOrder);
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
}

RecordsPage::~RecordsPage()
{
    m_table->selectionModel()->disconnect(this);
    m_model->disconnect(this);
}

QWidget* RecordsPage::makeFilterBar()
{
    auto* bar = new QWidget(this);
    auto* rows = new QVBoxLayout(bar);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(3);
    auto* row = new QHBoxLayout;
    auto* second = new QHBoxLayout;
    m_projectNote = new QLabel(bar);
    m_projectNote->setObjectName(QStringLiteral("recordProjectNote"));
    m_projectNote->setWordWrap(true);
    m_projectNote->setTextFormat(Qt::PlainText);
    m_projectNote->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    rows->addWidget(m_projectNote);
    rows->addLayout(row);
    rows->addLayout(second);
    makeFilterFields(bar);
    makeFilterButtons(bar);
    m_count = new QLabel(bar);
    m_count->setObjectName(QStringLiteral("recordCount"));
    auto* dash = new QLabel(QStringLiteral("–"), bar);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_task, m_state, m_min, dash, m_max})
        row->addWidget(widget);
    row->addStretch();
    row->addWidget(m_count);
    row->addWidget(m_chart);
    row->addWidget(m_again);
    row->addWidget(m_export);
    second->addWidget(m_text, 1);
    second->addWidget(m_noted);
    second->addWidget(m_cause);
    second->addWidget(m_clear);
    retranslated(bar, [this] { retranslateFilterBar(); });
    connect(m_task, &QComboBox::currentIndexChanged, this, &RecordsPage::applyFilter);
    connect(m_state, &QComboBox::currentIndexChanged, this, &RecordsPage::applyFilter);
    return bar;
}

void RecordsPage::makeFilterFields(QWidget* bar)
{
    const auto choice = [bar](const char* name, int letters) {
        auto* box = new QComboBox(bar);
        box->setObjectName(QLatin1String(name));
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(letters);
        return box;
    };
    m_task = choice("recordTask", 14);
    m_state = choice("recordState", 8);
    const auto latency = [bar](const char* name) {
        auto* edit = new QLineEdit(bar);
        edit->setObjectName(QLatin1String(name));
        auto* validator = new QDoubleValidator(0, 1e9, 6, edit);
        validator->setLocale(QLocale::c());
        edit->setValidator(validator);
        return edit;
    };
    m_min = latency("recordMin");
    m_max = latency("recordMax");
    m_text = new QLineEdit(bar);
    m_text->setObjectName(QStringLiteral("recordText"));
    m_text->setClearButtonEnabled(true);
    for (QLineEdit* edit : {m_min, m_max, m_text})
        connect(edit, &QLineEdit::textChanged, &m_typing, qOverload<>(&QTimer::start));
    m_cause = new QLabel(bar);
    m_cause->setObjectName(QStringLiteral("recordCause"));
}

void RecordsPage::makeFilterButtons(QWidget* bar)
{
    const auto button = [bar](const char* name, bool checkable) {
        auto* made = new QToolButton(bar);
        made->setObjectName(QLatin1String(name));
        made->setAutoRaise(true);
        made->setCheckable(checkable);
        return made;
    };
    m_clear = button("recordClear", false);
    m_noted = button("recordNoted", true);
    m_again = button("recordAgain", false);
    m_chart = button("recordChart", true);
    m_chart->setChecked(!m_scatter->isHidden());
    m_export = button("recordExport", false);
    connect(m_noted, &QToolButton::toggled, this, &RecordsPage::applyFilter);
    connect(m_chart, &QToolButton::toggled, this, [this](bool on) {
        QSettings().setValue(QStringLiteral("scatter/shown"), on);
        m_scatter->setVisible(on);
        arrange();
    });
    connect(m_again, &QToolButton::clicked, this, &RecordsPage::remeasureSelected);
    connect(m_clear, &QToolButton::clicked, this, [this] { m_filter.set({}, false); });
    connect(m_export, &QToolButton::clicked, this, &RecordsPage::exportRows);
}

void RecordsPage::retranslateFilterBar()
{
    m_task->setAccessibleName(tr("Task"));
    m_state->setAccessibleName(tr("State"));
    m_min->setPlaceholderText(tr("from ms"));
    m_max->setPlaceholderText(tr("to ms"));
    for (QLineEdit* edit : {m_min, m_max})
        edit->setFixedWidth(std::max(60, edit->fontMetrics().horizontalAdvance(edit->placeholderText()) + 14));
    m_min->setAccessibleName(tr("Latency from, in ms"));
    m_max->setAccessibleName(tr("Latency to, in ms"));
    m_noted->setText(tr("Notes"));
    m_noted->setToolTip(tr("Only trials with a note"));
    m_noted->setAccessibleName(tr("Only trials with a note"));
    m_chart->setText(tr("Chart"));
    m_chart->setToolTip(tr("Show the listed trials as points of two of their numbers"));
    m_again->setText(tr("Measure again"));
    m_again->setToolTip(tr("Build and measure the selected trials again; the results are new trials"));
    m_text->setPlaceholderText(tr("Find algorithm, sketch, note, failure text or trial"));
    m_text->setAccessibleName(m_text->placeholderText());
    m_clear->setText(tr("Show all"));
    m_clear->setToolTip(tr("Remove all restrictions"));
    m_export->setText(tr("Export…"));
    m_export->setToolTip(tr("Save the list as CSV or JSON lines"));
    m_table->setAccessibleName(tr("Trials"));
    const QSignalBlocker blocker(m_state);
    const int current = std::max(0, m_state->currentIndex());
    m_state->clear();
    for (const char* code : kStates) {
        const QString name = QLatin1String(code);
        m_state->addItem(name.isEmpty()                     ? tr("any state")
                         : name == QStringLiteral("Ok")     ? tr("valid")
                         : name == QStringLiteral("failed") ? tr("failed")
                                                            : errorAdvice(name).title,
                         name);
    }
    m_state->setCurrentIndex(current);
    if (m_task->count() > 0)
        m_task->setItemText(0, tr("all tasks"));
    updateCount();
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

void RecordsPage::applyFilter()
{
    if (m_showing)
        return;
    session::TrialQuery query = m_filter.query();
    query.task = m_task->currentIndex() > 0 ? m_task->currentData().toInt() : -1;
    const std::string code = m_state->currentData().toString().toStdString();
    if (code != query.code) {
        query.cause.clear();
        query.stage.clear();
    }
    query.code = code;
    query.minMs = number(m_min);
    query.maxMs = number(m_max);
    query.noted = m_noted->isChecked();
    query.text = m_text->text().trimmed().toStdString();
    m_filter.set(query, false);
}

void RecordsPage::showFilter()
{
    m_showing = true;
    const session::TrialQuery& query = m_filter.query();
    m_task->setCurrentIndex(std::max(0, m_task->findData(query.task)));
    m_state->setCurrentIndex(std::max(0, m_state->findData(QString::fromStdString(query.code))));
    const auto show = [](QLineEdit* edit, double value) {
        if (number(edit) != value && !(std::isnan(value) && edit->text().isEmpty()))
            edit->setText(std::isfinite(value) ? QString::number(value) : QString());
    };
    show(m_min, query.minMs);
    show(m_max, query.maxMs);
    m_noted->setChecked(query.noted);
    if (m_text->text().trimmed() != QString::fromStdString(query.text))
        m_text->setText(QString::fromStdString(query.text));
    const QString cause = QString::fromStdString(query.cause);
    m_cause->setVisible(!cause.isEmpty());
    m_cause->setText(fontMetrics().elidedText(cause, Qt::ElideRight, 180));
    m_cause->setToolTip(cause);
    m_typing.stop();
    m_showing = false;
}

void RecordsPage::updateCount()
{
    if (m_count == nullptr)
        return;
    const session::TrialQuery& query = m_filter.query();
    const bool restricted = query.task >= 0 || !query.code.empty() || !query.stage.empty() || !query.cause.empty()
                            || !query.text.empty() || query.noted || std::isfinite(query.minMs)
                            || std::isfinite(query.maxMs);
    const QString count = QLocale().toString(m_model->rowCount());
    m_count->setText(m_model->isReading()       ? tr("reading…")
                     : restricted               ? tr("found: %1").arg(count)
                     : m_model->rowCount() == 1 ? tr("1 record")
                                                : tr("%1 records").arg(count));
    m_clear->setEnabled(restricted);
    m_export->setEnabled(m_model->rowCount() > 0 && !m_exporting);
    m_again->setEnabled(m_table->selectionModel() != nullptr && m_table->selectionModel()->hasSelection()
                        && !m_workspace.trialJobs().isMeasuring());
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
