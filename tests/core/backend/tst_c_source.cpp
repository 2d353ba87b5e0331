#include "core/backend/c_source.h"
#include "core/compute/dag.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/lower.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>

namespace tst_c_source {

using namespace lathe;

namespace {

constexpr std::int32_t kX = 0, kW = 1, kY = 2;

/// One launch of a block of eight threads over x, w and y of 64 floats each; `body` is of a thread's number.
QString printed(const std::function<ir::Stmt(const ir::Expr& thread)>& body,
                const std::vector<std::string>& names = {"x", "w", "y"})
{
    ir::LoopNest nest;
    nest.name = "test";
    for (const std::string& name : names)
        nest.buffers.push_back({name, DType::F32, ir::Scope::Parameter, {64}, {1}, false, false});
    ir::Launch launch;
    launch.name = "launch";
    launch.block = {8, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
        launch.blockIndex[d] = ir::var("block");
        launch.threadIndex[d] = ir::var("thread");
    }
    launch.body = body(launch.threadIndex[0]);
    nest.launches.push_back(std::move(launch));
    return QString::fromStdString(test::must(backend::printOpenCl(nest)).text());
}

ir::Expr at(std::int32_t buffer, ir::Expr index)
{
    return ir::load(buffer, DType::F32, {std::move(index)});
}

/// Four statements, written out.
ir::Stmt unrolled(const std::function<ir::Stmt(const ir::Expr& step)>& body)
{
    const ir::Expr step = ir::var("step");
    return ir::makeFor(step, ir::intImm(0), ir::intImm(4), ir::LoopKind::Unrolled, body(step));
}

} // namespace

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
        const QString text = QString::fromStdString(test::must(backend::printOpenCl(kernel.nest)).text());
        QVERIFY2(text.contains(heading + QLatin1Char('\n')), qPrintable(text));
    }

    void whatIsLoadedTwiceHasAName()
    {
        const QString text = printed([](const ir::Expr& thread) {
            return unrolled([&](const ir::Expr& step) {
                return ir::makeStore(kY, {thread * ir::intImm(4) + step}, at(kX, thread) * at(kW, step));
            });
        });
        QCOMPARE(text.count("x[thread]"), 1);
        QCOMPARE(text.count("w["), 4);
    }

    void whatIsStoredToIsLoadedAnew()
    {
        const QString text = printed([](const ir::Expr& thread) {
            return unrolled(
                [&](const ir::Expr&) { return ir::makeStore(kX, {thread}, at(kX, thread) + at(kW, thread)); });
        });
        QCOMPARE(text.count("= x[thread];"), 4);
        QCOMPARE(text.count("= w[thread];"), 1);
    }

    void loadsBehindABarrierAreNew()
    {
        const QString text = printed([](const ir::Expr& thread) {
            return unrolled([&](const ir::Expr& step) {
                return ir::makeBlock({ir::makeBarrier(), ir::makeStore(kY, {step}, at(kX, thread))});
            });
        });
        QCOMPARE(text.count("= x[thread];"), 4);
    }

    void loadsStayUnderTheirCondition()
    {
        const QString text = printed([](const ir::Expr& thread) {
            return unrolled([&](const ir::Expr& step) {
                return ir::makeStore(
                    kY, {thread * ir::intImm(4) + step},
                    ir::ifThenElse(thread < ir::intImm(3), at(kX, thread + ir::intImm(8)), ir::floatImm(0)));
            });
        });
        QCOMPARE(text.count("x[thread + 8]"), 1);
        QVERIFY2(text.contains("(thread < 3) ? x[thread + 8] : "), qPrintable(text));
    }

    void neighbouringBranchesOfOneConditionAreOne()
    {
        const auto branches = [](const std::function<ir::Expr(const ir::Expr&)>& condition) {
            return printed([&](const ir::Expr& thread) {
                return unrolled([&](const ir::Expr& step) {
                    return ir::makeIf(condition(thread),
                                      ir::makeStore(kY, {thread * ir::intImm(4) + step}, at(kX, thread)));
                });
            });
        };
        const QString fixed = branches([](const ir::Expr& thread) { return thread < ir::intImm(5); });
        QCOMPARE(fixed.count("if ("), 1);
        QCOMPARE(fixed.count("x[thread]"), 1);
        // What is stored within may change a condition on data.
        const QString ofData = branches([](const ir::Expr& thread) { return at(kY, thread) < ir::floatImm(5); });
        QCOMPARE(ofData.count("if ("), 4);
    }

    void branchesWithAnElseStayApart()
    {
        const QString text = printed([](const ir::Expr& thread) {
            return unrolled([&](const ir::Expr& step) {
                const auto store = [&](int value) { return ir::makeStore(kY, {step}, ir::floatImm(value)); };
                return ir::makeIf(thread < ir::intImm(5), store(1), store(2));
            });
        });
        QCOMPARE(text.count("if ("), 4);
        QCOMPARE(text.count("} else {"), 4);
        QCOMPARE(text.count('{'), text.count('}'));
    }

    void placesHaveNamesThatNoTensorHas()
    {
        const QString text = printed(
            [](const ir::Expr& thread) {
                const ir::Expr step = ir::var("step");
                return ir::makeFor(step, ir::intImm(0), ir::intImm(4), ir::LoopKind::Serial,
                                   ir::makeStore(kY, {ir::floorDiv(thread, ir::intImm(2)) * ir::intImm(4) + step},
                                                 at(kX, thread) + at(kW, thread)));
            },
            {"at_0", "got_0", "y"});
        QVERIFY2(text.contains("const int at_0 = (thread / 2);"), qPrintable(text));
        QVERIFY2(text.contains("v_at_0[thread]"), qPrintable(text));
        QVERIFY2(text.contains("v_got_0[thread]"), qPrintable(text));
    }
};

LATHE_TEST(TestCSource)

} // namespace tst_c_source

#include "tst_c_source.moc"
