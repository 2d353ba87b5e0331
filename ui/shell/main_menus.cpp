#include "ui/bridge/session_bridge.h"
#include "ui/commands/action_catalog.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/models/command_line.h"
#include "ui/models/edits.h"
#include "ui/models/language.h"
#include "ui/models/recent_projects.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/network_page.h"
#include "ui/pages/records_page.h"
#include "ui/pages/run_bar.h"
#include "ui/pages/start_page.h"
#include "ui/shell/head_start_menu.h"
#include "ui/shell/main_window.h"
#include "ui/shell/page_registry.h"
#include "ui/shell/window_layout.h"
#include "ui/views/appearance.h"
#include "ui/views/graph_view.h"
#include "ui/views/view_export.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QInputDialog>
#include <QMenuBar>

namespace lathe::ui {

// The window's actions and menus. An action is made here once; menus, the palette and the list of shortcuts show it.

void MainWindow::makeActions()
{
    ActionCatalog& a = *m_actions;
    for (QAction* action : {m_bar->openAction(), m_bar->startAction(), m_bar->resumeAction(), m_bar->pauseAction(), m_bar->stopAction(), m_bar->exportAction()})
        a.adopt(action);
    a.add("file.openProject", QT_TRANSLATE_NOOP("Actions", "Open &project…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_O}, [this] { browseProject(); });
    a.add("file.importLog", QT_TRANSLATE_NOOP("Actions", "&Import tuning logs…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_I}, [this] { browseLogs(); });
    a.add("file.start", QT_TRANSLATE_NOOP("Actions", "&Start page"), {Qt::CTRL | Qt::SHIFT | Qt::Key_Home}, [this] {
        if (!m_layout->atStart())
            m_layout->showStart();
        else if (m_workspace->session() != nullptr)
            m_layout->showWork();
    });
    QAction* report = a.add("file.report", QT_TRANSLATE_NOOP("Actions", "Repor&t…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_R}, [this] { writeReport(); });
    report->setEnabled(false);
    connect(&m_workspace->bridge(), &SessionBridge::opened, report, [report] { report->setEnabled(true); });
    connect(&m_workspace->bridge(), &SessionBridge::closed, report, [report] { report->setEnabled(false); });
    a.add("file.quit", QT_TRANSLATE_NOOP("Actions", "&Quit"), {QKeySequence(QKeySequence::Quit)}, [this] { close(); });
    Selection& selection = m_workspace->selection();
    QAction* back = a.add("go.back", QT_TRANSLATE_NOOP("Actions", "&Back"), {QKeySequence(QKeySequence::Back)}, [&selection] { selection.back(); });
    QAction* forward = a.add("go.forward", QT_TRANSLATE_NOOP("Actions", "&Forward"), {QKeySequence(QKeySequence::Forward)}, [&selection] { selection.forward(); });
    const auto updateHistory = [&selection, back, forward] {
        back->setEnabled(selection.canGoBack());
        forward->setEnabled(selection.canGoForward());
    };
    connect(&selection, &Selection::historyChanged, this, updateHistory);
    updateHistory();
    QUndoStack& edits = m_workspace->edits().stack();
    QAction* undo = a.add("edit.undo", QT_TRANSLATE_NOOP("Actions", "&Undo"), {QKeySequence(QKeySequence::Undo)}, [&edits] { edits.undo(); });
    QAction* redo = a.add("edit.redo", QT_TRANSLATE_NOOP("Actions", "&Redo"), {QKeySequence(QKeySequence::Redo)}, [&edits] { edits.redo(); });
    const auto updateUndo = [&edits, undo, redo] {
        undo->setEnabled(edits.canUndo());
        redo->setEnabled(edits.canRedo());
        undo->setText(edits.canUndo() ? tr("&Undo: %1").arg(edits.undoText()) : QCoreApplication::translate("Actions", "&Undo"));
        redo->setText(edits.canRedo() ? tr("&Redo: %1").arg(edits.redoText()) : QCoreApplication::translate("Actions", "&Redo"));
    };
    connect(&edits, &QUndoStack::indexChanged, this, updateUndo);
    retranslated(this, updateUndo);
    auto* records = static_cast<RecordsPage*>(m_layout->page("records"));
    a.add("records.remeasure", QT_TRANSLATE_NOOP("Actions", "Measure the selected tr&ials again"), {}, [this, records] {
        m_layout->showPage("records");
        records->remeasureSelected();
    });
    a.add("records.note", QT_TRANSLATE_NOOP("Actions", "N&ote on the selected trial"), {Qt::CTRL | Qt::SHIFT | Qt::Key_N}, [this, records] {
        m_layout->showPage("records");
        records->writeNote();
    });
    a.add("project.note", QT_TRANSLATE_NOOP("Actions", "Note on the pro&ject…"), {}, [this] { editProjectNote(); });
    auto* network = static_cast<NetworkPage*>(m_layout->page("network"));
    GraphView* graph = network->graph();
    a.add("edit.find", QT_TRANSLATE_NOOP("Actions", "&Find…"), {QKeySequence(QKeySequence::Find)}, [this] { findHere(); });
    a.add("edit.copy", QT_TRANSLATE_NOOP("Actions", "&Copy"), {QKeySequence(QKeySequence::Copy)}, [this] {
        if (QWidget* view = exportableView(QApplication::focusWidget()))
            copyView(*view);
    });
    a.add("file.saveView", QT_TRANSLATE_NOOP("Actions", "Sa&ve this view…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)}, [this] { saveViewOf(viewHere()); });
    a.add("graph.next", QT_TRANSLATE_NOOP("Actions", "&Next node found"), {QKeySequence(Qt::Key_F3)}, [network] { network->findNext(1); });
    a.add("graph.previous", QT_TRANSLATE_NOOP("Actions", "&Previous node found"), {QKeySequence(Qt::SHIFT | Qt::Key_F3)}, [network] { network->findNext(-1); });
    a.add("graph.fold", QT_TRANSLATE_NOOP("Actions", "Fold all group&s"), {QKeySequence(Qt::CTRL | Qt::Key_BracketLeft)}, [graph] { graph->foldAll(); });
    a.add("graph.unfold", QT_TRANSLATE_NOOP("Actions", "&Unfold all groups"), {QKeySequence(Qt::CTRL | Qt::Key_BracketRight)}, [graph] { graph->unfoldAll(); });
    a.add("graph.save", QT_TRANSLATE_NOOP("Actions", "Save the network's pi&cture…"), {}, [network] { network->savePicture(); });
    a.add("view.zoomIn", QT_TRANSLATE_NOOP("Actions", "Zoom &in"), {QKeySequence(QKeySequence::ZoomIn)}, [graph] { graph->zoomBy(1.25); });
    a.add("view.zoomOut", QT_TRANSLATE_NOOP("Actions", "Zoom &out"), {QKeySequence(QKeySequence::ZoomOut)}, [graph] { graph->zoomBy(0.8); });
    a.add("view.fit", QT_TRANSLATE_NOOP("Actions", "Zoom to &fit"), {QKeySequence(Qt::CTRL | Qt::Key_0)}, [graph] { graph->zoomToFit(); });
    a.add("view.fullScreen", QT_TRANSLATE_NOOP("Actions", "Full scr&een"), {QKeySequence(Qt::Key_F11)}, [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    a.add("view.palette", QT_TRANSLATE_NOOP("Actions", "Co&mmands…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P)}, [this] { showPalette(); });
    a.add("edit.settings", QT_TRANSLATE_NOOP("Actions", "&Settings…"), {QKeySequence(Qt::CTRL | Qt::Key_Comma)}, [this] { showSettings(); });
    a.add("file.reopen", QT_TRANSLATE_NOOP("Actions", "Open the &latest again"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_T)}, [this] {
        if (const auto recent = recentProjects(); !recent.isEmpty())
            openSource(recent.first().source);
    });
    const auto command = [this, &a](const char* id, const char* text, auto&& make) {
        QAction* action = a.add(id, text, {}, [this, make] {
            if (m_workspace->session() != nullptr)
                copyCommand(make(m_workspace->session()->options()));
        });
        action->setEnabled(false);
        connect(&m_workspace->bridge(), &SessionBridge::opened, action, [action] { action->setEnabled(true); });
        connect(&m_workspace->bridge(), &SessionBridge::closed, action, [action] { action->setEnabled(false); });
    };
    command("copy.tasks", QT_TRANSLATE_NOOP("Actions", "Copy command line: list the tas&ks"), [](const session::OpenOptions& open) { return tasksCommand(open); });
    command("copy.tune", QT_TRANSLATE_NOOP("Actions", "Copy command line: st&art"), [this](const session::OpenOptions& open) {
        const auto options = wantedRun(false);
        return tuneCommand(open, options ? *options : session::TuneOptions());
    });
    command("copy.resume", QT_TRANSLATE_NOOP("Actions", "Copy command line: &resume"), [this](const session::OpenOptions& open) {
        const auto wanted = wantedRun(true);
        session::TuneOptions options = wanted ? *wanted : session::TuneOptions();
        options.resume = true;
        return tuneCommand(open, options);
    });
    command("copy.coverage", QT_TRANSLATE_NOOP("Actions", "Copy command line: &check an export"), [this](const session::OpenOptions& open) {
        session::CompileOptions options;
        options.output = suggestedLibrary().toStdString();
        return coverageCommand(open, options);
    });
    command("copy.report", QT_TRANSLATE_NOOP("Actions", "Copy command line: rep&ort"), [this](const session::OpenOptions& open) {
        return reportCommand(QString::fromStdString(open.project.string()), suggestedReport());
    });
    command("copy.compare", QT_TRANSLATE_NOOP("Actions", "Copy command line: co&mpare"), [this](const session::OpenOptions&) { return static_cast<ComparePage*>(m_layout->page("compare"))->command(); });
    command("copy.records", QT_TRANSLATE_NOOP("Actions", "Copy command line: list the recor&ds"), [](const session::OpenOptions& open) { return recordsCommand(QString::fromStdString(open.project.string())); });
    command("copy.import", QT_TRANSLATE_NOOP("Actions", "Copy command line: import lo&gs"), [this](const session::OpenOptions& open) {
        return importCommand(open, m_lastLogs.isEmpty() ? QStringList{QStringLiteral("tuning-log.json")} : m_lastLogs);
    });
    command("copy.replay", QT_TRANSLATE_NOOP("Actions", "Copy command &line: replay"), [](const session::OpenOptions& open) { return replayCommand(open); });
    QAction* again = a.add("run.replay", QT_TRANSLATE_NOOP("Actions", "Repla&y the latest run"), {QKeySequence(Qt::CTRL | Qt::Key_R)}, [this] {
        openReplay(QString::fromStdString(m_workspace->session()->options().project.string()));
    });
    again->setEnabled(false);
    connect(&m_workspace->bridge(), &SessionBridge::opened, again, [again] { again->setEnabled(true); });
    connect(&m_workspace->bridge(), &SessionBridge::closed, again, [again] { again->setEnabled(false); });
    a.add("file.replay", QT_TRANSLATE_NOOP("Actions", "Replay a run of a pro&ject…"), {}, [this] { browseReplay(); });
    command("copy.export", QT_TRANSLATE_NOOP("Actions", "Copy command line: &export"), [this](const session::OpenOptions& open) {
        session::CompileOptions options;
        options.output = suggestedLibrary().toStdString();
        return compileCommand(open, options);
    });
    a.add("view.defaultLayout", QT_TRANSLATE_NOOP("Actions", "Restore &default layout"), {}, [this] { m_layout->restoreDefault(); });
    a.add("view.saveLayout", QT_TRANSLATE_NOOP("Actions", "&Save layout…"), {}, [this] {
        bool good = false;
        const QString name = QInputDialog::getText(this, tr("Save layout"), tr("Name of the layout:"), QLineEdit::Normal, {}, &good).trimmed();
        if (good && !name.isEmpty()) {
            m_layout->save(QString(name).replace(QLatin1Char('/'), QLatin1Char('-')));
            fillLayouts();
        }
    });
    a.add("help.manual", QT_TRANSLATE_NOOP("Actions", "&Manual"), {QKeySequence(QKeySequence::HelpContents)}, [this] {
        const QString topic = ManualWindow::topicOf(QApplication::focusWidget());
        showManual(!topic.isEmpty() ? topic : m_layout->atStart() ? QStringLiteral("start") : ManualWindow::topicOf(m_layout->currentPage()));
    })
        ->setShortcutContext(Qt::ApplicationShortcut); // dialogs have topics, too
    a.add("help.keys", QT_TRANSLATE_NOOP("Actions", "&Keys"), {}, [this] { showManual(QStringLiteral("keys")); });
    a.add("help.about", QT_TRANSLATE_NOOP("Actions", "&About Lathe"), {}, [this] { (new AboutDialog(this))->show(); });
    a.add("help.aboutQt", QT_TRANSLATE_NOOP("Actions", "About &Qt"), {}, [] { QApplication::aboutQt(); });
    a.add("go.nextPane", QT_TRANSLATE_NOOP("Actions", "Ne&xt pane"), {QKeySequence(Qt::CTRL | Qt::Key_F6)}, [this] { m_layout->focusPane(1); });
    a.add("go.previousPane", QT_TRANSLATE_NOOP("Actions", "Pre&vious pane"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F6)}, [this] { m_layout->focusPane(-1); });
    m_layout->addActions(a);
    for (QAction* action : a.all())
        addAction(action); // its keys work whatever has the focus
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
    dialog->setLabelText(tr("Kept with the project, shown above its records:"));
    const QString before = m_workspace->edits().projectNote();
    dialog->setTextValue(before);
    connect(dialog, &QInputDialog::textValueSelected, this, [this, before](const QString& text) { m_workspace->edits().setNote({}, before, text.trimmed()); });
    dialog->open();
}

void MainWindow::makeMenus()
{
    const auto action = [this](const char* id) {
        QAction* found = m_actions->find(QLatin1String(id));
        Q_ASSERT(found != nullptr);
        return found;
    };
    const auto menu = [this](const char* title) {
        QMenu* made = menuBar()->addMenu(QString());
        retranslated(made, [made, title] { made->setTitle(QCoreApplication::translate("Menus", title)); });
        return made;
    };
    const auto submenu = [](QMenu* in, const char* title) {
        QMenu* made = in->addMenu(QString());
        retranslated(made, [made, title] { made->setTitle(QCoreApplication::translate("Menus", title)); });
        return made;
    };
    QMenu* file = menu(QT_TRANSLATE_NOOP("Menus", "&File"));
    file->addAction(m_bar->openAction());
    file->addAction(action("file.openProject"));
    m_recent = submenu(file, QT_TRANSLATE_NOOP("Menus", "&Recent"));
    file->addActions({action("file.reopen"), action("file.start")});
    file->addSeparator();
    file->addAction(action("file.importLog"));
    file->addSeparator();
    file->addActions({action("file.saveView"), m_bar->exportAction(), action("file.report")});
    file->addSeparator();
    file->addAction(action("file.quit"));
    fillRecent();

    QMenu* edit = menu(QT_TRANSLATE_NOOP("Menus", "&Edit"));
    edit->addActions({action("edit.undo"), action("edit.redo")});
    edit->addSeparator();
    edit->addAction(action("edit.copy"));
    edit->addSeparator();
    edit->addActions({action("records.note"), action("project.note"), action("records.remeasure")});
    edit->addSeparator();
    edit->addActions({action("edit.find"), action("graph.next"), action("graph.previous")});
    edit->addSeparator();
    edit->addActions({action("view.palette"), action("edit.settings")});

    QMenu* run = menu(QT_TRANSLATE_NOOP("Menus", "&Run"));
    run->addActions({m_bar->startAction(), m_bar->resumeAction(), m_bar->pauseAction(), m_bar->stopAction()});
    run->addSeparator();
    m_headStart = new HeadStartMenu(run);
    connect(run, &QMenu::aboutToShow, m_headStart, [this] { m_headStart->setTarget(m_bar->target()); });
    run->addMenu(m_headStart);
    run->addSeparator();
    run->addActions({action("run.replay"), action("file.replay")});
    run->addSeparator();
    run->addActions({action("copy.tasks"), action("copy.tune"), action("copy.resume"), action("copy.replay"), action("copy.coverage"), action("copy.export"), action("copy.report"), action("copy.compare"),
                     action("copy.records"), action("copy.import")});

    QMenu* go = menu(QT_TRANSLATE_NOOP("Menus", "&Go"));
    go->addActions({action("go.back"), action("go.forward"), action("go.nextPane"), action("go.previousPane")});
    go->addSeparator();
    for (const PageEntry& entry : pageTable())
        go->addAction(m_actions->find(QStringLiteral("page.") + QLatin1String(entry.id)));

    QMenu* view = menu(QT_TRANSLATE_NOOP("Menus", "&View"));
    view->addActions({action("view.zoomIn"), action("view.zoomOut"), action("view.fit"), action("graph.fold"), action("graph.unfold"), action("graph.save")});
    view->addSeparator();
    QMenu* docks = submenu(view, QT_TRANSLATE_NOOP("Menus", "&Docks"));
    for (const PageEntry& entry : pageTable())
        if (entry.place != PagePlace::Center)
            docks->addAction(m_actions->find(QStringLiteral("dock.") + QLatin1String(entry.id)));
    m_layouts = submenu(view, QT_TRANSLATE_NOOP("Menus", "&Layouts"));
    fillLayouts();
    QMenu* themes = submenu(view, QT_TRANSLATE_NOOP("Menus", "&Appearance"));
    auto* group = new QActionGroup(themes);
    for (const Appearance appearance : {Appearance::System, Appearance::Light, Appearance::Dark}) {
        QAction* a = themes->addAction(QString(), this, [appearance] { applyAppearance(appearance); });
        a->setObjectName(QStringLiteral("appearance%1").arg(static_cast<int>(appearance)));
        a->setCheckable(true);
        a->setChecked(appearance == storedAppearance());
        group->addAction(a);
        connect(&AppearanceWatch::instance(), &AppearanceWatch::changed, a, [a, appearance] { a->setChecked(appearance == storedAppearance()); });
        retranslated(a, [a, appearance] { a->setText(appearanceName(appearance)); });
    }
    // In their own words: who cannot read the language in use finds the way out.
    QMenu* languages = submenu(view, QT_TRANSLATE_NOOP("Menus", "Lan&guage"));
    const std::pair<const char*, const char*> names[] = {{"en", "English"}, {"zh_CN", "简体中文"}};
    for (const auto& [code, name] : names)
        languages->addAction(QString::fromUtf8(name), this, [code = QLatin1String(code)] { Language::instance().set(code); });
    view->addAction(action("view.fullScreen"));

    QMenu* help = menu(QT_TRANSLATE_NOOP("Menus", "&Help"));
    help->addActions({action("help.manual"), action("help.keys")});
    help->addSeparator();
    help->addActions({action("help.about"), action("help.aboutQt")});
}

void MainWindow::fillRecent()
{
    m_recent->clear();
    int number = 1;
    const QVector<RecentProject> projects = recentProjects();
    for (const RecentProject& project : projects) {
        QAction* open = m_recent->addAction(QStringLiteral("&%1  %2").arg(number++).arg(project.name()), this, [this, source = project.source] { openSource(source); });
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
