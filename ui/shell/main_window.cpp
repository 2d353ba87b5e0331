#include "ui/shell/main_window.h"

#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/models/issue_model.h"
#include "ui/models/task_model.h"
#include "ui/pages/run_bar.h"
#include "ui/pages/start_page.h"
#include "ui/shell/appearance.h"
#include "ui/views/graph_view.h"
#include "ui/views/latency_chart.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCheckBox>
#include <QCloseEvent>
#include <QDateTime>
#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTableView>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kMaxRecent = 9;

QString ms(double value)
{
    return std::isfinite(value) ? QStringLiteral("%1 ms").arg(value, 0, 'f', 3) : QStringLiteral("–");
}

QString minutes(double seconds)
{
    const auto whole = static_cast<int>(seconds);
    return QStringLiteral("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
}

QTableView* makeTable(const char* name, QAbstractItemModel* model, QWidget* parent)
{
    auto* table = new QTableView(parent);
    table->setObjectName(QLatin1String(name));
    table->setModel(model);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setAlternatingRowColors(true);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setStretchLastSection(true);
    return table;
}

} // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent)
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    m_bridge = new SessionBridge(this);
    m_tasks = new TaskModel(this);
    m_taskOrder = new QSortFilterProxyModel(this);
    m_taskOrder->setSourceModel(m_tasks);
    m_taskOrder->setSortRole(TaskModel::SortRole);
    m_issues = new IssueModel(this);

    m_bar = new RunBar(this);
    addToolBar(m_bar);
    m_start = new StartPage(this);
    m_graph = new GraphView(this);
    m_graph->setObjectName(QStringLiteral("graphView"));
    auto* curves = new QWidget(this);
    m_chart = new LatencyChart(curves);
    m_chart->setObjectName(QStringLiteral("latencyChart"));
    auto* logarithmic = new QCheckBox(tr("Logarithmic"), curves);
    logarithmic->setObjectName(QStringLiteral("chartLogarithmic"));
    auto* summary = new QLabel(m_chart->summary(), curves);
    summary->setObjectName(QStringLiteral("chartSummary"));
    auto* chartRow = new QHBoxLayout;
    chartRow->addWidget(summary, 1);
    chartRow->addWidget(logarithmic);
    auto* chartLayout = new QVBoxLayout(curves);
    chartLayout->addWidget(m_chart, 1);
    chartLayout->addLayout(chartRow);
    connect(logarithmic, &QCheckBox::toggled, m_chart, &LatencyChart::setLogarithmic);
    connect(m_chart, &LatencyChart::summaryChanged, summary, &QLabel::setText);
    m_pages = new QTabWidget(this);
    m_pages->setObjectName(QStringLiteral("pages"));
    m_pages->setDocumentMode(true);
    m_pages->addTab(m_graph, tr("Network"));
    m_pages->addTab(curves, tr("Latency"));
    m_center = new QStackedWidget(this);
    m_center->addWidget(m_start);
    m_center->addWidget(m_pages);
    setCentralWidget(m_center);
    makeDocks();
    makeMenus();
    m_status = new QLabel(this);
    m_status->setObjectName(QStringLiteral("statusLatency"));
    m_counts = new QLabel(this);
    m_counts->setObjectName(QStringLiteral("statusCounts"));
    statusBar()->addWidget(m_status, 1);
    statusBar()->addPermanentWidget(m_counts);

    connect(m_bridge, &SessionBridge::opening, this, [this](const QString& what) {
        statusBar()->showMessage(tr("Opening %1 …").arg(what));
        setCursor(Qt::BusyCursor);
    });
    connect(m_bridge, &SessionBridge::opened, this, &MainWindow::onOpened);
    connect(m_bridge, &SessionBridge::openFailed, this, [this](const QString& what, const QString& text, int code) {
        unsetCursor();
        statusBar()->clearMessage();
        addIssue(QString::fromUtf8(toString(static_cast<Errc>(code)).data()), what, text);
        updateState();
    });
    connect(m_bridge, &SessionBridge::eventsArrived, this, &MainWindow::onEvents);
    connect(m_bridge, &SessionBridge::startFailed, this, [this](const QString& text, int code) {
        addIssue(QString::fromUtf8(toString(static_cast<Errc>(code)).data()), m_source, text);
    });
    connect(m_bridge, &SessionBridge::compiled, this, [this](const session::CompileReport& report) {
        log(tr("Exported %1").arg(QString::fromStdString(report.library.string())));
    });
    connect(m_bridge, &SessionBridge::compileFailed, this, [this](const QString& text, int code) {
        addIssue(QString::fromUtf8(toString(static_cast<Errc>(code)).data()), tr("export"), text);
    });
    connect(m_start, &StartPage::openModelRequested, this, &MainWindow::browseModel);
    connect(m_start, &StartPage::openProjectRequested, this, &MainWindow::browseProject);
    connect(m_start, &StartPage::sourceChosen, this, &MainWindow::openSource);
    connect(m_bar->openAction(), &QAction::triggered, this, &MainWindow::browseModel);
    connect(m_bar->startAction(), &QAction::triggered, this, [this] {
        const session::TuneOptions options = m_bar->tuneOptions();
        if (options.seconds <= 0) {
            addIssue(QStringLiteral("InvalidArgument"), tr("budget"), tr("The budget must be a number of minutes above zero"));
            return;
        }
        m_chart->clear();
        m_trials = m_failed = 0;
        m_pages->setCurrentIndex(1);
        m_bridge->start(options);
        updateState();
    });
    connect(m_bar->resumeAction(), &QAction::triggered, this, [this] {
        session::TuneOptions options = m_bar->tuneOptions();
        options.resume = true;
        // The budget counts the whole run: so many minutes more than it has had.
        options.seconds += m_runSeconds;
        m_pages->setCurrentIndex(1);
        m_bridge->start(options);
        updateState();
    });
    connect(m_bar->pauseAction(), &QAction::triggered, this, [this](bool on) {
        if (on)
            m_bridge->pause();
        else
            m_bridge->resumeRun();
    });
    connect(m_bar->stopAction(), &QAction::triggered, m_bridge, &SessionBridge::stop);
    connect(m_bar->exportAction(), &QAction::triggered, this, [this] {
        const QString stem = QFileInfo(QString(m_source).replace(QStringLiteral("zoo:"), QString())).completeBaseName();
        auto* dialog = new ExportDialog(*m_bridge, QDir::home().filePath(QStringLiteral("lib%1.so").arg(stem)), this);
        dialog->show();
    });
    connect(m_bar, &RunBar::targetChanged, this, [this] {
        if (!m_source.isEmpty())
            openSource(m_source);
    });

    resize(1280, 800);
    QSettings settings;
    m_defaultLayout = saveState();
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("window/layout")).toByteArray());
    m_start->setRecent(settings.value(QStringLiteral("recent")).toStringList());
    updateState();
    updateStatus();
}

MainWindow::~MainWindow()
{
    m_bridge->disconnect(this); // it outlives the models, which are children created after it
}

QDockWidget* MainWindow::addDock(const char* name, const QString& title, QWidget* content, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(QLatin1String(name));
    dock->setWidget(content);
    addDockWidget(area, dock);
    return dock;
}

void MainWindow::makeDocks()
{
    m_taskTable = makeTable("taskTable", m_taskOrder, this);
    m_taskTable->setAccessibleName(tr("Tasks"));
    m_taskTable->setSortingEnabled(true);
    m_taskTable->sortByColumn(-1, Qt::AscendingOrder); // the network's order until a header is clicked
    m_issueTable = makeTable("issueTable", m_issues, this);
    m_issueTable->setAccessibleName(tr("Issues"));
    m_properties = new QTreeWidget(this);
    m_properties->setObjectName(QStringLiteral("properties"));
    m_properties->setAccessibleName(tr("Properties"));
    m_properties->setColumnCount(2);
    m_properties->setHeaderLabels({tr("Property"), tr("Value")});
    m_log = new QPlainTextEdit(this);
    m_log->setObjectName(QStringLiteral("log"));
    m_log->setReadOnly(true);
    m_log->setMaximumBlockCount(5000);
    m_log->setAccessibleName(tr("Log"));

    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    QDockWidget* tasks = addDock("tasksDock", tr("Tasks"), m_taskTable, Qt::BottomDockWidgetArea);
    QDockWidget* issues = addDock("issuesDock", tr("Issues"), m_issueTable, Qt::BottomDockWidgetArea);
    QDockWidget* logs = addDock("logDock", tr("Log"), m_log, Qt::BottomDockWidgetArea);
    QDockWidget* properties = addDock("propertiesDock", tr("Properties"), m_properties, Qt::RightDockWidgetArea);
    tabifyDockWidget(tasks, issues);
    tabifyDockWidget(issues, logs);
    tasks->raise();
    resizeDocks({tasks}, {270}, Qt::Vertical);
    resizeDocks({properties}, {300}, Qt::Horizontal);

    connect(m_taskTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
        if (!m_selecting && current.isValid())
            showTask(current.data(TaskModel::TaskIdRole).toInt());
    });
    connect(m_graph, &GraphView::nodeSelected, this, &MainWindow::showNode);
    connect(m_issueTable, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const int task = index.data(IssueModel::TaskIdRole).toInt(); task >= 0)
            showTask(task);
    });
}

void MainWindow::makeMenus()
{
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(m_bar->openAction());
    QAction* project = file->addAction(tr("Open &project…"), this, &MainWindow::browseProject);
    project->setShortcut(Qt::CTRL | Qt::SHIFT | Qt::Key_O);
    QAction* home = file->addAction(tr("&Start page"), this, [this] { m_center->setCurrentIndex(m_center->currentIndex() == 0 && m_bridge->session() != nullptr ? 1 : 0); });
    home->setShortcut(Qt::CTRL | Qt::Key_Home);
    file->addSeparator();
    file->addAction(m_bar->exportAction());
    file->addSeparator();
    QAction* quit = file->addAction(tr("&Quit"), this, &QWidget::close);
    quit->setShortcut(QKeySequence::Quit);

    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->addActions({m_bar->startAction(), m_bar->resumeAction(), m_bar->pauseAction(), m_bar->stopAction()});

    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (QDockWidget* dock : findChildren<QDockWidget*>())
        view->addAction(dock->toggleViewAction());
    view->addSeparator();
    view->addAction(tr("Zoom to &fit"), Qt::CTRL | Qt::Key_0, m_graph, &GraphView::zoomToFit);
    view->addAction(tr("Restore &default layout"), this, [this] { restoreState(m_defaultLayout); });
    QMenu* theme = view->addMenu(tr("&Appearance"));
    auto* themes = new QActionGroup(this);
    for (const Appearance appearance : {Appearance::System, Appearance::Light, Appearance::Dark}) {
        QAction* a = theme->addAction(appearanceName(appearance));
        a->setCheckable(true);
        a->setChecked(appearance == storedAppearance());
        themes->addAction(a);
        connect(a, &QAction::triggered, this, [appearance] { applyAppearance(appearance); });
    }

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&About Lathe"), this, [this] {
        QMessageBox::about(this, tr("About Lathe"),
                           tr("<b>Lathe %1</b><p>Tunes neural networks for the device they will run on.</p><p>Qt %2</p>")
                               .arg(QCoreApplication::applicationVersion(), QLatin1String(qVersion())));
    });
    help->addAction(tr("About &Qt"), qApp, &QApplication::aboutQt);
}

QString MainWindow::projectFor(const QString& source) const
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

void MainWindow::openSource(const QString& source)
{
    if (source.isEmpty())
        return;
    session::OpenOptions options;
    if (!source.endsWith(QStringLiteral(".lathe")))
        options.model.source = source.toStdString();
    options.target = m_bar->target().toStdString();
    options.project = projectFor(source).toStdString();
    m_source = source;
    m_issues->clear();
    m_bridge->open(options);
    updateState();
}

void MainWindow::browseModel()
{
    openSource(QFileDialog::getOpenFileName(this, tr("Open a model"), {}, tr("ONNX models (*.onnx);;Projects (*.lathe);;All files (*)")));
}

void MainWindow::browseProject()
{
    openSource(QFileDialog::getOpenFileName(this, tr("Open a project"), {}, tr("Projects (*.lathe)")));
}

void MainWindow::remember(const QString& source)
{
    QSettings settings;
    QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
    recent.removeAll(source);
    recent.prepend(source);
    settings.setValue(QStringLiteral("recent"), QStringList(recent.mid(0, kMaxRecent)));
    m_start->setRecent(recent.mid(0, kMaxRecent));
}

void MainWindow::onOpened()
{
    unsetCursor();
    statusBar()->clearMessage();
    const session::TuningSession& session = *m_bridge->session();
    remember(m_source);
    m_graph->setGraph(session.graph());
    m_tasks->setTasks(session.tasks());
    m_taskTable->resizeColumnsToContents();
    m_taskTable->setColumnWidth(TaskModel::NameColumn, std::min(m_taskTable->columnWidth(TaskModel::NameColumn), 340));
    m_taskTable->setColumnWidth(TaskModel::ShapeColumn, std::min(m_taskTable->columnWidth(TaskModel::ShapeColumn), 260));
    m_chart->clear();
    m_properties->clear();
    m_trials = m_failed = 0;
    m_runSeconds = 0;
    m_measuredMs = m_untunedMs = session::kUnknown;
    for (int row = 0; row < m_tasks->rowCount(); ++row) {
        m_trials += m_tasks->task(row).trials;
        m_failed += m_tasks->task(row).errors;
    }
    for (const std::string& notice : session.notices())
        addIssue(QStringLiteral("StoreFailed"), m_source, QString::fromStdString(notice));
    m_center->setCurrentIndex(1);
    m_pages->setCurrentIndex(0);
    setWindowTitle(tr("%1 – Lathe").arg(m_source.startsWith(QStringLiteral("zoo:")) ? m_source : QFileInfo(m_source).fileName()));
    log(tr("Opened %1: %2 tasks, %3 functions that are no task").arg(m_source).arg(m_tasks->rowCount()).arg(session.untuned().size()));
    updateState();
    updateStatus();
}

void MainWindow::onEvents(const std::vector<session::Event>& events)
{
    m_tasks->apply(events);
    for (const session::Event& event : events) {
        m_runSeconds = event.atSeconds;
        if (const auto* trial = std::get_if<session::TrialEvent>(&event.what)) {
            ++m_trials;
            if (trial->trial.code != "Ok") {
                ++m_failed;
                const QString task = trial->trial.task >= 0 ? QString::fromStdString(m_tasks->task(trial->trial.task).name) : QString();
                addIssue(QString::fromStdString(trial->trial.code), task, QString::fromStdString(trial->trial.text), trial->trial.task);
            }
        } else if (const auto* estimate = std::get_if<session::EstimateEvent>(&event.what)) {
            m_chart->addEstimate(event.atSeconds, estimate->ms);
            m_bar->setRemaining(std::isfinite(estimate->etaSeconds) ? tr("%1 left").arg(minutes(estimate->etaSeconds)) : QString());
        } else if (const auto* measured = std::get_if<session::MeasuredEvent>(&event.what)) {
            if (measured->untuned) {
                m_untunedMs = measured->ms;
                m_chart->setBaseline(measured->ms);
            } else {
                m_measuredMs = measured->ms;
                m_chart->addMeasured(event.atSeconds, measured->ms);
            }
            log(measured->untuned ? tr("Whole network, untuned: %1").arg(ms(measured->ms)) : tr("Whole network: %1").arg(ms(measured->ms)));
        } else if (const auto* round = std::get_if<session::RoundEvent>(&event.what)) {
            log(tr("%1  round %2: %3 trials of %4")
                    .arg(minutes(event.atSeconds))
                    .arg(round->index)
                    .arg(round->trials)
                    .arg(QString::fromStdString(m_tasks->task(round->task).name)));
        } else if (const auto* text = std::get_if<session::LogEvent>(&event.what)) {
            log(QString::fromStdString(text->text));
        } else if (const auto* error = std::get_if<session::ErrorEvent>(&event.what)) {
            addIssue(QString::fromUtf8(toString(error->code).data()), tr("run"), QString::fromStdString(error->text));
        } else if (const auto* state = std::get_if<session::StateEvent>(&event.what)) {
            log(QStringLiteral("%1  %2 %3").arg(minutes(event.atSeconds), QString::fromUtf8(toString(state->state).data()), QString::fromStdString(state->text)));
            if (state->state == session::RunState::Failed)
                addIssue(QStringLiteral("Internal"), tr("run"), QString::fromStdString(state->text));
            if (state->state != session::RunState::Running)
                m_bar->setRemaining({});
        }
    }
    updateState();
    updateStatus();
}

void MainWindow::showTask(int task)
{
    m_selecting = true;
    m_graph->selectTask(task);
    for (int row = 0; row < m_taskOrder->rowCount(); ++row) {
        if (m_taskOrder->index(row, 0).data(TaskModel::TaskIdRole).toInt() == task) {
            m_taskTable->selectRow(row);
            break;
        }
    }
    m_selecting = false;
    if (task < 0 || task >= m_tasks->rowCount())
        return;
    const session::TaskView& view = m_tasks->task(task);
    m_properties->clear();
    const auto add = [this](const QString& name, const QString& value) {
        auto* item = new QTreeWidgetItem(m_properties, {name, value});
        item->setToolTip(1, value);
    };
    add(tr("Task"), QString::fromStdString(view.name));
    add(tr("Weight"), QString::number(view.weight));
    add(tr("FLOP"), QString::number(view.flop, 'g', 6));
    add(tr("Best"), ms(view.bestMs));
    add(tr("Algorithm"), QString::fromStdString(view.bestAlternative));
    QStringList alternatives;
    for (const std::string& alternative : view.alternatives)
        alternatives << QString::fromStdString(alternative);
    add(tr("Alternatives"), alternatives.join(QStringLiteral(", ")));
    add(tr("Key"), QString::fromStdString(view.key));
    for (const auto& [era, workload] : view.workloads) {
        auto* item = new QTreeWidgetItem(m_properties, {tr("Workload (%1)").arg(QString::fromStdString(era)), QString::fromStdString(workload.key)});
        for (const QString& line : QString::fromStdString(workload.dag).split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
            auto* child = new QTreeWidgetItem(item, {line});
            child->setFirstColumnSpanned(true);
            child->setToolTip(0, line);
        }
    }
    if (const auto schedule = m_bridge->session()->bestSchedule(task)) {
        const auto text = [this](const QString& title, const std::string& lines) {
            auto* item = new QTreeWidgetItem(m_properties, {title});
            for (const QString& line : QString::fromStdString(lines).split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
                auto* child = new QTreeWidgetItem(item, {line});
                child->setFirstColumnSpanned(true);
                child->setToolTip(0, line);
            }
        };
        text(tr("Loops of the best schedule"), schedule->loops);
        text(tr("Steps"), schedule->steps);
    }
    m_properties->resizeColumnToContents(0);
}

void MainWindow::showNode(int node)
{
    const auto graph = m_bridge->session() != nullptr ? m_bridge->session()->graph() : nullptr;
    if (!graph || node < 0)
        return;
    const session::NodeView& view = graph->nodes[static_cast<std::size_t>(node)];
    if (view.task >= 0)
        showTask(view.task);
    else
        m_properties->clear();
    const auto shape = [](const session::TensorView& tensor) {
        QStringList dims;
        for (const auto dim : tensor.shape)
            dims << QString::number(dim);
        return QStringLiteral("%1 [%2]").arg(QString::fromStdString(tensor.dtype), dims.join(QStringLiteral(", ")));
    };
    auto* item = new QTreeWidgetItem({tr("Node"), QStringLiteral("%1 %2").arg(QString::fromStdString(view.op), QString::fromStdString(view.name))});
    for (const auto& input : view.inputs)
        new QTreeWidgetItem(item, {tr("input %1").arg(QString::fromStdString(input.name)), shape(input)});
    for (const auto& output : view.outputs)
        new QTreeWidgetItem(item, {tr("output"), shape(output)});
    for (const auto& [name, value] : view.attributes)
        new QTreeWidgetItem(item, {QString::fromStdString(name), QString::fromStdString(value)});
    if (!view.reason.empty())
        new QTreeWidgetItem(item, {tr("No task"), QString::fromStdString(view.reason)});
    m_properties->insertTopLevelItem(0, item);
    item->setExpanded(true);
    m_properties->resizeColumnToContents(0);
}

void MainWindow::updateState()
{
    const session::TuningSession* session = m_bridge->session();
    m_bar->setState(session != nullptr, session == nullptr ? session::RunState::Idle : session->state(), session != nullptr && session->canResume());
}

void MainWindow::updateStatus()
{
    if (m_bridge->session() == nullptr) {
        m_status->setText(tr("No network is open"));
        m_counts->clear();
        return;
    }
    m_status->setText(tr("estimated %1   measured %2   untuned %3").arg(ms(m_tasks->estimatedMs()), ms(m_measuredMs), ms(m_untunedMs)));
    m_counts->setText(tr("%1 trials, %2 failed").arg(m_trials).arg(m_failed));
}

void MainWindow::addIssue(const QString& code, const QString& where, const QString& text, int task)
{
    m_issues->add({code, where, text, task, 1});
    if (task >= 0)
        return; // failed trials are part of every search: counted, not pushed to the front
    log(text);
    if (auto* dock = findChild<QDockWidget*>(QStringLiteral("issuesDock"))) {
        dock->show();
        dock->raise();
    }
    m_issueTable->resizeColumnsToContents();
}

void MainWindow::log(const QString& text)
{
    m_log->appendPlainText(QDateTime::currentDateTime().toString(QStringLiteral("HH:mm:ss  ")) + text);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/layout"), saveState());
    m_bridge->close();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty())
        openSource(urls.first().toLocalFile());
}

} // namespace lathe::ui
