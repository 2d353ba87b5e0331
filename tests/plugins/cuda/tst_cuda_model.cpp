#include "core/support/files.h"
#include "plugins/cuda/model/analytic_model.h"
#include "tests/plugins/cuda/ladder/ladder.h"
#include "tests/plugins/cuda/sass_text.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_cuda_model {

using namespace lathe;
using namespace lathe::cuda;

namespace {

/// A launch that takes nothing but what a test gives it.
KernelFacts plain()
{
    KernelFacts facts;
    facts.blocks = 84 * 12;
    facts.threads = 128;
    facts.registers = 32;
    facts.issueCycles = facts.aloneCycles = 1000;
    return facts;
}

const GpuFacts& a6000()
{
    return *findGpu("RTX A6000");
}

LaunchTime timeOf(const KernelFacts& facts, const GpuFacts& gpu = a6000(), GpuClock clock = GpuClock::Boost)
{
    const auto time = launchTimeOf(facts, gpu, clock);
    if (!time)
        qFatal("%s", time.error().message.c_str());
    return *time;
}

double cyclesOf(const KernelFacts& facts)
{
    return timeOf(facts).seconds * a6000().boostHz;
}

/// What is asked of the model: the published order, and the last four steps within a quarter.
void check(const std::vector<KernelFacts>& facts)
{
    const auto steps = ladder::steps();
    QCOMPARE(facts.size(), steps.size());
    double before = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const double expected = ladder::percentOf(timeOf(facts[i], a6000(), GpuClock::Sustained).seconds);
        const double published = steps[i].publishedGflops / ladder::kCublasGflops * 100;
        const QByteArray what = QByteArray(steps[i].kernel.data()) + ": " + QByteArray::number(expected)
                                + " % of cuBLAS, published " + QByteArray::number(published);
        QVERIFY2(expected > before, what.constData());
        if (i + 4 >= steps.size())
            QVERIFY2(expected > 0.75 * published && expected < 1.25 * published, what.constData());
        before = expected;
    }
}

} // namespace

class TestCudaModel : public QObject
{
    Q_OBJECT

private slots:
    void theBusiestResourceDecides()
    {
        // Twelve blocks of four warps, a warp to each scheduler: twelve warps of 1000 cycles one after another.
        QCOMPARE(cyclesOf(plain()), 12000.0);
        KernelFacts facts = plain();
        facts.floats = 2000; // a warp a cycle on 32 lanes
        QCOMPARE(cyclesOf(facts), 24000.0);
        QVERIFY(timeOf(facts).bound == Bound::FloatLanes);
        QCOMPARE(timeOf(facts).floatShare, 1.0);
        facts.integers = 700; // half of the lanes are theirs, too
        QCOMPARE(cyclesOf(facts), 32400.0);
        facts.floats = 0; // sixteen lanes
        facts.integers = 1500;
        QCOMPARE(cyclesOf(facts), 36000.0);
        QVERIFY(timeOf(facts).bound == Bound::IntegerLanes);
        facts = plain();
        facts.specials = 300; // four lanes
        QCOMPARE(cyclesOf(facts), 28800.0);
        facts = plain();
        facts.accessCycles = 600; // of all four schedulers' warps together
        QCOMPARE(cyclesOf(facts), 28800.0);
        QVERIFY(timeOf(facts).bound == Bound::Access);
        facts = plain();
        facts.fillBytes = 64 * 3000;
        QCOMPARE(cyclesOf(facts), 84 * 12 * 64 * 3000.0 / 1436);
        QVERIFY(timeOf(facts).bound == Bound::Cache); // 84 SMs ask for more than it gives
        facts = plain();
        facts.memoryBytes = 768e6;
        QCOMPARE(timeOf(facts).seconds, 1e-3);
        QVERIFY(timeOf(facts).bound == Bound::Memory);
    }

    /// Of the whitepapers, at the boost clock: what the figures of one SM must come to.
    void theWholeGpuHasItsPublishedPeak_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("single"); // TFLOP/s, each without tensor cores
        QTest::addColumn<double>("doubled");
        QTest::addColumn<double>("half");
        QTest::newRow("GA102") << "RTX A6000" << 38.7 << 0.605 << 38.7;
        QTest::newRow("GA100") << "A100" << 19.5 << 9.7 << 78.0;
        QTest::newRow("GH100") << "H100" << 66.9 << 33.5 << 133.8;
        QTest::newRow("AD102") << "RTX 4090" << 82.6 << 1.29 << 82.6;
    }
    void theWholeGpuHasItsPublishedPeak()
    {
        QFETCH(QString, name);
        QFETCH(double, single);
        QFETCH(double, doubled);
        QFETCH(double, half);
        const GpuFacts& gpu = *findGpu(name.toStdString());
        const double lanes = 1e-12 * gpu.sms * gpu.boostHz; // TFLOP/s of one that gives one result
        const auto isNear = [](double figure, double published) { return std::abs(figure / published - 1) < 0.01; };
        QVERIFY(isNear(1e-12 * gpu.peakFlops(), single));
        QVERIFY(isNear(2 * gpu.doubleLanes * lanes, doubled));
        QVERIFY(isNear(4 * gpu.halfLanes * lanes, half)); // two products and two sums each
    }

    void lanesOfAnA100AreHalfAsMany()
    {
        KernelFacts facts = plain();
        facts.blocks = 108 * 12;
        facts.floats = 1000;
        const GpuFacts& gpu = *findGpu("A100");
        QCOMPARE(timeOf(facts, gpu).seconds * gpu.boostHz, 24000.0);
        facts.integers = 900; // on lanes of their own
        QCOMPARE(timeOf(facts, gpu).seconds * gpu.boostHz, 24000.0);
    }

    void waitsAreHiddenByOtherBlocks()
    {
        KernelFacts facts = plain();
        facts.aloneCycles = 5000; // 12 blocks fit at once: a round
        QCOMPARE(cyclesOf(facts), 12000.0);
        facts.aloneCycles = 50000;
        QCOMPARE(cyclesOf(facts), 50000.0);
        QVERIFY(timeOf(facts).bound == Bound::Latency);
        // Three at a time, four rounds. With barriers the waits come on top of what a block does itself.
        facts.registers = 160;
        QCOMPARE(timeOf(facts).occupancy.blocks, 3);
        facts.aloneCycles = 5000;
        QCOMPARE(cyclesOf(facts), 20000.0);
        facts.accessCycles = 600;
        QCOMPARE(cyclesOf(facts), 4 * 7200.0);
        facts.aloneCycles = 7000;
        QCOMPARE(cyclesOf(facts), 4 * 7200.0);
        facts.hasBarriers = true;
        QCOMPARE(cyclesOf(facts), 4 * (6000.0 + 2400));
    }

    void theLastWaveIsPaidFor()
    {
        KernelFacts facts = plain();
        facts.aloneCycles = 3000;
        facts.registers = 160; // three at a time
        facts.blocks = 84 * 3;
        QCOMPARE(cyclesOf(facts), 3000.0);
        facts.blocks = 84 * 3 + 1;
        QCOMPARE(cyclesOf(facts), 6000.0); // one block, and nothing hides its waits
        QVERIFY(timeOf(facts).waves > 1 && timeOf(facts).waves < 1.01);
        facts.blocks = 5; // SMs stand idle
        QCOMPARE(cyclesOf(facts), 3000.0);
    }

    void launchesHaveGaps()
    {
        const std::vector<KernelFacts> three(3, plain());
        const double seconds = timeOf(plain()).seconds;
        QCOMPARE(*sequenceSecondsOf(three, a6000(), GpuClock::Boost, true), 3 * (seconds + 0.5e-6));
        QCOMPARE(*sequenceSecondsOf(three, a6000(), GpuClock::Boost, false), 3 * (seconds + 0.9e-6));
        QVERIFY(timeOf(plain(), a6000(), GpuClock::Sustained).seconds > seconds);
        KernelFacts impossible = plain();
        impossible.sharedBytes = 200000;
        QVERIFY(!launchTimeOf(impossible, a6000(), GpuClock::Boost));
        QCOMPARE(toString(launchTimeOf(impossible, a6000(), GpuClock::Boost).error().code).data(),
                 toString(Errc::IllegalSchedule).data());
    }

    void theLadderComesOutInOrder()
    {
        std::vector<KernelFacts> facts;
        for (const ladder::Step& step : ladder::steps())
            facts.push_back(step.stored);
        check(facts);
    }

    void theLadderComesOutOfMachineCode()
    {
        const auto text = ladder::disassembly("sm_86");
        if (!text && text.error().code == Errc::NotFound)
            QSKIP(text.error().message.c_str());
        QVERIFY2(text, text ? "" : text.error().message.c_str());
        const auto module = readSass(*text);
        QVERIFY2(module, module ? "" : module.error().message.c_str());
        std::vector<KernelFacts> facts;
        for (const ladder::Step& step : ladder::steps()) {
            const SassKernel* const kernel = module->find(step.kernel);
            QVERIFY2(kernel != nullptr, step.kernel.data());
            const auto reading = readKernel(*module, *kernel, step.launch, a6000());
            QVERIFY2(reading, reading ? "" : reading.error().message.c_str());
            QCOMPARE(reading->unknownAccesses, std::size_t{0});
            QCOMPARE(reading->localAccesses, std::size_t{0});
            QVERIFY(reading->allTripsKnown);
            // Each product is an instruction of 32 lanes.
            QCOMPARE(reading->whole.of(SassClass::Ffma) * 32
                         * static_cast<double>(step.launch.warps() * step.launch.blocks()),
                     ladder::kFlop / 2);
            facts.push_back(reading->facts);
        }
        check(facts);
    }

    void largeTilesAreProductsMostly()
    {
        const auto text = ladder::disassembly("sm_80");
        if (!text && text.error().code == Errc::NotFound)
            QSKIP(text.error().message.c_str());
        QVERIFY2(text, text ? "" : text.error().message.c_str());
        const auto module = readSass(*text);
        QVERIFY(module);
        for (const char* kernel : {"square_tiles", "wide_loads", "tuned", "warp_tiles"}) {
            const auto profile = SassProfile::create(*module->find(kernel));
            QVERIFY(profile);
            QVERIFY2(profile->hot().share(SassClass::Ffma) > 0.85, kernel);
        }
    }

    void dataThatAreFetchedAgainAreFetchedOnce_data()
    {
        QTest::addColumn<QString>("advance"); // of the address, a pass
        QTest::addColumn<double>("fill"); // bytes of a block
        QTest::addColumn<double>("memory"); // of both blocks, which fetch the same
        QTest::newRow("the same") << "0x0" << 128.0 << 128.0;
        QTest::newRow("others") << "0x80" << 1280.0 << 1280.0;
        QTest::newRow("half of them") << "0x40" << 128 + 9 * 64.0 << 128 + 9 * 64.0;
    }
    void dataThatAreFetchedAgainAreFetchedOnce()
    {
        QFETCH(QString, advance);
        const auto made = cuda::testing::module({"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x160]",
                                                 "MOV R6, RZ", ".L_x_0:", "LDG.E R8, [R2.64]",
                                                 "IADD3 R2, P1, R2, " + advance.toStdString() + ", RZ",
                                                 "IADD3.X R3, R3, RZ, RZ, P1, !PT", "IADD3 R6, R6, 0x1, RZ",
                                                 "ISETP.NE.AND P0, PT, R6, 0xa, PT", "@P0 BRA `(.L_x_0)", "EXIT"});
        SassLaunch launch;
        launch.grid = {2, 1, 1};
        launch.block = {32, 1, 1};
        launch.parameters = {0xfffff000, 1};
        const auto reading = readKernel(made, made.kernels[0], launch, a6000());
        QVERIFY2(reading, reading ? "" : reading.error().message.c_str());
        QCOMPARE(reading->unknownAccesses, std::size_t{0});
        QTEST(reading->facts.fillBytes, "fill");
        QTEST(reading->facts.memoryBytes, "memory");
        QCOMPARE(reading->facts.accessCycles, 20.0);
        KernelFactsOptions small;
        small.footprintBytes = 4000;
        QCOMPARE(readKernel(made, made.kernels[0], launch, a6000(), small)->facts.memoryBytes, 4000.0);
    }

    /// What goes from global to shared memory past the registers, more of it than the level-1 cache has room for: once
    /// through the banks, or twice where the cache takes it, too.
    void copiesPastTheRegistersAreOneAccess_data()
    {
        QTest::addColumn<QString>("copy");
        QTest::addColumn<QString>("condition");
        QTest::addColumn<double>("cycles");
        QTest::addColumn<double>("share");
        QTest::newRow("past the cache") << "LDGSTS.E.BYPASS.128"
                                        << "" << 12.0 << 1.0;
        QTest::newRow("through it") << "LDGSTS.E.128"
                                    << "" << 24.0 << 1.0;
        // Half of the warps write zeros.
        QTest::newRow("or zeros") << "LDGSTS.E.BYPASS.128"
                                  << ", P1" << 12.0 << 0.5;
        QTest::newRow("zeros or that") << "LDGSTS.E.BYPASS.128"
                                       << ", !P1" << 12.0 << 0.5;
    }
    void copiesPastTheRegistersAreOneAccess()
    {
        QFETCH(QString, copy);
        QFETCH(QString, condition);
        QFETCH(double, cycles);
        QFETCH(double, share);
        const std::string name = copy.toStdString(), behind = condition.toStdString();
        const auto made = cuda::testing::module(
            {"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x10, c[0x0][0x160]", "SHF.L.U32 R4, R0, 0x4, RZ",
             "ISETP.GE.U32.AND P1, PT, R0, 0x200, PT", name + " [R4], [R2.64]" + behind,
             name + " [R4+0x4000], [R2.64+0x4000]" + behind, name + " [R4+0x8000], [R2.64+0x8000]" + behind, "EXIT"});
        SassLaunch launch;
        launch.block = {1024, 1, 1};
        launch.parameters = {0, 1};
        launch.dynamicSharedBytes = 96 << 10;
        const auto reading = readKernel(made, made.kernels[0], launch, a6000());
        QVERIFY2(reading, reading ? "" : reading.error().message.c_str());
        QCOMPARE(reading->unknownAccesses, std::size_t{0});
        QCOMPARE(reading->facts.fillBytes, share * 3 * 16384.0);
        QCOMPARE(reading->facts.memoryBytes, share * 3 * 16384.0);
        QCOMPARE(reading->facts.accessCycles, cycles);
    }

    /// Of stored machine code, without a tool: from the text to a time.
    void storedMachineCodeGivesATime()
    {
        const auto text = readFile(std::string(LATHE_SOURCE_DIR "/tests/plugins/cuda/texts/small_sm_86.sass"));
        QVERIFY(text);
        const auto module = readSass(*text);
        QVERIFY2(module, module ? "" : module.error().message.c_str());
        SassLaunch launch;
        launch.grid = {84 * 4, 1, 1};
        launch.block = {64, 1, 1};
        launch.parameters = {0, 0x700, 0, 0x701, 0, 0x702, 64};
        const auto declared = readKernel(*module, *module->find("small"), launch, a6000());
        QVERIFY2(declared, declared ? "" : declared.error().message.c_str());
        QCOMPARE(declared->facts.sharedBytes, std::int64_t{1024});
        QVERIFY(declared->allTripsKnown);
        const LaunchTime four = timeOf(declared->facts);
        QCOMPARE(four.occupancy.blocks, 16);
        QVERIFY(four.seconds > 1e-6 && four.seconds < 1e-4);
        // What the launch adds is the block's, too: one at a time, four rounds.
        launch.dynamicSharedBytes = 60000;
        const auto more = readKernel(*module, *module->find("small"), launch, a6000());
        QVERIFY(more);
        QCOMPARE(more->facts.sharedBytes, std::int64_t{61024});
        QCOMPARE(timeOf(more->facts).occupancy.blocks, 1);
        QVERIFY(timeOf(more->facts).seconds > 2 * four.seconds);
    }

    /// What blocks share, by hand: those of a wave fetch some rows of A and all columns of B.
    void bytesFollowFromWhatBlocksShare()
    {
        const auto steps = ladder::steps();
        for (const ladder::Step& step : steps) {
            if (step.kernel != "warp_tiles" && step.kernel != "tuned")
                continue;
            // A block fetches 128 rows and 128 columns of 4096 elements, and stores a tile.
            const double halves = step.kernel == "tuned" ? 2 : 1; // each of its stores writes halves of sectors
            QCOMPARE(step.stored.fillBytes, (2.0 * 128 * 4096 + halves * 128 * 128) * 4);
            // 168 blocks at a time: 5.25 rows of 32 tiles.
            const double waves = 1024.0 / 168;
            const double rows = step.stored.memoryBytes - 4096.0 * 4096 * 4;
            QVERIFY(qAbs(rows / (waves * (6 + 32) * 128 * 4096 * 4) - 1) < 1e-6);
        }
    }
};

LATHE_TEST(TestCudaModel)

} // namespace tst_cuda_model
#include "tst_cuda_model.moc"
