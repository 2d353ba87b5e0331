#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/winograd.h"
#include "core/policy/policy_table.h"
#include "core/schedule/step.h"
#include "core/search/reference/annotate.h"
#include "core/search/reference/reference_policy.h"
#include "core/search/reference/sketch_rules.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_reference_sketches {

using namespace lathe;
using namespace lathe::search;
using compute::DagBuilder;
using compute::NameEra;
using compute::Tensor;
using ir::Expr;

namespace {

compute::DagPtr finish(DagBuilder&& builder, Tensor output)
{
    auto dag = std::move(builder).finish({output});
    if (!dag)
        qFatal("%s", dag.error().message.c_str());
    return *dag;
}

Tensor matmulOf(DagBuilder& b, Tensor a, std::int64_t columns)
{
    const std::int64_t rows = b.shape(a)[0], depth = b.shape(a)[1];
    const Tensor c = b.placeholder("B", {depth, columns}, DType::F32);
    return b.reduce("C", {rows, columns}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", depth}},
                    [&](const std::vector<Expr>& x, const std::vector<Expr>& r) {
                        return b.at(a, {x[0], r[0]}) * b.at(c, {r[0], x[1]});
                    });
}

compute::DagPtr matmul(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool twice = false)
{
    DagBuilder b;
    Tensor y = matmulOf(b, b.placeholder("A", {rows, depth}, DType::F32), columns);
    if (twice)
        y = matmulOf(b, y, columns);
    return finish(std::move(b), y);
}

compute::DagPtr convBnRelu()
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, 512, 56, 56}, DType::F32),
                 weight = b.placeholder("kernel", {512, 512, 3, 3}, DType::F32);
    compute::Conv2dParams p;
    p.padding = {1, 1, 1, 1};
    Tensor y = conv2d(b, data, weight, p, NameEra::Flat);
    for (const auto op : {compute::Binary::Add, compute::Binary::Multiply, compute::Binary::Add})
        y = binary(b, op, y, b.placeholder("s", {512, 1, 1}, DType::F32));
    return finish(std::move(b), unary(b, compute::Unary::Relu, y));
}

compute::DagPtr maxPool()
{
    DagBuilder b;
    compute::Pool2dParams p;
    p.kernel = p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    const Tensor y = pool2d(b, b.placeholder("data", {4, 512, 56, 56}, DType::F32), compute::PoolKind::Max, p);
    return finish(std::move(b), y);
}

compute::DagPtr minOverAxis()
{
    DagBuilder b;
    const Tensor a = b.placeholder("A", {10, 1024}, DType::F32);
    const Tensor y = b.reduce("B", {10}, {"i"}, "", ir::Combiner::Min, {{"k", 1024}},
                              [&](const std::vector<Expr>& x, const std::vector<Expr>& r) {
                                  return b.at(a, {x[0], r[0]});
                              });
    return finish(std::move(b), y);
}

compute::DagPtr zeroRank()
{
    DagBuilder b;
    const Tensor a = b.placeholder("A", {128}, DType::F32);
    const Tensor y = b.reduce("B", {}, {}, "", ir::Combiner::Sum, {{"k", 128}},
                              [&](const std::vector<Expr>&, const std::vector<Expr>& r) { return b.at(a, {r[0]}); });
    return finish(std::move(b), y);
}

compute::DagPtr softmaxOf()
{
    DagBuilder b;
    const Tensor y = softmax(b, b.placeholder("data", {512, 1024}, DType::F32), -1);
    return finish(std::move(b), y);
}

compute::DagPtr winograd()
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, 28, 28, 128}, DType::F32),
                 weight = b.placeholder("kernel", {6, 6, 128, 128}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.padding = {1, 1, 1, 1};
    return finish(std::move(b), conv2dWinograd(b, data, weight, 4, p, NameEra::Nested));
}

/// Appendix B's two workloads.
compute::DagPtr directConv()
{
    DagBuilder b;
    const Tensor data = b.placeholder("placeholder", {1, 14, 14, 256}, DType::F32),
                 weight = b.placeholder("placeholder", {3, 3, 256, 512}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    const Tensor y = conv2d(b, data, weight, p, NameEra::Flat);
    const Tensor sum = binary(b, compute::Binary::Add, y, b.placeholder("placeholder", {1, 1, 1, 512}, DType::F32));
    return finish(std::move(b), unary(b, compute::Unary::Relu, sum));
}

compute::DagPtr pointwiseConv()
{
    DagBuilder b;
    const Tensor data = b.placeholder("placeholder", {1, 7, 7, 512}, DType::F32),
                 weight = b.placeholder("placeholder", {1, 1, 512, 2048}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    Tensor y = conv2d(b, data, weight, p, NameEra::Flat);
    const std::vector<std::int64_t> channels{1, 1, 1, 2048};
    y = binary(b, compute::Binary::Add, y, b.placeholder("placeholder", {1, 7, 7, 2048}, DType::F32));
    y = binary(b, compute::Binary::Multiply, y, b.placeholder("placeholder", channels, DType::F32));
    y = binary(b, compute::Binary::Add, y, b.placeholder("placeholder", channels, DType::F32));
    return finish(std::move(b), unary(b, compute::Unary::Relu, y));
}

Result<std::vector<schedule::State>> sketches(const compute::DagPtr& dag, const char* target)
{
    const Target t = *Target::parse(target);
    return generateReferenceSketches(dag, t, defaultHardware(t));
}

} // namespace

class TestReferenceSketches : public QObject
{
    Q_OBJECT

private slots:
    void countsAreTheReferences_data()
    {
        QTest::addColumn<int>("which");
        QTest::addColumn<int>("cpu");
        QTest::addColumn<int>("cuda");
        QTest::newRow("matmul 512") << 0 << 3 << 1;
        QTest::newRow("matmul 8x8x512") << 1 << 5 << -1;
        QTest::newRow("matmul 8x8x1024") << 2 << -1 << 2;
        QTest::newRow("two matmuls") << 3 << 9 << 1;
        QTest::newRow("conv, bn, relu") << 4 << 3 << 1;
        QTest::newRow("max pool") << 5 << 1 << 1;
        QTest::newRow("min over an axis") << 6 << 3 << 2;
        QTest::newRow("softmax") << 7 << 9 << 4;
        QTest::newRow("winograd") << 8 << 3 << 1;
        QTest::newRow("zero rank") << 9 << 3 << 2;
    }
    void countsAreTheReferences()
    {
        QFETCH(int, which);
        QFETCH(int, cpu);
        QFETCH(int, cuda);
        compute::DagPtr (*const makers[])() = {[] { return matmul(512, 512, 512); },
                                               [] { return matmul(8, 8, 512); },
                                               [] { return matmul(8, 8, 1024); },
                                               [] { return matmul(512, 512, 512, true); },
                                               convBnRelu,
                                               maxPool,
                                               minOverAxis,
                                               softmaxOf,
                                               winograd,
                                               zeroRank};
        const compute::DagPtr dag = makers[which]();
        for (const auto& [target, count] : {std::pair("cpu -mcpu=haswell -threads=4", cpu), std::pair("cuda", cuda)}) {
            if (count < 0)
                continue;
            const auto made = sketches(dag, target);
            QVERIFY2(bool(made), made ? "" : made.error().message.c_str());
            if (static_cast<int>(made->size()) != count)
                for (const schedule::State& state : *made)
                    qInfo("%s", schedule::toJson(state.steps()).dump().c_str());
            QCOMPARE(static_cast<int>(made->size()), count);
        }
    }

    void aMaxPoolNeedsNoSteps()
    {
        const auto made = sketches(maxPool(), "cpu -mcpu=haswell -threads=4");
        QVERIFY(made);
        QVERIFY(made->front().steps().empty());
    }

    void theCudaSketchOfAppendixBIsStepForStep()
    {
        const auto made = sketches(directConv(), "cuda");
        QVERIFY(made);
        QCOMPARE(made->size(), std::size_t(1));
        const nlohmann::json expected = nlohmann::json::parse(R"([["CI",5],
            ["SP",3,0,1,[null,null,null,null],1],["SP",3,5,7,[null,null,null,null],1],["SP",3,10,7,[null,null,null,null],1],
            ["SP",3,15,512,[null,null,null,null],1],["SP",3,20,3,[null,null],1],["SP",3,23,3,[null,null],1],["SP",3,26,256,[null,null],1],
            ["RE",3,[0,5,10,15,1,6,11,16,2,7,12,17,20,23,26,21,24,27,3,8,13,18,22,25,28,4,9,14,19]],
            ["FSP",6,0,1,3],["FSP",6,4,2,3],["FSP",6,8,3,3],["FSP",6,12,4,3],
            ["RE",6,[0,4,8,12,1,5,9,13,2,6,10,14,3,7,11,15]],["CA",3,6,11],
            ["CHR",2,"shared",[3]],["CA",3,4,14],["CHR",1,"shared",[4]],["CA",2,5,14],["CI",1]])");
        const nlohmann::json got = schedule::toJson(made->front().steps());
        QCOMPARE(QString::fromStdString(got.dump()), QString::fromStdString(expected.dump()));
    }

    void theCpuSketchOfAppendixBIsStepForStep()
    {
        const auto made = sketches(pointwiseConv(), "cpu -mcpu=haswell -threads=8");
        QVERIFY(made);
        QCOMPARE(made->size(), std::size_t(3));
        const nlohmann::json expected = nlohmann::json::parse(R"([["CI",9],["CI",7],["CI",5],
            ["SP",3,0,1,[null,null,null],1],["SP",3,4,7,[null,null,null],1],["SP",3,8,7,[null,null,null],1],["SP",3,12,2048,[null,null,null],1],
            ["SP",3,16,1,[null],1],["SP",3,18,1,[null],1],["SP",3,20,512,[null],1],
            ["RE",3,[0,4,8,12,1,5,9,13,16,18,20,2,6,10,14,17,19,21,3,7,11,15]],
            ["FSP",10,0,3,2],["FSP",10,3,4,2],["FSP",10,6,5,2],["FSP",10,9,6,2],
            ["RE",10,[0,3,6,9,1,4,7,10,2,5,8,11]],["CA",3,10,7],["CI",1]])");
        std::vector<QString> got;
        for (const schedule::State& state : *made)
            got.push_back(QString::fromStdString(schedule::toJson(state.steps()).dump()));
        const QString wanted = QString::fromStdString(expected.dump());
        QVERIFY2(std::find(got.begin(), got.end(), wanted) != got.end(), qPrintable(got[1] + "\n" + wanted));
    }

    void theCudaScheduleOfAppendixBIsStepForStep()
    {
        const Target target = *Target::parse("cuda");
        const Hardware hardware = defaultHardware(target);
        const auto made = sketches(directConv(), "cuda");
        const ReferenceSketch sketch("s", "direct", made->front(), SketchRuleContext::of(target, hardware));
        // Lengths [vthread, thread, inner, inner], [R1, R2].
        const std::vector<std::vector<std::int64_t>> lengths = {{1, 1, 1, 1}, {1, 7, 1, 1}, {1, 7, 1, 1}, {2, 8, 1, 1},
                                                                {3, 1},       {1, 1},       {4, 4}};
        Genome genome(sketch.parameters().size(), 0);
        for (std::size_t g = 0; g < lengths.size(); ++g) {
            genome[g] = sketch.parameters()[g].tuples->indexOf(lengths[g]);
            QVERIFY(genome[g] >= 0);
        }
        for (std::size_t g = lengths.size(); g < genome.size(); ++g)
            if (sketch.parameters()[g].name == "unroll Conv2dOutput")
                genome[g] = 3; // 512
        const auto state = sketch.state(genome);
        QVERIFY2(bool(state), state ? "" : state.error().message.c_str());
        const nlohmann::json tail = nlohmann::json::parse(
            R"([["FU",8,[0,1,2,3]],["AN",8,0,5],["FU",8,[1,2,3,4]],["AN",8,1,4],
            ["FU",8,[2,3,4,5]],["AN",8,2,6],
            ["FU",4,[0,1,2,3]],["SP",4,0,48,[1],1],["AN",4,1,2],["FFSP",4,0,[4,3,2,1],1,1],["AN",4,1,6],
            ["FU",2,[0,1,2,3]],["SP",2,0,48,[1],1],["AN",2,1,2],["FFSP",2,0,[4,3,2,1],1,1],["AN",2,1,6],
            ["PR",5,0,"auto_unroll_max_step$512"]])");
        const nlohmann::json all = schedule::toJson(state->steps());
        nlohmann::json got = nlohmann::json::array();
        for (std::size_t i = all.size() - tail.size(); i < all.size(); ++i)
            got.push_back(all[i]);
        QCOMPARE(QString::fromStdString(got.dump()), QString::fromStdString(tail.dump()));
        // Twelve more: with 16 virtual threads the limit of 8 is broken.
        genome[3] = sketch.parameters()[3].tuples->indexOf(std::vector<std::int64_t>{16, 8, 1, 1});
        QVERIFY(sketch.state(genome).error().code == Errc::IllegalSchedule);
    }

    void theCpuScheduleOfAppendixBIsStepForStep()
    {
        const Target target = *Target::parse("cpu -mcpu=haswell -threads=8");
        const auto made = sketches(pointwiseConv(), "cpu -mcpu=haswell -threads=8");
        const ReferenceSketch sketch("s", "direct", (*made)[1], SketchRuleContext::of(target, defaultHardware(target)));
        const std::vector<std::vector<std::int64_t>> lengths = {{1, 1, 1}, {1, 1, 1}, {1, 1, 7}, {4, 1, 16},
                                                                {1},       {1},       {8}};
        Genome genome(sketch.parameters().size(), 0);
        for (std::size_t g = 0; g < lengths.size(); ++g)
            genome[g] = sketch.parameters()[g].tuples->indexOf(lengths[g]);
        for (std::size_t g = lengths.size(); g < genome.size(); ++g) {
            if (sketch.parameters()[g].name == "unroll Conv2dOutput")
                genome[g] = 3;
            if (sketch.parameters()[g].name == "parallel T_relu")
                genome[g] = 8; // all of both levels
        }
        const auto state = sketch.state(genome);
        QVERIFY2(bool(state), state ? "" : state.error().message.c_str());
        const nlohmann::json all = schedule::toJson(state->steps());
        const nlohmann::json tail = nlohmann::json::parse(R"([["FU",10,[0,1,2,3,4,5,6,7]],["AN",10,0,3],
            ["PR",3,0,"auto_unroll_max_step$512"],["AN",3,21,2],["AN",10,4,2]])");
        nlohmann::json got = nlohmann::json::array();
        for (std::size_t i = all.size() - tail.size(); i < all.size(); ++i)
            got.push_back(all[i]);
        QCOMPARE(QString::fromStdString(got.dump()), QString::fromStdString(tail.dump()));
    }

    void theReferencePolicyReplays()
    {
        SearchTask task;
        task.key = task.name = "t";
        task.target = *Target::parse("cpu -mcpu=haswell -threads=4");
        task.hardware = defaultHardware(task.target);
        task.alternatives.push_back({"direct", matmul(64, 64, 64), {false, false}, true});
        ReferenceSearchParameters small;
        small.population = 48;
        small.sampleInitMinPopulation = 10;
        const auto run = [&](std::uint64_t seed) {
            PolicyOptions options;
            options.seed = seed;
            options.trialsPerRound = 8;
            auto made = ReferencePolicy::create(task, *policy::makeSharedModel("reference", 1, options), options,
                                                small);
            if (!made)
                qFatal("%s", made.error().message.c_str());
            const std::unique_ptr<ReferencePolicy> policy = *std::move(made);
            SerialExecutor executor;
            std::vector<std::string> seen;
            for (std::uint64_t round = 0; round < 3; ++round) {
                auto candidates = policy->propose(round, 8, executor, {});
                if (!candidates)
                    qFatal("%s", candidates.error().message.c_str());
                std::vector<Measured> results;
                for (const Candidate& c : *candidates) {
                    seen.push_back(c.hash().hex());
                    results.push_back({c, {}});
                    results.back().result.costsNs = {1000.0 + static_cast<double>(contentHash(c.steps).low % 5000)};
                }
                if (!policy->tell(results, {}))
                    qFatal("tell failed");
            }
            return seen;
        };
        const std::vector<std::string> one = run(1);
        QCOMPARE(one.size(), std::size_t(24));
        QVERIFY(one == run(1));
        QVERIFY(one != run(2));
        task.alternatives[0].isReference = false;
        PolicyOptions options;
        QVERIFY(ReferencePolicy::create(task, *policy::makeSharedModel("reference", 1, options), options, small)
                    .error()
                    .code
                == Errc::Unsupported);
    }

    void theReferencePolicyHasItsRealSizes()
    {
        SearchTask task;
        task.key = task.name = "t";
        task.target = *Target::parse("cpu -mcpu=haswell -threads=4");
        task.hardware = defaultHardware(task.target);
        task.alternatives.push_back({"direct", matmul(64, 64, 64), {false, false}, true});
        PolicyOptions options;
        const auto made = ReferencePolicy::create(task, *policy::makeSharedModel("reference", 1, options), options);
        QVERIFY(made);
        SerialExecutor executor;
        const auto candidates = (*made)->propose(0, 64, executor, {});
        QVERIFY(candidates);
        QCOMPARE(candidates->size(), std::size_t(64));
        // 2,048 drawn until 50 differ; without a trained model one generation of as many.
        const auto statistics = (*made)->statistics();
        QVERIFY(statistics.at("sampled") >= 50 && statistics.at("sampled") + statistics.at("sample_failures") <= 2048);
        QCOMPARE(statistics.at("generations"), 1.0);
        QVERIFY(statistics.at("population") > 1900 && statistics.at("population") <= 2048);
        QCOMPARE(statistics.at("model_trained"), 0.0);
    }

    void maliTilesLikeAGpuAndNeverFactorsATiledReduction()
    {
        const auto made = sketches(matmul(8, 8, 1024), "opencl -device=mali");
        QVERIFY(made);
        // Its core count is -1: space > -16 holds always.
        for (const schedule::State& state : *made)
            for (const schedule::Step& step : state.steps())
                QVERIFY(!std::holds_alternative<schedule::RfactorStep>(step));
        QCOMPARE(static_cast<int>(sketches(minOverAxis(), "opencl -device=mali")->size()), 3);
    }
};

LATHE_TEST(TestReferenceSketches)

} // namespace tst_reference_sketches

#include "tst_reference_sketches.moc"
