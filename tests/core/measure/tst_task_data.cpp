#include "core/compute/dag.h"
#include "core/measure/task_data.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

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

private slots:
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
