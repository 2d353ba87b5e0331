#include "core/compute/definitions/softmax.h"
#include "core/search/reference/annotate.h"
#include "tests/conformance/back_ends.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tst_conformance_drawn {

using namespace lathe;
using namespace lathe::test;

namespace {

/// Each pixel's channel of a window: no sum over channels.
compute::DagPtr depthwise()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("data", {1, 10, 10, 12}, DType::F32);
    const auto w = b.placeholder("weight", {3, 3, 12}, DType::F32);
    return finish(b, b.reduce("conv", {1, 4, 4, 12}, {"n", "h", "w", "c"}, "", ir::Combiner::Sum,
                              {{"ry", 3}, {"rx", 3}}, [&](const auto& a, const auto& r) {
                                  return b.at(x, {a[0], a[1] * ir::Expr(2) + r[0], a[2] * ir::Expr(2) + r[1], a[3]})
                                         * b.at(w, {r[0], r[1], a[3]});
                              }));
}

compute::DagPtr batched()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {3, 8, 20}, DType::F32);
    const auto y = b.placeholder("B", {3, 20, 12}, DType::F32);
    const auto product = b.reduce("C", {3, 8, 12}, {"b", "i", "j"}, "", ir::Combiner::Sum, {{"k", 20}},
                                  [&](const auto& a, const auto& r) {
                                      return b.at(x, {a[0], a[1], r[0]}) * b.at(y, {a[0], r[0], a[2]});
                                  });
    return finish(b, b.compute("scaled", {3, 8, 12}, {}, "elemwise", [&](const auto& i) {
        return b.at(product, {i[0], i[1], i[2]}) * ir::floatImm(0.5);
    }));
}

/// Few outputs of long sums: the reference divides these.
compute::DagPtr longSum()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {2, 1024}, DType::F32);
    return finish(b, b.reduce("s", {2}, {"i"}, "", ir::Combiner::Sum, {{"k", 1024}}, [&](const auto& a, const auto& r) {
        return b.at(x, {a[0], r[0]});
    }));
}

compute::DagPtr softmax()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {6, 40}, DType::F32);
    return finish(b, compute::softmax(b, x, 1));
}

std::vector<Case> drawnFrom(const Target& target, std::size_t count)
{
    const Hardware hardware = defaultHardware(target);
    search::SketchRuleContext context = search::SketchRuleContext::of(target, hardware);
    context.warpSize = 1; // small shapes have few threads
    struct Source
    {
        const char* task;
        compute::DagPtr dag;
        search::ReferenceSketch sketch;
    };
    std::vector<Source> sources;
    const std::pair<const char*, compute::DagPtr> tasks[] = {
        {"matmul", matmul(16, 24, 16)}, {"convolution", convolution()}, {"maximum", maximum()},
        {"depthwise", depthwise()},     {"batched", batched()},         {"long sum", longSum()},
        {"softmax", softmax()}};
    for (const auto& [task, dag] : tasks)
        for (const schedule::State& state : must(search::generateReferenceSketches(dag, target, hardware)))
            sources.push_back({task, dag, search::ReferenceSketch("s", "direct", state, context)});
    std::vector<Case> list;
    const std::uint64_t seed = drawingSeed(11);
    Random random(seed);
    std::set<std::pair<const char*, std::string>> had;
    for (std::size_t turn = 0; list.size() < count && turn < count * 200; ++turn) {
        const Source& source = sources[turn % sources.size()];
        search::Genome genome;
        const auto sample = source.sketch.sample(random, genome);
        if (!sample)
            continue;
        std::string steps = schedule::toJson(sample->steps()).dump();
        if (had.emplace(source.task, steps).second) // a schedule counts once
            list.push_back({"drawn", source.dag, std::move(steps), {}, {"reference", source.task, seed, turn}});
    }
    return list;
}

} // namespace

/// Schedules as a search draws them compute their DAG on every back end: the reference's rules of each family.
class TestConformanceDrawn : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }
    void init() { skipWhereThereIsNoDevice(); }

    void schedulesOfTheReferenceComputeTheirDag_data() { eachTargetAndMali(); }
    void schedulesOfTheReferenceComputeTheirDag()
    {
        QFETCH(QString, target);
        const std::vector<Case> list = drawnFrom(*Target::parse(target.toStdString()), wanted());
        QVERIFY2(list.size() >= std::min(wanted(), std::size_t(30)), std::to_string(list.size()).c_str());
        // The rules for processors draw programs that cannot be: loops in parallel inside of such.
        const bool mayRefuse = formOf(target.toStdString()) == KernelForm::Phases;
        const Outcome outcome = runAll(target.toStdString(), list, 1e-5, mayRefuse);
        QVERIFY2(outcome.wrong.empty(), outcome.wrong.c_str());
        QCOMPARE(outcome.right + outcome.refused, list.size());
        QVERIFY2(outcome.right * 3 > list.size() * 2, "too few could be built");
        qInfo("%zu schedules right, %zu refused", outcome.right, outcome.refused);
    }
};

LATHE_TEST(TestConformanceDrawn)

} // namespace tst_conformance_drawn

#include "tst_conformance_drawn.moc"
