#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/resize.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "tests/core/compute/dag_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <limits>

namespace tst_definitions {

using namespace lathe;
using namespace lathe::compute;
using namespace lathe::test;

namespace {

using Shape = std::vector<std::int64_t>;

bool close(const Floats& a, const Floats& b, float tolerance = 1e-5F)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::fabs(a[i] - b[i]) <= tolerance * std::max(1.0F, std::fabs(b[i]))))
            return false;
    return true;
}

Floats one(const Shape& shape, const Floats& x, const std::function<Tensor(DagBuilder&, Tensor)>& define)
{
    return evaluate({shape}, {x}, [&](DagBuilder& b, const auto& t) { return define(b, t[0]); });
}

Floats iota(std::size_t n)
{
    Floats v(n);
    for (std::size_t i = 0; i < n; ++i)
        v[i] = static_cast<float>(i);
    return v;
}

} // namespace

class TestDefinitions : public QObject
{
    Q_OBJECT

private slots:
    void unaryFunctions()
    {
        const Floats x{-2.5F, -0.5F, 0, 0.5F, 3};
        const std::vector<std::pair<Unary, std::function<double(double)>>> cases{
            {Unary::Relu, [](double v) { return std::max(v, 0.0); }},
            {Unary::Negative, [](double v) { return -v; }},
            {Unary::Abs, [](double v) { return std::fabs(v); }},
            {Unary::Sign, [](double v) { return v < 0   ? -1.0
                                                : v > 0 ? 1.0
                                                        : 0.0; }},
            {Unary::Exp, [](double v) { return std::exp(v); }},
            {Unary::Tanh, [](double v) { return std::tanh(v); }},
            {Unary::Erf, [](double v) { return std::erf(v); }},
            {Unary::Sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }},
            {Unary::Floor, [](double v) { return std::floor(v); }},
            {Unary::Ceil, [](double v) { return std::ceil(v); }},
            {Unary::Round, [](double v) { return v == -2.5 ? -2
                                                 : v == 3  ? 3.0
                                                           : 0.0; }},
            {Unary::Softplus, [](double v) { return std::log(1 + std::exp(v)); }},
            {Unary::Silu, [](double v) { return v / (1 + std::exp(-v)); }},
            {Unary::Gelu, [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }},
            {Unary::GeluTanh,
             [](double v) { return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); }},
            {Unary::HardSwish, [](double v) { return v * std::min(1.0, std::max(0.0, v / 6 + 0.5)); }},
            {Unary::Mish, [](double v) { return v * std::tanh(std::log(1 + std::exp(v))); }},
        };
        for (const auto& [op, f] : cases) {
            Floats expected;
            for (const float v : x)
                expected.push_back(static_cast<float>(f(static_cast<double>(v))));
            QVERIFY2(close(one({5}, x, [op = op](DagBuilder& b, Tensor t) { return unary(b, op, t); }), expected),
                     std::to_string(static_cast<int>(op)).c_str());
        }
        const Floats positive{0.25F, 1, 4};
        QCOMPARE(one({3}, positive, [](DagBuilder& b, Tensor t) { return unary(b, Unary::Sqrt, t); }),
                 (Floats{0.5F, 1, 2}));
        QCOMPARE(one({3}, positive, [](DagBuilder& b, Tensor t) { return unary(b, Unary::Rsqrt, t); }),
                 (Floats{2, 1, 0.5F}));
        QCOMPARE(one({3}, positive, [](DagBuilder& b, Tensor t) { return unary(b, Unary::Reciprocal, t); }),
                 (Floats{4, 1, 0.25F}));
        QVERIFY(close(one({3}, positive, [](DagBuilder& b, Tensor t) { return unary(b, Unary::Log, t); }),
                      {std::log(0.25F), 0, std::log(4.0F)}));
    }

    void softplusDoesNotOverflow()
    {
        QVERIFY(close(one({2}, {1000, -1000}, [](DagBuilder& b, Tensor t) { return unary(b, Unary::Softplus, t); }),
                      {1000, 0}));
    }

    void parametricActivations()
    {
        const Floats x{-4, -1, 0.5F, 8};
        QCOMPARE(one({4}, x, [](DagBuilder& b, Tensor t) { return clip(b, t, 0, 6); }), (Floats{0, 0, 0.5F, 6}));
        QCOMPARE(one({4}, x, [](DagBuilder& b, Tensor t) { return clip(b, t, std::nullopt, 6); }),
                 (Floats{-4, -1, 0.5F, 6}));
        QVERIFY(
            close(one({4}, x, [](DagBuilder& b, Tensor t) { return leakyRelu(b, t, 0.1); }), {-0.4F, -0.1F, 0.5F, 8}));
        QVERIFY(close(one({4}, x, [](DagBuilder& b, Tensor t) { return hardSigmoid(b, t, 0.2, 0.5); }),
                      {0, 0.3F, 0.6F, 1}));
        QVERIFY(close(one({4}, x, [](DagBuilder& b, Tensor t) { return elu(b, t, 2); }),
                      {2 * std::expm1(-4.0F), 2 * std::expm1(-1.0F), 0.5F, 8}));
        QVERIFY(close(one({4}, x, [](DagBuilder& b, Tensor t) { return celu(b, t, 2); }),
                      {2 * std::expm1(-2.0F), 2 * std::expm1(-0.5F), 0.5F, 8}));
        QCOMPARE(one({4}, x, [](DagBuilder& b, Tensor t) { return thresholdedRelu(b, t, 1); }), (Floats{0, 0, 0, 8}));
        QCOMPARE(
            evaluate({{2, 2}, {2}}, {x, {2, 10}}, [](DagBuilder& b, const auto& t) { return prelu(b, t[0], t[1]); }),
            (Floats{-8, -10, 0.5F, 8}));
        const float infinity = std::numeric_limits<float>::infinity();
        QCOMPARE(evaluate({{3}, {1}}, {{0, 8, -2}, {-infinity}},
                          [](DagBuilder& b, const auto& t) { return prelu(b, t[0], t[1]); }),
                 (Floats{0, 8, infinity}));
    }

    void binaryFunctionsBroadcastAsNumpy()
    {
        const auto add = [](DagBuilder& b, const auto& t) { return binary(b, Binary::Add, t[0], t[1]); };
        QCOMPARE(evaluate({{2, 2}, {2}}, {{1, 2, 3, 4}, {10, 20}}, add), (Floats{11, 22, 13, 24}));
        QCOMPARE(evaluate({{2, 1}, {1, 2}}, {{1, 2}, {10, 20}}, add), (Floats{11, 21, 12, 22}));
        QCOMPARE(evaluate({{}, {3}}, {{1}, {1, 2, 3}}, add), (Floats{2, 3, 4}));
        const auto with = [](Binary op) {
            return evaluate({{3}, {3}}, {{-7, 2, 9}, {2, 2, 4}},
                            [op](DagBuilder& b, const auto& t) { return binary(b, op, t[0], t[1]); });
        };
        QCOMPARE(with(Binary::Subtract), (Floats{-9, 0, 5}));
        QCOMPARE(with(Binary::Multiply), (Floats{-14, 4, 36}));
        QCOMPARE(with(Binary::Divide), (Floats{-3.5F, 1, 2.25F}));
        QCOMPARE(with(Binary::Maximum), (Floats{2, 2, 9}));
        QCOMPARE(with(Binary::Minimum), (Floats{-7, 2, 4}));
        QCOMPARE(with(Binary::Power), (Floats{49, 4, 6561}));
        QCOMPARE(with(Binary::Mod), (Floats{-1, 0, 1}));
        QCOMPARE(one({2}, {1, 4}, [](DagBuilder& b, Tensor t) { return binaryScalar(b, Binary::Divide, t, 8, true); }),
                 (Floats{8, 2}));
    }

    void integersDivideTowardsZero()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {4}, DType::I32), y = b.placeholder("y", {4}, DType::I32);
        const std::vector<std::int32_t> xs{-7, 7, -7, 6}, ys{2, -2, -2, -3};
        QCOMPARE(runAs<std::int32_t>(finish(std::move(b), binary(b, Binary::Divide, x, y)),
                                     {std::as_bytes(std::span(xs)), std::as_bytes(std::span(ys))}),
                 (std::vector<std::int32_t>{-3, -3, 3, -2}));
    }

    void comparisonsGiveBoolsThatSelect()
    {
        QCOMPARE(evaluate({{4}, {}}, {{1, 5, 3, 7}, {4}},
                          [](DagBuilder& b, const auto& t) {
                              return where(b, binary(b, Binary::Less, t[0], t[1]), t[0], t[1]);
                          }),
                 (Floats{1, 4, 3, 4}));
        DagBuilder b;
        const Tensor x = b.placeholder("x", {3}, DType::F32);
        const Tensor isSmall = binaryScalar(b, Binary::LessEqual, x, 2);
        const Tensor both = binary(b, Binary::LogicalXor, isSmall,
                                   unary(b, Unary::LogicalNot, cast(b, x, DType::Bool)));
        const Floats in{0, 2, 3};
        QCOMPARE(runAs<std::uint8_t>(finish(std::move(b), both), {bytesOf(in)}), (std::vector<std::uint8_t>{0, 1, 0}));
    }

    void poolsByHand()
    {
        Pool2dParams p;
        p.kernel = {2, 2};
        p.strides = {2, 2};
        const Floats x = iota(9);
        const auto max = [&](DagBuilder& b, Tensor t) { return pool2d(b, t, PoolKind::Max, p); };
        const auto average = [&](DagBuilder& b, Tensor t) { return pool2d(b, t, PoolKind::Average, p); };
        QCOMPARE(one({1, 1, 3, 3}, x, max), (Floats{4}));
        QCOMPARE(one({1, 1, 3, 3}, x, average), (Floats{2}));
        p.ceilMode = true;
        QCOMPARE(one({1, 1, 3, 3}, x, max), (Floats{4, 5, 7, 8}));
        QCOMPARE(one({1, 1, 3, 3}, x, average), (Floats{2, 3.5F, 6.5F, 8}));
        p.ceilMode = false;
        p.padding = {1, 1, 1, 1};
        QCOMPARE(one({1, 1, 3, 3}, x, max), (Floats{0, 2, 6, 8}));
        QCOMPARE(one({1, 1, 3, 3}, x, average), (Floats{0, 1.5F, 4.5F, 6}));
        p.countIncludePad = true;
        QCOMPARE(one({1, 1, 3, 3}, x, average), (Floats{0, 0.75F, 2.25F, 6}));
        p.layout = ImageLayout::Nhwc;
        QCOMPARE(one({1, 3, 3, 1}, x, average), (Floats{0, 0.75F, 2.25F, 6}));
        QCOMPARE(one({1, 1, 1, 2}, {-5, -6},
                     [](DagBuilder& b, Tensor t) {
                         Pool2dParams q;
                         q.kernel = {3, 3};
                         q.padding = {1, 1, 1, 1};
                         return pool2d(b, t, PoolKind::Max, q);
                     }),
                 (Floats{-5, -5})); // padding never wins
    }

    void pooledExtentsFloorAndCeil()
    {
        QCOMPARE(pooledExtent(112, 3, 2, 1, 1, 1, false), 56);
        QCOMPARE(pooledExtent(112, 3, 2, 0, 0, 1, true), 56);
        QCOMPARE(pooledExtent(4, 2, 3, 1, 1, 1, true), 2); // a third window would start in the padding
        QCOMPARE(pooledExtent(2, 3, 1, 0, 0, 1, false), 0);
    }

    void globalAndAdaptivePools()
    {
        const Floats x = iota(2 * 6);
        const auto pool = [&](PoolKind kind, std::array<std::int64_t, 2> size) {
            return one({1, 2, 2, 3}, x,
                       [&](DagBuilder& b, Tensor t) { return adaptivePool<2>(b, t, kind, ImageLayout::Nchw, size); });
        };
        QCOMPARE(pool(PoolKind::Average, {1, 1}), (Floats{2.5F, 8.5F}));
        QCOMPARE(pool(PoolKind::Max, {1, 1}), (Floats{5, 11}));
        QCOMPARE(pool(PoolKind::Average, {1, 2}), (Floats{2, 3, 8, 9}));
        QCOMPARE(pool(PoolKind::Max, {2, 2}), (Floats{1, 2, 4, 5, 7, 8, 10, 11}));
    }

    void softmaxAlongAnyAxis()
    {
        const Floats x{1, 2, 3, 100, 102, 101};
        for (const std::int64_t axis : {0, 1, -1}) {
            const std::size_t step = axis == 0 ? 3 : 1;
            Floats expected(6), logs(6);
            for (std::size_t i = 0; i < 6; ++i) {
                double sum = 0;
                for (std::size_t k = 0; k < (axis == 0 ? 2U : 3U); ++k) {
                    const std::size_t other = axis == 0 ? i % 3 + k * step : i / 3 * 3 + k;
                    sum += std::exp(static_cast<double>(x[other]) - static_cast<double>(x[i]));
                }
                expected[i] = static_cast<float>(1 / sum);
                logs[i] = static_cast<float>(-std::log(sum));
            }
            QVERIFY(close(one({2, 3}, x, [&](DagBuilder& b, Tensor t) { return softmax(b, t, axis); }), expected));
            QVERIFY(close(one({2, 3}, x, [&](DagBuilder& b, Tensor t) { return logSoftmax(b, t, axis); }), logs));
        }
    }

    void matrixProducts()
    {
        const Floats a{1, 2, 3, 4, 5, 6}, c{1, 0, 2, 1, 0, 3};
        QCOMPARE(evaluate({{2, 3}, {2, 3}}, {a, c},
                          [](DagBuilder& b, const auto& t) { return dense(b, t[0], t[1], NameEra::Nested); }),
                 (Floats{7, 10, 16, 22}));
        const auto product = [&](const Shape& l, const Shape& r, bool ta, bool tb) {
            return evaluate({l, r}, {a, c}, [&](DagBuilder& b, const auto& t) {
                MatmulParams p;
                p.transposeA = ta;
                p.transposeB = tb;
                return matmul(b, t[0], t[1], p, NameEra::Nested);
            });
        };
        QCOMPARE(product({2, 3}, {3, 2}, false, false), (Floats{5, 11, 14, 23}));
        QCOMPARE(product({3, 2}, {3, 2}, true, false), (Floats{7, 18, 10, 22}));
        QCOMPARE(product({2, 3}, {2, 3}, false, true), (Floats{7, 10, 16, 22}));
        QCOMPARE(product({3, 1, 2}, {1, 2, 3}, false, false), (Floats{3, 0, 8, 7, 0, 18, 11, 0, 28}));
        QCOMPARE(product({3, 1, 2}, {3, 2, 1}, false, false), (Floats{1, 10, 18}));
        QCOMPARE(evaluate({{2, 3}, {3}}, {a, {1, 2, 3}},
                          [](DagBuilder& b, const auto& t) { return biasAdd(b, t[0], t[1], -1); }),
                 (Floats{2, 4, 6, 5, 7, 9}));
    }

    void reductionsOverAxes()
    {
        const Floats x{1, -2, 3, 4, 5, -6};
        const auto over = [&](Reduction op, std::vector<std::int64_t> axes, bool keep) {
            return one({2, 3}, x, [&](DagBuilder& b, Tensor t) { return reduction(b, op, t, axes, keep); });
        };
        QCOMPARE(over(Reduction::Sum, {1}, false), (Floats{2, 3}));
        QCOMPARE(over(Reduction::Sum, {-2}, true), (Floats{5, 3, -3}));
        QCOMPARE(over(Reduction::Sum, {}, false), (Floats{5}));
        QCOMPARE(over(Reduction::Mean, {0, 1}, true), (Floats{5.0F / 6}));
        QCOMPARE(over(Reduction::Max, {1}, false), (Floats{3, 5}));
        QCOMPARE(over(Reduction::Min, {1}, false), (Floats{-2, -6}));
        QCOMPARE(over(Reduction::Prod, {1}, false), (Floats{-6, -120}));
        QCOMPARE(over(Reduction::L1, {1}, false), (Floats{6, 15}));
        QCOMPARE(over(Reduction::SumSquare, {1}, false), (Floats{14, 77}));
        QVERIFY(close(over(Reduction::L2, {1}, false), {std::sqrt(14.0F), std::sqrt(77.0F)}));
        QVERIFY(close(over(Reduction::LogSumExp, {1}, false),
                      {std::log(std::exp(1.0F) + std::exp(-2.0F) + std::exp(3.0F)),
                       std::log(std::exp(4.0F) + std::exp(5.0F) + std::exp(-6.0F))}));
        DagBuilder b;
        const Tensor t = b.placeholder("x", {2, 3}, DType::F32);
        QCOMPARE(runAs<std::int64_t>(finish(std::move(b), argReduction(b, false, t, 1, false)), {bytesOf(x)}),
                 (std::vector<std::int64_t>{1, 2}));
    }

    void normalizations()
    {
        const Floats x{1, 3, 2, 6};
        const Floats out = evaluate({{2, 2}, {2}, {2}}, {x, {2, 10}, {0, 1}},
                                    [](DagBuilder& b, const auto& t) { return layerNorm(b, t[0], t[1], t[2], -1, 0); });
        QVERIFY(close(out, {-2, 11, -2, 11}));
        const Floats instance = evaluate(
            {{1, 2, 1, 2}, {2}, {2}}, {x, {2, 10}, {0, 1}},
            [](DagBuilder& b, const auto& t) { return instanceNorm(b, t[0], t[1], t[2], 0); });
        QVERIFY(close(instance, {-2, 2, -9, 11}));
    }

    void shapesChange()
    {
        const Floats x = iota(12);
        QCOMPARE(one({2, 3}, iota(6),
                     [](DagBuilder& b, Tensor t) {
                         return transpose(b, t, {1, 0});
                     }),
                 (Floats{0, 3, 1, 4, 2, 5}));
        for (const Shape& shape :
             {Shape{12}, Shape{3, 4}, Shape{1, 2, 6, 1}, Shape{4, 3}, Shape{2, 3, 2}, Shape{6, 1, 2}})
            QCOMPARE(one({2, 1, 6}, x, [&](DagBuilder& b, Tensor t) { return reshape(b, t, shape); }), x);
        QCOMPARE(one({3, 2, 2}, x, [](DagBuilder& b, Tensor t) { return batchFlatten(b, t); }), x);
        QCOMPARE(one({1}, {7}, [](DagBuilder& b, Tensor t) { return reshape(b, t, {}); }), (Floats{7}));
        QCOMPARE(one({3, 1}, iota(3),
                     [](DagBuilder& b, Tensor t) {
                         return broadcastTo(b, t, {2, 3, 2});
                     }),
                 (Floats{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
        QCOMPARE(one({2}, iota(2), [](DagBuilder& b, Tensor t) { return tile(b, t, {3}); }),
                 (Floats{0, 1, 0, 1, 0, 1}));
        QCOMPARE(one({1, 4, 1, 2}, iota(8), [](DagBuilder& b, Tensor t) { return depthToSpace(b, t, 2, false); }),
                 (Floats{0, 2, 1, 3, 4, 6, 5, 7}));
    }

    void slicesJoinsAndPads()
    {
        const Floats x = iota(6);
        QCOMPARE(one({2, 3}, x, [](DagBuilder& b, Tensor t) { return slice(b, t, -1, 1, 2); }), (Floats{1, 2, 4, 5}));
        QCOMPARE(one({6}, x, [](DagBuilder& b, Tensor t) { return stridedSlice(b, t, {5}, {-2}, {3}); }),
                 (Floats{5, 3, 1}));
        QCOMPARE(evaluate({{2, 1}, {2, 2}, {2, 1}}, {{1, 2}, {3, 4, 5, 6}, {7, 8}},
                          [](DagBuilder& b, const auto& t) { return concatenate(b, t, 1); }),
                 (Floats{1, 3, 4, 7, 2, 5, 6, 8}));
        const auto padded = [&](PadMode mode) {
            return one({3}, iota(3), [&](DagBuilder& b, Tensor t) { return pad(b, t, {2}, {1}, mode, 9); });
        };
        QCOMPARE(padded(PadMode::Constant), (Floats{9, 9, 0, 1, 2, 9}));
        QCOMPARE(padded(PadMode::Edge), (Floats{0, 0, 0, 1, 2, 2}));
        QCOMPARE(padded(PadMode::Reflect), (Floats{2, 1, 0, 1, 2, 1}));
        QCOMPARE(one({4}, iota(4), [](DagBuilder& b, Tensor t) { return pad(b, t, {-1}, {2}, PadMode::Constant, 9); }),
                 (Floats{1, 2, 3, 9, 9}));
    }

    void gathersCountNegativeIndicesFromTheEnd()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {3, 2}, DType::F32), i = b.placeholder("i", {2}, DType::I64);
        const Floats values = iota(6);
        const std::vector<std::int64_t> picks{2, -3};
        QCOMPARE(
            runAs<float>(finish(std::move(b), take(b, x, i, 0)), {std::as_bytes(std::span(picks)), bytesOf(values)}),
            (Floats{4, 5, 0, 1}));
        DagBuilder c;
        const Tensor y = c.placeholder("x", {3, 2}, DType::F32), j = c.placeholder("i", {1, 2}, DType::I64);
        QCOMPARE(runAs<float>(finish(std::move(c), gatherElements(c, y, j, 0)),
                              {std::as_bytes(std::span(picks)), bytesOf(values)}),
                 (Floats{4, 1}));
    }

    void imagesResize()
    {
        const auto resized = [](std::array<std::int64_t, 2> size, ResizeMode mode, CoordinateMode coordinates,
                                NearestRounding rounding = NearestRounding::RoundPreferFloor) {
            return one({1, 1, 2, 2}, {1, 2, 3, 4}, [&](DagBuilder& b, Tensor t) {
                Resize2dParams p;
                p.size = size;
                p.mode = mode;
                p.coordinates = coordinates;
                p.rounding = rounding;
                return resize2d(b, t, p);
            });
        };
        const Floats doubled{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4};
        QCOMPARE(resized({4, 4}, ResizeMode::Nearest, CoordinateMode::Asymmetric, NearestRounding::Floor), doubled);
        QCOMPARE(resized({4, 4}, ResizeMode::Nearest, CoordinateMode::HalfPixel), doubled);
        QCOMPARE(resized({2, 3}, ResizeMode::Nearest, CoordinateMode::Asymmetric, NearestRounding::Ceil),
                 (Floats{1, 2, 2, 3, 4, 4}));
        QVERIFY(close(resized({3, 3}, ResizeMode::Linear, CoordinateMode::AlignCorners),
                      {1, 1.5F, 2, 2, 2.5F, 3, 3, 3.5F, 4}));
        QVERIFY(close(resized({2, 4}, ResizeMode::Linear, CoordinateMode::HalfPixel),
                      {1, 1.25F, 1.75F, 2, 3, 3.25F, 3.75F, 4}));
    }
};

LATHE_TEST(TestDefinitions)

} // namespace tst_definitions

#include "tst_definitions.moc"
