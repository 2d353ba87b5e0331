#include "core/templates/tunable.h"
#include "tests/conformance/back_ends.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/templates/template_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <set>

namespace tst_conformance_own {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr double kTolerance = 1e-4; ///< winograd's transforms cancel digits

struct Source
{
    search::SearchTask task;
    std::shared_ptr<const templates::Tunable> tunable;
};

/// Small tasks, so that borders and tails are most of them.
std::vector<search::SearchAlternative> alternatives()
{
    return {conv(7, 5, 12, 3, 1),
            conv(9, 8, 16, 1, 2),
            winograd(6, 8, 2),
            winograd(9, 8, 4),
            dense(40, 24),
            depthwise(8, 12, 2),
            convOf(ConvCase{.size = 6, .in = 4, .out = 8}),
            convOf(ConvCase{.size = 8, .in = 16, .out = 16}, 2),
            convOf(ConvCase{.size = 7, .in = 6, .out = 6, .depthwise = true}),
            softmaxOfRows(3, 40),
            layerNorm(5, 24),
            transposition(9, 14)};
}

/// Of each form, and of each template, `count` configurations in all; what the device cannot run is left out, as in a
/// search.
std::vector<Case> drawnFrom(const std::string& target, std::size_t count, std::set<std::string>& kinds)
{
    std::vector<Source> sources;
    for (const search::SearchAlternative& alternative : alternatives()) {
        search::SearchTask task = lathe::test::task({alternative}, target.c_str());
        std::vector<std::shared_ptr<const templates::Tunable>> ways;
        if (auto sketches = templates::sketchTunables(task))
            ways = *std::move(sketches);
        for (auto& made : templates::templateTunables(task))
            ways.push_back(std::move(made));
        for (auto& way : ways)
            sources.push_back({task, std::move(way)});
    }
    std::vector<Case> list;
    Random random(5);
    for (std::size_t turn = 0; list.size() < count && turn < count * 200; ++turn) {
        const Source& source = sources[turn % sources.size()];
        const auto config = source.tunable->space().at(random.below(source.tunable->space().size()));
        if (!config || source.tunable->space().refusal(*config))
            continue;
        const auto candidate = source.tunable->candidate(*config);
        if (!candidate || !source.tunable->checkRunnable(*config, source.task.hardware))
            continue;
        kinds.insert(std::string(source.tunable->kind()));
        const search::SearchAlternative& alternative = source.task.alternatives.front();
        list.push_back({candidate->sketch, alternative.dag, candidate->steps, alternative.constantInputs});
    }
    return list;
}

} // namespace

/// Schedules as Lathe's own search and the templates' tuners draw them compute their DAG on every back end.
class TestConformanceOwn : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }
    void init() { skipWhereThereIsNoDevice(); }

    void schedulesOfLatheComputeTheirDag_data()
    {
        eachTarget();
        QTest::newRow("opencl -device=mali") << "opencl -device=mali";
    }
    void schedulesOfLatheComputeTheirDag()
    {
        QFETCH(QString, target);
        std::set<std::string> kinds;
        const std::vector<Case> list = drawnFrom(target.toStdString(), wanted(), kinds);
        QCOMPARE(list.size(), wanted());
        const Outcome outcome = runAll(target.toStdString(), list, kTolerance, false);
        QVERIFY2(outcome.wrong.empty(), outcome.wrong.c_str());
        QCOMPARE(outcome.right, wanted());
        std::string names;
        for (const std::string& kind : kinds)
            names += ' ' + kind;
        qInfo("%zu schedules right, of%s", list.size(), names.c_str());
    }
};

LATHE_TEST(TestConformanceOwn)

} // namespace tst_conformance_own
#include "tst_conformance_own.moc"
