#include "tests/support/test_program.h"
#include "tests/ui/graph_builder.h"
#include "ui/models/edge_layouts.h"
#include "ui/views/graph_layouter.h"
#include "ui/views/graph_view.h"

#include <QApplication>
#include <QHelpEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QtTest>

namespace tst_graph_labels {

using namespace lathe;
using test::allGroups;
using test::Builder;

namespace {

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

} // namespace

/// The layouts of tensors as texts on the edges of the graph.
class TestGraphLabels : public QObject
{
    Q_OBJECT

private slots:
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

    void aHugeNetworkHasTextsForWhatIsSeenAlone()
    {
        const Builder b = Builder::chainOfBlocks(1400); // 8,402 nodes
        ui::GraphScene scene;
        scene.setGraph(std::make_shared<const session::GraphView>(b.graph), QFont());
        scene.reveal(5000);
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
};

LATHE_TEST_GUI(TestGraphLabels)

} // namespace tst_graph_labels
#include "tst_graph_labels.moc"
