#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/float_bits.h"
#include "tests/core/compute/dag_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_interpret {

using namespace lathe;
using namespace lathe::compute;
using namespace lathe::test;

namespace {

using Exprs = std::vector<ir::Expr>;

DagPtr convRelu()
{
    DagBuilder b;
    Conv2dParams p;
    p.layout = ImageLayout::Nhwc;
    p.padding = {1, 1, 1, 1};
    p.strides = {2, 2};
    const Tensor x = b.placeholder("x", {1, 9, 9, 5}, DType::F32);
    const Tensor w = b.placeholder("w", {3, 3, 5, 7}, DType::F32);
    return finish(std::move(b), unary(b, Unary::Relu, conv2d(b, x, w, p, NameEra::Nested)));
}

} // namespace

class TestInterpret : public QObject
{
    Q_OBJECT

private slots:
    void sumsAndProductsByHand()
    {
        const Floats out = evaluate({{2, 3}, {3}}, {{1, 2, 3, 4, 5, 6}, {1, 10, 100}},
                                    [](DagBuilder& b, const auto& t) {
                                        return b.reduce("dot", {2}, {"i"}, "", ir::Combiner::Sum, {{"k", 3}},
                                                        [&](const Exprs& a, const Exprs& r) {
                                                            return b.at(t[0], {a[0], r[0]}) * b.at(t[1], {r[0]});
                                                        });
                                    });
        QCOMPARE(out, (Floats{321, 654}));
    }

    void largeOperationsAreSharedAmongThreads()
    {
        // Prime extents, so that no share begins at the start of a row; the second operation reads all of the first.
        constexpr std::int64_t kRows = 331, kColumns = 401;
        Floats in(static_cast<std::size_t>(kRows * kColumns));
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = static_cast<float>(i % 8191);
        const Floats out = evaluate({{kRows, kColumns}}, {in}, [](DagBuilder& b, const auto& t) {
            const Tensor doubled = b.compute("doubled", {kColumns, kRows}, {"i", "j"}, "", [&](const Exprs& a) {
                return b.at(t[0], {a[1], a[0]}) + b.at(t[0], {a[1], a[0]});
            });
            return b.reduce("pair", {kColumns, kRows}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 2}},
                            [&](const Exprs& a, const Exprs&) {
                                return b.at(doubled, {a[0], a[1]});
                            });
        });
        QCOMPARE(out.size(), in.size());
        for (std::int64_t c = 0; c < kColumns; ++c)
            for (std::int64_t r = 0; r < kRows; ++r)
                QCOMPARE(out[static_cast<std::size_t>(c * kRows + r)],
                         4 * in[static_cast<std::size_t>(r * kColumns + c)]);
    }

    void everyCombinerReduces()
    {
        const std::vector<std::pair<ir::Combiner, float>> cases{
            {ir::Combiner::Sum, 4}, {ir::Combiner::Prod, -24}, {ir::Combiner::Max, 4}, {ir::Combiner::Min, -3}};
        for (const auto& [combiner, expected] : cases) {
            const Floats out = evaluate({{2, 2}}, {{2, -3, 4, 1}}, [c = combiner](DagBuilder& b, const auto& t) {
                return b.reduce("r", {}, {}, "", c, {{"i", 2}, {"j", 2}}, [&](const Exprs&, const Exprs& r) {
                    return b.at(t[0], {r[0], r[1]});
                });
            });
            QCOMPARE(out, (Floats{expected}));
        }
    }

    void argMaxGivesTheFirstOfEquals()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {2, 4}, DType::F32);
        const Tensor y = b.reduce("y", {2}, {}, "", ir::Combiner::ArgMax, {{"k", 4}},
                                  [&](const Exprs& a, const Exprs& r) {
                                      return b.at(x, {a[0], r[0]});
                                  });
        QVERIFY(b.dtype(y) == DType::I32);
        const Floats in{1, 5, 5, 2, -4, -9, -3, -3};
        QCOMPARE(runAs<std::int32_t>(finish(std::move(b), y), {bytesOf(in)}), (std::vector<std::int32_t>{1, 2}));
    }

    void theGuardedSideOfABranchIsNotRead()
    {
        const Floats out = evaluate({{3}}, {{1, 2, 3}}, [](DagBuilder& b, const auto& t) {
            return b.compute("shifted", {5}, {}, "", [&](const Exprs& a) {
                return ir::ifThenElse(a[0] >= 1 && a[0] < 4, b.at(t[0], {a[0] - 1}), ir::floatImm(-7));
            });
        });
        QCOMPARE(out, (Floats{-7, 1, 2, 3, -7}));
    }

    void aLoadOutOfBoundsIsAnError()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {3}, DType::F32);
        const Tensor y = b.compute("y", {3}, {}, "", [&](const Exprs& a) {
            return ir::select(a[0] < 2, b.at(x, {a[0] + 1}), b.at(x, {a[0] + 1}));
        });
        const auto interpreter = Interpreter::compile(finish(std::move(b), y));
        const Floats in{1, 2, 3};
        const std::vector<std::span<const std::byte>> inputs{bytesOf(in)};
        const auto result = interpreter->run(inputs);
        QVERIFY(!result);
        QVERIFY(result.error().code == Errc::Internal);
        QVERIFY(result.error().message.find("x at 3") != std::string::npos);
    }

    void unknownIntrinsicsAreRefused()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {3}, DType::F32);
        const Tensor y = b.compute("y", {3}, {}, "",
                                   [&](const Exprs& a) { return ir::call("bessel", DType::F32, {b.at(x, a)}); });
        const auto interpreter = Interpreter::compile(finish(std::move(b), y));
        QVERIFY(!interpreter && interpreter.error().code == Errc::Unsupported);
        QVERIFY(interpreter.error().message.find("bessel") != std::string::npos);
    }

    void wrongInputsAreRefused()
    {
        const auto interpreter = Interpreter::compile(convRelu());
        const Floats x(9 * 9 * 5), w(3 * 3 * 5 * 7 - 1);
        const std::vector<std::span<const std::byte>> shortOne{bytesOf(x), bytesOf(w)}, tooFew{bytesOf(x)};
        QVERIFY(interpreter->run(shortOne).error().code == Errc::InvalidArgument);
        QVERIFY(interpreter->run(tooFew).error().code == Errc::InvalidArgument);
        const std::vector<std::vector<std::int64_t>> outside{{0, 5, 0, 0}}, flat{{0}};
        const Floats whole(3 * 3 * 5 * 7);
        const std::vector<std::span<const std::byte>> good{bytesOf(x), bytesOf(whole)};
        QVERIFY(interpreter->sample(good, 0, outside).error().code == Errc::InvalidArgument);
        QVERIFY(interpreter->sample(good, 0, flat).error().code == Errc::InvalidArgument);
        QVERIFY(interpreter->sample(good, 1, {}).error().code == Errc::InvalidArgument);
    }

    void sampledPointsEqualTheWholeTensor()
    {
        const DagPtr dag = convRelu();
        const Floats x = randomFloats(9 * 9 * 5, 1), w = randomFloats(3 * 3 * 5 * 7, 2);
        const Floats whole = runFloats(dag, {x, w});
        const std::vector<std::span<const std::byte>> inputs{bytesOf(x), bytesOf(w)};
        std::vector<std::vector<std::int64_t>> all;
        for (std::int64_t y = 0; y < 5; ++y)
            for (std::int64_t c = 0; c < 7; ++c)
                all.push_back({0, y, 4 - y, c});
        const auto interpreter = Interpreter::compile(dag);
        for (const std::size_t count : {std::size_t{1}, std::size_t{3}, all.size()}) {
            const std::vector<std::vector<std::int64_t>> points(all.begin(),
                                                                all.begin() + static_cast<std::ptrdiff_t>(count));
            const auto values = interpreter->sample(inputs, 0, points);
            QVERIFY(values.has_value());
            for (std::size_t i = 0; i < count; ++i)
                QCOMPARE(static_cast<float>((*values)[i]),
                         whole[static_cast<std::size_t>((points[i][1] * 5 + points[i][2]) * 7 + points[i][3])]);
        }
    }

    void sampledSoftmaxSeesItsWholeRow()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {3, 70}, DType::F32);
        const auto interpreter = Interpreter::compile(finish(std::move(b), softmax(b, x, 1)));
        const Floats in = randomFloats(3 * 70, 5);
        double sum = 0;
        for (std::size_t k = 0; k < 70; ++k)
            sum += std::exp(static_cast<double>(in[140 + k]));
        const std::vector<std::span<const std::byte>> inputs{bytesOf(in)};
        const std::vector<std::vector<std::int64_t>> points{{2, 69}};
        const auto values = interpreter->sample(inputs, 0, points);
        QVERIFY(std::fabs((*values)[0] - std::exp(static_cast<double>(in[209])) / sum) < 1e-12);
    }

    void integersWrapAtStoresAndFloatsSaturate()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {4}, DType::I8);
        const Tensor y = b.compute("y", {4}, {}, "",
                                   [&](const Exprs& a) { return b.at(x, a) + ir::intImm(100, DType::I8); });
        const std::vector<std::int8_t> in{1, 27, 28, -1};
        QCOMPARE(runAs<std::int8_t>(finish(std::move(b), y), {std::as_bytes(std::span(in))}),
                 (std::vector<std::int8_t>{101, 127, -128, 99}));

        DagBuilder c;
        const Tensor f = c.placeholder("f", {4}, DType::F32);
        const Tensor u = cast(c, f, DType::U8);
        const Floats values{-3.5F, 2.9F, 255.7F, 1e9F};
        QCOMPARE(runAs<std::uint8_t>(finish(std::move(c), u), {bytesOf(values)}),
                 (std::vector<std::uint8_t>{0, 2, 255, 255}));
    }

    void sumsAccumulateInDouble()
    {
        Floats in(10001, 1e-8F);
        in[0] = 1;
        const Floats out = evaluate({{10001}}, {in}, [](DagBuilder& b, const auto& t) {
            return b.reduce("s", {}, {}, "", ir::Combiner::Sum, {{"k", 10001}},
                            [&](const Exprs&, const Exprs& r) { return b.at(t[0], {r[0]}); });
        });
        QCOMPARE(out[0], 1.0001F);
    }

    void halvesRoundToNearestEven()
    {
        QCOMPARE(floatToHalf(1.0), std::uint16_t{0x3c00});
        QCOMPARE(floatToHalf(65504.0), std::uint16_t{0x7bff});
        QCOMPARE(floatToHalf(65520.0), std::uint16_t{0x7c00});
        QCOMPARE(floatToHalf(1.0 + 1.0 / 2048), std::uint16_t{0x3c00});
        QCOMPARE(floatToHalf(1.0 + 3.0 / 2048), std::uint16_t{0x3c02});
        QCOMPARE(floatToHalf(std::ldexp(1.0, -24)), std::uint16_t{1});
        QCOMPARE(floatToHalf(-0.0), std::uint16_t{0x8000});
        QCOMPARE(floatToBrain(1.0), std::uint16_t{0x3f80});
        for (unsigned bits = 0; bits < 0x7c00; ++bits) {
            QCOMPARE(floatToHalf(static_cast<double>(halfToFloat(static_cast<std::uint16_t>(bits)))),
                     static_cast<std::uint16_t>(bits));
            QCOMPARE(floatToHalf(static_cast<double>(halfToFloat(static_cast<std::uint16_t>(bits | 0x8000u)))),
                     static_cast<std::uint16_t>(bits | 0x8000u));
        }
    }
};

LATHE_TEST(TestInterpret)

} // namespace tst_interpret

#include "tst_interpret.moc"
