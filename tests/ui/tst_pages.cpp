#include "tests/examples/page/pebbles_page.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/commands/action_catalog.h"
#include "ui/commands/window_actions.h"
#include "ui/dialogs/command_palette.h"
#include "ui/models/workspace.h"
#include "ui/pages/page.h"
#include "ui/shell/page_registry.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_pages {

using namespace lathe;
using examples::PebblesPage;

/// Pages bring what can be done with them, and the window finds it: nothing of the window knows any of them.
class TestPages : public QObject, test::WindowTest
{
    Q_OBJECT

    PebblesPage& page() const { return static_cast<PebblesPage&>(*find<QWidget>("pebblesPage")); }
    void show(const std::vector<ui::PageEntry>& pages)
    {
        m_window = std::make_unique<ui::MainWindow>(pages);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        QApplication::setActiveWindow(m_window.get());
        QTRY_VERIFY(m_window->isActiveWindow());
    }
    void open(const char* source)
    {
        m_window->openSource(QLatin1String(source));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<ui::SessionBridge*>()->session() != nullptr, 30000);
    }
    QMenu* menu(const QString& title) const
    {
        for (const QAction* entry : m_window->menuBar()->actions())
            if (entry->text() == title)
                return entry->menu();
        return nullptr;
    }
    /// The entries by their ids, submenus by their titles, "-" for a line.
    static QStringList entries(const QMenu* in)
    {
        QStringList list;
        for (const QAction* entry : in->actions())
            list << (entry->isSeparator()       ? QStringLiteral("-")
                     : entry->menu() != nullptr ? entry->text()
                                                : entry->objectName());
        return list;
    }
    /// Types into the palette, and runs what it finds first.
    QString runFromPalette(const QString& typed)
    {
        find<QAction>("view.palette")->trigger();
        auto* palette = find<QDialog>("commandPalette");
        auto* input = palette->findChild<QLineEdit*>("paletteInput");
        QTest::keyClicks(input, typed);
        const QString first = palette->findChild<QListWidget*>("paletteList")->item(0)->text();
        QTest::keyClick(input, Qt::Key_Return);
        QTest::qWait(50);
        return first;
    }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }
    void cleanup() { m_window.reset(); }

    void theMenusOfTheWindowStandAsTheyAlwaysDid()
    {
        const auto table = ui::pageTable();
        show({table.begin(), table.end()});
        QStringList bar;
        for (const QAction* entry : m_window->menuBar()->actions())
            bar << entry->text();
        QCOMPARE(bar, QStringList({"&File", "&Edit", "&Run", "&Go", "&View", "&Help"}));
        QCOMPARE(
            entries(menu("&File")).mid(1),
            QStringList({"file.openProject", "&Recent", "file.reopen", "file.start", "file.inputSizes", "-",
                         "file.importLog", "-", "file.saveView", "actionExport", "file.report", "-", "file.quit"}));
        QCOMPARE(entries(menu("&Edit")),
                 QStringList({"edit.undo", "edit.redo", "-", "edit.copy", "-", "records.note", "project.note",
                              "records.remeasure", "-", "edit.find", "graph.next", "graph.previous", "-",
                              "view.palette", "edit.settings"}));
        QCOMPARE(entries(menu("&Run")), QStringList({"actionStart", "actionStartOver", "actionResume",
                                                     "actionPause", "actionStop",      "-",
                                                     "Start &with", "run.options",     "-",
                                                     "run.replay",  "file.replay",     "-",
                                                     "copy.tasks",  "copy.tune",       "copy.resume",
                                                     "copy.replay", "copy.coverage",   "copy.export",
                                                     "copy.report", "copy.compare",    "copy.records",
                                                     "copy.import"}));
        QCOMPARE(entries(menu("&Go")).mid(0, 5),
                 QStringList({"go.back", "go.forward", "go.nextPane", "go.previousPane", "-"}));
        QCOMPARE(entries(menu("&Go")).size(), qsizetype(5 + table.size()));
        QCOMPARE(entries(menu("&View")),
                 QStringList({"view.zoomIn", "view.zoomOut", "view.fit", "graph.fold", "graph.unfold", "graph.weights",
                              "graph.layouts", "graph.save", "-", "&Docks", "&Layouts", "&Appearance", "Lan&guage",
                              "view.fullScreen"}));
        QCOMPARE(entries(menu("&Help")), QStringList({"help.manual", "help.keys", "-", "help.about", "help.aboutQt"}));
    }

    void aPageBringsItsActionsMenusAndCommands()
    {
        const auto table = ui::pageTable();
        std::vector<ui::PageEntry> pages(table.begin(), table.end());
        pages.push_back({"pebbles", "Pebbles", ui::PagePlace::Bottom, examples::makePebbles});
        show(pages);
        // An action, in its place among those of the window and of other pages.
        QCOMPARE(entries(menu("&Edit")).mid(5, 5),
                 QStringList({"records.note", "pebbles.count", "project.note", "records.remeasure", "pebbles.last"}));
        for (QAction* entry : menu("&Edit")->actions())
            if (entry->objectName() == "pebbles.count")
                entry->trigger();
        QCOMPARE(page().counted, 1);
        // Its keys.
        QTest::keyClick(m_window.get(), Qt::Key_B, Qt::ControlModifier | Qt::AltModifier);
        QCOMPARE(page().counted, 2);
        // A menu of its own.
        QCOMPARE(entries(menu("&View")).last(), QString("Pe&bbles"));
        // A command that no menu has.
        QCOMPARE(runFromPalette("whistleatthe"), QString("Whistle at the pebbles"));
        QTRY_COMPARE(page().whistled, 1);
        // The command line of what it does, while a network is open.
        QVERIFY(!find<QAction>("copy.pebbles")->isEnabled() && !find<QAction>("pebbles.last")->isEnabled());
        QVERIFY(entries(menu("&Run")).indexOf("copy.pebbles") == entries(menu("&Run")).indexOf("copy.compare") + 1);
        open("zoo:mlp");
        find<QAction>("copy.pebbles")->trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("pebbles --of zoo:mlp"));
        // A dock with its toggle, a way there, and a word of its own that it has something to show.
        QVERIFY(entries(menu("&Go")).contains("page.pebbles"));
        auto* dock = find<QDockWidget>("pebblesDock");
        dock->hide();
        find<QAction>("dock.pebbles")->trigger();
        QVERIFY(dock->isVisible());
        dock->hide();
        find<QAction>("pebbles.last")->trigger();
        QVERIFY(dock->isVisible());
        // Settings keep its keys as any other's.
        auto* catalog = m_window->findChild<ui::ActionCatalog*>();
        QVERIFY(catalog->find("pebbles.count") != nullptr);
        catalog->setKeys(catalog->find("pebbles.count"), {QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_X)});
        QVERIFY(QSettings().contains("shortcuts/pebbles.count"));
        catalog->setKeys(catalog->find("pebbles.count"), catalog->defaultKeys(catalog->find("pebbles.count")));
    }

    /// Of several pages that are for the same, the first comes to the front.
    void theWindowWorksWithPagesThatItDoesNotKnow()
    {
        show({{"pebbles", "Pebbles", ui::PagePlace::Center, examples::makePebbles}});
        find<QAction>("view.defaultLayout")->trigger();
        find<QAction>("edit.find")->trigger();
        open("zoo:mlp");
        QTRY_VERIFY(page().isVisible());
        find<QAction>("view.defaultLayout")->trigger();
        QApplication::focusWidget()->clearFocus();
        find<QAction>("edit.find")->trigger();
        QTRY_VERIFY(find<QLineEdit>("pebblesFind")->hasFocus());
        find<QAction>("file.saveView")->trigger(); // there is none: it says so
        m_window->findChild<ui::Workspace*>()->addIssue("StoreFailed", "here", "nobody shows this");
        find<QAction>("go.nextPane")->trigger();
        find<QAction>("page.pebbles")->trigger();
        m_window->importLogs({m_dir.filePath("none.json")});
        m_window->close();
    }

    /// And with none at all.
    void theWindowWorksWithoutPages()
    {
        show({});
        open("zoo:mlp");
        for (const char* id : {"view.defaultLayout", "edit.find", "file.saveView", "go.nextPane", "go.previousPane",
                               "file.start", "file.start"})
            find<QAction>(id)->trigger();
        m_window->close();
    }
};

LATHE_TEST_GUI(TestPages)

} // namespace tst_pages

#include "tst_pages.moc"
