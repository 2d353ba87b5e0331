#include "tests/support/test_program.h"
#include "tests/ui/graph_builder.h"
#include "ui/models/graph_find.h"
#include "ui/models/graph_outline.h"
#include "ui/models/graph_way.h"
#include "ui/views/graph_layout.h"
#include "ui/views/graph_layouter.h"
#include "ui/views/graph_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QMimeData>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolTip>
#include <QtTest>

namespace tst_graph_view {

using namespace lathe;
using test::allGroups;
using test::Builder;

class TestGraphView : public QObject
{
    Q_OBJECT

private slots:
    void thePlainLayoutFollowsTheLongestPath()
    {
        const ui::GraphLayout layout = ui::plainLayout({4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}}, {{1, 2}}});
        QVERIFY(layout.centers[0].y() < layout.centers[1].y());
        QVERIFY(layout.centers[1].y() < layout.centers[2].y());
        QCOMPARE(layout.centers[1].y(), layout.centers[3].y());
        QVERIFY(layout.frames[0].contains(layout.centers[1]) && layout.frames[0].contains(layout.centers[2]));
        for (const QPointF& p : layout.centers)
            QVERIFY(QRectF(QPointF(), layout.size).contains(p));
        for (const QPolygonF& edge : layout.edges)
            QCOMPARE(edge.size() % 3, 1);
    }

    void itemsOfAPlainLayerStandApart()
    {
        ui::GraphShape shape{21, {}, {}};
        for (int i = 1; i < 20; ++i) {
            shape.edges.emplace_back(0, i);
            shape.edges.emplace_back(i, 20);
        }
        const ui::GraphLayout layout = ui::plainLayout(shape);
        for (int a = 1; a < 20; ++a)
            for (int b = 1; b < a; ++b)
                QVERIFY(std::abs(layout.centers[a].x() - layout.centers[b].x()) > ui::GraphLayout::kItemSize.width());
    }

    void equalBlocksInARowBecomeARepeat()
    {
        const Builder b = Builder::chainOfBlocks(3);
        const ui::GraphOutline outline(b.graph);
        QCOMPARE(outline.group(0).items.size(), std::size_t(3)); // input, 3 x block, dense
        const ui::GraphGroup& repeat = outline.group(ui::groupOf(outline.group(0).items[1]));
        QVERIFY(repeat.kind == ui::GraphGroup::Kind::Repeat);
        QCOMPARE(repeat.items.size(), std::size_t(3));
        QCOMPARE(repeat.nodes.size(), std::size_t(18));
        const ui::GraphGroup& block = outline.group(ui::groupOf(repeat.items[0]));
        QVERIFY(block.kind == ui::GraphGroup::Kind::Block);
        QVERIFY(outline.group(ui::groupOf(block.items[0])).kind == ui::GraphGroup::Kind::Function);
        QCOMPARE(outline.group(ui::groupOf(block.items[0])).title, QString("conv2d + add + relu"));
    }

    void foldingKeepsTheDirectionOfAllEdges()
    {
        const Builder b = Builder::chainOfBlocks(5);
        const ui::GraphOutline outline(b.graph);
        for (const std::set<int>& unfolded : {std::set<int>(), allGroups(outline), ui::unfoldUpTo(outline, 12)}) {
            const ui::VisibleGraph visible = ui::visibleGraph(b.graph, outline, unfolded);
            for (const auto& [from, to] : visible.edges)
                QVERIFY(from < to);
            for (const int place : visible.place)
                QVERIFY(place >= 0 && place < static_cast<int>(visible.items.size()));
        }
        QCOMPARE(ui::visibleGraph(b.graph, outline, allGroups(outline)).items.size(), b.graph.nodes.size());
    }

    void theWayBetweenTwoNodesIsEveryPath()
    {
        Builder b; // 0 -> 1 -> 2 -> 3, 0 -> 3, 0 -> 4, 3 -> 5
        const int first = b.node("conv2d", {});
        const int one = b.node("relu", {first});
        const int two = b.node("relu", {one});
        const int join = b.node("add", {two, first});
        const int aside = b.node("pool", {first});
        const int end = b.node("dense", {join});
        const ui::GraphWay way = ui::wayBetween(b.graph, end, first); // in whichever order they were chosen
        QCOMPARE(way.from, first);
        QCOMPARE(way.to, end);
        QVERIFY((way.nodes == std::set<int>{first, one, two, join, end}));
        QCOMPARE(way.paths, 2.0);
        QCOMPARE(way.shortest, 2);
        QCOMPARE(way.longest, 4);
        QVERIFY(!ui::wayBetween(b.graph, aside, end).exists());
        QVERIFY(!ui::wayBetween(b.graph, first, first).exists());
        QVERIFY(!ui::wayBetween(b.graph, -1, 99).exists());
        QCOMPARE(ui::wayBetween(Builder::chainOfBlocks(64).graph, 0, 64 * 6 + 1).paths, std::pow(2, 64));
    }

    void aClickWithControlShowsTheWay()
    {
        Builder b;
        const int first = b.node("conv2d", {});
        const int one = b.node("relu", {first});
        const int join = b.node("add", {one, first});
        auto graph = std::make_shared<const session::GraphView>(b.graph);
        ui::GraphView view;
        view.layouter().setProgram(QString());
        view.resize(600, 600);
        view.setGraph(graph);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QTest::qWait(400); // until the drawing stands
        ui::GraphWay shown;
        connect(&view, &ui::GraphView::wayChanged, &view, [&shown](const ui::GraphWay& way) { shown = way; });
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.nodeRect(first).center());
        QCOMPARE(view.selectedNode(), first);
        const QImage plain = view.viewport()->grab().toImage();
        QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::ControlModifier, view.nodeRect(join).center());
        QCOMPARE(view.selectedNode(), first); // it stays the one that is selected
        QCOMPARE(shown.from, first);
        QCOMPARE(shown.to, join);
        QCOMPARE(shown.nodes.size(), std::size_t(3));
        QVERIFY(view.viewport()->grab().toImage() != plain);
        QTest::keyClick(&view, Qt::Key_Escape);
        QCOMPARE(shown.from, -1);
        QCOMPARE(view.viewport()->grab().toImage(), plain);
        QTest::keyClick(&view, Qt::Key_W); // by the keyboard
        QTest::keyClick(&view, Qt::Key_Down);
        QTest::keyClick(&view, Qt::Key_W);
        QVERIFY(shown.exists());
        QCOMPARE(shown.from, first);
    }

    void nodesAreCalledByTheModelsNames()
    {
        Builder b;
        b.node("conv2d", {});
        b.graph.nodes[0].origin = "/stem/Conv";
        auto graph = std::make_shared<const session::GraphView>(b.graph);
        ui::GraphView view;
        view.layouter().setProgram(QString());
        view.setGraph(graph);
        const QByteArray operators = view.svg();
        view.setShowsNames(true);
        const QByteArray names = view.svg();
        QVERIFY(operators.contains("conv2d") && !operators.contains("/stem/Conv"));
        QVERIFY(names.contains("/stem/Conv") && !names.contains("conv2d"));
        ui::GraphFind finder;
        finder.setGraph(graph);
        QCOMPARE(finder.find("stem"), std::vector<int>{0});
    }

    void aFunctionThatWouldCloseACycleIsNotFolded()
    {
        Builder b;
        const int a = b.node("conv2d", {}, 0);
        const int between = b.node("pool", {a}, 1);
        b.node("add", {a, between}, 0); // of the same function as its producer's producer
        const ui::GraphOutline outline(b.graph);
        for (const ui::GraphGroup& group : outline.groups())
            QVERIFY(group.kind != ui::GraphGroup::Kind::Function);
    }

    void aHugeNetworkShowsAFewHundredItems()
    {
        const Builder b = Builder::chainOfBlocks(1400); // 8,402 nodes
        auto graph = std::make_shared<const session::GraphView>(b.graph);
        ui::GraphScene scene;
        scene.setGraph(graph, QFont());
        QVERIFY(static_cast<int>(scene.visible().items.size()) <= ui::GraphScene::kMaxItems);
        for (const ui::GraphGroup& group : scene.outline().groups())
            QVERIFY(static_cast<int>(group.items.size()) <= ui::GraphOutline::kMaxItems);
        const int deep = 5000;
        scene.reveal(deep);
        QCOMPARE(scene.item(scene.placeOf(deep)), deep);
        QVERIFY(static_cast<int>(scene.visible().items.size()) <= ui::GraphScene::kMaxItems);
    }

    void wideNetworksWithoutCutsAreDividedToo()
    {
        Builder b;
        const int mask = b.node("input", {});
        int at = mask;
        for (int i = 0; i < 1000; ++i) // every node uses the first one: nowhere is a single tensor alive
            at = b.node("add", {at, mask});
        ui::GraphScene scene;
        scene.setGraph(std::make_shared<const session::GraphView>(b.graph), QFont());
        QVERIFY(static_cast<int>(scene.visible().items.size()) <= ui::GraphScene::kMaxItems);
        scene.reveal(777);
        QCOMPARE(scene.item(scene.placeOf(777)), 777);
    }

    void selectingAHiddenNodeUnfoldsIt()
    {
        ui::GraphView view;
        view.resize(500, 400);
        view.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(60).graph));
        view.foldAll();
        QVERIFY(ui::isGroup(view.scene().item(view.scene().placeOf(100))));
        QSignalSpy selected(&view, &ui::GraphView::nodeSelected);
        view.selectNode(100);
        QCOMPARE(view.scene().item(view.scene().placeOf(100)), 100);
        QCOMPARE(selected.size(), 1);
        QVERIFY(view.viewport()->rect().intersects(view.nodeRect(100)));
    }

    void theKeyboardWalksAndUnfolds()
    {
        ui::GraphView view;
        view.resize(500, 400);
        view.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(3).graph));
        view.foldAll();
        QCOMPARE(view.scene().visible().items.size(), std::size_t(3));
        QTest::keyClick(&view, Qt::Key_Home);
        QCOMPARE(view.selectedNode(), 0);
        QTest::keyClick(&view, Qt::Key_Down);
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(view.scene().visible().items.size(), std::size_t(5));
        QTest::keyClick(&view, Qt::Key_End);
        QCOMPARE(view.selectedNode(), 19);
    }

    void arrowsFollowEdgesAndEscapeFolds()
    {
        Builder b;
        const int top = b.node("input", {});
        const int left = b.node("relu", {top});
        const int right = b.node("tanh", {top});
        b.node("add", {left, right});
        ui::GraphView view;
        view.resize(500, 400);
        view.setGraph(std::make_shared<const session::GraphView>(b.graph));
        QTest::keyClick(&view, Qt::Key_Home);
        QTest::keyClick(&view, Qt::Key_Down);
        const int branch = view.selectedNode();
        QVERIFY(branch == left || branch == right);
        QTest::keyClick(&view, branch == left ? Qt::Key_Right : Qt::Key_Left);
        QCOMPARE(view.selectedNode(), left + right - branch);
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.selectedNode(), 3);
        QTest::keyClick(&view, Qt::Key_Down); // nothing is below
        QCOMPARE(view.selectedNode(), 3);
        QTest::keyClick(&view, Qt::Key_Up);
        QTest::keyClick(&view, Qt::Key_Up);
        QCOMPARE(view.selectedNode(), top);
        const auto seen = view.scene().visible().items.size();
        QTest::keyClick(&view, Qt::Key_Down);
        QTest::keyClick(&view, Qt::Key_Escape); // the block of the two branches
        QVERIFY(view.scene().visible().items.size() < seen);
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(view.scene().visible().items.size(), seen);
    }

    void theBeginningStaysInTheMiddleUntilItIsMoved()
    {
        Builder b;
        const int input = b.node("input", {});
        std::vector<int> branches;
        for (int i = 0; i < 15; ++i)
            branches.push_back(b.node("relu", {input}));
        b.node("concat", branches);
        ui::GraphView view;
        view.resize(300, 300);
        view.setGraph(std::make_shared<const session::GraphView>(b.graph));
        view.show();
        QTRY_VERIFY(!view.layouter().isWaiting());
        const auto aside = [&] { return std::abs(view.nodeRect(input).center().x() - view.viewport()->width() / 2); };
        QVERIFY2(aside() <= 2, qPrintable(QString::number(aside())));
        view.resize(700, 400);
        QVERIFY2(aside() <= 2, qPrintable(QString::number(aside())));
        view.horizontalScrollBar()->setValue(view.horizontalScrollBar()->value() + 100);
        view.resize(400, 400);
        QVERIFY2(aside() > 20, qPrintable(QString::number(aside())));
    }

    void panningPaintsTheSameAsPaintingAnew()
    {
        ui::GraphView view;
        view.setFrameShape(QFrame::NoFrame);
        view.setShowsOverview(false);
        view.resize(400, 300);
        view.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(30).graph));
        view.unfoldAll();
        view.zoomBy(0.7);
        view.show();
        QTRY_VERIFY(!view.layouter().isWaiting());
        const auto shown = [&] { return view.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32); };
        shown();
        for (const int by : {13, 40, -7, 900, -350}) {
            view.verticalScrollBar()->setValue(view.verticalScrollBar()->value() + by);
            view.horizontalScrollBar()->setValue(view.horizontalScrollBar()->value() + by / 3);
            const QImage panned = shown();
            view.setColoring(ui::GraphColoring::Task); // paints all anew
            const QImage anew = shown();
            int different = 0; // Qt flattens curves a little otherwise where they leave the painted rectangle
            for (int y = 0; y < anew.height(); ++y)
                for (int x = 0; x < anew.width(); ++x)
                    different += std::abs(qGray(panned.pixel(x, y)) - qGray(anew.pixel(x, y))) > 16 ? 1 : 0;
            QVERIFY2(different < anew.width() * anew.height() / 1000,
                     qPrintable(QStringLiteral("%1 pixels after %2").arg(different).arg(by)));
        }
    }

    void whatIsSeenIsSaidInWords()
    {
        ui::GraphView view;
        view.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(3).graph));
        view.foldAll();
        QVERIFY2(view.accessibleDescription().startsWith("3 items, 1 of them"),
                 qPrintable(view.accessibleDescription()));
        view.selectNode(0);
        QVERIFY2(view.accessibleDescription().contains("input input0"), qPrintable(view.accessibleDescription()));
    }

    void coverageIsSaidInWordsAndPatterns()
    {
        const Builder b = Builder::chainOfBlocks(1);
        const auto look = [&](ui::GraphCoverage first, ui::GraphCoverage second, std::vector<int> nodes) {
            return ui::GraphLooks::of(b.graph, nodes, ui::GraphColoring::Coverage, {{0, first}, {0, second}}).note;
        };
        using enum ui::GraphCoverage;
        QCOMPARE(look(Record, Untuned, {1}), QString("record"));
        QCOMPARE(look(Near, Untuned, {1}), QString("near match"));
        QCOMPARE(look(Default, Untuned, {1}), QString("default"));
        QCOMPARE(look(Record, Untuned, {4}), QString("untuned"));
        QCOMPARE(look(Record, Untuned, {1, 4}), QString("partly"));
        QCOMPARE(look(Record, Record, {0}), QString("no task"));
        std::set<std::pair<int, QString>> kinds; // each pattern with one word
        for (const ui::GraphLook& entry : ui::GraphLooks::legend(ui::GraphColoring::Coverage))
            kinds.emplace(entry.color.rgb() == QColor(0x8a, 0x8d, 0x92).rgb() ? -1 : int(entry.pattern), entry.note);
        QCOMPARE(kinds.size(), std::size_t(5));
    }

    void findLooksAtNameTypeAndShape()
    {
        ui::GraphFind find;
        QVERIFY(find.find("conv").empty()); // no network
        find.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(2).graph));
        QCOMPARE(find.find("CONV2D").size(), std::size_t(4));
        QCOMPARE(find.find("conv 64x56").size(), std::size_t(4));
        QCOMPARE(find.find("64\u00d756*").size(), std::size_t(14));
        QCOMPARE(find.find("dense13"), std::vector<int>{13});
        QVERIFY(find.find("conv dense").empty());
        QVERIFY(find.find("  ").empty());
    }

    void theCopyIsAPicture()
    {
        ui::GraphView view;
        view.resize(300, 200);
        view.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(2).graph));
        QTest::keySequence(&view, QKeySequence::Copy);
        const QMimeData* copy = QApplication::clipboard()->mimeData();
        QVERIFY(copy->hasImage());
        QVERIFY(copy->data("image/svg+xml").contains("conv2d"));
    }

    void picturesAreWritten()
    {
        QTemporaryDir dir;
        ui::GraphView view;
        QVERIFY(!view.savePicture(dir.filePath("none.svg"))); // no network
        view.setGraph(std::make_shared<const session::GraphView>(Builder::chainOfBlocks(2).graph));
        QVERIFY(view.savePicture(dir.filePath("net.svg")));
        QFile svg(dir.filePath("net.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QVERIFY(svg.readAll().contains("conv2d"));
        QVERIFY(view.savePicture(dir.filePath("net.png")));
        QVERIFY(!QImage(dir.filePath("net.png")).isNull());
        QVERIFY(!view.savePicture(dir.filePath("no/such/folder/net.png")));
    }

    void anEmptyNetworkIsPainted()
    {
        ui::GraphView view;
        view.setGraph(std::make_shared<const session::GraphView>());
        view.resize(200, 100);
        QVERIFY(!view.grab().isNull());
        QTest::keyClick(&view, Qt::Key_Down);
        view.zoomToFit();
    }
};

LATHE_TEST_GUI(TestGraphView)

} // namespace tst_graph_view

#include "tst_graph_view.moc"
