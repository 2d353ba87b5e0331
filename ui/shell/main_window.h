#pragma once

#include "core/session/session.h"
#include "ui/models/workspace.h"

#include <QMainWindow>

#include <span>

QT_BEGIN_NAMESPACE
class QLabel;
class QMenu;
QT_END_NAMESPACE

namespace lathe::ui {

class ActionCatalog;
class Desktop;
class HeadStartMenu;
class ModelOpener;
class ReaderBar;
class ReplayBar;
class ResultBanner;
class RunBar;
class StartPage;
class WindowActions;
class WindowLayout;
struct MenuPlace;
struct PageEntry;

/// The workbench: puts pages, actions and the workspace together.
class MainWindow final : public QMainWindow
{
    Q_OBJECT

public:
    /// With the pages of pageTable().
    explicit MainWindow(QWidget* parent = nullptr);
    explicit MainWindow(std::span<const PageEntry> pages, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// A path of a model or project, or zoo:NAME. Asks for sizes of inputs that the model leaves open; problems become
    /// rows of the Issues dock.
    /// Without a target it is shown for what its project was last used for; what begins while nothing is open, for what
    /// the bar says.
    void openSource(const QString& source, const QString& target = {});
    Desktop& desktop() const { return *m_desktop; }
    /// Plays a stored run of a project, the latest for 0.
    void openReplay(const QString& project, qint64 run = 0);
    /// Into the project that is open; where none is, into the one that is opened next. Shows first what they hold.
    void importLogs(const QStringList& files);

protected:
    void closeEvent(QCloseEvent* event) override;
    bool focusNextPrevChild(bool next) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeBars();
    void makeMenus();
    void addFileEntries();
    void addHistoryEntries();
    void addEditEntries();
    void addRunEntries();
    void addCommandLines();
    void addViewEntries();
    void addHelpEntries();
    void addGoEntries();
    QMenu* addSubmenu(const char* title, MenuPlace at);
    void makeStatusBar();
    void makeDropHint();
    void connectStart();
    void connectRun();
    void onOpened();
    void onNotOpened();
    QString targetFor(const QString& source) const;
    void chooseInputSizes(const QString& source);
    bool hasActiveRun() const;
    void askToClose();
    void updateState();
    void updateStatus();
    void connectFarm();
    void showFarm();
    QString latencyTip(const Workspace::Figures& figures) const;
    void remember();
    void fillRecent();
    void fillLayouts();
    void saveLayout();
    void browseModel();
    void browseProject();
    void browseReplay();
    void browseLogs();
    enum class RunStart
    {
        TuneOn, ///< from what was measured, with a budget of its own
        Resume, ///< the latest run, with what was left of its budget
        Over ///< from nothing
    };
    Result<session::TuneOptions> wantedRun(RunStart how) const;
    void startRun(RunStart how);
    void showRunOptions();
    QString searchText() const;
    void takeChoices();
    void keepChoices();
    void explainReadOnly();
    void changeRunBudget(const QString& text);
    QString runText(session::RunState state) const;
    void exportLibrary();
    void writeReport();
    void showChecks();
    QString suggestedLibrary() const;
    QString suggestedReport() const;
    void showSettings();
    void showPalette();
    void findHere();
    void showManual(const QString& topic);
    QWidget* viewHere() const;
    void saveViewOf(QWidget* view);
    void editProjectNote();

    Workspace* m_workspace = nullptr;
    Desktop* m_desktop = nullptr;
    ActionCatalog* m_actions = nullptr;
    WindowActions* m_entries = nullptr;
    WindowLayout* m_layout = nullptr;
    ModelOpener* m_opener = nullptr;
    RunBar* m_bar = nullptr;
    ReplayBar* m_replayBar = nullptr;
    ReaderBar* m_readerBar = nullptr;
    ResultBanner* m_banner = nullptr;
    StartPage* m_start = nullptr;
    QMenu* m_recent = nullptr;
    QMenu* m_layouts = nullptr;
    HeadStartMenu* m_headStart = nullptr;
    QLabel* m_latency = nullptr;
    QLabel* m_counts = nullptr;
    QLabel *m_age = nullptr, *m_farm = nullptr;
    QLabel* m_dropHint = nullptr;
    bool m_resumeWhenOpen = false;
    bool m_closingAgreed = false;
    session::RunChoices m_choices; ///< of the project that is open
    QStringList m_waitingLogs; ///< for a network
    QStringList m_lastLogs;
    int m_ticks = 0;
};

} // namespace lathe::ui
