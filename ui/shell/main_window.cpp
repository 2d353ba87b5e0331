#include "ui/shell/main_window.h"

#include "core/session/back_ends.h"
#include "core/session/options/budget_text.h"
#include "ui/bridge/desktop.h"
#include "ui/bridge/device_list.h"
#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/commands/action_catalog.h"
#include "ui/commands/window_actions.h"
#include "ui/dialogs/checks_dialog.h"
#include "ui/dialogs/command_palette.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/dialogs/report_dialog.h"
#include "ui/models/farm_offer.h"
#include "ui/models/import_problems.h"
#include "ui/models/language.h"
#include "ui/models/notice_settings.h"
#include "ui/models/recent_projects.h"
#include "ui/models/round_model.h"
#include "ui/models/run_defaults.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/page.h"
#include "ui/pages/reader_bar.h"
#include "ui/pages/replay_bar.h"
#include "ui/pages/result_banner.h"
#include "ui/pages/run_bar.h"
#include "ui/pages/settings_page.h"
#include "ui/pages/start_page.h"
#include "ui/shell/head_start_menu.h"
#include "ui/shell/model_opener.h"
#include "ui/shell/page_registry.h"
#include "ui/shell/run_notice.h"
#include "ui/shell/window_layout.h"
#include "ui/views/appearance.h"
#include "ui/views/spacing.h"
#include "ui/views/view_export.h"
#include "ui/views/write_access.h"
#include "ui/views/zoomable.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QCloseEvent>
#include <QContextMenuEvent>
#include <QDialogButtonBox>
#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QStatusBar>
#include <QTimer>
#include <QToolTip>
#include <QVBoxLayout>

#include <cmath>
#include <utility>

namespace lathe::ui {

namespace {
constexpr int kAgeMs = 1000;
constexpr int kMessageMs = 6000;
constexpr int kRememberTicks = 20; // of kAgeMs: what a crash may cost the start page, never the project
} // namespace

MainWindow::MainWindow(QWidget* parent)
    : MainWindow(pageTable(), parent)
{
}

MainWindow::MainWindow(std::span<const PageEntry> pages, QWidget* parent)
    : QMainWindow(parent)
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    setWindowTitle(QStringLiteral("Lathe"));
    resize(QSize(1280, 800).boundedTo(screen()->availableSize()));
    m_workspace = new Workspace(this);
    m_opener = new ModelOpener(*m_workspace, *this);
    m_desktop = new Desktop(this);
    connect(m_desktop, &Desktop::schemeChanged, this, [](Desktop::Scheme scheme) {
        setSystemDark(scheme == Desktop::Scheme::Unknown ? std::nullopt
                                                         : std::optional(scheme == Desktop::Scheme::Dark));
    });
    new RunNotice(*m_workspace, *m_desktop, *this);
    m_actions = new ActionCatalog(this);
    m_entries = new WindowActions(*m_workspace, *m_actions, this);
    makeBars();
    m_start = new StartPage(this);
    ManualWindow::setTopic(m_start, QStringLiteral("start"));
    m_layout = new WindowLayout(*this, *m_workspace, m_start, pages);
    makeMenus();
    makeStatusBar();
    connectRun();
    connectFarm();
    connectStart();
    connect(m_workspace, &Workspace::issueRaised, this, [this] { m_layout->showFor(Occasion::IssueRaised, false); });
    m_layout->load();
    fillRecent();
    makeDropHint();
    retranslated(this, [this] {
        updateState();
        updateStatus();
    });
}

void MainWindow::makeBars()
{
    m_bar = new RunBar(this);
    ManualWindow::setTopic(m_bar, QStringLiteral("run"));
    addToolBar(m_bar);
    m_replayBar = new ReplayBar(*m_workspace, this);
    addToolBarBreak();
    addToolBar(m_replayBar);
    m_readerBar = new ReaderBar(*m_workspace, this);
    ManualWindow::setTopic(m_readerBar, QStringLiteral("reader"));
    addToolBarBreak();
    addToolBar(m_readerBar);
    m_banner = new ResultBanner(*m_workspace, this);
    ManualWindow::setTopic(m_banner, QStringLiteral("result"));
    addToolBarBreak();
    addToolBar(m_banner);
    connect(m_banner, &ResultBanner::exportRequested, this, &MainWindow::exportLibrary);
    connect(m_banner, &ResultBanner::checksRequested, this, &MainWindow::showChecks);
    connect(m_readerBar, &ReaderBar::takeOverRequested, this, [this] {
        openSource(m_workspace->source(), QString::fromStdString(m_workspace->session()->options().target));
    });
    connect(m_replayBar, &ReplayBar::leaveRequested, this, [this] { openSource(m_workspace->source()); });
    connect(m_replayBar, &ReplayBar::runChosen, this, [this](qint64 run) { openReplay(m_workspace->source(), run); });
}

void MainWindow::connectStart()
{
    connect(m_start, &StartPage::openModelRequested, this, &MainWindow::browseModel);
    connect(m_start, &StartPage::openProjectRequested, this, &MainWindow::browseProject);
    connect(m_start, &StartPage::openReplayRequested, this, &MainWindow::browseReplay);
    connect(m_start, &StartPage::importLogRequested, this, &MainWindow::browseLogs);
    connect(m_start, &StartPage::replayChosen, this,
            [this](const QString& source) { openReplay(Workspace::projectFor(source)); });
    connect(m_start, &StartPage::sourceChosen, this, [this](const QString& source) { openSource(source); });
    connect(m_start, &StartPage::resumeChosen, this, [this](const QString& source, const QString& target, bool goOn) {
        openSource(source, target);
        m_resumeWhenOpen = goOn;
    });
    connect(m_start, &StartPage::forgetChosen, this, [this](const QString& source) {
        forgetProject(source);
        fillRecent();
    });
}

MainWindow::~MainWindow()
{
    // Pages are children, too, and must go before what they share.
    delete m_layout;
    for (QDockWidget* dock : findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly))
        delete dock;
    delete takeCentralWidget();
    delete m_workspace;
}

void MainWindow::connectRun()
{
    SessionBridge& bridge = m_workspace->bridge();
    connect(&bridge, &SessionBridge::opening, this, [this](const QString& what) {
        statusBar()->showMessage(tr("Opening %1…").arg(what));
        setCursor(Qt::BusyCursor);
    });
    const auto openEnded = [this] {
        unsetCursor();
        statusBar()->clearMessage();
    };
    connect(&bridge, &SessionBridge::opened, this, openEnded);
    connect(&bridge, &SessionBridge::openFailed, this, openEnded);
    connect(&bridge, &SessionBridge::opened, this, &MainWindow::onOpened);
    connect(&bridge, &SessionBridge::openFailed, this, &MainWindow::onNotOpened);
    connect(m_opener, &ModelOpener::givenUp, this, &MainWindow::onNotOpened);
    connect(m_workspace, &Workspace::inputSizesWanted, this, &MainWindow::chooseInputSizes);
    connect(m_workspace, &Workspace::helpWanted, this, &MainWindow::showManual);
    connect(&bridge, &SessionBridge::eventsArrived, this, &MainWindow::updateState);
    connect(m_workspace, &Workspace::figuresChanged, this, &MainWindow::updateStatus);
    connect(&m_workspace->devices(), &DeviceList::changed, this, [this] {
        if (const DeviceList& devices = m_workspace->devices(); !devices.isAsking())
            m_bar->setDevices(devices.directory()); // or why nobody could be asked
    });
    m_workspace->devices().ensureAsked();
    connect(m_workspace, &Workspace::deviceKnown, m_bar, &RunBar::setDevice);
    connect(m_bar->openAction(), &QAction::triggered, this, &MainWindow::browseModel);
    connect(m_bar->startAction(), &QAction::triggered, this, [this] { startRun(RunStart::TuneOn); });
    connect(m_bar->startOverAction(), &QAction::triggered, this, [this] { startRun(RunStart::Over); });
    connect(m_bar->resumeAction(), &QAction::triggered, this, [this] { startRun(RunStart::Resume); });
    connect(m_bar->pauseAction(), &QAction::triggered, this,
            [&bridge](bool on) { on ? bridge.pause() : bridge.resumeRun(); });
    connect(m_bar->stopAction(), &QAction::triggered, &bridge, &SessionBridge::stop);
    connect(m_bar, &RunBar::runBudgetChosen, this, &MainWindow::changeRunBudget);
    connect(m_bar, &RunBar::budgetPicked, this, [this](const QString& budget) {
        m_choices.budget = budget.toStdString();
        keepChoices();
    });
    connect(m_workspace, &Workspace::writerChanged, this, &MainWindow::updateState);
    connect(m_bar->exportAction(), &QAction::triggered, this, &MainWindow::exportLibrary);
    connect(m_bar, &RunBar::targetChanged, this, [this] {
        if (m_workspace->session() != nullptr)
            openSource(m_workspace->source(), m_bar->target());
    });
}

void MainWindow::makeStatusBar()
{
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setMinimumWidth(40);
        made->setContentsMargins(spacing::kSmall, spacing::kNone, spacing::kMedium, spacing::kNone);
        return made;
    };
    m_latency = label("statusLatency");
    m_counts = label("statusCounts");
    m_age = label("statusAge");
    statusBar()->addWidget(m_latency, 3);
    statusBar()->addWidget(m_counts, 2);
    m_farm = label("statusFarm");
    statusBar()->addPermanentWidget(m_farm);
    statusBar()->addPermanentWidget(m_age);
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, [this] {
        updateStatus();
        updateState(); // whether a run can be resumed is known a moment after its end
        if (m_workspace->session() != nullptr && m_workspace->session()->state() == session::RunState::Running
            && ++m_ticks % kRememberTicks == 0)
            remember();
    });
    timer->start(kAgeMs);
}

QString MainWindow::suggestedLibrary() const
{
    const QString stem = QFileInfo(m_workspace->source().remove(QStringLiteral("zoo:"))).completeBaseName();
    return QDir::home().filePath(QStringLiteral("lib%1.so").arg(stem));
}

QString MainWindow::suggestedReport() const
{
    const session::TuningSession* session = m_workspace->session();
    const QFileInfo project(session == nullptr ? QString()
                                               : QString::fromStdString(session->options().project.string()));
    return project.dir().filePath(project.completeBaseName() + QStringLiteral(".html"));
}

void MainWindow::writeReport()
{
    if (const session::TuningSession* session = m_workspace->session())
        (new ReportDialog(QString::fromStdString(session->options().project.string()), suggestedReport(), this))
            ->show();
}

void MainWindow::exportLibrary()
{
    auto* dialog = new ExportDialog(m_workspace->bridge(), suggestedLibrary(), this);
    const FarmOffer farm = FarmOffer::of(m_workspace->farm());
    const auto run = m_bar->tuneOptions(); // where it measures, the library shows what it is worth
    const session::TuningSession* session = m_workspace->session();
    const bool isBusy = session != nullptr && session->state() == session::RunState::Running; // it has the devices
    const bool isAtFarm = run && !isBusy && !run->devices.empty()
                          && plainBroker(QString::fromStdString(run->broker)) == plainBroker(farm.place.broker);
    dialog->offerFarm(farm, isAtFarm ? QString::fromStdString(run->devices.front()) : QString());
    ManualWindow::setTopic(dialog, QStringLiteral("export"));
    dialog->show();
}

void MainWindow::showChecks()
{
    auto* dialog = new ChecksDialog(*m_workspace, this);
    ManualWindow::setTopic(dialog, QStringLiteral("result"));
    dialog->show();
}

void MainWindow::updateState()
{
    const session::TuningSession* session = m_workspace->session();
    const bool replay = m_workspace->replay() != nullptr;
    m_bar->setReplay(replay);
    m_replayBar->setVisible(replay); // a layout may have said otherwise
    m_readerBar->updateVisible();
    m_banner->updateVisible();
    m_bar->setState(session != nullptr, session == nullptr ? session::RunState::Idle : session->state(),
                    session != nullptr && session->canResume(), m_workspace->figures().trials > 0);
    explainReadOnly();
    m_bar->setRemaining(session != nullptr ? runText(session->state()) : QString());
}

/// Entries of the menus that change the project; pages do the same with what is theirs.
void MainWindow::explainReadOnly()
{
    const QString why = m_workspace->whyReadOnly();
    m_bar->setReadOnly(why);
    for (const char* id : {"file.importLog", "project.note", "records.note", "records.remeasure"})
        if (QAction* const action = m_actions->find(QLatin1String(id)))
            enableToWrite(*action, true, why);
    enableToWrite(*m_headStart->menuAction(), true, why);
    if (QAction* const options = m_actions->find(QStringLiteral("run.options")))
        enableToWrite(*options, m_workspace->session() != nullptr && m_workspace->replay() == nullptr, why);
}

bool MainWindow::hasActiveRun() const
{
    const session::TuningSession* const session = m_workspace->session();
    return session != nullptr && session::isActive(session->state());
}

/// What the figures of the status bar consist of, and why those of one network differ.
QString MainWindow::latencyTip(const Workspace::Figures& figures) const
{
    QStringList lines{tr("Sum of the tasks: %1").arg(msText(m_workspace->tasks().estimatedMs()))};
    if (const QString parts = estimatePartsText(figures.measuredParts); !parts.isEmpty())
        lines << parts;
    if (figures.network.inTurns)
        lines
            << tr("Measured and untuned: in turns, in the same seconds. Alone, in other minutes, they took %1 and %2.")
                   .arg(msText(figures.network.aloneMs), msText(figures.network.untunedAloneMs));
    return lines.join(QLatin1Char('\n'));
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
    const double estimate = m_workspace->estimatedMs();
    // A band, while some task has no valid program.
    const bool band = !std::isfinite(estimate) && std::isfinite(figures.low) && std::isfinite(figures.high);
    const QString own = band ? msRangeText(figures.low, figures.high) : msText(estimate);
    const auto target = session::viewTarget(m_workspace->session()->options().target);
    const bool isExpected = target && !target->standsFor.empty();
    const QString latency = isExpected ? tr("expected %1   nothing is measured").arg(own)
                                       : tr("estimated %1   measured %2   untuned %3")
                                             .arg(own, msText(figures.network.ms), msText(figures.network.untunedMs));
    m_latency->setText(m_workspace->hasOtherTargets() ? tr("%1:  %2").arg(m_bar->targetName(), latency) : latency);
    m_latency->setToolTip(latencyTip(figures));
    QString counts = tr("%Ln trials", nullptr, static_cast<int>(figures.trials));
    if (std::isfinite(figures.trialsPerSecond))
        counts += tr(", %1/s").arg(figures.trialsPerSecond, 0, 'f', 1);
    if (figures.trials > 0)
        counts += tr(", %1 % failed")
                      .arg(100.0 * static_cast<double>(figures.failed) / static_cast<double>(figures.trials), 0, 'f',
                           1);
    m_counts->setText(counts);
    m_counts->setToolTip(tr("Trials of this network in the project: %L1, of the latest run: %L2, failed: %L3. Records "
                            "are more: they also "
                            "hold what was measured again.")
                             .arg(figures.trials)
                             .arg(RoundModel::of(*m_workspace).trials())
                             .arg(figures.failed));
    m_age->setText(hasActiveRun() ? ageText(m_workspace->dataAge())
                   // A short run on a busy machine may end before its first trial: it has timed the network then.
                   : figures.trials > 0 || std::isfinite(figures.network.ms) ? tr("not running")
                                                                             : tr("no run yet"));
}

void MainWindow::showPalette()
{
    auto* palette = new CommandPalette(m_actions->all(), this);
    ManualWindow::setTopic(palette, QStringLiteral("keys"));
    palette->show();
}

void MainWindow::showSettings()
{
    auto* dialog = new QDialog(this);
    dialog->setObjectName(QStringLiteral("settingsDialog"));
    ManualWindow::setTopic(dialog, QStringLiteral("settings"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(new SettingsPage(*m_actions, dialog));
    layout->addWidget(buttons);
    retranslated(dialog, [dialog] { dialog->setWindowTitle(tr("Settings")); });
    dialog->resize(QSize(560, 520).boundedTo(screen()->availableSize() * 0.9));
    dialog->show();
}

void MainWindow::findHere()
{
    // The search field of the page that has the focus; where there is none, that of the page for it.
    static const QRegularExpression fields(QStringLiteral("(Find|Filter)$"));
    for (QWidget* at = focusWidget(); at != nullptr && at != this; at = at->parentWidget()) {
        const auto found = at->findChildren<QLineEdit*>(fields);
        if (found.size() == 1) {
            found.first()->setFocus(Qt::ShortcutFocusReason);
            found.first()->selectAll();
            return;
        }
    }
    if (Page* page = m_layout->showFor(Occasion::FindWanted, false))
        page->startFind();
}

QWidget* MainWindow::viewHere() const
{
    if (QWidget* view = exportableView(QApplication::focusWidget()))
        return view;
    // The largest on the page in front.
    QWidget* largest = nullptr;
    const QWidget* page = m_layout->currentPage();
    for (QWidget* widget : page != nullptr ? page->findChildren<QWidget*>() : QList<QWidget*>())
        if (widget->isVisible() && exportableView(widget) == widget
            && (largest == nullptr || widget->width() * widget->height() > largest->width() * largest->height()))
            largest = widget;
    return largest;
}

void MainWindow::saveViewOf(QWidget* view)
{
    if (view == nullptr) {
        statusBar()->showMessage(tr("There is no view to save here"), kMessageMs);
        return;
    }
    if (const QString problem = browseAndSaveView(*view); !problem.isEmpty())
        m_workspace->addIssue(QStringLiteral("StoreFailed"), tr("save"), problem);
}

/// Qt's own walk goes wrong in two places: a dock behind another's tab counts as visible, so that the focus goes where
/// nobody sees it; and a page that hands the focus to one of its widgets is walked in a circle, and never left.
bool MainWindow::focusNextPrevChild(bool next)
{
    const auto isBehind = [](const QWidget* at) {
        while (at != nullptr && qobject_cast<const QDockWidget*>(at) == nullptr)
            at = at->parentWidget();
        return at != nullptr && at->visibleRegion().isEmpty();
    };
    QList<QWidget*> stops;
    qsizetype here = -1;
    for (QWidget* at = nextInFocusChain(); at != this; at = at->nextInFocusChain()) {
        if (at == focusWidget())
            here = stops.size();
        else if (at->window() != this || !(at->focusPolicy() & Qt::TabFocus) || at->focusProxy() != nullptr
                 || !at->isVisible() || !at->isEnabled() || isBehind(at))
            continue;
        stops << at;
    }
    const qsizetype to = here < 0 ? (next ? 0 : stops.size() - 1)
                                  : (here + (next ? 1 : stops.size() - 1)) % stops.size();
    if (stops.isEmpty() || stops[to] == focusWidget())
        return false;
    stops[to]->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

void MainWindow::contextMenuEvent(QContextMenuEvent* event)
{
    // Views without a menu of their own get the one that all have.
    QWidget* view = exportableView(childAt(event->pos()));
    if (view == nullptr) {
        QMainWindow::contextMenuEvent(event);
        return;
    }
    QMenu menu(this);
    addViewActions(menu, *view);
    menu.exec(event->globalPos());
    event->accept();
}

void MainWindow::showManual(const QString& topic)
{
    auto* manual = findChild<ManualWindow*>(QString(), Qt::FindDirectChildrenOnly);
    if (manual == nullptr) {
        manual = new ManualWindow(*m_actions, this);
        manual->setAttribute(Qt::WA_DeleteOnClose);
    }
    manual->showTopic(topic);
    manual->show();
    manual->raise();
    manual->activateWindow();
}

/// Not modal to the run: it goes on while the question stands.
void MainWindow::askToClose()
{
    if (findChild<QMessageBox*>(QStringLiteral("closingQuestion")) != nullptr)
        return;
    auto* const box = new QMessageBox(QMessageBox::Question, tr("Run in progress"),
                                      tr("Closing the window stops the run. You can resume it later."),
                                      QMessageBox::NoButton, this);
    box->setObjectName(QStringLiteral("closingQuestion"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* const stop = box->addButton(tr("&Stop and close"), QMessageBox::AcceptRole);
    box->addButton(tr("&Keep running"), QMessageBox::RejectRole);
    auto* const never = new QCheckBox(tr("&Do not ask again"), box);
    box->setCheckBox(never);
    connect(box, &QMessageBox::buttonClicked, this, [this, stop, never](const QAbstractButton* pressed) {
        if (pressed != stop)
            return;
        if (never->isChecked())
            setClosingIsAskedAbout(false);
        m_closingAgreed = true;
        close();
    });
    box->open();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (hasActiveRun() && m_workspace->replay() == nullptr && m_workspace->follow() == nullptr && closingIsAskedAbout()
        && !m_closingAgreed) {
        event->ignore();
        askToClose();
        return;
    }
    m_layout->store();
    remember();
    m_workspace->bridge().close();
    event->accept();
}

} // namespace lathe::ui
