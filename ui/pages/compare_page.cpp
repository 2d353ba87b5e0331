#include "ui/pages/compare_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/commands/window_actions.h"
#include "ui/models/command_line.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/program_comparison.h"
#include "ui/pages/task_actions.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QDateTimeEdit>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kComparePageRefreshMs = 5000;

QString settingsKey(const session::TuningSession& session)
{
    return QStringLiteral("compare/")
           + QString::fromLatin1(QString::fromStdString(session.options().project.string()).toUtf8().toHex());
}

} // namespace

ComparePage::ComparePage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("comparePage"));
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("compareSummary"));
    m_summary->setWordWrap(true);
    m_problem = new QLabel(this);
    m_problem->setObjectName(QStringLiteral("compareProblem"));
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::RichText);
    m_problem->setTextInteractionFlags(Qt::TextBrowserInteraction);
    m_problem->hide();
    connect(m_problem, &QLabel::linkActivated, this, [this] {
        std::erase_if(m_baselines, [this](const session::Baseline& baseline) {
            return std::find(m_unreadable.begin(), m_unreadable.end(), baseline) != m_unreadable.end();
        });
        m_unreadable.clear();
        store();
        read();
    });
    const auto button = [this](const char* name) {
        auto* made = new QPushButton(this);
        made->setObjectName(QLatin1String(name));
        return made;
    };
    m_choose = button("compareChoose");
    m_date = button("compareDate");
    m_remove = button("compareRemove");
    m_copy = button("compareCopyCommand");
    m_run = button("compareRun");
    m_runs = new QMenu(m_run);
    m_run->setMenu(m_runs);
    m_device = button("compareDevice");
    m_devices = new QMenu(m_device);
    m_device->setMenu(m_devices);
    makeTables();
    auto* row = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_choose, m_run, m_device, m_date, m_remove})
        row->addWidget(widget);
    row->addStretch(1);
    auto* said = new QHBoxLayout; // the buttons would not fit into one row of a narrow window
    said->addWidget(m_summary, 1);
    said->addWidget(m_copy, 0, Qt::AlignTop);
    m_programs = new ProgramComparison(this);
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("compareTabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_taskTable, QString());
    m_tabs->addTab(m_conditionTable, QString());
    m_tabs->addTab(m_programs, QString());
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(m_standingTable);
    split->addWidget(m_tabs);
    split->setStretchFactor(1, 1);
    split->setSizes({120, 500});
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->addLayout(row);
    layout->addLayout(said);
    layout->addWidget(m_problem);
    layout->addWidget(split, 1);

    m_refresh.setSingleShot(true);
    m_refresh.setInterval(kComparePageRefreshMs);
    connect(&m_refresh, &QTimer::timeout, this, [this] {
        if (!m_reading.isRunning()) // what takes longer is not begun again and again
            read();
    });
    connect(m_choose, &QPushButton::clicked, this, &ComparePage::browse);
    connect(m_date, &QPushButton::clicked, this, &ComparePage::addDate);
    connect(m_remove, &QPushButton::clicked, this, &ComparePage::removeSelected);
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(command()); });
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &ComparePage::restore);
    connect(&m_workspace.bridge(), &SessionBridge::eventsArrived, this, [this] {
        if (isVisible() && !m_refresh.isActive())
            m_refresh.start();
    });
    connect(m_taskTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ComparePage::selectTask);
    connect(m_taskTable, &QTableView::activated, this, [this] { m_tabs->setCurrentWidget(m_programs); });
    connect(&m_workspace.selection(), &Selection::changed, this, [this](const Selection::Place& place) {
        if (place.task < 0 || place.task >= m_workspace.tasks().rowCount())
            return;
        const int at = m_tasks->rowOf(QString::fromStdString(m_workspace.tasks().task(place.task).key));
        if (at >= 0 && at != m_taskTable->currentIndex().row())
            m_taskTable->selectRow(at);
    });
    connect(m_standingTable->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            [this] { m_remove->setEnabled(m_standingTable->currentIndex().row() > 0); });
    retranslated(this, [this] { retranslate(); });
    restore();
}

ComparePage::~ComparePage() = default;

void ComparePage::makeTables()
{
    m_standings = new StandingModel(this);
    m_standingTable = new TableView("compareStandings", this);
    m_standingTable->setModel(m_standings);
    m_tasks = new CompareModel(this);
    m_taskTable = new TableView("compareTable", this);
    m_taskTable->setModel(m_tasks);
    m_conditions = new ConditionModel(this);
    m_conditionTable = new TableView("compareConditions", this);
    m_conditionTable->setModel(m_conditions);
    const int widths[] = {168, 98, 98, 146, 100, 130, 110, 70}; // the first four fit beside both docks
    for (int column = 0; column < StandingModel::ColumnCount; ++column)
        m_standingTable->setColumnWidth(column, widths[column]);
    m_standingTable->restoreColumns();
    connect(m_taskTable, &TableView::menuAboutToShow, this, [this](QMenu* menu, const QModelIndex& row) {
        const QString key = m_tasks->taskKey(row.row());
        for (int task = 0; task < m_workspace.tasks().rowCount(); ++task)
            if (QString::fromStdString(m_workspace.tasks().task(task).key) == key)
                addTaskActions(*menu, m_workspace, task);
    });
    connect(m_standingTable, &TableView::menuAboutToShow, this, [this](QMenu* menu, const QModelIndex& row) {
        m_standingTable->setCurrentIndex(row);
        menu->addSeparator();
        menu->addAction(m_remove->text(), m_remove, &QAbstractButton::click)->setEnabled(m_remove->isEnabled());
    });
    m_taskTable->horizontalHeader()->setStretchLastSection(false); // its columns come and go with the baselines
}

void ComparePage::retranslate()
{
    m_standingTable->setAccessibleName(tr("The open project and its baselines"));
    m_taskTable->setAccessibleName(tr("Tasks now and in the baselines"));
    m_conditionTable->setAccessibleName(tr("Conditions now and in the baselines"));
    m_choose->setText(tr("Add &project…"));
    m_choose->setToolTip(tr("Add another project of the same network"));
    m_run->setText(tr("Add a run"));
    m_run->setAccessibleName(tr("Add a run"));
    m_run->setToolTip(tr("Add a run of this project"));
    m_device->setText(tr("Add a device"));
    m_device->setAccessibleName(tr("Add a device"));
    m_device->setToolTip(tr("Add what this project's runs measured on devices of one kind"));
    m_date->setText(tr("Add a &date…"));
    m_date->setToolTip(tr("Add the state of this project at a point in time"));
    m_remove->setText(tr("&Remove"));
    m_remove->setToolTip(tr("Remove the selected baseline"));
    m_copy->setText(tr("&Copy command line"));
    m_tabs->setTabText(0, tr("&Tasks"));
    m_tabs->setTabText(2, tr("Progra&m"));
    fill({.compared = m_compared});
}

void ComparePage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    read();
}

void ComparePage::contribute(WindowActions& actions)
{
    actions.addCommandLine("copy.compare", QT_TRANSLATE_NOOP("Actions", "Copy command line: co&mpare"), 80,
                           [this](const session::OpenOptions&) { return command(); });
}

QString ComparePage::command() const
{
    QStringList words;
    for (const session::Baseline& baseline : m_baselines)
        words << QString::fromStdString(toString(baseline));
    if (const session::TuningSession* session = m_workspace.session())
        words << QString::fromStdString(session->options().project.string());
    if (words.size() == 1) // nothing is pinned: its runs against each other
        words << QStringLiteral("--runs");
    return compareCommand(words);
}

void ComparePage::browse()
{
    const QStringList files = QFileDialog::getOpenFileNames(this, tr("Compare with projects"), {},
                                                            tr("Projects (*.lathe)"));
    for (const QString& file : files)
        pin({.project = file.toStdString()});
}

void ComparePage::addDate()
{
    auto* dialog = new QDialog(this);
    dialog->setObjectName(QStringLiteral("compareDateDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("State of the project at a point in time"));
    auto* when = new QDateTimeEdit(QDateTime::currentDateTime().addDays(-1), dialog);
    when->setObjectName(QStringLiteral("compareDateEdit"));
    when->setAccessibleName(tr("Time"));
    when->setDisplayFormat(QStringLiteral("yyyy-MM-dd HH:mm"));
    when->setCalendarPopup(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, dialog);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(new QLabel(tr("Use only what was recorded up to this time:"), dialog));
    layout->addWidget(when);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this, dialog, when] {
        if (const session::TuningSession* session = m_workspace.session())
            pin({.project = session->options().project, .untilMs = when->dateTime().toMSecsSinceEpoch()});
        dialog->accept();
    });
    dialog->show();
}

void ComparePage::compareWith(const QString& text)
{
    if (auto baseline = session::parseBaseline(text.toStdString()))
        pin(*baseline);
}

void ComparePage::pin(const session::Baseline& baseline)
{
    if (std::find(m_baselines.begin(), m_baselines.end(), baseline) == m_baselines.end())
        m_baselines.push_back(baseline);
    store();
    read();
}

void ComparePage::removeSelected()
{
    const int row = m_standingTable->currentIndex().row();
    if (row <= 0 || m_compared == nullptr || row >= m_compared->count())
        return;
    std::erase(m_baselines, m_compared->at(row).what);
    store();
    read();
}

void ComparePage::store() const
{
    const session::TuningSession* session = m_workspace.session();
    if (session == nullptr || session->options().project.empty())
        return;
    QStringList words;
    for (const session::Baseline& baseline : m_baselines)
        words << QString::fromStdString(toString(baseline));
    if (words.isEmpty())
        QSettings().remove(settingsKey(*session));
    else
        QSettings().setValue(settingsKey(*session), words);
}

void ComparePage::restore()
{
    m_baselines.clear();
    m_unreadable.clear();
    const session::TuningSession* session = m_workspace.session();
    if (session != nullptr)
        for (const QString& word : QSettings().value(settingsKey(*session)).toStringList())
            if (auto baseline = session::parseBaseline(word.toStdString()))
                m_baselines.push_back(*std::move(baseline));
    fill({});
    read();
}

void ComparePage::read()
{
    const session::TuningSession* session = m_workspace.session();
    if (session == nullptr || session->options().project.empty() || !isVisible())
        return;
    m_reading.drop(); // it is of other baselines, or older
    m_reading = m_jobs.run([project = session->options().project, baselines = m_baselines](
                               const JobLink& link) { return readStandings(project, baselines, link.stopToken()); },
                           [this, project = session->options().project](Standings read) {
                               const session::TuningSession* open = m_workspace.session();
                               if (open == nullptr || open->options().project != project)
                                   return;
                               m_unreadable = std::move(read.unreadable);
                               fill(std::move(read));
                           });
}

/// On a thread.
ComparePage::Standings ComparePage::readStandings(const std::filesystem::path& project,
                                                  const std::vector<session::Baseline>& baselines,
                                                  const std::stop_token& stop)
{
    Standings read;
    const auto compared = std::make_shared<Compared>();
    if (auto now = session::standing(project)) {
        compared->now = *std::move(now);
        read.compared = compared;
    } else {
        read.problems << errorText(now.error());
    }
    for (const session::Baseline& baseline : baselines) {
        if (stop.stop_requested())
            return read;
        auto standing = session::standing(baseline);
        if (standing) {
            compared->baselines.push_back(*std::move(standing));
            continue;
        }
        read.unreadable.push_back(baseline);
        read.problems << tr("%1: %2").arg(comparedName(baseline), errorText(standing.error()));
    }
    if (auto runs = session::listRuns(project))
        read.runs = *std::move(runs);
    if (auto devices = session::listDevices(project))
        read.devices = *std::move(devices);
    return read;
}

void ComparePage::fill(Standings read)
{
    QString task = m_tasks->taskKey(m_taskTable->currentIndex().row());
    if (const int chosen = m_workspace.selection().current().task;
        task.isEmpty() && chosen >= 0 && chosen < m_workspace.tasks().rowCount())
        task = QString::fromStdString(m_workspace.tasks().task(chosen).key);
    const int baseline = m_standingTable->currentIndex().row();
    m_compared = std::move(read.compared);
    m_standings->set(m_compared);
    m_tasks->set(m_compared);
    m_conditions->set(m_compared);
    m_programs->setCompared(m_compared);
    fillRuns(read.runs);
    fillDevices(read.devices);
    m_taskTable->setColumnWidth(CompareModel::TaskColumn, 220);
    for (int i = CompareModel::FixedColumns; i < m_tasks->columnCount(); ++i)
        m_taskTable->setColumnWidth(i, (i - CompareModel::FixedColumns) % 2 == 0 ? 85 : 160);
    m_taskTable->setColumnWidth(CompareModel::WeightColumn, 60);
    m_taskTable->setColumnWidth(CompareModel::NowColumn, 85);
    if (m_tasks->networkColumn() >= 0)
        m_taskTable->setColumnWidth(m_tasks->networkColumn(), 150);
    m_conditionTable->setColumnWidth(0, 200);
    m_conditionTable->setColumnWidth(1, 150);
    for (int i = 2; i < m_conditions->columnCount(); ++i)
        m_conditionTable->setColumnWidth(i, 200);
    m_standingTable->selectRow(std::min(baseline, m_standings->rowCount() - 1));
    if (const int row = m_tasks->rowOf(task); row >= 0)
        m_taskTable->selectRow(row);
    else if (m_tasks->rowCount() > 0)
        m_taskTable->selectRow(0);
    selectTask();
    const session::TuningSession* session = m_workspace.session();
    const bool open = session != nullptr && !session->options().project.empty();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_choose, m_run, m_device, m_date})
        widget->setEnabled(open);
    m_copy->setEnabled(open && !m_baselines.empty());
    m_remove->setEnabled(m_standingTable->currentIndex().row() > 0);
    m_tabs->setTabText(1, m_conditions->differing() > 0 ? tr("Co&nditions (%1 differ)").arg(m_conditions->differing())
                                                        : tr("Co&nditions"));
    QString problem =
        read.problems.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"));
    if (!m_unreadable.empty())
        problem += QStringLiteral(" <a href=\"drop\">%1</a>").arg(tr("Remove what cannot be read"));
    m_problem->setText(problem);
    m_problem->setVisible(!read.problems.isEmpty());
    QString text;
    if (m_compared == nullptr || m_compared->baselines.empty()) {
        text = open ? tr("Add an earlier project, a run, a device or a date to see what became faster or slower.")
                    : tr("Open a network to compare it.");
    } else {
        const session::Comparison c = session::compare(m_compared->baselines.front(), m_compared->now);
        text = c.beforeMs > 0
                   ? tr("Compared with A: %1 before, %2 now (%3), over the tasks with valid records in both.")
                         .arg(msText(c.beforeMs), msText(c.afterMs), changeText(c.afterMs / c.beforeMs))
                   : tr("A and this project have no common task with valid records in both.");
        if (m_conditions->serious() > 0)
            text += QLatin1Char(' ')
                    + tr("Caution: latencies may not be comparable, since conditions differ (%1).")
                          .arg(m_conditions->serious());
    }
    m_summary->setText(text);
}

void ComparePage::fillRuns(const std::vector<session::RunChoice>& runs)
{
    const session::TuningSession* session = m_workspace.session();
    if (session == nullptr || m_runs->isVisible() || (runs.empty() && m_compared != nullptr))
        return;
    m_runs->clear();
    for (const session::RunChoice& run : runs)
        m_runs->addAction(
            tr("Run %1: %2, %3 tuned, %4")
                .arg(run.run)
                .arg(QDateTime::fromMSecsSinceEpoch(run.startedMs).toString(QStringLiteral("yyyy-MM-dd HH:mm")),
                     minutesText(run.activeSeconds), QString::fromStdString(run.modelName)),
            this, [this, project = session->options().project, id = run.run] { pin({.project = project, .run = id}); });
    if (runs.empty())
        m_runs->addAction(tr("This project has no runs yet"))->setEnabled(false);
}

void ComparePage::fillDevices(const std::vector<session::DeviceChoice>& devices)
{
    const session::TuningSession* session = m_workspace.session();
    if (session == nullptr || m_devices->isVisible() || (devices.empty() && m_compared != nullptr))
        return;
    m_devices->clear();
    for (const session::DeviceChoice& device : devices) {
        const std::string called = calledOf(device, devices);
        m_devices->addAction(
            tr("%1: %2").arg(QString::fromStdString(called), deviceTitle(device.name)), this,
            [this, project = session->options().project, called] { pin({.project = project, .device = called}); });
    }
    if (devices.empty())
        m_devices->addAction(tr("This project has no valid trials yet"))->setEnabled(false);
}

void ComparePage::selectTask()
{
    const QString key = m_tasks->taskKey(m_taskTable->currentIndex().row());
    m_programs->setTask(key,
                        m_tasks->index(m_taskTable->currentIndex().row(), CompareModel::TaskColumn).data().toString());
    if (key.isEmpty() || !m_taskTable->hasFocus())
        return;
    for (int row = 0; row < m_workspace.tasks().rowCount(); ++row) {
        const session::TaskView& task = m_workspace.tasks().task(row);
        if (QString::fromStdString(task.key) == key && task.id != m_workspace.selection().current().task)
            m_workspace.selection().selectTask(task.id);
    }
}

} // namespace lathe::ui
