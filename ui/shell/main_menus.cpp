#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/pages/network_page.h"
#include "ui/pages/run_bar.h"
#include "ui/shell/action_catalog.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/page_registry.h"
#include "ui/shell/window_layout.h"
#include "ui/views/graph_view.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenuBar>
#include <QSettings>

namespace lathe::ui {

// The window's actions and menus. An action is made here once; menus, the palette and the list of shortcuts show it.

void MainWindow::makeActions()
{
    ActionCatalog& a = *m_actions;
    for (QAction* action : {m_bar->openAction(), m_bar->startAction(), m_bar->resumeAction(), m_bar->pauseAction(), m_bar->stopAction(), m_bar->exportAction()})
        a.adopt(action);
    a.add("file.openProject", QT_TRANSLATE_NOOP("Actions", "Open &project…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_O}, [this] { browseProject(); });
    a.add("file.start", QT_TRANSLATE_NOOP("Actions", "&Start page"), {Qt::CTRL | Qt::SHIFT | Qt::Key_Home}, [this] {
        if (!m_layout->atStart())
            m_layout->showStart();
        else if (m_workspace->session() != nullptr)
            m_layout->showWork();
    });
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
    GraphView* graph = static_cast<NetworkPage*>(m_layout->page("network"))->graph();
    a.add("view.fit", QT_TRANSLATE_NOOP("Actions", "Zoom to &fit"), {Qt::CTRL | Qt::Key_0}, [graph] { graph->zoomToFit(); });
    a.add("view.defaultLayout", QT_TRANSLATE_NOOP("Actions", "Restore &default layout"), {}, [this] { m_layout->restoreDefault(); });
    a.add("view.saveLayout", QT_TRANSLATE_NOOP("Actions", "&Save layout…"), {}, [this] {
        bool good = false;
        const QString name = QInputDialog::getText(this, tr("Save layout"), tr("Name of the layout:"), QLineEdit::Normal, {}, &good).trimmed();
        if (good && !name.isEmpty()) {
            m_layout->save(QString(name).replace(QLatin1Char('/'), QLatin1Char('-')));
            fillLayouts();
        }
    });
    a.add("help.about", QT_TRANSLATE_NOOP("Actions", "&About Lathe"), {}, [this] { about(); });
    a.add("help.aboutQt", QT_TRANSLATE_NOOP("Actions", "About &Qt"), {}, [] { QApplication::aboutQt(); });
    m_layout->addActions(a);
    for (QAction* action : a.all())
        addAction(action); // its keys work whatever has the focus
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
    file->addAction(action("file.start"));
    file->addSeparator();
    file->addAction(m_bar->exportAction());
    file->addSeparator();
    file->addAction(action("file.quit"));
    fillRecent();

    QMenu* run = menu(QT_TRANSLATE_NOOP("Menus", "&Run"));
    run->addActions({m_bar->startAction(), m_bar->resumeAction(), m_bar->pauseAction(), m_bar->stopAction()});

    QMenu* go = menu(QT_TRANSLATE_NOOP("Menus", "&Go"));
    go->addActions({action("go.back"), action("go.forward")});
    go->addSeparator();
    for (const PageEntry& entry : pageTable())
        go->addAction(m_actions->find(QStringLiteral("page.") + QLatin1String(entry.id)));

    QMenu* view = menu(QT_TRANSLATE_NOOP("Menus", "&View"));
    view->addAction(action("view.fit"));
    view->addSeparator();
    QMenu* docks = submenu(view, QT_TRANSLATE_NOOP("Menus", "&Docks"));
    for (const PageEntry& entry : pageTable())
        if (entry.place != PagePlace::Center)
            docks->addAction(m_actions->find(QStringLiteral("dock.") + QLatin1String(entry.id)));
    m_layouts = submenu(view, QT_TRANSLATE_NOOP("Menus", "&Layouts"));
    fillLayouts();
    QMenu* themes = submenu(view, QT_TRANSLATE_NOOP("Menus", "&Appearance"));
    auto* themeGroup = new QActionGroup(this);
    for (const Appearance appearance : {Appearance::System, Appearance::Light, Appearance::Dark}) {
        QAction* a = themes->addAction(QString());
        retranslated(a, [a, appearance] { a->setText(appearanceName(appearance)); });
        a->setCheckable(true);
        a->setChecked(appearance == storedAppearance());
        themeGroup->addAction(a);
        connect(a, &QAction::triggered, this, [appearance] { applyAppearance(appearance); });
    }

    QMenu* help = menu(QT_TRANSLATE_NOOP("Menus", "&Help"));
    help->addActions({action("help.about"), action("help.aboutQt")});
}

void MainWindow::fillRecent()
{
    m_recent->clear();
    int number = 1;
    for (const QString& source : QSettings().value(QStringLiteral("recent")).toStringList()) {
        const QString name = source.startsWith(QStringLiteral("zoo:")) ? source : QFileInfo(source).fileName();
        QAction* open = m_recent->addAction(QStringLiteral("&%1  %2").arg(number++).arg(name), this, [this, source] { openSource(source); });
        open->setToolTip(source);
        open->setStatusTip(source);
    }
    m_recent->setEnabled(!m_recent->isEmpty());
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
