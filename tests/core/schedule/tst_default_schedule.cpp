#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/conv3d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "core/compute/definitions/winograd.h"
#include "core/schedule/default_schedule.h"
#include "kernel_check.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

namespace tst_default_schedule {

using namespace lathe;
using namespace lathe::schedule;
using compute::DagBuilder;
using compute::ImageLayout;
using compute::NameEra;
using compute::Tensor;

namespace {

using Build = std::function<Tensor(DagBuilder&)>;
struct Case
{
    const char* name;
    Build build;
};

Tensor biasRelu(DagBuilder& b, Tensor x, std::int64_t channelDim)
{
    std::vector<std::int64_t> shape(b.shape(x).size(), 1);
    shape[static_cast<std::size_t>(channelDim)] = b.shape(x)[static_cast<std::size_t>(channelDim)];
    const Tensor bias = b.placeholder("bias", shape, DType::F32);
    return compute::unary(b, compute::Unary::Relu, compute::binary(b, compute::Binary::Add, x, bias));
}

Build conv(ImageLayout layout, std::int64_t size, std::int64_t ci, std::int64_t co, std::int64_t k, std::int64_t stride,
           std::int64_t pad)
{
    return [=](DagBuilder& b) {
        const bool nhwc = layout == ImageLayout::Nhwc;
        const Tensor data = b.placeholder(
            "data", nhwc ? std::vector<std::int64_t>{1, size, size, ci} : std::vector<std::int64_t>{1, ci, size, size},
            DType::F32);
        const Tensor weight = b.placeholder(
            "weight", nhwc ? std::vector<std::int64_t>{k, k, ci, co} : std::vector<std::int64_t>{co, ci, k, k},
            DType::F32);
        compute::Conv2dParams p;
        p.layout = layout;
        p.strides = {stride, stride};
        p.padding = {pad, pad, pad, pad};
        return biasRelu(b, compute::conv2d(b, data, weight, p, NameEra::Nested), nhwc ? 3 : 1);
    };
}

Build conv3d(ImageLayout layout)
{
    return [=](DagBuilder& b) {
        const bool last = layout == ImageLayout::Nhwc;
        using Shape = std::vector<std::int64_t>;
        const Tensor data = b.placeholder("data", last ? Shape{1, 4, 9, 14, 6} : Shape{1, 6, 4, 9, 14}, DType::F32);
        const Tensor weight = b.placeholder("weight", last ? Shape{3, 3, 3, 6, 16} : Shape{16, 6, 3, 3, 3}, DType::F32);
        compute::Conv3dParams p;
        p.layout = layout;
        p.strides = {1, 2, 1};
        p.padding = {1, 1, 1, 1, 1, 1};
        return biasRelu(b, compute::conv3d(b, data, weight, p, NameEra::Nested), last ? 4 : 1);
    };
}

const std::vector<Case>& cases()
{
    static const std::vector<Case> kCases = {
        {"conv 3x3 nhwc", conv(ImageLayout::Nhwc, 14, 4, 16, 3, 1, 1)},
        {"conv 3x3 nhwc wide", conv(ImageLayout::Nhwc, 28, 4, 16, 3, 1, 1)},
        {"conv 3x3 stride 2 nhwc", conv(ImageLayout::Nhwc, 15, 4, 24, 3, 2, 1)},
        {"conv 3x3 nchw", conv(ImageLayout::Nchw, 14, 4, 16, 3, 1, 1)},
        {"conv 7x7 stride 2 nchw", conv(ImageLayout::Nchw, 12, 3, 16, 7, 2, 3)},
        {"conv 1x1 nchw", conv(ImageLayout::Nchw, 7, 16, 32, 1, 1, 0)},
        {"conv 3x3x3 ndhwc", conv3d(ImageLayout::Nhwc)},
        {"conv 3x3x3 ncdhw", conv3d(ImageLayout::Nchw)},
        {"conv odd channels", conv(ImageLayout::Nhwc, 9, 5, 19, 3, 1, 1)},
        {"depthwise nhwc",
         [](DagBuilder& b) {
             const Tensor data = b.placeholder("data", {1, 14, 14, 32}, DType::F32);
             const Tensor weight = b.placeholder("weight", {3, 3, 32, 1}, DType::F32);
             compute::Conv2dParams p;
             p.layout = ImageLayout::Nhwc;
             p.padding = {1, 1, 1, 1};
             return biasRelu(b, compute::depthwiseConv2d(b, data, weight, p, NameEra::Nested), 3);
         }},
        {"depthwise nchw",
         [](DagBuilder& b) {
             const Tensor data = b.placeholder("data", {1, 6, 12, 12}, DType::F32);
             const Tensor weight = b.placeholder("weight", {6, 1, 3, 3}, DType::F32);
             compute::Conv2dParams p;
             p.padding = {1, 1, 1, 1};
             return biasRelu(b, compute::depthwiseConv2d(b, data, weight, p, NameEra::Nested), 1);
         }},
        {"depthwise nchw stride 2",
         [](DagBuilder& b) {
             const Tensor data = b.placeholder("data", {1, 8, 14, 14}, DType::F32);
             const Tensor weight = b.placeholder("weight", {8, 1, 3, 3}, DType::F32);
             compute::Conv2dParams p;
             p.strides = {2, 2};
             p.padding = {1, 1, 1, 1};
             return biasRelu(b, compute::depthwiseConv2d(b, data, weight, p, NameEra::Nested), 1);
         }},
        {"winograd nhwc",
         [](DagBuilder& b) {
             const Tensor data = b.placeholder("data", {1, 8, 8, 16}, DType::F32);
             const Tensor weight = b.placeholder("weight", {4, 4, 32, 16}, DType::F32);
             compute::Conv2dParams p;
             p.layout = ImageLayout::Nhwc;
             p.padding = {1, 1, 1, 1};
             return biasRelu(b, compute::conv2dWinograd(b, data, weight, 2, p, NameEra::Nested), 3);
         }},
        {"dense",
         [](DagBuilder& b) {
             const Tensor data = b.placeholder("data", {1, 64}, DType::F32);
             const Tensor weight = b.placeholder("weight", {40, 64}, DType::F32);
             return compute::biasAdd(b, compute::dense(b, data, weight, NameEra::Nested),
                                     b.placeholder("bias", {40}, DType::F32), 1);
         }},
        {"max pool nhwc",
         [](DagBuilder& b) {
             compute::Pool2dParams p;
             p.layout = ImageLayout::Nhwc;
             p.kernel = {3, 3};
             p.strides = {2, 2};
             p.padding = {1, 1, 1, 1};
             return compute::pool2d(b, b.placeholder("data", {1, 14, 14, 16}, DType::F32), compute::PoolKind::Max, p);
         }},
        {"max pool nchw",
         [](DagBuilder& b) {
             compute::Pool2dParams p;
             p.kernel = {3, 3};
             p.strides = {2, 2};
             p.padding = {1, 1, 1, 1};
             return compute::pool2d(b, b.placeholder("data", {1, 5, 15, 15}, DType::F32), compute::PoolKind::Max, p);
         }},
        {"global average pool",
         [](DagBuilder& b) {
             return compute::globalPool<2>(b, b.placeholder("data", {1, 32, 7, 7}, DType::F32),
                                           compute::PoolKind::Average, ImageLayout::Nchw);
         }},
        {"softmax",
         [](DagBuilder& b) {
             return compute::softmax(b, b.placeholder("data", {3, 50}, DType::F32), 1);
         }},
        {"layer norm",
         [](DagBuilder& b) {
             const Tensor x = b.placeholder("x", {4, 6, 32}, DType::F32);
             return compute::layerNorm(b, x, b.placeholder("g", {32}, DType::F32), b.placeholder("b", {32}, DType::F32),
                                       2, 1e-5);
         }},
        {"transpose",
         [](DagBuilder& b) {
             return compute::transpose(b, b.placeholder("x", {6, 40, 33}, DType::F32), {2, 0, 1});
         }},
        {"concat",
         [](DagBuilder& b) {
             const std::vector<Tensor> xs{b.placeholder("x", {1, 5, 4, 4}, DType::F32),
                                          b.placeholder("y", {1, 16, 4, 4}, DType::F32)};
             return compute::concatenate(b, xs, 1);
         }},
        {"concat of last dimension",
         [](DagBuilder& b) {
             const std::vector<Tensor> xs{b.placeholder("x", {1, 24, 24, 16}, DType::F32),
                                          b.placeholder("y", {1, 24, 24, 8}, DType::F32),
                                          b.placeholder("z", {1, 24, 24, 12}, DType::F32)};
             return compute::concatenate(b, xs, 3);
         }},
        {"argmax",
         [](DagBuilder& b) {
             return compute::argReduction(b, true, b.placeholder("x", {4, 17}, DType::F32), 1, false);
         }},
        {"sum of all",
         [](DagBuilder& b) {
             return compute::reduction(b, compute::Reduction::Sum, b.placeholder("x", {4, 16}, DType::F32), {}, false);
         }},
        {"batch matmul",
         [](DagBuilder& b) {
             compute::MatmulParams p;
             p.transposeB = true;
             return compute::matmul(b, b.placeholder("a", {3, 12, 16}, DType::F32),
                                    b.placeholder("c", {3, 20, 16}, DType::F32), p, NameEra::Nested);
         }},
        {"flatten",
         [](DagBuilder& b) {
             return compute::batchFlatten(b, b.placeholder("x", {2, 8, 3, 3}, DType::F32));
         }},
        {"gelu",
         [](DagBuilder& b) {
             const Tensor x = b.placeholder("x", {33, 48}, DType::F32);
             return compute::binary(b, compute::Binary::Multiply, x, compute::unary(b, compute::Unary::Erf, x));
         }},
    };
    return kCases;
}

DefaultScheduleOptions optionsFor(const compute::Dag& dag)
{
    DefaultScheduleOptions options;
    options.vectorLanes = 8;
    options.threads = 2;
    for (const std::int32_t input : dag.inputs)
        options.constantInputs.push_back(dag.ops[static_cast<std::size_t>(input)].name.find("weight")
                                         != std::string::npos);
    return options;
}

} // namespace

class TestDefaultSchedule : public QObject
{
    Q_OBJECT

private slots:
    void computesWhatTheDagSays_data();
    void computesWhatTheDagSays();
    void channelBlocksAreReadAndWrittenInVectors();
    void volumesAreComputedInVectors();
    void vectorsAreFilledWithTheWidestType_data();
    void vectorsAreFilledWithTheWidestType();
    void plainLoopsAreTheLastResort();
};

void TestDefaultSchedule::computesWhatTheDagSays_data()
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < cases().size(); ++i)
        QTest::newRow(cases()[i].name) << static_cast<int>(i);
}

void TestDefaultSchedule::computesWhatTheDagSays()
{
    QFETCH(int, index);
    DagBuilder b;
    const Tensor out = cases()[static_cast<std::size_t>(index)].build(b);
    const auto dag = std::move(b).finish({out});
    QVERIFY2(dag, dag ? "" : dag.error().message.c_str());
    const DefaultScheduleOptions options = optionsFor(**dag);
    const auto state = planDefaultSchedule(*dag, options);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    LowerOptions lowerOptions;
    lowerOptions.constantInputs = options.constantInputs;
    const std::string wrong = test::checkKernel(*state, 7, lowerOptions);
    if (qEnvironmentVariableIsSet("LATHE_TEST_PRINT"))
        qInfo("%s", ir::print(lower(*state, lowerOptions)->nest).c_str());
    QCOMPARE(QString::fromStdString(wrong), QString());
}

void TestDefaultSchedule::channelBlocksAreReadAndWrittenInVectors()
{
    DagBuilder b;
    const Tensor out = conv(ImageLayout::Nchw, 14, 16, 32, 3, 1, 1)(b);
    const auto dag = std::move(b).finish({out});
    QVERIFY(dag);
    DefaultScheduleOptions options = optionsFor(**dag);
    const auto blocks = [](std::int32_t stage, std::int64_t channels) {
        return LayoutStep{stage, {{0, 1, 1}, {1, 8, channels / 8}, {2, 1, 14}, {3, 1, 14}, {1, 1, 8}}};
    };
    options.layouts = {blocks((*dag)->inputs[0], 16), blocks((*dag)->outputs[0], 32)};
    const auto state = planDefaultSchedule(*dag, options);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    LowerOptions lowerOptions;
    lowerOptions.constantInputs = options.constantInputs;
    QCOMPARE(QString::fromStdString(test::checkKernel(*state, 7, lowerOptions)), QString());
    const QString text = QString::fromStdString(ir::print(lower(*state, lowerOptions)->nest));
    if (qEnvironmentVariableIsSet("LATHE_TEST_PRINT"))
        qInfo("%s", qPrintable(text));
    QVERIFY2(text.contains("ax1.2] = max("), qPrintable(text));
    // Channels are not the tile's last dimension, but its vectors lie in one piece.
    QVERIFY2(text.contains("buffer conv2d_nchw float32 register [1, 16, 1, 14] strides [224, 1, 224, 16]\n"),
             qPrintable(text));
    QVERIFY2(text.contains("((rc.1*4) + rc.2)]*weight["), qPrintable(text));
}

void TestDefaultSchedule::volumesAreComputedInVectors()
{
    for (const ImageLayout layout : {ImageLayout::Nhwc, ImageLayout::Nchw}) {
        DagBuilder b;
        const Tensor out = conv3d(layout)(b);
        const auto dag = std::move(b).finish({out});
        QVERIFY(dag);
        const auto state = planDefaultSchedule(*dag, optionsFor(**dag));
        QVERIFY2(state, state ? "" : state.error().message.c_str());
        int vectorised = 0;
        for (const Stage& stage : state->stages()) {
            const bool sums = std::ranges::any_of(stage.iters,
                                                  [](const Iterator& i) { return i.kind == IterKind::Reduction; });
            vectorised += sums
                                  && std::ranges::any_of(
                                      stage.iters,
                                      [](const Iterator& i) { return i.annotation == Annotation::Vectorize; })
                              ? 1
                              : 0;
        }
        QCOMPARE(vectorised, 1);
    }
}

void TestDefaultSchedule::vectorsAreFilledWithTheWidestType_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<bool>("product"); // else a cast to float32
    QTest::addColumn<int>("lanes"); // where a vector holds 8 of float32
    const auto row = [](DType dtype, bool product, int lanes) {
        QTest::addRow("%s %s", product ? "product of" : "cast of", toString(dtype))
            << static_cast<int>(dtype) << product << lanes;
    };
    row(DType::F32, true, 8);
    row(DType::F64, true, 4);
    row(DType::I32, true, 8);
    row(DType::I64, true, 4);
    row(DType::I32, false, 8);
    row(DType::I8, false, 8); // of float32, the wider one
    row(DType::F64, false, 4);
    row(DType::I64, false, 4);
}

void TestDefaultSchedule::vectorsAreFilledWithTheWidestType()
{
    QFETCH(int, dtype);
    QFETCH(bool, product);
    QFETCH(int, lanes);
    DagBuilder b;
    const Tensor x = b.placeholder("x", {6, 64}, static_cast<DType>(dtype));
    const Tensor out = product ? compute::dense(b, x, b.placeholder("weight", {64, 64}, static_cast<DType>(dtype)),
                                                NameEra::Nested)
                               : compute::cast(b, x, DType::F32);
    const auto dag = std::move(b).finish({out});
    QVERIFY(dag);
    const DefaultScheduleOptions options = optionsFor(**dag);
    const auto state = planDefaultSchedule(*dag, options);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    std::vector<std::int64_t> vectors;
    for (const Iterator& one : state->stages()[static_cast<std::size_t>((*dag)->outputs[0])].iters) {
        if (one.annotation == Annotation::Vectorize)
            vectors.push_back(one.extent);
    }
    QCOMPARE(vectors, std::vector<std::int64_t>{lanes});
    LowerOptions lowerOptions;
    lowerOptions.constantInputs = options.constantInputs;
    QCOMPARE(QString::fromStdString(test::checkKernel(*state, 7, lowerOptions)), QString());
}

void TestDefaultSchedule::plainLoopsAreTheLastResort()
{
    // A layout that no schedule of ours could be applied to is refused, not ignored.
    DefaultScheduleOptions options;
    options.layouts = {LayoutStep{1, {{0, 1, 1}}}};
    const auto state = planDefaultSchedule(test::matmul(4, 4, 4), options);
    QVERIFY(!state);
    QVERIFY(state.error().code == Errc::IllegalSchedule);
}

LATHE_TEST(TestDefaultSchedule)

} // namespace tst_default_schedule

#include "tst_default_schedule.moc"
