#include "core/support/files.h"
#include "core/support/random.h"
#include "plugins/cuda/model/access_pattern.h"
#include "plugins/cuda/model/kernel_facts.h"
#include "plugins/cuda/model/sass.h"
#include "plugins/cuda/model/sass_loops.h"
#include "plugins/cuda/model/sass_operand.h"
#include "plugins/cuda/model/sass_timing.h"
#include "plugins/cuda/model/sass_walk.h"
#include "tests/plugins/cuda/sass_text.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <numeric>

namespace tst_cuda_sass {

using namespace lathe;
using namespace lathe::cuda;
using lathe::cuda::testing::module;

namespace {

std::string textOf(const char* architecture)
{
    auto text = readFile(std::string(LATHE_SOURCE_DIR "/tests/plugins/cuda/texts/small_") + architecture + ".sass");
    if (!text)
        qFatal("%s", text.error().message.c_str());
    return *std::move(text);
}

SassProfile profile(const SassKernel& kernel, std::vector<std::uint64_t> extents = {})
{
    auto made = SassProfile::create(kernel, extents);
    if (!made)
        qFatal("%s", made.error().message.c_str());
    return *std::move(made);
}

WarpAccess strided(std::uint64_t stride, std::int32_t bytes)
{
    WarpAccess access;
    access.lanes = ~0U;
    access.bytes = bytes;
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
        access.at[lane] = lane * stride;
    return access;
}

AccessTiming noTiming(std::size_t)
{
    return {};
}

} // namespace

class TestCudaSass : public QObject
{
    Q_OBJECT

    /// The accesses of a warp's lanes to shared memory at R4, behind code that finds a lane's number in R0.
    static std::vector<WalkAccess> placesAfter(const QStringList& code)
    {
        std::vector<std::string> lines = {"S2R R0, SR_TID.X"};
        for (const QString& line : code)
            lines.push_back(line.toStdString());
        lines.insert(lines.end(), {"LDS R8, [R4]", "EXIT"});
        const SassModule made = cuda::testing::module(lines);
        const SassProfile counted = profile(made.kernels[0]);
        SassLaunch launch;
        launch.block = {32, 1, 1};
        std::vector<WalkAccess> found;
        if (const auto walk = SassWalk::create(made, made.kernels[0], counted, launch))
            walk->run(0, 0, 1, [&found](const WalkAccess& access) { found.push_back(access); });
        return found;
    }

private slots:
    void aKernelIsReadOnEveryArchitecture_data()
    {
        QTest::addColumn<int>("capability");
        QTest::addColumn<int>("registers");
        QTest::addColumn<qint64>("shared");
        QTest::newRow("sm_86") << 86 << 24 << qint64{1024};
        QTest::newRow("sm_90") << 90 << 24 << qint64{2048}; // with the driver's 1 KiB
        QTest::newRow("sm_120") << 120 << 22 << qint64{2048};
    }
    void aKernelIsReadOnEveryArchitecture()
    {
        QFETCH(int, capability);
        QFETCH(int, registers);
        QFETCH(qint64, shared);
        const auto module = readSass(textOf(("sm_" + std::to_string(capability)).c_str()));
        QVERIFY2(module, module ? "" : module.error().message.c_str());
        QCOMPARE(module->capability, capability);
        QCOMPARE(module->kernels.size(), std::size_t{3});
        const SassKernel* const small = module->find("small");
        QVERIFY(small != nullptr);
        QCOMPARE(small->registers, registers);
        QCOMPARE(qint64{small->sharedBytes}, shared);
        QCOMPARE(small->frameBytes, std::int64_t{0});
        QCOMPARE(module->find("spills")->frameBytes, std::int64_t{256});
        QVERIFY(module->find("smal") == nullptr);

        // Twelve passes, five inside each: from constants of the code alone, whatever registers hold the counters.
        const SassProfile made = profile(*small);
        QCOMPARE(made.loops().size(), std::size_t{2});
        QCOMPARE(made.loops()[0].trips, std::uint64_t{12});
        QCOMPARE(made.loops()[1].trips, std::uint64_t{5});
        QCOMPARE(made.loops()[1].parent, 0);
        QVERIFY(made.allTripsKnown());
        QCOMPARE(made.hotLoop(), 1);
        QCOMPARE(made.hot().of(SassClass::Ffma), 4.0);
        QCOMPARE(made.whole().of(SassClass::Ffma), 12 * 5 * 4.0);
        QCOMPARE(made.whole().of(SassClass::Barrier), 24.0);
        QCOMPARE(made.whole().globalLoads[2], 60.0);
        QCOMPARE(made.whole().globalLoads[0], 12.0);
        QCOMPARE(made.whole().sharedStores[0], 12.0);
        QCOMPARE(made.whole().sharedLoads[2], 12.0);
        QCOMPARE(made.whole().of(SassClass::Other), 0.0);
        QVERIFY(made.whole().share(SassClass::Ffma) < made.hot().share(SassClass::Ffma));

        const SassProfile spilling = profile(*module->find("spills"));
        QVERIFY(spilling.whole().of(SassClass::LocalStore) > 0);
        QCOMPARE(spilling.whole().of(SassClass::LocalLoad), 1.0);
    }

    void extentsOfTheCallerFillInWhatTheCodeDoesNotTell()
    {
        const auto module = readSass(textOf("sm_86"));
        QVERIFY(module);
        const SassKernel* const open = module->find("open_loop");
        const SassProfile without = profile(*open);
        QCOMPARE(without.loops().size(), std::size_t{1});
        QVERIFY(without.loops()[0].source == TripSource::Unknown);
        QVERIFY(!without.allTripsKnown());
        const SassProfile with = profile(*open, {37});
        QVERIFY(with.loops()[0].source == TripSource::Caller);
        QCOMPARE(with.whole().of(SassClass::GlobalLoad), 37.0);
        // Loops whose trips the code tells take none.
        const SassProfile small = profile(*module->find("small"), {37});
        QCOMPARE(small.loops()[0].trips, std::uint64_t{12});
    }

    void tripsFollowFromComparisons_data()
    {
        QTest::addColumn<QString>("start");
        QTest::addColumn<QString>("step");
        QTest::addColumn<QString>("compare");
        QTest::addColumn<QString>("branch");
        QTest::addColumn<int>("trips"); // 0: does not follow
        QTest::newRow("less") << "MOV R3, RZ"
                              << "IADD3 R3, R3, 0x8, RZ"
                              << "ISETP.LT.AND P0, PT, R3, 0x40, PT"
                              << "@P0 BRA" << 8;
        QTest::newRow("not less") << "MOV R3, RZ"
                                  << "IADD3 R3, R3, 0x8, RZ"
                                  << "ISETP.GE.U32.AND P0, PT, R3, 0x40, PT"
                                  << "@!P0 BRA" << 8;
        QTest::newRow("less or equal") << "MOV R3, RZ"
                                       << "IADD3 R3, R3, 0x8, RZ"
                                       << "ISETP.LE.AND P0, PT, R3, 0x40, PT"
                                       << "@P0 BRA" << 9;
        QTest::newRow("downwards") << "MOV R3, 0x10"
                                   << "IADD3 R3, R3, -0x1, RZ"
                                   << "ISETP.GT.AND P0, PT, R3, RZ, PT"
                                   << "@P0 BRA" << 16;
        QTest::newRow("not equal") << "HFMA2.MMA R3, -RZ, RZ, 0, 0"
                                   << "VIADD R3, R3, 0x4"
                                   << "ISETP.NE.AND P0, PT, R3, 0x14, PT"
                                   << "@P0 BRA" << 5;
        QTest::newRow("a constant of two halves") << "HFMA2.MMA R3, -RZ, RZ, 0, 5.9604644775390625e-08"
                                                  << "IADD3 R3, R3, 0x1, RZ"
                                                  << "ISETP.NE.AND P0, PT, R3, 0x4, PT"
                                                  << "@P0 BRA" << 3;
        QTest::newRow("once") << "MOV R3, 0x50"
                              << "IADD3 R3, R3, 0x8, RZ"
                              << "ISETP.LT.AND P0, PT, R3, 0x40, PT"
                              << "@P0 BRA" << 1;
        QTest::newRow("never past") << "MOV R3, RZ"
                                    << "IADD3 R3, R3, 0x8, RZ"
                                    << "ISETP.NE.AND P0, PT, R3, 0x41, PT"
                                    << "@P0 BRA" << 0;
        QTest::newRow("a product") << "MOV R3, RZ"
                                   << "IMAD R3, R3, 0x3, RZ"
                                   << "ISETP.LT.AND P0, PT, R3, 0x40, PT"
                                   << "@P0 BRA" << 0;
        QTest::newRow("a bound in memory") << "MOV R3, RZ"
                                           << "IADD3 R3, R3, 0x8, RZ"
                                           << "ISETP.LT.AND P0, PT, R3, c[0x0][0x160], PT"
                                           << "@P0 BRA" << 0;
        QTest::newRow("a start of data") << "LDG.E R3, [R8.64]"
                                         << "IADD3 R3, R3, 0x8, RZ"
                                         << "ISETP.LT.AND P0, PT, R3, 0x40, PT"
                                         << "@P0 BRA" << 0;
        QTest::newRow("a second condition") << "MOV R3, RZ"
                                            << "IADD3 R3, R3, 0x8, RZ"
                                            << "ISETP.LT.AND P0, PT, R3, 0x40, P2"
                                            << "@P0 BRA" << 0;
    }
    void tripsFollowFromComparisons()
    {
        QFETCH(QString, start);
        QFETCH(QString, step);
        QFETCH(QString, compare);
        QFETCH(QString, branch);
        QFETCH(int, trips);
        const auto made = module({start.toStdString(), ".L_x_0:", step.toStdString(), compare.toStdString(),
                                  branch.toStdString() + " `(.L_x_0)", "EXIT"});
        const SassProfile found = profile(made.kernels[0]);
        QCOMPARE(found.loops().size(), std::size_t{1});
        QCOMPARE(found.loops()[0].source == TripSource::Code, trips > 0);
        if (trips > 0)
            QCOMPARE(found.loops()[0].trips, static_cast<std::uint64_t>(trips));
    }

    /// Where a loop runs twice, the compiler knows the counter in the second pass.
    void aLoopOfTwoPassesEndsWithAConstant()
    {
        const auto tripsWith = [](const std::string& bound, const std::string& last) {
            const auto made = module({"MOV R3, RZ", ".L_x_0:", "IADD3 R3, R3, 0x1, RZ",
                                      "ISETP.GE.U32.AND P0, PT, R3, " + bound + ", PT", "MOV R3, " + last,
                                      "@!P0 BRA `(.L_x_0)", "EXIT"});
            const SassProfile found = profile(made.kernels[0]);
            return found.loops()[0].source == TripSource::Code ? found.loops()[0].trips : 0;
        };
        QCOMPARE(tripsWith("0x2", "0x1"), std::uint64_t{2});
        QCOMPARE(tripsWith("0x1", "0x1"), std::uint64_t{1});
        QCOMPARE(tripsWith("0x3", "0x1"), std::uint64_t{0}); // it would not end
    }

    /// Quotients have a way for rare operands, which the compiler puts behind the kernel as a function.
    void functionsBehindAKernelAreNotItsOwn()
    {
        const auto made = module({"MOV R3, RZ", "@P1 CALL.REL.NOINC `($__internal_0_$slow)", "FADD R2, R2, R3", "EXIT",
                                  "$__internal_0_$slow:", "FMUL R2, R2, R3", "RET.REL.NODEC R4 `(k)"});
        QCOMPARE(made.kernels.size(), std::size_t{1});
        const SassProfile found = profile(made.kernels[0]);
        QVERIFY(found.loops().empty());
        QCOMPARE(found.whole().of(SassClass::Float), 1.0);
    }

    void aLoopThatIsLeftByACallCounts()
    {
        // The assembler's way out of a long loop.
        const auto made = module({"MOV R3, RZ", ".L_x_1:", "IADD3 R3, R3, 0x1, RZ",
                                  "ISETP.GE.U32.AND P0, PT, R3, 0x7, PT", "FFMA R4, R5, R6, R4",
                                  "@P0 CALL.REL.NOINC `(.L_x_2)", "BRA `(.L_x_1)", ".L_x_2:", "EXIT",
                                  ".L_x_3:", "BRA `(.L_x_3)", "NOP"});
        const SassProfile found = profile(made.kernels[0]);
        QCOMPARE(found.loops().size(), std::size_t{1}); // the trap behind the end is none
        QCOMPARE(found.loops()[0].trips, std::uint64_t{7});
        QCOMPARE(found.whole().of(SassClass::Ffma), 7.0);
    }

    void operandsAreRead()
    {
        const SassOperand reg = readSassOperand("-R12.reuse");
        QVERIFY(reg.kind == SassOperandKind::Register && reg.index == 12 && reg.isNegated && reg.isReused);
        QCOMPARE(readSassOperand("RZ").index, kZeroRegister);
        const SassOperand memory = readSassOperand("desc[UR6][R2.64+UR4+-0x20]");
        QVERIFY(memory.kind == SassOperandKind::Memory && memory.base == 2 && memory.isWide && memory.uniform == 4);
        QCOMPARE(memory.value, std::int64_t{-0x20});
        QCOMPARE(readSassOperand("[R3.X4+0x200]").scale, 4);
        const SassOperand constant = readSassOperand("c[0x0][0x160]");
        QVERIFY(constant.kind == SassOperandKind::Constant && constant.index == 0 && constant.value == 0x160);
        QVERIFY(readSassOperand("!PT").isNegated);
        QVERIFY(readSassOperand("0.5").isFloat && readSassOperand("0.5").value == 0x3f000000);
        QCOMPARE(readSassOperand("-0x1").value, std::int64_t{-1});
        for (const char* odd : {"R256", "R", "UR-1", "P9", "[R2", "c[0x0", "0xzz", "", "desc[UR4][]]"})
            QVERIFY2(readSassOperand(odd).kind == SassOperandKind::Other || std::string(odd) == "desc[UR4][]]", odd);
        const auto pair = [](const char* high, const char* low) {
            return halfPairBits(readSassOperand(high), readSassOperand(low));
        };
        QCOMPARE(pair("1", "5.9604644775390625e-08"), 0x3c000001U);
        QCOMPARE(pair("65504", "-2"), 0x7bffc000U);
        QCOMPARE(pair("0", "+INF"), 0x7c00U);
        QCOMPARE(pair("-INF", "0"), 0xfc000000U);
        QVERIFY(!pair("+QNAN", "0")); // its bits are not told
    }

    void hostileTextIsAnErrorAndNoCrash()
    {
        for (const char* text : {"", "hello", "\t.section\t.text.k,\"ax\",@progbits\n  /*zz*/ MOV R1, R2 ;",
                                 "\t.section\t.text.k,\"ax\",@progbits\n  /*0000*/ BRA `(.L_x_9) ;",
                                 "\t.section\t.text.k,\"ax\",@progbits\n  /*0010*/ NOP ;\n  /*0010*/ NOP ;",
                                 "\t.section\t.text.k,\"ax\",@progbits\n  /*0000*/ @Q3 NOP ;",
                                 "\t.section\t.text.k,\"ax\",@progbits\n  /*0000*/ NOP",
                                 "\t.section\t.text.k,\"ax\",@progbits\n  /*0000"}) {
            const auto read = readSass(text);
            QVERIFY2(!read, text);
            QCOMPARE(toString(read.error().code).data(), toString(Errc::BadFile).data());
        }
        // Whatever is read goes through everything behind the reader, too.
        const std::string whole = textOf("sm_86");
        std::size_t read = 0;
        for (std::uint64_t seed = 0; seed < 300; ++seed) {
            Random random(20, seed, 0);
            std::string text = whole;
            if (seed % 3 == 0)
                text.resize(random.below(text.size()));
            for (std::uint64_t change = 0; change <= seed % 40; ++change)
                if (!text.empty())
                    text[random.below(text.size())] = static_cast<char>(' ' + random.below(95));
            const auto made = readSass(text);
            if (!made)
                continue;
            ++read;
            for (const SassKernel& kernel : made->kernels) {
                SassLaunch launch;
                launch.grid = {4, 2, 1};
                launch.block = {64, 1, 1};
                (void)readKernel(*made, kernel, launch, *findGpu("RTX A6000"));
            }
        }
        QVERIFY2(read > 50, "most changes must leave a text that can be read");
    }

    void addressesFollowFromTheCode()
    {
        const auto module = readSass(textOf("sm_86"));
        QVERIFY(module);
        const SassKernel& kernel = *module->find("small");
        const SassProfile made = profile(kernel);
        SassLaunch launch;
        launch.grid = {3, 1, 1};
        launch.block = {64, 1, 1};
        launch.parameters = {0x1000, 1, 0x2000, 2, 0x3000, 3, 40};
        const auto walk = SassWalk::create(*module, kernel, made, launch);
        QVERIFY(walk);
        std::vector<WalkAccess> found;
        walk->run(2, 1, 2, [&found](const WalkAccess& access) { found.push_back(access); });
        // Two passes of (load, store, wide load, two wide loads), and the store of the end.
        QCOMPARE(found.size(), std::size_t{2 * 5 + 1});
        for (const WalkAccess& access : found)
            QVERIFY(access.isKnown);
        const auto at = [&found](std::size_t i, std::size_t lane) { return found[i].access.at[lane]; };
        QCOMPARE(at(0, 3), std::uint64_t{0x2'00002000} + 4 * (2 * 96 * 64 + 32 + 3));
        QCOMPARE(at(1, 3), std::uint64_t{8 * (32 + 3)});
        QVERIFY(found[1].isStore && found[1].space == WalkSpace::Shared);
        QCOMPARE(bankPasses(found[1].access), 2); // every other word
        QCOMPARE(at(2, 3), std::uint64_t{3 * 32});
        QCOMPARE(at(3, 5), std::uint64_t{0x1'00001000} + 16 * (32 + 5));
        QCOMPARE(at(4, 5), std::uint64_t{0x1'00001000} + 16 * (1024 + 32 + 5));
        QCOMPARE(found[4].pass, 2);
        QCOMPARE(at(5, 3), std::uint64_t{0x2'00002000} + 4 * ((2 * 96 + 8) * 64 + 32 + 3));
        // Of the second warp's threads 8 are below 40.
        QCOMPARE(found[10].access.lanes, 0xffU);
        QCOMPARE(at(10, 0), std::uint64_t{0x3'00003000} + 4 * (2 * 64 + 32));
        QVERIFY(found[10].isStore);

        launch.block = {1025, 1, 1};
        QVERIFY(!SassWalk::create(*module, kernel, made, launch));
    }

    /// What compilers make of quotients, of conditions that they keep, and of products of small numbers: where a lane's
    /// place follows from such an instruction, of a thread's number in R0.
    void placesFollowFromRareInstructions_data()
    {
        QTest::addColumn<QStringList>("code"); // to R4
        QTest::addColumn<quint64>("first"); // of lane 1
        QTest::addColumn<quint64>("second"); // of lane 31
        const auto row = [](const char* name, const QStringList& code, quint64 first, quint64 second) {
            QTest::newRow(name) << code << first << second;
        };
        row("quotient of a signed number",
            {"IMAD R1, R0, 0x64, RZ", "IMAD.HI R2, R1, 0x66666667, RZ", "SHF.R.U32.HI R3, RZ, 0x1f, R2",
             "LEA.HI.SX32 R4, R2, R3, 0x1e"},
            10, 310);
        row("quotient below zero", {"IADD3 R1, -R0, RZ, RZ", "LEA.HI.SX32 R3, R1, RZ, 0x1f", "IADD3 R4, -R3, RZ, RZ"},
            1, 16);
        row("kept predicates",
            {"ISETP.GT.U32.AND P1, PT, R0, 0x10, PT", "ISETP.LE.U32.AND P2, PT, R0, 0x10, PT", "MOV R1, 0x11",
             "P2R R4, PR, R1, 0x6"},
            0x15, 0x13);
        row("both of two conditions",
            {"ISETP.GT.U32.AND P1, PT, R0, 0x10, PT", "ISETP.GT.U32.AND P2, PT, R0, 0x1, PT",
             "PLOP3.LUT P3, P0, P1, P2, PT, 0x80, 0xa8", "SEL R4, R0, 0x4, P3"},
            4, 31);
        row("one of two conditions",
            {"ISETP.GT.U32.AND P1, PT, R0, 0x10, PT", "ISETP.LT.U32.AND P2, PT, R0, 0x2, PT",
             "PLOP3.LUT P3, P0, P1, P2, PT, 0x80, 0xa8", "SEL R4, R0, 0x4, P0"},
            1, 31);
        row("product of halves and bytes",
            {"PRMT R1, R0, 0x1010, RZ", "MOV R2, 0x70503", "IDP.2A.LO.U16.U8 R4, R1, R2, R0"}, 9, 279);
        row("nothing subtracted carries",
            {"MOV R1, 0x8", "IADD3 R2, P0, R1, -RZ, RZ", "IADD3.X R4, R0, RZ, RZ, P0, !PT"}, 2, 32);
        row("two carries", {"MOV R1, 0xffffffff", "IADD3 R2, P0, P1, R1, R1, R1", "IADD3.X R4, R0, RZ, RZ, P0, P1"}, 3,
            33);
        row("what is compared with the unknown", {"ISETP.GT.U32.AND P0, PT, R0, R9, PT", "MOV R4, R0"}, 1, 31);
        row("what is divided by it", {"FCHK P0, R0, R9", "MOV R4, R0"}, 1, 31);
        row("bits as predicates", {"R2P PR, R0, 0x3", "SEL R4, R0, 0x4, P1"}, 4, 31);
        row("of the other bytes", {"MOV R2, 0x70503", "IDP.2A.HI.U16.U8 R4, R0, R2, RZ"}, 7, 217);
    }
    void placesFollowFromRareInstructions()
    {
        QFETCH(QStringList, code);
        QFETCH(quint64, first);
        QFETCH(quint64, second);
        const std::vector<WalkAccess> found = placesAfter(code);
        QCOMPARE(found.size(), std::size_t{1});
        QVERIFY(found[0].isKnown);
        QCOMPARE(quint64{found[0].access.at[1]}, first);
        QCOMPARE(quint64{found[0].access.at[31]}, second);
    }

    /// Bytes of a register are not followed: what comes of them is unknown, and not what stood there before.
    void whatComesOfBytesIsUnknown()
    {
        const std::vector<WalkAccess> found = placesAfter(
            {"ISETP.GT.U32.AND P1, PT, R0, 0x10, PT", "R2P PR, R0.B1, 0x2", "SEL R4, R0, 0x4, P1"});
        QCOMPARE(found.size(), std::size_t{1});
        QVERIFY(!found[0].isKnown);
    }

    void addressesFollowFromTheUniformUnitToo()
    {
        for (const char* architecture : {"sm_90", "sm_120"}) {
            const auto module = readSass(textOf(architecture));
            QVERIFY(module);
            const SassKernel& kernel = *module->find("small");
            const SassProfile made = profile(kernel);
            SassLaunch launch;
            launch.grid = {3, 1, 1};
            launch.block = {64, 1, 1};
            launch.parameters = {0x1000, 1, 0x2000, 2, 0x3000, 3, 40};
            const auto walk = SassWalk::create(*module, kernel, made, launch);
            QVERIFY(walk);
            std::vector<WalkAccess> found;
            walk->run(2, 1, 2, [&found](const WalkAccess& access) { found.push_back(access); });
            QCOMPARE(found.size(), std::size_t{11});
            for (const WalkAccess& access : found)
                QVERIFY2(access.isKnown, architecture);
            QCOMPARE(found[0].access.at[3], std::uint64_t{0x2'00002000} + 4 * (2 * 96 * 64 + 32 + 3));
            QCOMPARE(found[10].access.lanes, 0xffU);
        }
    }

    void banksCollideAsTheyDo_data()
    {
        QTest::addColumn<int>("stride");
        QTest::addColumn<int>("bytes");
        QTest::addColumn<int>("passes");
        QTest::addColumn<int>("sectors");
        QTest::newRow("dense") << 4 << 4 << 1 << 4;
        QTest::newRow("one word for all") << 0 << 4 << 1 << 1;
        QTest::newRow("every other word") << 8 << 4 << 2 << 8;
        QTest::newRow("a row of 32 words apart") << 128 << 4 << 32 << 32;
        QTest::newRow("a row of 33 words apart") << 132 << 4 << 1 << 32;
        QTest::newRow("dense, 8 bytes") << 8 << 8 << 2 << 8;
        QTest::newRow("dense, 16 bytes") << 16 << 16 << 4 << 16;
        QTest::newRow("16 bytes of 32") << 32 << 16 << 8 << 32;
        QTest::newRow("the same 16 bytes for all") << 0 << 16 << 4 << 1;
        QTest::newRow("bytes") << 1 << 1 << 1 << 1;
    }
    void banksCollideAsTheyDo()
    {
        QFETCH(int, stride);
        QFETCH(int, bytes);
        const WarpAccess access = strided(static_cast<std::uint64_t>(stride), bytes);
        QTEST(bankPasses(access), "passes");
        QTEST(sectorsOf(access), "sectors");
        WarpAccess none = access;
        none.lanes = 0;
        QCOMPARE(bankPasses(none), 0);
        QCOMPARE(sectorsOf(none), 0);
    }

    void operandsOfOneBankCostCycles()
    {
        // Bubbles that Huerta et al. measured: none, one for two operands of one bank, two for three.
        const auto perInstruction = [](const std::string& line) {
            const auto made = module(std::vector<std::string>(24, line));
            std::vector<std::size_t> all(24);
            std::iota(all.begin(), all.end(), std::size_t{0});
            const auto cycles = warpCyclesOf(made.kernels[0].instructions, all, true, noTiming);
            return cycles ? cycles->issue / 24 : -1;
        };
        QCOMPARE(perInstruction("FMUL R1, R2, R5"), 1.0);
        QCOMPARE(perInstruction("FMUL R1, R2, R4"), 2.0);
        QCOMPARE(perInstruction("FFMA R1, R2, R4, R6"), 3.0);
        QCOMPARE(perInstruction("FFMA R1, R2, R5, R6"), 2.0);
        QCOMPARE(perInstruction("FFMA R1, R2.reuse, R5, R6"), 1.0); // kept from the instruction before
        QCOMPARE(perInstruction("FFMA R1, R2, c[0x0][0x160], R5"), 1.0);
    }

    void waitsForMemoryShowInAWarpAlone()
    {
        const auto module = readSass(textOf("sm_86"));
        QVERIFY(module);
        const SassKernel& kernel = *module->find("small");
        const SassProfile made = profile(kernel);
        std::vector<std::size_t> inner;
        for (std::size_t i = made.loops()[1].first; i <= made.loops()[1].last; ++i)
            inner.push_back(i);
        const auto with = [&](double latency) {
            return warpCyclesOf(kernel.instructions, inner, true, [latency](std::size_t) {
                return AccessTiming{4, latency};
            });
        };
        QVERIFY(with(30) && with(530));
        QCOMPARE(with(530)->alone - with(30)->alone, 500.0);
        QCOMPARE(with(530)->issue, with(30)->issue);
        QVERIFY(with(30)->alone > with(30)->issue + 30);

        SassModule bare = *module;
        for (SassKernel& k : bare.kernels)
            for (SassInstruction& i : k.instructions)
                i.control.reset();
        const auto refused = warpCyclesOf(bare.kernels[0].instructions, inner, true, noTiming);
        QVERIFY(!refused && refused.error().code == Errc::Unsupported);
    }
};

LATHE_TEST(TestCudaSass)

} // namespace tst_cuda_sass
#include "tst_cuda_sass.moc"
