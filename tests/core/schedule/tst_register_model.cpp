#include "core/compute/definitions/conv2d.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/schedule/register_model.h"
#include "core/schedule/register_model_nvidia.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>

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

ir::LoopNest loweredOf(const compute::DagPtr& dag)
{
    const auto state = must(schedule::planDefaultLaunches(dag, {}));
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    return must(schedule::lower(state, options)).nest;
}

Hardware limits(const std::map<std::string, std::int64_t>& values)
{
    Hardware hardware;
    for (const auto& [name, value] : values)
        hardware.limits[name] = {value, "test"};
    return hardware;
}

using Steps = std::vector<std::int32_t>;

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
        const auto resources = schedule::resourcesOf(loweredOf(dag), Hardware());
        QCOMPARE(static_cast<qsizetype>(resources.size()), registers.size());
        for (qsizetype i = 0; i < registers.size(); ++i) {
            const auto estimate = static_cast<double>(resources[static_cast<std::size_t>(i)].registers);
            QVERIFY2(std::abs(estimate / registers[i] - 1) <= 0.25,
                     qPrintable(QString("launch %1: %2, not %3").arg(i).arg(estimate).arg(registers[i])));
        }
    }

    /// What NVRTC 13.5 takes of default schedules.
    void isNearNvidiasCompiler_data()
    {
        QTest::addColumn<compute::DagPtr>("dag");
        QTest::addColumn<int>("capability");
        QTest::addColumn<QList<int>>("registers"); // of each launch
        // All loads of eight copies of the loop come first: 32 cost nothing.
        QTest::newRow("dense, 32 columns, sm_80") << dense(56, 256, 32) << 80 << QList<int>{32};
        QTest::newRow("dense, one row a block, sm_75") << dense(56, 128, 64) << 75 << QList<int>{28};
        QTest::newRow("dense, 96 columns, sm_120") << dense(112, 256, 96) << 120 << QList<int>{30};
        // A tile of sums, whose rows are loaded as vectors of four steps: what is needed is more than leaves all
        // blocks.
        QTest::newRow("dense, large, sm_75") << dense(1024, 256, 512) << 75 << QList<int>{128};
        QTest::newRow("dense, large, sm_90") << dense(1024, 256, 512) << 90 << QList<int>{91};
        QTest::newRow("depthwise, sm_90") << depthwise() << 90 << QList<int>{26};
    }
    void isNearNvidiasCompiler()
    {
        QFETCH(compute::DagPtr, dag);
        QFETCH(int, capability);
        QFETCH(QList<int>, registers);
        const auto resources = schedule::resourcesOf(loweredOf(dag), limits({{"compute_capability", capability}}));
        QCOMPARE(static_cast<qsizetype>(resources.size()), registers.size());
        for (qsizetype i = 0; i < registers.size(); ++i) {
            const auto estimate = static_cast<double>(resources[static_cast<std::size_t>(i)].registers);
            QVERIFY2(std::abs(estimate / registers[i] - 1) <= 0.25,
                     qPrintable(QString("launch %1: %2, not %3").arg(i).arg(estimate).arg(registers[i])));
        }
    }

    void theLimitsTellWhoseCompilerItIs()
    {
        const ir::LoopNest nest = loweredOf(dense(56, 256, 32));
        const auto registersOn = [&nest](const std::map<std::string, std::int64_t>& values) {
            return schedule::resourcesOf(nest, limits(values))[0].registers;
        };
        const std::int32_t others = schedule::estimateRegisters(nest, nest.launches[0]);
        const std::int32_t nvidias = schedule::estimateNvidiaRegisters(nest, nest.launches[0], {}).taken;
        QVERIFY(others != nvidias); // else nothing below tells them apart
        QCOMPARE(registersOn({}), others);
        QCOMPARE(registersOn({{"warp_size", 32}, {"max_threads_per_block", 1024}}), others);
        QCOMPARE(registersOn({{"compute_capability", 80}}), nvidias);
        // OpenCL's driver tells no capability.
        QCOMPARE(registersOn({{"registers_per_thread", 255},
                              {"threads_per_core", 2048},
                              {"blocks_per_core", 32},
                              {"shared_memory_per_core", 164 << 10}}),
                 nvidias);
    }

    void roomIsThatOfTheDevice()
    {
        QVERIFY(!schedule::NvidiaRoom::of(limits({{"threads_per_core", 1024}})));
        const auto turing = schedule::NvidiaRoom::of(limits({{"compute_capability", 75}}));
        QVERIFY(turing && turing->threads == 1024 && turing->blocks == 16 && turing->sharedBytes == 64 << 10);
        QVERIFY(!turing->hasAsyncCopies);
        const auto blackwell = schedule::NvidiaRoom::of(limits({{"compute_capability", 120}}));
        QVERIFY(blackwell && blackwell->threads == 1536);
        const auto told = schedule::NvidiaRoom::of(
            limits({{"compute_capability", 90}, {"shared_memory_per_core", 200 << 10}, {"async_copies", 1}}));
        QVERIFY(told && told->threads == 2048 && told->sharedBytes == 200 << 10 && told->hasAsyncCopies);
    }

    /// CUDA's occupancy calculator has the same.
    void stepsAreThoseOfFewerBlocks()
    {
        const schedule::NvidiaRoom ampere;
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 512, 0), (Steps{32, 40, 64, 128}));
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 1024, 0), (Steps{32, 64}));
        // 50 warps of two blocks are 13 for some scheduler, and 39 registers are 32 and a rest that nobody gets; 25 of
        // one are 7. With other schedulers or units it is other steps.
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 784, 0), (Steps{32, 72}));
        // No more than 32 blocks, of one warp each: twice the registers cost nothing.
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 32, 0).front(), 64);
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 7, 0).front(), 64);
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 64, 0).front(), 32);
        // Shared memory for four blocks: all registers that a thread can have.
        QCOMPARE(schedule::nvidiaRegisterSteps(ampere, 64, 36 << 10), (Steps{255}));
        QCOMPARE(schedule::nvidiaRegisterSteps({1024, 16, 64 << 10, false}, 256, 0).front(), 64);
    }

    /// Of sums that no thread has registers for, some are spilled: a guess takes no such schedule.
    void whatIsNeededMayBeMoreThanThereIs()
    {
        ir::LoopNest nest = loweredOf(dense(56, 256, 32));
        const auto fits = schedule::resourcesOf(nest, limits({{"compute_capability", 80}}))[0];
        QVERIFY(fits.neededRegisters <= fits.registers);
        for (ir::Launch& launch : nest.launches)
            launch.block = {1024, 1, 1}; // 64 for each at most
        const auto full = schedule::resourcesOf(nest, limits({{"compute_capability", 80}}))[0];
        QVERIFY(full.registers <= 64);
    }

    /// Blocks that there is to be room for bound them, as far as that is enough: with less the text is compiled as if
    /// no room were asked for.
    void roomForBlocksBoundsRegisters()
    {
        ir::LoopNest nest = loweredOf(dense(56, 256, 32));
        const auto resourcesFor = [&nest](std::int32_t blocks) {
            for (ir::Launch& launch : nest.launches) {
                launch.block = {256, 1, 1};
                launch.leastBlocks = blocks;
            }
            return schedule::resourcesOf(nest, limits({{"compute_capability", 80}}))[0];
        };
        const std::int32_t all = resourcesFor(1).registers, unasked = resourcesFor(0).registers,
                           needed = resourcesFor(0).neededRegisters;
        QVERIFY2(needed > 8 && all > 24 && all <= 255, qPrintable(QString::number(all)));
        int bounded = 0, unbounded = 0;
        for (std::int32_t blocks = 2; blocks <= 32; ++blocks) {
            const std::int32_t each = 65536 / 256 / blocks / 8 * 8; // registers come by eights
            const std::int32_t taken = resourcesFor(blocks).registers;
            QCOMPARE(taken, each >= needed ? std::min(all, each) : unasked);
            bounded += each >= needed && each < all ? 1 : 0;
            unbounded += each < needed ? 1 : 0;
        }
        QVERIFY(bounded > 0 && unbounded > 0);
    }
};

LATHE_TEST(TestRegisterModel)

} // namespace tst_register_model

#include "tst_register_model.moc"
