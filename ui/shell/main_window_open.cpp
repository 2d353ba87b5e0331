#include "ui/bridge/device_list.h"
#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/dialogs/log_preview_dialog.h"
#include "ui/models/import_problems.h"
#include "ui/models/recent_projects.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/page.h"
#include "ui/pages/run_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/model_opener.h"
#include "ui/shell/window_layout.h"

#include <QDateTime>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>

#include <cmath>
#include <utility>

// How models, projects, stored runs and logs come into the window, and what it keeps of them for the start page.

namespace lathe::ui {

void MainWindow::openSource(const QString& source, const QString& target)
{
    if (source.isEmpty())
        return;
    m_resumeWhenOpen = false;
    if (sourceKind(source) == SourceKind::Library) {
        m_workspace->addIssue(QStringLiteral("Unsupported"), QFileInfo(source).fileName(),
                              tr("An exported library cannot be opened; use lathe-cli bench or lathe-cli verify"));
        return;
    }
    if (sourceKind(source) == SourceKind::Log) {
        importLogs({source});
        return;
    }
    if (m_workspace->session() != nullptr)
        remember();
    m_opener->open(source, target.isEmpty() ? targetFor(source) : target);
    updateState();
}

/// A project has its own target; the bar's is for what is begun while nothing is open, or for the network that is.
QString MainWindow::targetFor(const QString& source) const
{
    const bool isOpen = m_workspace->session() != nullptr && m_workspace->source() == source;
    const bool begins = m_workspace->session() == nullptr && !QFileInfo::exists(Workspace::projectFor(source));
    return isOpen || begins ? m_bar->target() : QString();
}

void MainWindow::chooseInputSizes(const QString& source)
{
    m_resumeWhenOpen = false;
    if (m_workspace->session() != nullptr)
        remember();
    m_opener->askFor(source, targetFor(source));
}

void MainWindow::onNotOpened()
{
    m_resumeWhenOpen = false;
    m_waitingLogs.clear();
    if (m_workspace->session() != nullptr) // what stays open
        m_bar->setTarget(QString::fromStdString(m_workspace->session()->options().target));
    updateState();
}

void MainWindow::browseModel()
{
    openSource(QFileDialog::getOpenFileName(this, tr("Open a model"), {},
                                            tr("ONNX models (*.onnx);;Projects (*.lathe);;All files (*)")));
}

void MainWindow::importLogs(const QStringList& files)
{
    if (files.isEmpty())
        return;
    const QString name = QFileInfo(files.first()).fileName();
    const bool opening = m_workspace->bridge().isOpening() || m_opener->isAsking();
    if (m_workspace->session() == nullptr || opening) {
        m_waitingLogs = files;
        if (!opening)
            m_workspace->addIssue(QStringLiteral("InvalidArgument"), name,
                                  tr("Open the network of this log, or its project; then the log is imported into it"));
        return;
    }
    if (m_workspace->replay() != nullptr) {
        m_workspace->addIssue(QStringLiteral("InvalidArgument"), name,
                              tr("A replay is read-only: open the project itself to import a log"));
        return;
    }
    m_layout->showWork();
    auto* preview = new LogPreviewDialog(*m_workspace, files, this);
    connect(preview, &LogPreviewDialog::importWanted, this, [this](const QStringList& wanted) {
        m_lastLogs = wanted;
        m_layout->showFor(Occasion::LogsImported, true);
        m_workspace->trialJobs().importLogs(wanted);
    });
    preview->show();
}

void MainWindow::browseLogs()
{
    importLogs(QFileDialog::getOpenFileNames(this, tr("Import tuning logs"), {},
                                             tr("Tuning logs (*.json *.jsonl *.log);;All files (*)")));
}

void MainWindow::openReplay(const QString& project, qint64 run)
{
    m_resumeWhenOpen = false;
    if (m_workspace->session() != nullptr)
        remember();
    m_workspace->openReplay(project, run);
    updateState();
}

void MainWindow::browseReplay()
{
    const QString project = QFileDialog::getOpenFileName(this, tr("Replay a project's latest run"), {},
                                                         tr("Projects (*.lathe)"));
    if (!project.isEmpty())
        openReplay(project);
}

void MainWindow::browseProject()
{
    openSource(QFileDialog::getOpenFileName(this, tr("Open a project"), {}, tr("Projects (*.lathe)")));
}

void MainWindow::remember()
{
    const session::TuningSession* session = m_workspace->session();
    if (session == nullptr || m_workspace->replay() != nullptr)
        return;
    RecentProject project;
    const QString target = QString::fromStdString(session->options().target);
    const QString sizes = inputSizesText(session->inputSizes());
    for (const RecentProject& known : recentProjects())
        if (known.source == m_workspace->source() && known.target == target && known.sizes == sizes)
            project = known; // what this session has not seen stays as it was; of another target nothing does
    const Workspace::Figures& figures = m_workspace->figures();
    project.source = m_workspace->source();
    project.target = target;
    project.sizes = sizes;
    project.when = QDateTime::currentDateTime();
    project.trials = figures.trials;
    project.failed = figures.failed;
    project.estimatedMs = m_workspace->estimatedMs();
    if (std::isfinite(figures.network.ms))
        project.measuredMs = figures.network.ms;
    if (std::isfinite(figures.network.untunedMs))
        project.untunedMs = figures.network.untunedMs;
    if (session->state() != session::RunState::Idle) {
        project.state = QString::fromUtf8(toString(session->state()).data());
        project.runSeconds = figures.runSeconds;
        if (!m_workspace->curve().isEmpty())
            project.curve = thinned(m_workspace->curve());
    } else if (!session->canResume()) {
        project.state.clear();
    }
    rememberProject(project);
    fillRecent();
}

void MainWindow::onOpened()
{
    m_bar->setTarget(QString::fromStdString(m_workspace->session()->options().target));
    takeChoices();
    m_bar->forgetBudget();
    m_workspace->devices().ensureAsked(); // where nobody could be asked before
    const QString source = m_workspace->source();
    remember();
    m_layout->showWork();
    m_layout->showFor(Occasion::NetworkOpened, true);
    QString name = source.startsWith(QStringLiteral("zoo:")) ? source : QFileInfo(source).fileName();
    if (const QString sizes = inputSizesText(m_workspace->session()->inputSizes()); !sizes.isEmpty())
        name += QStringLiteral(" (%1)").arg(sizes);
    setWindowTitle(m_workspace->replay() != nullptr ? tr("Replay of %1 – Lathe").arg(name)
                                                    : tr("%1 – Lathe").arg(name));
    updateState();
    if (m_workspace->replay() != nullptr) {
        m_layout->showFor(Occasion::RunStarted, true);
        m_workspace->bridge().start({});
        return;
    }
    if (std::exchange(m_resumeWhenOpen, false) && m_workspace->session()->canResume())
        startRun(RunStart::Resume);
    importLogs(std::exchange(m_waitingLogs, {}));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.first().isLocalFile())
        return;
    m_dropHint->setText(tr("Drop to open %1").arg(urls.first().fileName()));
    m_dropHint->setGeometry(centralWidget()->geometry().adjusted(24, 24, -24, -24));
    m_dropHint->raise();
    m_dropHint->show();
    event->acceptProposedAction();
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*)
{
    m_dropHint->hide();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    m_dropHint->hide();
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty())
        return;
    event->acceptProposedAction();
    QStringList logs, sources;
    for (const QUrl& url : urls)
        (sourceKind(url.toLocalFile()) == SourceKind::Log ? logs : sources) << url.toLocalFile();
    if (!sources.isEmpty())
        openSource(sources.first());
    importLogs(logs); // with a network that is dropped beside them: into its project
    if (sources.size() > 1)
        m_workspace->addIssue(QStringLiteral("InvalidArgument"), QFileInfo(sources.last()).fileName(),
                              tr("Only one file is opened at a time: the others were ignored"));
}

void MainWindow::makeDropHint()
{
    m_dropHint = new QLabel(this);
    m_dropHint->setObjectName(QStringLiteral("dropHint"));
    m_dropHint->setAlignment(Qt::AlignCenter);
    m_dropHint->setAutoFillBackground(true);
    m_dropHint->setFrameShape(QFrame::StyledPanel);
    m_dropHint->setBackgroundRole(QPalette::Highlight);
    m_dropHint->setForegroundRole(QPalette::HighlightedText);
    m_dropHint->hide();
}

} // namespace lathe::ui
