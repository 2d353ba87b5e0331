#include "ui/bridge/session_bridge.h"
#include "ui/commands/action_catalog.h"
#include "ui/commands/window_actions.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/models/command_line.h"
#include "ui/models/edits.h"
#include "ui/models/language.h"
#include "ui/models/recent_projects.h"
#include "ui/models/run_defaults.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"
#include "ui/pages/start_page.h"
#include "ui/shell/head_start_menu.h"
#include "ui/shell/main_window.h"
#include "ui/shell/window_layout.h"
#include "ui/views/appearance.h"
#include "ui/views/view_export.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QInputDialog>
#include <QMenuBar>
#include <QStatusBar>

namespace lathe::ui {

namespace {
constexpr int kCopiedMs = 6000;
}

// What the window itself brings to its menus. An action is made here once; menus, the palette and the list of shortcuts
// show it. What is done with a page's contents is brought by the page (Page::contribute).

void MainWindow::makeMenus()
{
    addFileEntries();
    addHistoryEntries();
    addEditEntries();
    addRunEntries();
    addCommandLines();
    addViewEntries();
    addHelpEntries();
    addGoEntries();
    m_layout->addPageActions(*m_entries);
    m_layout->addActions(*m_entries);
    for (QAction* action : m_actions->all())
        addAction(action); // its keys work whatever has the focus
    m_entries->fill(*menuBar());
    connect(m_entries, &WindowActions::commandLineCopied, this,
            [this](const QString& line) { statusBar()->showMessage(tr("Copied: %1").arg(line), kCopiedMs); });
}

QMenu* MainWindow::addSubmenu(const char* title, MenuPlace at)
{
    auto* made = new QMenu(this);
    retranslated(made, [made, title] { made->setTitle(QCoreApplication::translate("Menus", title)); });
    m_entries->place(made->menuAction(), at);
    return made;
}

void MainWindow::addFileEntries()
{
    WindowActions& a = *m_entries;
    a.adopt(m_bar->openAction(), MenuPlace{MenuSection::FileOpen, 10});
    a.add("file.openProject", QT_TRANSLATE_NOOP("Actions", "Open &project…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_O},
          MenuPlace{MenuSection::FileOpen, 20}, [this] { browseProject(); });
    m_recent = addSubmenu(QT_TRANSLATE_NOOP("Menus", "&Recent"), {MenuSection::FileOpen, 30});
    a.add("file.reopen", QT_TRANSLATE_NOOP("Actions", "Open the &latest again"), {Qt::CTRL | Qt::SHIFT | Qt::Key_T},
          MenuPlace{MenuSection::FileOpen, 40}, [this] {
              if (const auto recent = recentProjects(); !recent.isEmpty())
                  openSource(recent.first().source);
          });
    a.add("file.start", QT_TRANSLATE_NOOP("Actions", "&Start page"), {Qt::CTRL | Qt::SHIFT | Qt::Key_Home},
          MenuPlace{MenuSection::FileOpen, 50}, [this] {
              if (!m_layout->atStart())
                  m_layout->showStart();
              else if (m_workspace->session() != nullptr)
                  m_layout->showWork();
          });
    a.addWhileOpen("file.inputSizes", QT_TRANSLATE_NOOP("Actions", "Input si&zes…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_D},
                   MenuPlace{MenuSection::FileOpen, 60}, [this] { chooseInputSizes(m_workspace->source()); });
    a.add("file.importLog", QT_TRANSLATE_NOOP("Actions", "&Import tuning logs…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_I},
          MenuPlace{MenuSection::FileImport, 10}, [this] { browseLogs(); });
    a.add("file.saveView", QT_TRANSLATE_NOOP("Actions", "Sa&ve this view…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_S},
          MenuPlace{MenuSection::FileSave, 10}, [this] { saveViewOf(viewHere()); });
    a.adopt(m_bar->exportAction(), MenuPlace{MenuSection::FileSave, 20});
    a.addWhileOpen("file.report", QT_TRANSLATE_NOOP("Actions", "Repor&t…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_R},
                   MenuPlace{MenuSection::FileSave, 30}, [this] { writeReport(); });
    a.add("file.quit", QT_TRANSLATE_NOOP("Actions", "&Quit"), {QKeySequence(QKeySequence::Quit)},
          MenuPlace{MenuSection::FileQuit, 10}, [this] { close(); });
}

/// What goes back and forth: what was looked at, what was changed.
void MainWindow::addHistoryEntries()
{
    WindowActions& a = *m_entries;
    Selection& selection = m_workspace->selection();
    QAction* back = a.add("go.back", QT_TRANSLATE_NOOP("Actions", "&Back"), {QKeySequence(QKeySequence::Back)},
                          MenuPlace{MenuSection::GoMove, 10}, [&selection] { selection.back(); });
    QAction* forward = a.add("go.forward", QT_TRANSLATE_NOOP("Actions", "&Forward"),
                             {QKeySequence(QKeySequence::Forward)}, MenuPlace{MenuSection::GoMove, 20},
                             [&selection] { selection.forward(); });
    const auto updateHistory = [&selection, back, forward] {
        back->setEnabled(selection.canGoBack());
        forward->setEnabled(selection.canGoForward());
    };
    connect(&selection, &Selection::historyChanged, this, updateHistory);
    updateHistory();
    QUndoStack& edits = m_workspace->edits().stack();
    QAction* undo = a.add("edit.undo", QT_TRANSLATE_NOOP("Actions", "&Undo"), {QKeySequence(QKeySequence::Undo)},
                          MenuPlace{MenuSection::EditUndo, 10}, [&edits] { edits.undo(); });
    QAction* redo = a.add("edit.redo", QT_TRANSLATE_NOOP("Actions", "&Redo"), {QKeySequence(QKeySequence::Redo)},
                          MenuPlace{MenuSection::EditUndo, 20}, [&edits] { edits.redo(); });
    const auto updateUndo = [&edits, undo, redo] {
        undo->setEnabled(edits.canUndo());
        redo->setEnabled(edits.canRedo());
        undo->setText(edits.canUndo() ? tr("&Undo: %1").arg(edits.undoText())
                                      : QCoreApplication::translate("Actions", "&Undo"));
        redo->setText(edits.canRedo() ? tr("&Redo: %1").arg(edits.redoText())
                                      : QCoreApplication::translate("Actions", "&Redo"));
    };
    connect(&edits, &QUndoStack::indexChanged, this, updateUndo);
    retranslated(this, updateUndo);
}

void MainWindow::addEditEntries()
{
    WindowActions& a = *m_entries;
    a.add("edit.copy", QT_TRANSLATE_NOOP("Actions", "&Copy"), {QKeySequence(QKeySequence::Copy)},
          MenuPlace{MenuSection::EditCopy, 10}, [] {
              if (QWidget* view = exportableView(QApplication::focusWidget()))
                  copyView(*view);
          });
    a.add("project.note", QT_TRANSLATE_NOOP("Actions", "Note on the pro&ject…"), {},
          MenuPlace{MenuSection::EditNotes, 20}, [this] { editProjectNote(); });
    a.add("edit.find", QT_TRANSLATE_NOOP("Actions", "&Find…"), {QKeySequence(QKeySequence::Find)},
          MenuPlace{MenuSection::EditFind, 10}, [this] { findHere(); });
    a.add("view.palette", QT_TRANSLATE_NOOP("Actions", "Co&mmands…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_P},
          MenuPlace{MenuSection::EditSettings, 10}, [this] { showPalette(); });
    a.add("edit.settings", QT_TRANSLATE_NOOP("Actions", "&Settings…"), {Qt::CTRL | Qt::Key_Comma},
          MenuPlace{MenuSection::EditSettings, 20}, [this] { showSettings(); });
}

void MainWindow::addRunEntries()
{
    WindowActions& a = *m_entries;
    int rank = 0;
    for (QAction* action : {m_bar->startAction(), m_bar->startOverAction(), m_bar->resumeAction(), m_bar->pauseAction(),
                            m_bar->stopAction()})
        a.adopt(action, MenuPlace{MenuSection::RunControl, rank += 10});
    m_headStart = new HeadStartMenu(this);
    connect(m_headStart, &HeadStartMenu::chosen, this, [this](const QString& choice) {
        if (m_workspace->session() == nullptr) { // of the project that will be opened next
            setUsualHeadStart(choice);
            return;
        }
        m_choices.headStart = choice.toStdString();
        keepChoices();
    });
    connect(m_headStart, &QMenu::aboutToShow, this, [this] { m_headStart->setTarget(m_bar->target()); });
    a.place(m_headStart->menuAction(), {MenuSection::RunBegin, 10});
    a.addWhileOpen("run.options", QT_TRANSLATE_NOOP("Actions", "Run opt&ions…"), {},
                   MenuPlace{MenuSection::RunBegin, 20}, [this] { showRunOptions(); });
    a.addWhileOpen("run.replay", QT_TRANSLATE_NOOP("Actions", "Repla&y the latest run"), {Qt::CTRL | Qt::Key_R},
                   MenuPlace{MenuSection::RunReplay, 10},
                   [this] { openReplay(QString::fromStdString(m_workspace->session()->options().project.string())); });
    a.add("file.replay", QT_TRANSLATE_NOOP("Actions", "Replay a run of a pro&ject…"), {},
          MenuPlace{MenuSection::RunReplay, 20}, [this] { browseReplay(); });
}

void MainWindow::addCommandLines()
{
    WindowActions& a = *m_entries;
    const auto exported = [this] {
        session::CompileOptions options;
        options.output = suggestedLibrary().toStdString();
        return options;
    };
    a.addCommandLine("copy.tasks", QT_TRANSLATE_NOOP("Actions", "Copy command line: list the tas&ks"), 10,
                     [](const session::OpenOptions& open) { return tasksCommand(open); });
    a.addCommandLine("copy.tune", QT_TRANSLATE_NOOP("Actions", "Copy command line: st&art"), 20,
                     [this](const session::OpenOptions& open) {
                         const auto options = wantedRun(RunStart::TuneOn);
                         return tuneCommand(open, options ? *options : session::TuneOptions());
                     });
    a.addCommandLine("copy.resume", QT_TRANSLATE_NOOP("Actions", "Copy command line: &resume"), 30,
                     [this](const session::OpenOptions& open) {
                         const auto wanted = wantedRun(RunStart::Resume);
                         session::TuneOptions options = wanted ? *wanted : session::TuneOptions();
                         options.resume = true;
                         return tuneCommand(open, options);
                     });
    a.addCommandLine("copy.replay", QT_TRANSLATE_NOOP("Actions", "Copy command &line: replay"), 40,
                     [](const session::OpenOptions& open) { return replayCommand(open); });
    a.addCommandLine("copy.coverage", QT_TRANSLATE_NOOP("Actions", "Copy command line: &check an export"), 50,
                     [exported](const session::OpenOptions& open) { return coverageCommand(open, exported()); });
    a.addCommandLine("copy.export", QT_TRANSLATE_NOOP("Actions", "Copy command line: &export"), 60,
                     [exported](const session::OpenOptions& open) { return compileCommand(open, exported()); });
    a.addCommandLine("copy.report", QT_TRANSLATE_NOOP("Actions", "Copy command line: rep&ort"), 70,
                     [this](const session::OpenOptions& open) {
                         return reportCommand(QString::fromStdString(open.project.string()), suggestedReport());
                     });
    a.addCommandLine("copy.import", QT_TRANSLATE_NOOP("Actions", "Copy command line: import lo&gs"), 100,
                     [this](const session::OpenOptions& open) {
                         return importCommand(
                             open, m_lastLogs.isEmpty() ? QStringList{QStringLiteral("tuning-log.json")} : m_lastLogs);
                     });
}

void MainWindow::addViewEntries()
{
    WindowActions& a = *m_entries;
    QMenu* docks = addSubmenu(QT_TRANSLATE_NOOP("Menus", "&Docks"), {MenuSection::ViewWindow, 10});
    docks->addActions(m_layout->dockActions());
    a.add("view.defaultLayout", QT_TRANSLATE_NOOP("Actions", "Restore &default layout"), {}, {},
          [this] { m_layout->restoreDefault(); });
    a.add("view.saveLayout", QT_TRANSLATE_NOOP("Actions", "&Save layout…"), {}, {}, [this] { saveLayout(); });
    m_layouts = addSubmenu(QT_TRANSLATE_NOOP("Menus", "&Layouts"), {MenuSection::ViewWindow, 20});
    fillLayouts();
    QMenu* themes = addSubmenu(QT_TRANSLATE_NOOP("Menus", "&Appearance"), {MenuSection::ViewWindow, 30});
    auto* group = new QActionGroup(themes);
    for (const Appearance appearance : {Appearance::System, Appearance::Light, Appearance::Dark}) {
        QAction* theme = themes->addAction(QString(), this, [appearance] { applyAppearance(appearance); });
        theme->setObjectName(QStringLiteral("appearance%1").arg(static_cast<int>(appearance)));
        theme->setCheckable(true);
        theme->setChecked(appearance == storedAppearance());
        group->addAction(theme);
        connect(&AppearanceWatch::instance(), &AppearanceWatch::changed, theme,
                [theme, appearance] { theme->setChecked(appearance == storedAppearance()); });
        retranslated(theme, [theme, appearance] { theme->setText(appearanceName(appearance)); });
    }
    // In their own words: who cannot read the language in use finds the way out.
    QMenu* languages = addSubmenu(QT_TRANSLATE_NOOP("Menus", "Lan&guage"), {MenuSection::ViewWindow, 40});
    const std::pair<const char*, const char*> names[] = {{"en", "English"}, {"zh_CN", "简体中文"}};
    for (const auto& [code, name] : names)
        languages->addAction(QString::fromUtf8(name), this,
                             [code = QLatin1String(code)] { Language::instance().set(code); });
    a.add("view.fullScreen", QT_TRANSLATE_NOOP("Actions", "Full scr&een"), {QKeySequence(Qt::Key_F11)},
          MenuPlace{MenuSection::ViewWindow, 50}, [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
}

void MainWindow::addHelpEntries()
{
    WindowActions& a = *m_entries;
    QAction* manual = a.add("help.manual", QT_TRANSLATE_NOOP("Actions", "&Manual"),
                            {QKeySequence(QKeySequence::HelpContents)}, MenuPlace{MenuSection::HelpManual, 10}, [this] {
                                const QString topic = ManualWindow::topicOf(QApplication::focusWidget());
                                showManual(!topic.isEmpty()      ? topic
                                           : m_layout->atStart() ? QStringLiteral("start")
                                                                 : ManualWindow::topicOf(m_layout->currentPage()));
                            });
    manual->setShortcutContext(Qt::ApplicationShortcut); // dialogs have topics, too
    a.add("help.keys", QT_TRANSLATE_NOOP("Actions", "&Keys"), {}, MenuPlace{MenuSection::HelpManual, 20},
          [this] { showManual(QStringLiteral("keys")); });
    a.add("help.about", QT_TRANSLATE_NOOP("Actions", "&About Lathe"), {}, MenuPlace{MenuSection::HelpAbout, 10},
          [this] { (new AboutDialog(this))->show(); });
    a.add("help.aboutQt", QT_TRANSLATE_NOOP("Actions", "About &Qt"), {}, MenuPlace{MenuSection::HelpAbout, 20},
          [] { QApplication::aboutQt(); });
}

void MainWindow::addGoEntries()
{
    WindowActions& a = *m_entries;
    a.add("go.nextPane", QT_TRANSLATE_NOOP("Actions", "Ne&xt pane"), {Qt::CTRL | Qt::Key_F6},
          MenuPlace{MenuSection::GoMove, 30}, [this] { m_layout->focusPane(1); });
    a.add("go.previousPane", QT_TRANSLATE_NOOP("Actions", "Pre&vious pane"), {Qt::CTRL | Qt::SHIFT | Qt::Key_F6},
          MenuPlace{MenuSection::GoMove, 40}, [this] { m_layout->focusPane(-1); });
}

void MainWindow::editProjectNote()
{
    if (m_workspace->session() == nullptr)
        return;
    auto* dialog = new QInputDialog(this);
    dialog->setObjectName(QStringLiteral("projectNoteDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setOption(QInputDialog::UsePlainTextEditForTextInput);
    dialog->setWindowTitle(tr("Note on the project"));
    dialog->setLabelText(tr("Stored with the project and shown above its records:"));
    const QString before = m_workspace->edits().projectNote();
    dialog->setTextValue(before);
    connect(dialog, &QInputDialog::textValueSelected, this,
            [this, before](const QString& text) { m_workspace->edits().setNote({}, before, text.trimmed()); });
    dialog->open();
}

void MainWindow::saveLayout()
{
    bool good = false;
    const QString name = QInputDialog::getText(this, tr("Save layout"), tr("Name of the layout:"), QLineEdit::Normal,
                                               {}, &good)
                             .trimmed();
    if (!good || name.isEmpty())
        return;
    m_layout->save(QString(name).replace(QLatin1Char('/'), QLatin1Char('-')));
    fillLayouts();
}

void MainWindow::fillRecent()
{
    m_recent->clear();
    int number = 1;
    const QVector<RecentProject> projects = recentProjects();
    for (const RecentProject& project : projects) {
        QAction* open = m_recent->addAction(QStringLiteral("&%1  %2").arg(number++).arg(project.name()), this,
                                            [this, source = project.source] { openSource(source); });
        open->setStatusTip(project.source);
        open->setEnabled(project.exists());
    }
    m_recent->setEnabled(!m_recent->isEmpty());
    m_start->setRecent(projects);
}

void MainWindow::fillLayouts()
{
    m_layouts->clear();
    for (const QString& name : m_layout->names())
        m_layouts->addAction(name, this, [this, name] { m_layout->apply(name); });
    m_layouts->addSeparator();
    m_layouts->addAction(m_actions->find(QStringLiteral("view.saveLayout")));
    if (!m_layout->names().isEmpty()) {
        QMenu* remove = m_layouts->addMenu(tr("&Remove"));
        for (const QString& name : m_layout->names())
            remove->addAction(name, this, [this, name] {
                m_layout->remove(name);
                fillLayouts();
            });
    }
    m_layouts->addAction(m_actions->find(QStringLiteral("view.defaultLayout")));
}

} // namespace lathe::ui
