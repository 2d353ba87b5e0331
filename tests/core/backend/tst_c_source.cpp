#include "core/backend/c_source.h"
#include "core/compute/dag.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/lower.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_c_source {

using namespace lathe;

/// What people read in printed kernels, beside the code.
class TestCSource : public QObject
{
    Q_OBJECT
private slots:
    void headingsCountBlocksAndThreads_data()
    {
        QTest::addColumn<int>("elements");
        QTest::addColumn<QString>("heading");
        QTest::addRow("one of each") << 1 << "1 block of 1 thread";
        QTest::addRow("one block") << 64 << "1 block of 64 threads";
        QTest::addRow("several") << 4096 << "blocks of 64 threads";
    }
    void headingsCountBlocksAndThreads()
    {
        QFETCH(int, elements);
        QFETCH(QString, heading);
        compute::DagBuilder b;
        const compute::Tensor x = b.placeholder("x", {elements}, DType::F32);
        const compute::Tensor y = b.compute(
            "y", {elements}, {}, "", [&](const std::vector<ir::Expr>& i) { return b.at(x, i) + ir::floatImm(1); });
        schedule::LaunchScheduleOptions options;
        options.mostThreads = 64;
        const auto state = test::must(schedule::planDefaultLaunches(test::must(std::move(b).finish({y})), options));
        schedule::LowerOptions lowering;
        lowering.form = KernelForm::Launches;
        const auto kernel = test::must(schedule::lower(state, lowering));
        const QString text = QString::fromStdString(test::must(backend::printOpenCl(kernel.nest, "kernel")).text);
        QVERIFY2(text.contains(heading + QLatin1Char('\n')), qPrintable(text));
    }
};

LATHE_TEST(TestCSource)

} // namespace tst_c_source

#include "tst_c_source.moc"
