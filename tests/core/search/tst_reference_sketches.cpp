#include "core/search/reference/sketch_rules.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/winograd.h"
#include "core/schedule/step.h"

#include <nlohmann/json.hpp>

#include <QTest>

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
                    [&](const std::vector<Expr>& x, const std::vector<Expr>& r) { return b.at(a, {x[0], r[0]}) * b.at(c, {r[0], x[1]}); });
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
    const Tensor data = b.placeholder("data", {1, 512, 56, 56}, DType::F32), weight = b.placeholder("kernel", {512, 512, 3, 3}, DType::F32);
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
                              [&](const std::vector<Expr>& x, const std::vector<Expr>& r) { return b.at(a, {x[0], r[0]}); });
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
    const Tensor data = b.placeholder("data", {1, 28, 28, 128}, DType::F32), weight = b.placeholder("kernel", {6, 6, 128, 128}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.padding = {1, 1, 1, 1};
    return finish(std::move(b), conv2dWinograd(b, data, weight, 4, p, NameEra::Nested));
}

/// Appendix B's two workloads.
compute::DagPtr directConv()
{
    DagBuilder b;
    const Tensor data = b.placeholder("placeholder", {1, 14, 14, 256}, DType::F32), weight = b.placeholder("placeholder", {3, 3, 256, 512}, DType::F32);
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
    const Tensor data = b.placeholder("placeholder", {1, 7, 7, 512}, DType::F32), weight = b.placeholder("placeholder", {1, 1, 512, 2048}, DType::F32);
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

class TstReferenceSketches : public QObject
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
        compute::DagPtr (*const makers[])() = {
            [] { return matmul(512, 512, 512); }, [] { return matmul(8, 8, 512); }, [] { return matmul(8, 8, 1024); },
            [] { return matmul(512, 512, 512, true); }, convBnRelu, maxPool, minOverAxis, softmaxOf, winograd, zeroRank};
        const compute::DagPtr dag = makers[which]();
        for (const auto& [target, count] : {std::pair("cpu -mcpu=haswell -threads=4", cpu), std::pair("cuda", cuda)}) {
            if (count < 0)
                continue;
            const auto made = sketches(dag, target);
            QVERIFY2(bool(made), made ? "" : made.error().message.c_str());
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

QTEST_APPLESS_MAIN(TstReferenceSketches)
#include "tst_reference_sketches.moc"
