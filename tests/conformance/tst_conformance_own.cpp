#include "core/templates/tunable.h"
#include "tests/conformance/back_ends.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/templates/template_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace tst_conformance_own {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr double kTolerance = 1e-4; ///< winograd's transforms cancel digits
constexpr std::size_t kAtLeast = 30; ///< different schedules that there are of each rule set

struct Source
{
    const char* name;
    search::SearchTask task;
    std::shared_ptr<const templates::Tunable> tunable;
};

/// Small tasks, so that borders and tails are most of them; and some that whole tiles fit into.
/// Larger ones the simulated device would not compute.
std::vector<std::pair<const char*, search::SearchAlternative>> alternatives()
{
    return {{"conv 3x3 NHWC", conv(7, 5, 12, 3, 1)},
            {"conv 1x1/2 NHWC", conv(9, 8, 16, 1, 2)},
            {"winograd 2", winograd(6, 8, 2)},
            {"winograd 4", winograd(9, 8, 4)},
            {"dense", dense(40, 24)},
            {"depthwise/2 NHWC", depthwise(8, 12, 2)},
            {"conv 3x3 NCHW", convOf(ConvCase{.size = 6, .in = 4, .out = 8})},
            {"conv winograd 2 NCHW", convOf(ConvCase{.size = 8, .in = 16, .out = 16}, 2)},
            {"depthwise NCHW", convOf(ConvCase{.size = 7, .in = 6, .out = 6, .depthwise = true})},
            {"conv 3x3 even", conv(8, 8, 8, 3, 1)},
            {"conv 1x1 even", conv(8, 16, 16, 1, 1)},
            {"conv 3x3 NCHW even", convOf(ConvCase{.size = 8, .in = 8, .out = 8})},
            {"winograd 2 even", winograd(8, 8, 2)},
            {"dense even", dense(64, 64)},
            {"softmax", softmaxOfRows(3, 40)},
            {"layer norm", layerNorm(5, 24)},
            {"transposition", transposition(9, 14)}};
}

/// Who draws: Lathe's own sketches, or the templates.
enum class RuleSet
{
    Sketches,
    Templates
};

/// Of each form, or of each template, as many; `count` different ones in all, or what there is. What the device cannot
/// run is left out, as in a search, and stands in the ledger as refused.
std::vector<Case> drawnFrom(const std::string& target, RuleSet rules, std::size_t count, std::set<std::string>& kinds)
{
    std::vector<Source> sources;
    for (const auto& [name, alternative] : alternatives()) {
        search::SearchTask task = lathe::test::task({alternative}, target.c_str());
        std::vector<std::shared_ptr<const templates::Tunable>> ways;
        if (rules == RuleSet::Templates)
            ways = templates::templateTunables(task);
        else if (auto sketches = templates::sketchTunables(task))
            ways = *std::move(sketches);
        for (auto& way : ways)
            sources.push_back({name, task, std::move(way)});
    }
    std::vector<Case> list;
    const std::uint64_t seed = drawingSeed(5);
    Random random(seed);
    std::set<std::pair<const char*, std::string>> had; // a schedule counts once
    std::uint64_t turn = 0;
    const auto draw = [&](const Source& source) -> std::optional<Case> {
        const auto config = source.tunable->space().at(random.below(source.tunable->space().size()));
        if (!config)
            return {};
        const Drawn drawn = {std::string(source.tunable->kind()), source.name, seed, turn};
        if (const auto refusal = source.tunable->space().refusal(*config)) {
            enterInLedger(target, drawn, {}, "refused", textOf(*refusal));
            return {};
        }
        const auto candidate = source.tunable->candidate(*config);
        if (!candidate) {
            enterInLedger(target, drawn, {}, "refused", candidate.error().message);
            return {};
        }
        if (!had.emplace(source.name, candidate->steps).second)
            return {};
        if (const auto runnable = source.tunable->checkRunnable(*config, source.task.hardware); !runnable) {
            enterInLedger(target, drawn, candidate->steps, "refused", runnable.error().message);
            return {};
        }
        const search::SearchAlternative& alternative = source.task.alternatives.front();
        return Case{candidate->sketch, alternative.dag, candidate->steps, alternative.constantInputs, drawn};
    };
    // Each source in its turn, as long as it has one more.
    constexpr int kTries = 100;
    for (std::size_t atStart = count; list.size() < count && list.size() != atStart;) {
        atStart = list.size();
        for (std::size_t i = 0; i < sources.size() && list.size() < count; ++i) {
            std::optional<Case> found;
            for (int tries = 0; tries < kTries && !found; ++tries, ++turn)
                found = draw(sources[i]);
            if (!found)
                continue;
            kinds.insert(found->drawn.ruleSet);
            list.push_back(*std::move(found));
        }
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

    void sketchesComputeTheirDag_data() { eachTargetAndMali(); }
    void sketchesComputeTheirDag() { check(RuleSet::Sketches); }

    void templatesComputeTheirDag_data() { eachTargetAndMali(); }
    void templatesComputeTheirDag() { check(RuleSet::Templates); }

private:
    void check(RuleSet rules)
    {
        QFETCH(QString, target);
        std::set<std::string> kinds;
        const std::vector<Case> list = drawnFrom(target.toStdString(), rules, wanted(), kinds);
        QVERIFY2(list.size() >= std::min(wanted(), kAtLeast), std::to_string(list.size()).c_str());
        const Outcome outcome = runAll(target.toStdString(), list, kTolerance, false);
        QVERIFY2(outcome.wrong.empty(), outcome.wrong.c_str());
        QCOMPARE(outcome.right, list.size());
        std::string names;
        for (const std::string& kind : kinds)
            names += ' ' + kind;
        qInfo("%zu schedules right, of%s", list.size(), names.c_str());
    }
};

LATHE_TEST(TestConformanceOwn)

} // namespace tst_conformance_own
#include "tst_conformance_own.moc"
