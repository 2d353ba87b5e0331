#include "core/session/session.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/report_dialog.h"
#include "ui/models/import_problems.h"
#include "ui/models/issue_model.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/views/appearance.h"
#include "ui/views/band_chart.h"
#include "ui/views/elided_label.h"
#include "ui/views/empty_state.h"
#include "ui/views/graph_view.h"
#include "ui/views/latency_chart.h"
#include "ui/views/scatter_view.h"
#include "ui/views/table_view.h"
#include "ui/views/view_export.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QDockWidget>
#include <QDrag>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStandardItemModel>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <QtTest>

namespace tst_habits {

using namespace lathe;

namespace {

QByteArray read(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

/// A field of a protobuf message that has a length.
QByteArray field(int number, const QByteArray& value)
{
    QByteArray bytes(1, static_cast<char>(number << 3 | 2));
    for (qsizetype left = value.size();; left >>= 7) {
        bytes += static_cast<char>(left < 128 ? left : (left & 127) | 128);
        if (left < 128)
            return bytes + value;
    }
}

QByteArray number(int field, int value)
{
    return QByteArray(1, static_cast<char>(field << 3)) + static_cast<char>(value);
}

/// An ONNX model with a row of nodes, all of which take x.
QByteArray model(const QList<std::pair<QByteArray, QByteArray>>& nodes)
{
    QByteArray graph;
    for (const auto& [op, name] : nodes)
        graph += field(1, field(1, "x") + field(2, name + "_out") + field(3, name) + field(4, op));
    const QByteArray dims = field(1, number(1, 1)) + field(1, number(1, 4));
    const auto value = [&dims](const QByteArray& name) {
        return field(1, name) + field(2, field(1, number(1, 1) + field(2, dims)));
    };
    graph += field(2, "g") + field(11, value("x")) + field(12, value(nodes.last().second + "_out"));
    return number(1, 8) + field(7, graph) + field(8, number(2, 13));
}

/// The letters that Alt opens in a menu; a letter twice: Alt would only walk.
QStringList doubleMnemonics(const QList<QAction*>& actions)
{
    QStringList doubles;
    QHash<QChar, QString> taken;
    for (const QAction* action : actions) {
        const auto at = QString(action->text()).replace(QStringLiteral("&&"), QString()).indexOf(QLatin1Char('&'));
        if (at < 0 || action->isSeparator() || !action->isVisible())
            continue;
        const QChar letter = QString(action->text()).replace(QStringLiteral("&&"), QString())[at + 1].toLower();
        if (taken.contains(letter))
            doubles << taken[letter] + QStringLiteral(" / ") + action->text();
        taken[letter] = action->text();
    }
    return doubles;
}

} // namespace

/// What all pages share: copying and saving, panes and keys, languages, problems of models.
class TestHabits : public QObject, test::WindowTest
{
    Q_OBJECT

    void runAction(const char* id) const { find<QAction>(id)->trigger(); }
    QString write(const QString& name, const QByteArray& bytes) const
    {
        QFile out(m_dir.filePath(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size())
            qFatal("cannot write");
        return out.fileName();
    }

    static std::unique_ptr<ui::LatencyChart> chart()
    {
        auto made = std::make_unique<ui::LatencyChart>();
        made->setObjectName("latencyChart");
        ui::LatencyChart::Curves curves;
        curves.estimate = {{0, 8}, {10, 4.5}};
        curves.measured = {{10, 5.25}};
        curves.untunedMs = 9;
        curves.seconds = 20;
        made->setCurves(curves);
        made->resize(400, 300);
        made->grab(); // lays it out
        return made;
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        m_window = test::shownWindow();
    }

    void tablesAreCopiedAsText()
    {
        QStandardItemModel items(2, 2);
        items.setHorizontalHeaderLabels({"Name", "Value"});
        items.setItem(0, 0, new QStandardItem("a, b"));
        items.setItem(0, 1, new QStandardItem("1.5"));
        items.setItem(1, 0, new QStandardItem("say \"x\"\nand y"));
        items.setItem(1, 1, new QStandardItem("2"));
        ui::TableView table("testTable");
        table.setModel(&items);
        QCOMPARE(ui::rowsText(ui::rowsOf(table, true), ','),
                 QString("Name,Value\n\"a, b\",1.5\n\"say \"\"x\"\"\nand y\",2\n"));
        table.selectRow(1);
        ui::copyView(table);
        QCOMPARE(QApplication::clipboard()->text(), QString("Name\tValue\nsay \"x\" and y\t2\n"));
        table.setColumnHidden(0, true);
        QCOMPARE(ui::rowsText(ui::rowsOf(table, false), '\t'), QString("Value\n2\n"));
    }

    void treesKeepTheirDepth()
    {
        QTreeWidget tree;
        tree.setHeaderLabels({"Property", "Value"});
        auto* top = new QTreeWidgetItem(&tree, {"Tensors", ""});
        new QTreeWidgetItem(top, {"input", "1x2"});
        QCOMPARE(ui::rowsText(ui::rowsOf(tree, true), '\t'), QString("Property\tValue\nTensors\t\n  input\t1x2\n"));
        QVERIFY(ui::exportableView(tree.viewport()) == &tree);
        QLabel label;
        QVERIFY(ui::exportableView(&label) == nullptr);
    }

    void chartsAreCopiedAsPicturesAndSavedInThreeKinds()
    {
        const auto view = chart();
        ui::copyView(*view);
        QVERIFY(QApplication::clipboard()->mimeData()->hasImage());
        QVERIFY(ui::saveView(*view, m_dir.filePath("chart.png")).isEmpty());
        const QImage png(m_dir.filePath("chart.png"));
        QVERIFY(png.width() >= 600);
        QSet<QRgb> colors;
        for (int y = 0; y < png.height(); y += 3)
            for (int x = 0; x < png.width(); x += 3)
                colors.insert(png.pixel(x, y));
        QVERIFY2(colors.size() > 3, "the curve must be in the picture");
        QVERIFY(ui::saveView(*view, m_dir.filePath("chart.svg")).isEmpty());
        QVERIFY(read(m_dir.filePath("chart.svg")).contains("<svg")
                && read(m_dir.filePath("chart.svg")).contains("untuned"));
        QVERIFY(ui::saveView(*view, m_dir.filePath("chart.csv")).isEmpty());
        QVERIFY(
            read(m_dir.filePath("chart.csv"))
                .startsWith("Curve,Time (s),Latency (ms)\nestimated network,0.000,8\nestimated network,10.000,4.5\n"));
        ui::BandChart band;
        band.setBands({"a", "b"}, "s");
        band.setSamples({{0, 2, {{0, 1.0}, {1, 3.0}}}});
        band.resize(300, 200);
        QVERIFY(ui::saveView(band, m_dir.filePath("band.csv")).isEmpty());
        QCOMPARE(read(m_dir.filePath("band.csv")),
                 QByteArray("From (s),To (s),Name,Amount (s)\n0.000,2.000,a,1\n0.000,2.000,b,3\n"));
        QVERIFY(ui::saveView(band, m_dir.filePath("band.svg")).isEmpty());
    }

    void whatCannotBeSavedSaysWhy()
    {
        const auto view = chart();
        QVERIFY(ui::saveView(*view, m_dir.filePath("chart.doc")).contains(".csv"));
        QVERIFY(!QFile::exists(m_dir.filePath("chart.doc")));
        QVERIFY(ui::saveView(*view, m_dir.filePath("no/such/folder.png")).contains("Cannot write"));
        ui::ScatterView empty;
        QVERIFY(ui::saveView(empty, m_dir.filePath("empty.png")).contains("nothing to save"));
        QVERIFY(!QFile::exists(m_dir.filePath("empty.png")));
        ui::GraphView graph;
        QVERIFY(!ui::saveView(graph, m_dir.filePath("graph.svg")).isEmpty());
    }

    void everyProblemOfAModelIsARowWithItsNodes()
    {
        session::OpenOptions options;
        options.model.source =
            write("odd.onnx", model({{"Foo", "first"}, {"Bar", "second"}, {"Foo", "third"}})).toStdString();
        const auto opened = session::TuningSession::open(options);
        QVERIFY(!opened);
        const auto problems = ui::importProblems(opened.error().about);
        QVERIFY2(problems.size() == 2, opened.error().message.c_str());
        QCOMPARE(problems[0].nodes, QStringList({"first", "third"}));
        QVERIFY(problems[1].what.contains("Bar"));
        m_window->openSource(m_dir.filePath("odd.onnx"));
        auto* issues = find<QTableView>("issueTable")->model();
        QTRY_COMPARE_WITH_TIMEOUT(issues->rowCount(), 2, 20000);
        QCOMPARE(issues->index(0, ui::IssueModel::WhereColumn).data().toString(), QString("first, third"));
        QCOMPARE(issues->index(0, ui::IssueModel::CountColumn).data().toInt(), 2);
        QVERIFY(issues->index(1, ui::IssueModel::TextColumn).data().toString().contains("odd.onnx"));
        QVERIFY(find<QDockWidget>("issuesDock")->isVisible());
    }

    void otherErrorsAreNoImportProblems()
    {
        QVERIFY(ui::importProblems({}).empty()); // of an older version, or without an id
        QVERIFY(ui::importProblems(about(say(Msg::FileEmpty))).empty());
        // Whatever the sentence says, in any words: rows come of what it is about.
        Error error = makeError(
            Errc::Unsupported,
            say(Msg::ModelNeeds, std::vector<Message>{say(Msg::NeededByMoreNodes, say(Msg::NeedsOperator, "A; of B"),
                                                          std::vector<std::string>{"\"n (1)\"", "\"m\""}, 7),
                                                      say(Msg::NeededByNode, say(Msg::NeedsOperator, "C"),
                                                          std::vector<std::string>{"\"k\""})}));
        error.message = "something else entirely";
        const auto many = ui::importProblems(std::move(error).note("opening x").about);
        QCOMPARE(many.size(), std::size_t(2));
        QCOMPARE(many[0].what, QString("operator A; of B"));
        QCOMPARE(many[0].nodes, QStringList({"n (1)", "m"}));
        QCOMPARE(many[0].count, 9);
        QCOMPARE(many[1].count, 1);
    }

    void whatCannotBeOpenedSaysSoAtOnce()
    {
        auto* issues = find<QTableView>("issueTable")->model();
        const int before = issues->rowCount();
        m_window->openSource("/some/where/libnet.so");
        QCOMPARE(issues->rowCount(), before + 1);
        QVERIFY(issues->index(before, ui::IssueModel::TextColumn).data().toString().contains("lathe-cli"));
    }

    void theWindowCopiesAndSavesWhatHasTheFocus()
    {
        m_window->openSource("zoo:mlp");
        auto* graph = find<ui::GraphView>("graphView");
        QTRY_VERIFY_WITH_TIMEOUT(!graph->scene().visible().items.empty(), 20000);
        QVERIFY(ui::saveView(*graph, m_dir.filePath("network.csv")).isEmpty());
        QVERIFY(read(m_dir.filePath("network.csv")).startsWith("Node,Operator,Name,Task,Output\n"));
        auto* tasks = find<QTableView>("taskTable");
        tasks->setFocus();
        tasks->selectRow(0);
        QTest::keyClick(m_window.get(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY2(QApplication::clipboard()->text().startsWith("#\tTask\t"),
                 qPrintable(QApplication::clipboard()->text()));
        graph->setFocus();
        QTest::keyClick(m_window.get(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QApplication::clipboard()->mimeData()->hasImage());
        auto* properties = find<QTreeWidget>("properties");
        properties->setFocus();
        properties->setCurrentItem(properties->topLevelItem(0));
        QTest::keyClick(m_window.get(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QApplication::clipboard()->text().startsWith("Property\tValue\n"));
    }

    void panesAreWalkedByKeys()
    {
        QSet<QString> seen;
        find<QTableView>("taskTable")->setFocus();
        QWidget* const from = QApplication::focusWidget();
        for (int i = 0; i < 12; ++i) {
            runAction("go.nextPane");
            const QWidget* now = QApplication::focusWidget();
            QVERIFY(now != nullptr);
            for (const QWidget* at = now; at != nullptr; at = at->parentWidget())
                if (qobject_cast<const QDockWidget*>(at) != nullptr || at->objectName() == "runBar"
                    || at->objectName() == "pages")
                    seen.insert(at->objectName());
        }
        QSet<QString> shown{"runBar", "pages"};
        for (const QDockWidget* dock : m_window->findChildren<QDockWidget*>())
            if (dock->isVisible() && !dock->visibleRegion().isEmpty()) // not behind another's tab
                shown.insert(dock->objectName());
        QVERIFY(shown.size() >= 3);
        QCOMPARE(seen, shown);
        from->setFocus();
        runAction("go.nextPane");
        QVERIFY(QApplication::focusWidget() != from);
        runAction("go.previousPane");
        QVERIFY(find<QDockWidget>("tasksDock")->isAncestorOf(QApplication::focusWidget()));
    }

    void noTwoEntriesOfAMenuShareALetter()
    {
        for (const QString& language : ui::Language::available()) {
            ui::Language::instance().set(language);
            QStringList doubles = doubleMnemonics(m_window->menuBar()->actions());
            for (QMenu* menu : m_window->findChildren<QMenu*>())
                if (!menu->actions().isEmpty())
                    doubles << doubleMnemonics(menu->actions());
            QVERIFY2(doubles.isEmpty(), qPrintable(language + ": " + doubles.join("; ")));
        }
        ui::Language::instance().set("en");
    }

    void openDialogsAndPagesFollowTheLanguage()
    {
        for (const char* id : {"view.palette", "edit.settings", "help.about", "help.manual"})
            runAction(id);
        auto& bridge = m_window->findChild<ui::Workspace*>()->bridge();
        (new ui::ExportDialog(bridge, m_dir.filePath("libx.so"), m_window.get()))->show();
        (new ui::ReportDialog(m_dir.filePath("x.lathe"), m_dir.filePath("x.html"), m_window.get()))->show();
        const auto texts = [this] {
            QHash<const QObject*, QString> found;
            QHash<const QObject*, QStringList> headings;
            for (QWidget* widget : m_window->findChildren<QWidget*>()) {
                if (const auto* label = qobject_cast<QLabel*>(widget))
                    found[widget] = label->text();
                else if (const auto* button = qobject_cast<QAbstractButton*>(widget))
                    found[widget] = button->text();
                else if (const auto* box = qobject_cast<QComboBox*>(widget))
                    found[widget] = box->currentText();
                else if (const auto* edit = qobject_cast<QLineEdit*>(widget);
                         edit != nullptr && !edit->objectName().startsWith("qt_"))
                    found[widget] = edit->placeholderText();
                else if (widget->isWindow())
                    found[widget] = widget->windowTitle();
                if (const auto* items = qobject_cast<QAbstractItemView*>(widget);
                    items != nullptr && items->model() != nullptr)
                    for (int column = 0; column < items->model()->columnCount(); ++column)
                        headings[widget] << items->model()->headerData(column, Qt::Horizontal).toString();
                for (const QString& said : {widget->toolTip(), widget->accessibleName()})
                    if (!said.isEmpty())
                        headings[widget] << said;
            }
            for (auto it = headings.begin(); it != headings.end(); ++it)
                found[it.key()] += QLatin1Char('|') + it.value().join(QLatin1Char('|'));
            for (const QAction* action : m_window->findChildren<QAction*>())
                if (action->parent() != nullptr && !action->objectName().isEmpty())
                    found[action] = action->text();
            return found;
        };
        QCOMPARE(m_window->findChildren<QDialog*>().size(), 6);
        const auto english = texts();
        ui::Language::instance().set("zh_CN");
        const auto chinese = texts();
        ui::Language::instance().set("en");
        static const QRegularExpression words("[A-Za-z]{3,}\\s+[a-z]{3,}");
        // Commands and file names are the same in every language.
        static const QRegularExpression same("lathe-cli|zoo:|[×@]");
        QStringList left;
        for (auto it = english.begin(); it != english.end(); ++it)
            for (const QString& text : it.value().split(QLatin1Char('|')))
                if (text.contains(words) && !text.contains(same)
                    && chinese.value(it.key()).split(QLatin1Char('|')).contains(text))
                    left << it.key()->objectName() + ": " + text;
        QVERIFY2(left.isEmpty(), qPrintable(left.join('\n')));
        for (QDialog* dialog : m_window->findChildren<QDialog*>())
            dialog->close();
    }

    void everyInputIsReachedByTab_data()
    {
        QTest::addColumn<QString>("page");
        for (const char* page : {"network", "curves", "scheduler", "records", "time", "compare"})
            QTest::newRow(page) << QString::fromLatin1(page);
    }

    /// Once round the window: no widget keeps the focus, and none that can be shown to have it is passed over.
    void everyInputIsReachedByTab()
    {
        QFETCH(QString, page);
        runAction(("page." + page).toLatin1().constData());
        QTest::keyClick(m_window.get(), Qt::Key_Tab);
        QWidget* const from = QApplication::focusWidget();
        QVERIFY(from != nullptr);
        QSet<QWidget*> seen;
        QStringList way;
        do {
            QWidget* const at = QApplication::focusWidget();
            seen.insert(at);
            way << at->objectName();
            QTest::keyClick(at, Qt::Key_Tab);
            QVERIFY2(QApplication::focusWidget() != at, qPrintable("kept by " + at->objectName()));
        } while (QApplication::focusWidget() != from && seen.size() < 200
                 && !seen.contains(QApplication::focusWidget()));
        QVERIFY2(QApplication::focusWidget() == from,
                 qPrintable(way.join(' ') + " -> " + QApplication::focusWidget()->objectName()));
        QStringList missed;
        for (QWidget* widget : m_window->findChildren<QWidget*>())
            if (widget->window() == m_window.get() && widget->isVisible() && widget->isEnabled()
                && (widget->focusPolicy() & Qt::TabFocus) && widget->focusProxy() == nullptr
                && !widget->visibleRegion().isEmpty() && !seen.contains(widget))
                missed << widget->metaObject()->className() + QStringLiteral(" ") + widget->objectName();
        QVERIFY2(missed.isEmpty(), qPrintable(missed.join("; ")));
    }

    void tabLeavesEveryView()
    {
        QStringList traps;
        for (const QWidget* widget : m_window->findChildren<QWidget*>()) {
            if (const auto* items = qobject_cast<const QAbstractItemView*>(widget);
                items != nullptr && items->tabKeyNavigation())
                traps << widget->objectName();
            if (const auto* text = qobject_cast<const QPlainTextEdit*>(widget);
                text != nullptr && !text->tabChangesFocus())
                traps << widget->objectName();
        }
        QVERIFY2(traps.isEmpty(), qPrintable(traps.join(", ")));
    }

    void theSettingsShowWhatWasChosenElsewhere()
    {
        runAction("edit.settings");
        auto* dialog = m_window->findChild<QDialog*>("settingsDialog");
        ui::Language::instance().set("zh_CN");
        QCOMPARE(dialog->findChild<QComboBox*>("settingsLanguage")->currentData().toString(), QString("zh_CN"));
        ui::Language::instance().set("en");
        // Both ways.
        auto* combo = dialog->findChild<QComboBox*>("settingsAppearance");
        const auto entry = [this](ui::Appearance appearance) {
            return find<QAction>(qPrintable(QString("appearance%1").arg(static_cast<int>(appearance))));
        };
        entry(ui::Appearance::Dark)->trigger();
        QCOMPARE(combo->currentData().toInt(), static_cast<int>(ui::Appearance::Dark));
        combo->setCurrentIndex(combo->findData(static_cast<int>(ui::Appearance::Light)));
        emit combo->activated(combo->currentIndex());
        QVERIFY(entry(ui::Appearance::Light)->isChecked());
        QVERIFY(!entry(ui::Appearance::Dark)->isChecked());
        dialog->close();
    }

    void onlyWhatIsSelectedIsDragged()
    {
        QStandardItemModel items(3, 1);
        for (int row = 0; row < 3; ++row)
            items.setItem(row, new QStandardItem(QString::number(row)));
        ui::TableView table("dragTable");
        table.setModel(&items);
        table.resize(200, 200);
        table.show();
        table.selectRow(1);
        QTest::mousePress(table.viewport(), Qt::LeftButton, Qt::NoModifier,
                          table.visualRect(items.index(1, 0)).center());
        QVERIFY(table.dragEnabled());
        QTest::mouseRelease(table.viewport(), Qt::LeftButton, Qt::NoModifier,
                            table.visualRect(items.index(1, 0)).center());
        QTest::mousePress(table.viewport(), Qt::LeftButton, Qt::NoModifier,
                          table.visualRect(items.index(2, 0)).center());
        QVERIFY(!table.dragEnabled());
        QTest::mouseRelease(table.viewport(), Qt::LeftButton, Qt::NoModifier,
                            table.visualRect(items.index(2, 0)).center());
    }

    /// Where a drag in the view itself means another thing.
    void aChartIsDraggedOutByItsHandle()
    {
        const auto view = chart();
        view->show();
        QVERIFY(QTest::qWaitForWindowExposed(view.get()));
        auto* handle = view->findChild<QWidget*>("dragHandle");
        QVERIFY(handle != nullptr);
        QVERIFY(view->rect().contains(handle->geometry()));
        QTest::mousePress(handle, Qt::LeftButton, Qt::NoModifier, handle->rect().center());
        QMouseEvent move(QEvent::MouseMove, QPointF(-60, -60), handle->mapToGlobal(QPointF(-60, -60)), Qt::NoButton,
                         Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(handle, &move);
        const auto* drag = view->findChild<QDrag*>(); // nobody takes it here, so it ends at once
        QVERIFY(drag != nullptr);
        QVERIFY(drag->mimeData()->hasImage());
        QTest::mouseRelease(handle, Qt::LeftButton);
        view->resize(view->size() + QSize(50, 40));
        QVERIFY(view->rect().contains(handle->geometry()) && handle->geometry().right() > view->width() - 10);
        ui::ScatterView scatter;
        QVERIFY(scatter.findChild<QWidget*>("dragHandle") != nullptr);
    }

    void anEmptyViewOffersOnlyWhatCanBeDone()
    {
        QMainWindow window;
        auto* const action = new QAction(QString("Do it"), &window);
        action->setObjectName(QString("actionDoIt"));
        auto* const view = new QTableView(&window);
        QStandardItemModel model;
        view->setModel(&model);
        window.setCentralWidget(view);
        new ui::EmptyState(view, [] { return ui::EmptyState::Text{QString("Nothing yet."), QString("actionDoIt")}; });
        window.show();
        const auto* const button = view->findChild<QPushButton*>(QString("emptyAction"));
        QTRY_VERIFY(button != nullptr && button->isVisible());
        QCOMPARE(button->text(), QString("Do it"));
        action->setEnabled(false);
        QVERIFY(!button->isVisible());
        action->setEnabled(true);
        QVERIFY(button->isVisible());
        model.appendRow(new QStandardItem);
        QVERIFY(!button->isVisible());
    }

    void whatDoesNotFitIsCutWithAnEllipsis()
    {
        ui::ElidedLabel label;
        label.setText(QString("12 min left, likely 8.9–9.3 ms, the last 5 min gained 0.4 %"));
        QVERIFY(label.minimumSizeHint().width() < label.sizeHint().width() / 2);
        label.resize(label.minimumSizeHint());
        QVERIFY(!label.grab().isNull());
    }

    /// What stays down looks so, in light and dark, and looks like something that can.
    void togglesLookLikeToggles()
    {
        for (const ui::Appearance look : {ui::Appearance::Light, ui::Appearance::Dark}) {
            ui::applyAppearance(look);
            QWidget page;
            page.resize(200, 60);
            QToolButton once(&page), toggle(&page);
            for (QToolButton* button : {&once, &toggle}) {
                button->setText("log");
                button->setAutoRaise(true);
                button->resize(60, 30);
            }
            toggle.setCheckable(true);
            const auto distinct = [](const QImage& a, const QImage& b) {
                int pixels = 0;
                for (int y = 0; y < a.height(); ++y)
                    for (int x = 0; x < a.width(); ++x)
                        pixels += a.pixel(x, y) != b.pixel(x, y) ? 1 : 0;
                return pixels;
            };
            const QImage flat = once.grab().toImage(), up = toggle.grab().toImage();
            toggle.setChecked(true);
            const QImage down = toggle.grab().toImage();
            QVERIFY(distinct(flat, up) > 100); // a frame
            QVERIFY(distinct(up, down) > up.width() * up.height() / 2); // a tint
        }
        ui::applyAppearance(ui::Appearance::Light);
    }

    void chartsSayInWordsWhatTheyShow()
    {
        const auto view = chart();
        QVERIFY(view->accessibleDescription().contains("4.500"));
        for (const char* name : {"latencyChart", "schedulerChart", "timeChart", "graphView"}) {
            QVERIFY2(!find<QWidget>(name)->accessibleName().isEmpty(), name);
            QVERIFY2(!find<QWidget>(name)->accessibleDescription().isEmpty(), name);
        }
    }

    void cleanupTestCase() { m_window.reset(); }
};

LATHE_TEST_GUI(TestHabits)

} // namespace tst_habits

#include "tst_habits.moc"
