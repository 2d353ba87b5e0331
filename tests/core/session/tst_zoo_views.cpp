#include "core/compute/flop.h"
#include "core/frontend/zoo.h"
#include "core/graph/flatten.h"
#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/graph/task.h"
#include "core/session/session.h"
#include "core/support/element_count.h"
#include "core/target/target.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <cmath>

namespace tst_zoo_views {

using namespace lathe;
using lathe::test::must;

namespace {

/// Of the algorithm that people count operations by, whatever saves some.
double directFlop(const graph::Task& task)
{
    for (const graph::Alternative& alternative : task.alternatives)
        if (alternative.name == "direct")
            return compute::flop(*alternative.dag);
    return task.flop;
}

} // namespace

class TestZooViews : public QObject
{
    Q_OBJECT

private slots:
    /// The figures that the start page and `zoo list` show are those of the networks.
    void figuresAreThoseOfTheNetworks()
    {
        const Target target = must(Target::parse("cpu"));
        std::string wrong;
        for (const session::ZooView& view : session::listZoo()) {
            const graph::Graph network = must(frontend::buildZoo(view.name, {.weights = false}));
            double weights = 0;
            for (const graph::Value& value : network.values)
                if (value.constant)
                    weights += static_cast<double>(elementCount(value.shape));
            const std::vector<std::int64_t>& shape = network.value(network.inputs.front()).shape;
            const std::string input = fmt::format("{}", fmt::join(shape, "x"));
            graph::PassRunner passes = must(graph::PassRunner::without({}));
            const graph::Graph flat = must(
                graph::flatten(must(graph::prepare(network, target, target.traits().layout, "lathe", passes))));
            double flop = 0;
            for (const graph::Task& task : must(graph::partition(flat, target, "lathe", passes)).tasks)
                flop += static_cast<double>(task.weight) * directFlop(task);
            const bool same = view.input == input && std::abs(view.gflop - flop / 1e9) <= 0.0051
                              && (flop < 1e7) == (view.gflop < 0.01) && std::abs(view.weights - weights) <= 0.0051e6;
            if (!same)
                wrong += fmt::format("\n    {{\"{}\", \"{}\", {:.2f}, {:.2f}}},", view.name, input, flop / 1e9,
                                     weights / 1e6);
        }
        if (!wrong.empty())
            qWarning("%s", wrong.c_str());
        QVERIFY(wrong.empty());
    }
};

LATHE_TEST(TestZooViews)

} // namespace tst_zoo_views

#include "tst_zoo_views.moc"
