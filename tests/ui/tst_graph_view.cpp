#include "tests/support/test_program.h"
#include "ui/models/edge_layouts.h"
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

namespace {

struct Builder
{
    session::GraphView graph;
    int functions = 0;

    int node(const char* op, const std::vector<int>& inputs, int function = -1, int task = -1)
    {
        session::NodeView view;
        view.id = static_cast<int>(graph.nodes.size());
        view.name = std::string(op) + std::to_string(view.id);
        view.op = op;
        view.subgraph = function;
        view.task = task;
        view.outputs = {{"out", "float32", {1, 64, 56, 56}}};
        graph.nodes.push_back(view);
        for (const int input : inputs)
            graph.edges.push_back({input, view.id, {}});
        return view.id;
    }
    /// conv + add + relu, conv + add + residual + relu
    int residualBlock(int input)
    {
        const int a = functions++;
        const int b = functions++;
        const int first = node("relu", {node("add", {node("conv2d", {input}, a, 0)}, a, 0)}, a, 0);
        return node("relu", {node("add", {node("conv2d", {first}, b, 1), input}, b, 1)}, b, 1);
    }
    static Builder chainOfBlocks(int blocks)
    {
        Builder b;
        int at = b.node("input", {});
        for (int i = 0; i < blocks; ++i)
            at = b.residualBlock(at);
        b.node("dense", {at});
        return b;
    }
};

/// Two functions, a pool that passes layouts on, a third function, and what works in one order only.
struct Chain
{
    Builder b;
    session::LayoutsView layouts;

    Chain()
    {
        const int first = b.node("relu", {b.node("conv2d", {}, 0, 0)}, 0, 0); // 0, 1
        const int second = b.node("conv2d", {first}, 1, 1); // 2
        const int pool = b.node("pool", {second}, 2); // 3
        b.node("dense", {b.node("conv2d", {pool}, 3, 2)}, 4); // 4, 5
        for (session::NodeView& node : b.graph.nodes)
            node.outputs.front().name = "t" + std::to_string(node.id);
        for (session::EdgeView& edge : b.graph.edges)
            edge.tensor.name = "t" + std::to_string(edge.from);
        layouts.functions = {{"first", 0, 0, "NCHW", "NCHW16c", 1, "a", {}},
                             {"second", 1, 1, "NCHW16c", "NCHW16c", 1, "b", {}},
                             {"third", 3, 2, "NCHW8c", "NCHW8c", 1, "c", {}}};
        layouts.tensors = {tensor(0, 1, "t1", "NCHW16c", "NCHW16c"), tensor(1, 2, "t3", "NCHW16c", "NCHW8c"),
                           tensor(2, -1, "t4", "NCHW8c", "NCHW")};
        layouts.tensors[1].conversionMs = 0.25;
    }
    static session::LayoutTensor tensor(int from, int to, const char* name, const char* written, const char* read)
    {
        return {from, to, name, "float32", {1, 64, 56, 56}, written, read, 0, {}};
    }
    std::vector<ui::EdgeLayout> edges(const std::vector<std::int32_t>& changed = {}) const
    {
        return ui::EdgeLayouts::of(b.graph, layouts, changed);
    }
    std::shared_ptr<const session::GraphView> graph() const
    {
        return std::make_shared<const session::GraphView>(b.graph);
    }
};

/// "1-2 NCHW16c", of all that are seen.
QStringList labelsOf(const ui::GraphScene& scene)
{
    QStringList labels;
    for (const ui::GraphScene::EdgeLabel& label : scene.edgeLabels()) {
        const auto& [from, to] = scene.visible().edges[static_cast<std::size_t>(label.edge)];
        labels << QStringLiteral("%1-%2 %3")
                      .arg(scene.nodesAt(from).back())
                      .arg(scene.nodesAt(to).front())
                      .arg(label.text);
    }
    return labels;
}

std::set<int> allGroups(const ui::GraphOutline& outline)
{
    std::set<int> groups;
    for (int g = 1; g < static_cast<int>(outline.groups().size()); ++g)
        groups.insert(g);
    return groups;
}

} // namespace

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

    void edgesBetweenFunctionsSayTheLayoutsOfTheirTensors()
    {
        const Chain chain;
        ui::GraphScene scene;
        scene.setGraph(chain.graph(), QFont());
        scene.setUnfolded(allGroups(scene.outline()));
        QVERIFY(scene.edgeLabels().empty());
        scene.setEdgeLayouts(chain.edges());
        // Neither inside of the first function, nor where the pool reads what the view does not have.
        const QStringList all{"1-2 NCHW16c", QString::fromUtf8("3-4 NCHW16c → NCHW8c"),
                              QString::fromUtf8("4-5 NCHW8c → NCHW")};
        QCOMPARE(labelsOf(scene), all);
        const auto& labels = scene.edgeLabels();
        QVERIFY(!labels[0].converts && labels[1].converts && labels[2].converts);
        for (const ui::GraphScene::EdgeLabel& label : labels)
            for (int place = 0; place < 6; ++place)
                QVERIFY2(!scene.rectOf(place).intersects(label.rect), qPrintable(label.text));
        // A folded function stands for itself, what holds several functions for none.
        std::set<int> unfolded = allGroups(scene.outline());
        std::erase_if(unfolded, [&scene](int group) {
            return scene.outline().group(group).kind == ui::GraphGroup::Kind::Function;
        });
        scene.setUnfolded(unfolded);
        QCOMPARE(scene.visible().items.size(), std::size_t(5));
        QCOMPARE(labelsOf(scene), all);
        const Builder blocks = Builder::chainOfBlocks(3);
        session::LayoutsView view;
        view.functions = {{"in a block", 0, 0, "NCHW", "NCHW", 1, "a", {}}, {"too", 1, 1, "NCHW", "NCHW", 1, "a", {}}};
        view.tensors = {Chain::tensor(-1, 0, "", "NCHW", "NCHW"), Chain::tensor(0, 1, "", "NCHW", "NCHW")};
        scene.setGraph(std::make_shared<const session::GraphView>(blocks.graph), QFont());
        QVERIFY(scene.edgeLabels().empty()); // those of another network
        scene.setEdgeLayouts(ui::EdgeLayouts::of(blocks.graph, view, {}));
        QVERIFY(!scene.edgeLabels().empty());
        scene.setUnfolded({});
        QVERIFY(scene.edgeLabels().empty());
        scene.setUnfolded(allGroups(scene.outline()));
        QVERIFY(!scene.edgeLabels().empty());
        scene.setEdgeLayouts({});
        QVERIFY(scene.edgeLabels().empty());
    }

    /// Who reads a tensor decides which of those of one name is on the edge.
    void whatPassesALayoutOnConvertsNothing()
    {
        Chain chain;
        // The result of the second function is read by the pool, and by what works in one order only.
        const int plain = chain.b.node("softmax", {2}, 5);
        chain.b.graph.edges.back().tensor.name = "t2";
        chain.layouts.tensors.push_back(Chain::tensor(1, -1, "t2", "NCHW16c", "NCHW"));
        QStringList edges;
        for (const ui::EdgeLayout& edge : chain.edges())
            if (edge.from == 2)
                edges << QStringLiteral("%1 %2").arg(edge.to).arg(edge.text);
        QCOMPARE(edges, QStringList(QString::fromUtf8("%1 NCHW16c → NCHW").arg(plain)));
    }

    void edgesThatAWishChangesAreMarked()
    {
        Chain chain;
        ui::GraphScene scene;
        scene.setGraph(chain.graph(), QFont());
        scene.setUnfolded(allGroups(scene.outline()));
        chain.layouts.tensors[0].read = "NCHW";
        chain.layouts.tensors[0].conversionMs = 0.5;
        scene.setEdgeLayouts(chain.edges({0}));
        QCOMPARE(labelsOf(scene).front(), QString::fromUtf8("1-2 NCHW16c → NCHW *"));
        const auto& labels = scene.edgeLabels();
        QVERIFY(labels[0].changes && labels[0].converts && !labels[1].changes);
        QVERIFY2(labels[0].tip.contains("which takes 0.5000 ms") && labels[0].tip.contains("that are tried"),
                 qPrintable(labels[0].tip));
        QVERIFY2(!labels[1].tip.contains("that are tried"), qPrintable(labels[1].tip));
    }

    void textsOnEdgesAreDrawnWhereTheyCanBeRead()
    {
        const Chain chain;
        ui::GraphView view;
        view.layouter().setProgram(QString());
        view.resize(500, 600);
        view.setGraph(chain.graph());
        view.unfoldAll();
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QTest::qWait(400); // until the drawing stands
        const auto shown = [&view] { return view.viewport()->grab().toImage(); };
        const QImage without = shown();
        view.setEdgeLayouts(chain.edges());
        const QImage with = shown();
        QVERIFY(with != without);
        QVERIFY(view.svg().contains("NCHW8c"));
        const auto count = [](const QImage& image, const QColor& color) {
            int pixels = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    pixels += image.pixelColor(x, y).rgb() == color.rgb() ? 1 : 0;
            return pixels;
        };
        QVERIFY(count(with, ui::GraphLooks::conversionColor()) > 100); // conversions stand out
        QCOMPARE(count(without, ui::GraphLooks::conversionColor()), 0);
        view.zoomBy(ui::GraphScene::kLabelsFrom / view.scale() * 0.98);
        const QImage small = shown();
        view.setEdgeLayouts({});
        QCOMPARE(shown(), small);
        view.zoomBy(ui::GraphScene::kLabelsFrom / view.scale() * 1.02);
        const QImage larger = shown();
        view.setEdgeLayouts(chain.edges());
        QVERIFY(shown() != larger);
    }

    void theMouseOverAnEdgeTellsWhatItsConversionTakes()
    {
        const Chain chain;
        ui::GraphView view;
        view.layouter().setProgram(QString());
        view.resize(500, 600);
        view.setGraph(chain.graph());
        view.unfoldAll();
        view.setEdgeLayouts(chain.edges());
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QTest::qWait(400);
        const ui::GraphScene& scene = view.scene();
        const ui::GraphScene::EdgeLabel& label = scene.edgeLabels()[1];
        QVERIFY2(label.tip.contains("Converted from NCHW16c to NCHW8c, which takes 0.2500 ms"), qPrintable(label.tip));
        QCOMPARE(scene.edgeTipAt(label.rect.center(), 1), label.tip);
        QCOMPARE(scene.edgeTipAt(label.rect.topLeft() + QPointF(1, 1), 1), label.tip);
        QVERIFY(scene.edgeTipAt(label.rect.topLeft() - QPointF(20, 0), 1).isEmpty());
        // Just above the reader: on the edge, beside its text.
        const QPoint at = (view.nodeRect(3).center() + view.nodeRect(4).center()) / 2;
        const QPoint end(at.x(), view.nodeRect(4).top() - 1);
        QHelpEvent help(QEvent::ToolTip, end, view.viewport()->mapToGlobal(end));
        QApplication::sendEvent(view.viewport(), &help);
        QCOMPARE(QToolTip::text(), label.tip);
        QToolTip::hideText();
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
        // Texts are made for the edges that are seen alone.
        session::LayoutsView layouts;
        for (int f = 0; f < b.functions; ++f) {
            layouts.functions.push_back({"f", f, 0, "NCHW", "NCHW", 1, "a", {}});
            if (f > 0)
                layouts.tensors.push_back(Chain::tensor(f - 1, f, "", "NCHW16c", "NCHW"));
        }
        const std::vector<ui::EdgeLayout> edges = ui::EdgeLayouts::of(b.graph, layouts, {});
        QVERIFY(edges.size() > 2000);
        scene.setEdgeLayouts(edges);
        QVERIFY(!scene.edgeLabels().empty() && scene.edgeLabels().size() <= scene.visible().edges.size());
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
