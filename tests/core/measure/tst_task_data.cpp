#include "core/compute/dag.h"
#include "core/compute/definitions/winograd.h"
#include "core/compute/interpret.h"
#include "core/measure/task_data.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace lathe;
using lathe::test::must;

/// What candidates of a task are checked with.
class TestTaskData : public QObject
{
    Q_OBJECT

    static compute::DagPtr doubled(DType dtype)
    {
        compute::DagBuilder b;
        const compute::Tensor x = b.placeholder("x", {64}, dtype);
        const compute::Tensor y = b.compute("y", {64}, {}, "elemwise",
                                            [&](const std::vector<ir::Expr>& i) { return b.at(x, i) + b.at(x, i); });
        return must(std::move(b).finish({y}));
    }

    /// Of a convolution by winograd: 3x3, 28 x 28, 16 channels, in NHWC.
    static compute::DagPtr winograd(std::int64_t channels)
    {
        compute::DagBuilder b;
        compute::Conv2dParams p;
        p.padding = {1, 1, 1, 1};
        p.layout = compute::ImageLayout::Nhwc;
        const compute::Tensor x = b.placeholder("x", {1, 28, 28, channels}, DType::F32);
        const compute::Tensor w = b.placeholder("w", {6, 6, 32, channels}, DType::F32);
        return must(std::move(b).finish({compute::conv2dWinograd(b, x, w, 4, p, compute::NameEra::Nested, true)}));
    }

private slots:
    void pointsAreBordersTheLastVectorAndOthers()
    {
        const std::vector<std::int64_t> shape = {1, 28, 28, 32};
        const auto data = must(measure::makeTaskData(winograd(4), {false, true}, 1, {}));
        const measure::ExpectedOutput& expected = data->expected.front();
        QCOMPARE(expected.points.size(), std::size_t{64});
        QVERIFY(std::ranges::adjacent_find(expected.points) == expected.points.end());
        const auto has = [&](std::int64_t h, std::int64_t w, std::int64_t c) {
            return std::ranges::binary_search(expected.points, (h * 28 + w) * 32 + c);
        };
        for (const std::int64_t h : {0, 27})
            for (const std::int64_t w : {0, 27})
                QVERIFY(has(h, w, 0) && has(h, w, 31));
        for (std::int64_t c = 16; c < 32; ++c)
            QVERIFY(has(27, 27, c)); // what the last vector of a kernel writes
        const auto inside = std::ranges::count_if(expected.points, [](std::int64_t at) {
            const std::int64_t h = at / 32 / 28, w = at / 32 % 28;
            return h > 0 && h < 27 && w > 0 && w < 27;
        });
        QVERIFY2(inside >= 8, qPrintable(QString::number(inside)));
        // Inputs have both signs, and so has what comes out.
        QVERIFY(std::ranges::any_of(expected.values, [](double v) { return v > 0.01; }));
        QVERIFY(std::ranges::any_of(expected.values, [](double v) { return v < -0.01; }));
    }

    void smallOutputsAreCheckedWhole()
    {
        const auto data = must(measure::makeTaskData(doubled(DType::F32), {false}, 1, {}));
        QCOMPARE(data->expected.front().points.size(), std::size_t{64});
        QCOMPARE(data->expected.front().points.back(), std::int64_t{63});
    }

    void pointsAreWhatTheWholeTensorHasThere()
    {
        const compute::DagPtr dag = winograd(4);
        const auto data = must(measure::makeTaskData(dag, {false, true}, 1, {}));
        std::vector<std::vector<std::byte>> inputs;
        for (std::size_t i = 0; i < 2; ++i) {
            inputs.emplace_back(static_cast<std::size_t>(i == 0 ? 28 * 28 * 4 : 36 * 32 * 4) * 4);
            wire::fillSeeded(wire::inputSeed(1, i), DType::F32, {}, inputs.back());
        }
        const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
        const auto whole = must(must(compute::Interpreter::compile(dag)).run(views));
        const measure::ExpectedOutput& expected = data->expected.front();
        for (std::size_t i = 0; i < expected.points.size(); ++i)
            QVERIFY(std::abs(wire::readElement(whole[0].data(), expected.points[i], DType::F32) - expected.values[i])
                    < 1e-5);
    }

    void outputsAreCheckedAsCloselyAsTheirTypeAllows_data()
    {
        QTest::addColumn<DType>("dtype");
        QTest::addColumn<double>("tolerance");
        QTest::newRow("float32") << DType::F32 << 1e-4;
        QTest::newRow("float16") << DType::F16 << 2e-3;
        QTest::newRow("int32") << DType::I32 << 0.0;
    }
    void outputsAreCheckedAsCloselyAsTheirTypeAllows()
    {
        QFETCH(DType, dtype);
        QFETCH(double, tolerance);
        const auto data = must(measure::makeTaskData(doubled(dtype), {false}, 1, {}));
        QCOMPARE(data->expected.size(), std::size_t{1});
        QCOMPARE(data->expected.front().tolerance, tolerance);
        measure::CheckOptions loose;
        loose.tolerance = {.float16 = 0.5, .float32 = 0.5, .integer = 0.5};
        QCOMPARE(must(measure::makeTaskData(doubled(dtype), {false}, 1, loose))->expected.front().tolerance, 0.5);
    }
};

LATHE_TEST(TestTaskData)
#include "tst_task_data.moc"
