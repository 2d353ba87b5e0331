#include "core/compute/definitions/conv2d.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_register_model {

using namespace lathe;
using compute::DagBuilder;
using compute::Tensor;
using lathe::test::must;

namespace {

compute::DagPtr dense(std::int64_t rows, std::int64_t depth, std::int64_t columns)
{
    DagBuilder b;
    const Tensor a = b.placeholder("A", {rows, depth}, DType::F32),
                 w = b.placeholder("B", {depth, columns}, DType::F32);
    const Tensor y = b.reduce("C", {rows, columns}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", depth}},
                              [&](const std::vector<ir::Expr>& i, const std::vector<ir::Expr>& r) {
                                  return b.at(a, {i[0], r[0]}) * b.at(w, {r[0], i[1]});
                              });
    return must(std::move(b).finish({y}));
}

compute::DagPtr depthwise()
{
    DagBuilder b;
    compute::Conv2dParams conv;
    conv.padding = {1, 1, 1, 1};
    const Tensor y = depthwiseConv2d(b, b.placeholder("data", {1, 128, 7, 7}, DType::F32),
                                     b.placeholder("kernel", {128, 1, 3, 3}, DType::F32), conv, compute::NameEra::Flat);
    return must(std::move(b).finish({y}));
}

} // namespace

/// What clang-19 takes for gfx1030 of default schedules (tests/bench/launches compiles them again): one row for each
/// of four rules that the estimate follows.
class TestRegisterModel : public QObject
{
    Q_OBJECT

private slots:
    void isNearTheCompilers_data()
    {
        QTest::addColumn<compute::DagPtr>("dag");
        QTest::addColumn<QList<int>>("registers"); // of each launch
        // Eight copies of the loop; each other place is the first and a constant.
        QTest::newRow("dense, 32 columns") << dense(56, 256, 32) << QList<int>{23};
        // What all threads of a wave share is in scalar registers.
        QTest::newRow("dense, one row a block") << dense(56, 128, 64) << QList<int>{13};
        // Columns that are no power of two: each copy has an address of its own.
        QTest::newRow("dense, 96 columns") << dense(112, 256, 96) << QList<int>{30};
        // Copies of a branch are pieces of their own.
        QTest::newRow("depthwise") << depthwise() << QList<int>{12};
    }
    void isNearTheCompilers()
    {
        QFETCH(compute::DagPtr, dag);
        QFETCH(QList<int>, registers);
        const auto state = must(schedule::planDefaultLaunches(dag, {}));
        schedule::LowerOptions options;
        options.form = KernelForm::Launches;
        const auto resources = schedule::resourcesOf(must(schedule::lower(state, options)).nest);
        QCOMPARE(static_cast<qsizetype>(resources.size()), registers.size());
        for (qsizetype i = 0; i < registers.size(); ++i) {
            const auto estimate = static_cast<double>(resources[static_cast<std::size_t>(i)].registers);
            QVERIFY2(std::abs(estimate / registers[i] - 1) <= 0.25,
                     qPrintable(QString("launch %1: %2, not %3").arg(i).arg(estimate).arg(registers[i])));
        }
    }
};

LATHE_TEST(TestRegisterModel)

} // namespace tst_register_model

#include "tst_register_model.moc"
