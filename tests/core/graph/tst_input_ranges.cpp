#include "core/graph/input_ranges.h"
#include "tests/core/graph/graph_fixture.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_input_ranges {

using namespace lathe;
using namespace lathe::graph;
using test::Shape;

namespace {

/// A small network; what is put in is float32 unless it says otherwise.
class Network
{
public:
    ValueId input(const std::string& name, Shape shape, DType dtype = DType::I64)
    {
        const ValueId id = m_graph.addValue(name, dtype, std::move(shape));
        m_graph.inputs.push_back(id);
        return id;
    }
    ValueId floats(const std::string& name, Shape shape, std::vector<float> values)
    {
        return addFloats(m_graph, name, std::move(shape), std::move(values));
    }
    ValueId table(std::int64_t rows)
    {
        return floats("table" + std::to_string(rows), {rows, 1}, std::vector<float>(static_cast<std::size_t>(rows)));
    }
    ValueId wholes(const std::vector<std::int64_t>& values, Shape shape = {})
    {
        return m_graph.addConstant("c" + std::to_string(m_graph.values.size()), DType::I64, std::move(shape),
                                   makeConst(values.data(), values.size() * 8));
    }
    ValueId node(const std::string& op, std::vector<ValueId> inputs, Attrs attrs = {})
    {
        return append(m_graph, op, op, std::move(inputs), std::move(attrs), DType::F32, {}, op);
    }
    ValueId cast(ValueId x, const char* dtype) { return node("cast", {x}, {{"dtype", std::string(dtype)}}); }
    /// Picks from a table with so many rows.
    void take(std::int64_t rows, ValueId places)
    {
        m_graph.outputs.push_back(node("take", {table(rows), places}, {{"axis", std::int64_t{0}}}));
    }
    void output(ValueId id) { m_graph.outputs.push_back(id); }

    std::vector<InputRange> ranges() const
    {
        const auto typed = inferTypes(m_graph);
        if (!typed)
            qFatal("%s", typed.error().message.c_str());
        return inputRanges(*typed);
    }
    /// Of the only input: "needed 0 to 4", "0 to 1", "any".
    QString range() const { return textOf(ranges().at(0)); }
    static QString textOf(const InputRange& range)
    {
        if (!range.range)
            return QStringLiteral("any");
        return QStringLiteral("%1%2%3 to %4")
            .arg(QLatin1String(range.needed ? "needed " : ""), QLatin1String(range.distinct ? "distinct " : ""))
            .arg(range.range->low)
            .arg(range.range->high);
    }

private:
    Graph m_graph;
};

} // namespace

class TestInputRanges : public QObject
{
    Q_OBJECT

private slots:
    void placesAreFollowedThroughWhatComputesThem_data()
    {
        using Make = std::function<ValueId(Network&, ValueId)>;
        QTest::addColumn<Make>("make");
        QTest::addColumn<QString>("range");
        const auto row = [](const char* name, const char* range, Make make) {
            QTest::newRow(name) << make << QString::fromLatin1(range);
        };
        row("as they are", "needed 0 to 9", [](Network&, ValueId x) { return x; });
        row("cast", "needed 0 to 9", [](Network& n, ValueId x) { return n.cast(n.cast(x, "int32"), "int64"); });
        row("reshaped", "needed 0 to 9", [](Network& n, ValueId x) {
            return n.node("reshape", {x}, {{"newshape", Shape{2, 2}}});
        });
        row("with an offset", "needed -3 to 6", [](Network& n, ValueId x) {
            return n.node("add", {x, n.wholes({3})});
        });
        row("with offsets of columns", "needed 0 to 3", // as tables of recommenders, one behind the other
            [](Network& n, ValueId x) {
                return n.node("add", {x, n.wholes({0, 2, 4, 6}, {4})});
            });
        row("taken from a constant", "needed 1 to 10", [](Network& n, ValueId x) {
            return n.node("subtract", {n.wholes({10}), x});
        });
        row("less a constant", "needed 1 to 10", [](Network& n, ValueId x) {
            return n.node("subtract", {x, n.wholes({1})});
        });
        row("turned", "needed -9 to 0", [](Network& n, ValueId x) { return n.node("negative", {x}); });
        row("every second", "needed 0 to 4", [](Network& n, ValueId x) {
            return n.node("multiply", {x, n.wholes({2})});
        });
        row("halved", "needed 0 to 19", [](Network& n, ValueId x) { return n.node("divide", {x, n.wholes({2})}); });
        row("a remainder", "any", [](Network& n, ValueId x) { return n.node("mod", {x, n.wholes({10})}); });
        row("a remainder that is too large", "needed 0 to 9", [](Network& n, ValueId x) {
            return n.node("mod", {x, n.wholes({11})});
        });
        row("cut off", "any", [](Network& n, ValueId x) { return n.node("clip", {x}, {{"min", 0.0}, {"max", 9.0}}); });
        row("cut off below", "needed -127 to 9", [](Network& n, ValueId x) {
            return n.node("clip", {x}, {{"min", 0.0}});
        });
        row("at least", "needed -127 to 9", [](Network& n, ValueId x) {
            return n.node("maximum", {x, n.wholes({0})});
        });
        row("at most", "needed 0 to 127", [](Network& n, ValueId x) { return n.node("minimum", {x, n.wholes({9})}); });
        row("joined", "needed 0 to 9", [](Network& n, ValueId x) {
            return n.node("concatenate", {x, n.wholes({1}, {1})}, {{"axis", std::int64_t{0}}});
        });
        row("counted", "needed 0 to 2", [](Network& n, ValueId x) {
            return n.node("cumulative_sum", {x}, {{"axis", std::int64_t{0}}});
        });
        row("summed up", "needed 0 to 2", [](Network& n, ValueId x) { return n.node("sum", {x}); });
        row("from the back where they are negative", "-10 to 9", [](Network& n, ValueId x) {
            return n.node("where", {n.node("less", {x, n.wholes({0})}), n.node("add", {x, n.wholes({10})}), x});
        });
        row("one of several", "-5 to 4", [](Network& n, ValueId x) { // as OneHot is imported, beside a table
            const ValueId places = n.node("where",
                                          {n.node("less", {x, n.wholes({0})}), n.node("add", {x, n.wholes({5})}), x});
            n.output(n.node(
                "equal", {n.node("reshape", {places}, {{"newshape", Shape{4, 1}}}), n.wholes({0, 1, 2, 3, 4}, {5})}));
            return n.wholes({0, 1, 2, 3}, {4});
        });
        row("two numbers together", "needed 0 to 4", [](Network& n, ValueId x) { return n.node("add", {x, x}); });
        row("where the largest is", "any", [](Network& n, ValueId x) {
            return n.node("argmax", {x}, {{"axes", Shape{0}}});
        });
    }
    void placesAreFollowedThroughWhatComputesThem()
    {
        QFETCH(std::function<ValueId(Network&, ValueId)>, make);
        QFETCH(QString, range);
        Network network;
        const ValueId x = network.input("x", {4});
        network.take(10, make(network, x));
        QCOMPARE(network.range(), range);
    }

    void theSmallestTableCounts()
    {
        Network network;
        const ValueId x = network.input("x", {4}, DType::I32);
        network.take(10, x);
        network.take(3, x);
        network.take(7, x);
        QCOMPARE(network.range(), QStringLiteral("needed 0 to 2"));
    }

    void rangesFitTheType()
    {
        Network network;
        network.take(1000, network.cast(network.input("x", {4}, DType::U8), "int32"));
        QCOMPARE(network.range(), QStringLiteral("needed 0 to 255"));
    }

    void floatsThatBecomePlaces()
    {
        Network network;
        network.take(10, network.cast(network.node("floor", {network.input("x", {4}, DType::F32)}), "int64"));
        QCOMPARE(network.range(), QStringLiteral("needed 0 to 9"));
    }

    void divisorsAreNotZero()
    {
        for (const char* op : {"divide", "mod"}) {
            Network network;
            const ValueId x = network.input("x", {4});
            network.output(network.node(op, {network.wholes({100}), x}));
            QCOMPARE(network.range(), QStringLiteral("needed 1 to 127"));
            Network floats;
            floats.output(floats.node(op, {floats.floats("c", {}, {1}), floats.input("x", {4}, DType::F32)}));
            QCOMPARE(floats.range(), QStringLiteral("any"));
        }
    }

    void masksAreZeroOrOne()
    {
        Network scaled; // (1 - mask) * -1e9, as exporters of transformers write it
        const ValueId mask = scaled.cast(scaled.input("mask", {4}), "float32");
        scaled.output(scaled.node("multiply", {scaled.node("subtract", {scaled.floats("one", {}, {1}), mask}),
                                               scaled.floats("far", {}, {-1e9F})}));
        QCOMPARE(scaled.range(), QStringLiteral("0 to 1"));

        Network asBool;
        asBool.output(asBool.cast(asBool.input("mask", {4}, DType::I32), "bool"));
        QCOMPARE(asBool.range(), QStringLiteral("0 to 1"));

        Network equal;
        equal.output(equal.node("equal", {equal.input("mask", {4}), equal.wholes({0})}));
        QCOMPARE(equal.range(), QStringLiteral("0 to 1"));

        Network numbers; // nothing says that it is one
        numbers.output(numbers.node("multiply", {numbers.input("x", {4}), numbers.wholes({2})}));
        QCOMPARE(numbers.range(), QStringLiteral("any"));
    }

    void lengthsEndWhereTheTensorDoes()
    {
        Network network; // which places lie before the end
        network.output(network.node("less", {network.wholes({0, 1, 2, 3, 4, 5}, {6}), network.input("lengths", {1})}));
        QCOMPARE(network.range(), QStringLiteral("0 to 6"));
    }

    void bodiesOfControlFlowAskToo()
    {
        const auto bodyThatPicks = [](std::int64_t rows) {
            Graph body;
            const ValueId places = body.addValue("captured", DType::I64, {4});
            body.inputs = {places};
            const ValueId table = addFloats(body, "table", {rows, 1},
                                            std::vector<float>(static_cast<std::size_t>(rows)));
            body.outputs = {append(body, "take", "take", {table, places}, {{"axis", std::int64_t{0}}}, DType::F32, {})};
            return std::make_shared<const Graph>(test::must(inferTypes(std::move(body))));
        };
        Graph graph;
        const ValueId condition = graph.addValue("condition", DType::Bool, {});
        const ValueId places = graph.addValue("places", DType::I64, {4});
        graph.inputs = {condition, places};
        const ValueId result = graph.addValue("result", DType::F32, {4, 1});
        Node node;
        node.name = node.op = "if";
        node.inputs = {condition, places};
        node.outputs = {result};
        node.bodies = {bodyThatPicks(9), bodyThatPicks(5)};
        graph.addNode(std::move(node));
        graph.outputs = {result};
        const std::vector<InputRange> ranges = inputRanges(test::must(inferTypes(std::move(graph))));
        QCOMPARE(Network::textOf(ranges[0]), QStringLiteral("any"));
        QCOMPARE(Network::textOf(ranges[1]), QStringLiteral("needed 0 to 4"));
    }

    void placesThatAreWrittenToAreDistinct()
    {
        Network network;
        const ValueId data = network.input("data", {6}, DType::F32),
                      updates = network.input("updates", {4}, DType::F32);
        const ValueId places = network.input("places", {4});
        network.output(network.node("scatter_elements", {data, places, updates}));
        const std::vector<InputRange> ranges = network.ranges();
        QCOMPARE(Network::textOf(ranges[0]), QStringLiteral("any"));
        QCOMPARE(Network::textOf(ranges[2]), QStringLiteral("needed distinct 0 to 5"));

        Network crowded;
        crowded.output(crowded.node("scatter_elements",
                                    {crowded.input("data", {4, 3}, DType::F32), crowded.input("places", {4, 3}),
                                     crowded.input("updates", {4, 3}, DType::F32)}));
        QCOMPARE(Network::textOf(crowded.ranges()[1]), QStringLiteral("needed 0 to 3"));
    }

    void imagesOfRegionsExist()
    {
        Network network;
        network.output(
            network.node("roi_align", {network.input("data", {3, 2, 4, 4}, DType::F32),
                                       network.input("rois", {5, 4}, DType::F32), network.input("images", {5})}));
        const std::vector<InputRange> ranges = network.ranges();
        QCOMPARE(Network::textOf(ranges[0]), QStringLiteral("any"));
        QCOMPARE(Network::textOf(ranges[1]), QStringLiteral("0 to 4")); // on the image
        QCOMPARE(Network::textOf(ranges[2]), QStringLiteral("needed 0 to 2"));
    }
};

LATHE_TEST(TestInputRanges)

} // namespace tst_input_ranges

#include "tst_input_ranges.moc"
