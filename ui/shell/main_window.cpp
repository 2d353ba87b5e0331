#include "ui/shell/main_window.h"

#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"
#include "ui/pages/start_page.h"
#include "ui/shell/action_catalog.h"
#include "ui/shell/window_layout.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>

#include <cmath>

namespace lathe::ui {

namespace {
constexpr int kMaxRecent = 9;
constexpr int kAgeMs = 1000;
}

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent)
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    resize(1280, 800);
    m_workspace = new Workspace(this);
    m_actions = new ActionCatalog(this);
    m_bar = new RunBar(this);
    addToolBar(m_bar);
    m_start = new StartPage(this);
    m_layout = new WindowLayout(*this, *m_workspace, m_start);
    makeActions();
    makeMenus();
    makeStatusBar();
    connectRun();
    connect(m_start, &StartPage::openModelRequested, this, &MainWindow::browseModel);
    connect(m_start, &StartPage::openProjectRequested, this, &MainWindow::browseProject);
    connect(m_start, &StartPage::sourceChosen, this, &MainWindow::openSource);
    connect(m_workspace, &Workspace::issueRaised, this, [this] { m_layout->showPage("issues", false); });
    m_layout->load();
    m_start->setRecent(QSettings().value(QStringLiteral("recent")).toStringList());
    retranslated(this, [this] {
        updateState();
        updateStatus();
    });
}

MainWindow::~MainWindow()
{
    // Pages are children, too, and must go before what they share.
    delete m_layout;
    for (QWidget* child : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
        delete child;
    delete m_workspace;
}

void MainWindow::connectRun()
{
    SessionBridge& bridge = m_workspace->bridge();
    connect(&bridge, &SessionBridge::opening, this, [this](const QString& what) {
        statusBar()->showMessage(tr("Opening %1 …").arg(what));
        setCursor(Qt::BusyCursor);
    });
    const auto openEnded = [this] {
        unsetCursor();
        statusBar()->clearMessage();
    };
    connect(&bridge, &SessionBridge::opened, this, openEnded);
    connect(&bridge, &SessionBridge::openFailed, this, openEnded);
    connect(&bridge, &SessionBridge::opened, this, &MainWindow::onOpened);
    connect(&bridge, &SessionBridge::openFailed, this, &MainWindow::updateState);
    connect(&bridge, &SessionBridge::eventsArrived, this, &MainWindow::updateState);
    connect(m_workspace, &Workspace::figuresChanged, this, &MainWindow::updateStatus);
    connect(m_bar->openAction(), &QAction::triggered, this, &MainWindow::browseModel);
    connect(m_bar->startAction(), &QAction::triggered, this, [this] { startRun(false); });
    connect(m_bar->resumeAction(), &QAction::triggered, this, [this] { startRun(true); });
    connect(m_bar->pauseAction(), &QAction::triggered, this, [&bridge](bool on) { on ? bridge.pause() : bridge.resumeRun(); });
    connect(m_bar->stopAction(), &QAction::triggered, &bridge, &SessionBridge::stop);
    connect(m_bar->exportAction(), &QAction::triggered, this, &MainWindow::exportLibrary);
    connect(m_bar, &RunBar::targetChanged, this, [this] {
        if (m_workspace->session() != nullptr)
            openSource(m_workspace->source());
    });
}

void MainWindow::makeStatusBar()
{
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setMinimumWidth(40);
        made->setContentsMargins(4, 0, 8, 0);
        return made;
    };
    m_latency = label("statusLatency");
    m_counts = label("statusCounts");
    m_age = label("statusAge");
    statusBar()->addWidget(m_latency, 3);
    statusBar()->addWidget(m_counts, 2);
    statusBar()->addPermanentWidget(m_age);
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, &MainWindow::updateStatus);
    timer->start(kAgeMs);
}

void MainWindow::startRun(bool resume)
{
    session::TuneOptions options = m_bar->tuneOptions();
    if (options.seconds <= 0) {
        m_workspace->addIssue(QStringLiteral("InvalidArgument"), tr("budget"), tr("The budget must be a number of minutes above zero"));
        return;
    }
    options.resume = resume;
    if (resume) // the budget counts the whole run: so many minutes more than it has had
        options.seconds += m_workspace->figures().runSeconds;
    else
        m_workspace->clearRun();
    m_layout->showPage("curves", false);
    m_workspace->bridge().start(options);
    updateState();
}

void MainWindow::exportLibrary()
{
    const QString stem = QFileInfo(m_workspace->source().remove(QStringLiteral("zoo:"))).completeBaseName();
    auto* dialog = new ExportDialog(m_workspace->bridge(), QDir::home().filePath(QStringLiteral("lib%1.so").arg(stem)), this);
    dialog->show();
}

void MainWindow::openSource(const QString& source)
{
    if (source.isEmpty())
        return;
    m_workspace->open(source, m_bar->target());
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
    fillRecent();
}

void MainWindow::onOpened()
{
    const QString source = m_workspace->source();
    remember(source);
    m_layout->showWork();
    m_layout->showPage("network");
    setWindowTitle(tr("%1 – Lathe").arg(source.startsWith(QStringLiteral("zoo:")) ? source : QFileInfo(source).fileName()));
    updateState();
}

void MainWindow::updateState()
{
    const session::TuningSession* session = m_workspace->session();
    m_bar->setState(session != nullptr, session == nullptr ? session::RunState::Idle : session->state(), session != nullptr && session->canResume());
    const double eta = m_workspace->figures().etaSeconds;
    m_bar->setRemaining(std::isfinite(eta) ? tr("%1 left").arg(minutesText(eta)) : QString());
}

void MainWindow::updateStatus()
{
    if (m_workspace->session() == nullptr) {
        m_latency->setText(tr("No network is open"));
        m_counts->clear();
        m_age->clear();
        return;
    }
    const Workspace::Figures& figures = m_workspace->figures();
    m_latency->setText(tr("estimated %1   measured %2   untuned %3")
                           .arg(msText(m_workspace->tasks().estimatedMs()), msText(figures.measuredMs), msText(figures.untunedMs)));
    QString counts = tr("%L1 trials").arg(figures.trials);
    if (std::isfinite(figures.trialsPerSecond))
        counts += tr(", %1/s").arg(figures.trialsPerSecond, 0, 'f', 1);
    if (figures.trials > 0)
        counts += tr(", %1 % failed").arg(100.0 * static_cast<double>(figures.failed) / static_cast<double>(figures.trials), 0, 'f', 1);
    m_counts->setText(counts);
    const double age = m_workspace->dataAge();
    m_age->setText(!std::isfinite(age) ? tr("no run yet")
                   : age < 60         ? tr("data %1 s old").arg(age, 0, 'f', age < 10 ? 1 : 0)
                                      : tr("data %1 old").arg(minutesText(age)));
}

void MainWindow::about()
{
    QMessageBox::about(this, tr("About Lathe"),
                       tr("<b>Lathe %1</b><p>Tunes neural networks for the device they will run on.</p><p>Qt %2</p>")
                           .arg(QCoreApplication::applicationVersion(), QLatin1String(qVersion())));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_layout->store();
    m_workspace->bridge().close();
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
