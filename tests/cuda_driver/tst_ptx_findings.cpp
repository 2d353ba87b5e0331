#include "tests/cuda_driver/kernel_run.h"
#include "tests/support/test_program.h"

using namespace lathe::ptx;
using namespace lathe::ptx::testing;

namespace tst_ptx_findings {

/// %r1: the thread, %r2: the block, %r3: the thread within the grid, %d1: the first parameter, %d2: its place for this
/// thread.
const char* const kIndices = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
                             "mad.lo.s32 %r3, %r2, %r4, %r1;\nld.param.u64 %d1, [out];\ncvta.to.global.u64 %d1, %d1;\n"
                             "mul.wide.u32 %d3, %r3, 4;\nadd.s64 %d2, %d1, %d3;\n";
const char* const kShared =
    ".shared .align 4 .b8 room[1024];\nmov.u32 %r10, room;\nshl.b32 %r11, %r1, 2;\nadd.s32 %r12, %r10, %r11;\n";

/// Kernels with a bug are found with the line of the bug, kernels without say nothing.
class TestPtxFindings : public QObject
{
    Q_OBJECT

    struct Planted
    {
        std::string body;
        Finding::Kind kind;
        const char* says = "";
        Size3 grid{1, 1, 1}, block{64, 1, 1};
    };

    static void verify(const Planted& planted)
    {
        const std::string text = kernelText(".param .u64 out", kIndices + planted.body);
        KernelRun kernel(text);
        QVERIFY2(kernel.problem().empty(), kernel.problem().c_str());
        const uint64_t out = kernel.put(std::vector<uint32_t>(4096));
        const LaunchReport report = kernel.run(planted.grid, planted.block, {out});
        const QString all = textOf(report);
        QVERIFY2(!report.findings.all().empty(), qPrintable(all));
        const Finding& finding = report.findings.all()[0];
        QVERIFY2(finding.kind == planted.kind, qPrintable(all));
        QCOMPARE(finding.line, lineOf(text, "// BUG"));
        if (text.find("// OTHER") != std::string::npos)
            QCOMPARE(finding.otherLine, lineOf(text, "// OTHER"));
        QVERIFY2(finding.text.find(planted.says) != std::string::npos, finding.text.c_str());
        QVERIFY2(finding.text.find("PTX line " + std::to_string(finding.line)) == 0, finding.text.c_str());
    }

    static void verifyFault(const std::string& body, FaultKind kind, const char* says, uint32_t dynamicShared = 0)
    {
        const std::string text = kernelText(".param .u64 out", kIndices + body);
        KernelRun kernel(text);
        QVERIFY2(kernel.problem().empty(), kernel.problem().c_str());
        const uint64_t out = kernel.put(std::vector<uint32_t>(64));
        const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1}, {out}, dynamicShared);
        QVERIFY(report.fault.has_value());
        QVERIFY2(report.fault->kind == kind, report.fault->text.c_str());
        QCOMPARE(report.fault->line, lineOf(text, "// BUG"));
        QVERIFY2(report.fault->text.find(says) != std::string::npos, report.fault->text.c_str());
    }

    static void verifyClean(const std::string& body, Size3 grid = {1, 1, 1}, Size3 block = {64, 1, 1})
    {
        KernelRun kernel(kernelText(".param .u64 out", kIndices + body));
        QVERIFY2(kernel.problem().empty(), kernel.problem().c_str());
        const LaunchReport report = kernel.run(grid, block, {kernel.put(std::vector<uint32_t>(4096))});
        LATHE_VERIFY_CLEAN(report);
    }

    /// Writes its word of shared memory, then reads that of the thread 32 further on.
    static std::string exchange(const std::string& between)
    {
        return std::string(kShared) + "st.shared.u32 [%r12], %r1; // OTHER\n" + between
               + "xor.b32 %r13, %r1, 32;\nshl.b32 %r13, %r13, 2;\nadd.s32 %r13, %r13, %r10;\n"
                 "ld.shared.u32 %r14, [%r13]; // BUG\nst.global.u32 [%d2], %r14;";
    }

private slots:
    void aMissingBarrierIsARace()
    {
        // Warp 0 reads what nobody wrote yet; warp 1 reads what warp 0 wrote, without a barrier.
        const std::string text = kernelText(".param .u64 out", kIndices + exchange(""));
        KernelRun kernel(text);
        const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1}, {kernel.put(std::vector<uint32_t>(64))});
        bool race = false;
        for (const Finding& finding : report.findings.all())
            race |= finding.kind == Finding::Kind::Race && finding.line == lineOf(text, "// BUG")
                    && finding.otherLine == lineOf(text, "// OTHER");
        QVERIFY2(race, qPrintable(textOf(report)));
        verifyClean(exchange("bar.sync 0;\n"));
        verifyClean(exchange("barrier.cta.sync 0;\n"));
    }

    void lanesOfAWarpRaceWithoutABarrierOfTheWarp()
    {
        const auto body = [](const std::string& between) {
            return std::string(kShared) + "st.shared.u32 [%r12], %r1; // OTHER\n" + between
                   + "xor.b32 %r13, %r1, 1;\nshl.b32 %r13, %r13, 2;\nadd.s32 %r13, %r13, %r10;\n"
                     "ld.shared.u32 %r14, [%r13]; // BUG\nst.global.u32 [%d2], %r14;";
        };
        verify({body(""), Finding::Kind::Race, "without a barrier"});
        verifyClean(body("bar.warp.sync -1;\n"));
        verifyClean(body("bar.sync 0;\n"));
    }

    void aBarrierOfSomeLanesOrdersTheseAlone()
    {
        // Lanes 0 to 3 exchange behind a barrier of their own; then lane 4 reads of lane 5.
        const std::string half =
            std::string(kShared)
            + "st.shared.u32 [%r12], %r1; // OTHER\nsetp.lt.u32 %p1, %r1, 4;\n"
              "@%p1 bar.warp.sync 15;\nxor.b32 %r13, %r1, 1;\nshl.b32 %r13, %r13, 2;\nadd.s32 %r13, %r13, %r10;\n";
        verifyClean(half + "@%p1 ld.shared.u32 %r14, [%r13];\n", {1, 1, 1}, {32, 1, 1});
        verify({half + "ld.shared.u32 %r14, [%r13]; // BUG\n",
                Finding::Kind::Race,
                "thread (4,0,0)",
                {1, 1, 1},
                {32, 1, 1}});
    }

    void aWriteOverWhatOthersStillReadIsARace()
    {
        const auto body = [](const std::string& between) {
            return std::string(kShared)
                   + "st.shared.u32 [%r12], %r1;\nbar.sync 0;\nld.shared.u32 %r14, [%r10]; // OTHER\n" + between
                   + "setp.eq.s32 %p1, %r1, 63;\n@%p1 st.shared.u32 [%r10], %r14; // BUG\nst.global.u32 [%d2], %r14;";
        };
        verify({body(""), Finding::Kind::Race, "read at line"});
        verifyClean(body("bar.sync 0;\n"));
    }

    void onlyTheWarpsOfANamedBarrierAreOrdered()
    {
        // Two warps of three meet at barrier 1; the third reads all the same.
        const auto body = [](const char* readers) {
            return std::string(kShared)
                   + "st.shared.u32 [%r12], %r1; // OTHER\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bar.sync 1, 64;\n"
                   + "setp.lt.u32 %p2, %r1, " + readers + ";\nsetp.ge.u32 %p3, %r1, 32;\nand.pred %p2, %p2, %p3;\n"
                   + "@%p2 ld.shared.u32 %r14, [%r10]; // BUG\n";
        };
        verifyClean(body("64"), {1, 1, 1}, {96, 1, 1});
        verify({body("96"), Finding::Kind::Race, "thread (64,0,0)", {1, 1, 1}, {96, 1, 1}});
    }

    void whatNobodyWroteIsFound()
    {
        verify({std::string(kShared) + "ld.shared.u32 %r14, [%r12]; // BUG\n", Finding::Kind::UninitializedRead,
                "shared bytes 0 to 3"});
        verify({".local .align 4 .b8 mine[16];\nmov.u64 %d5, mine;\nld.local.u32 %r14, [%d5+4]; // BUG\n",
                Finding::Kind::UninitializedRead, "local bytes 4 to 7"});
        const std::string text = kernelText(".param .u64 out",
                                            std::string(kIndices) + "ld.global.u32 %r14, [%d2]; // BUG\n");
        KernelRun kernel(text);
        const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1}, {kernel.room(256)});
        QCOMPARE(report.findings.all().size(), size_t(1));
        QVERIFY(report.findings.all()[0].kind == Finding::Kind::UninitializedRead);
        QCOMPARE(report.findings.all()[0].line, lineOf(text, "// BUG"));
        QCOMPARE(report.findings.all()[0].count, uint64_t(64));
    }

    void sharedMemoryOfTheLastBlockIsNotWritten()
    {
        verify({std::string(kShared)
                    + "setp.eq.u32 %p1, %r2, 0;\n@%p1 st.shared.u32 [%r12], %r1;\n"
                      "ld.shared.u32 %r14, [%r12]; // BUG\n",
                Finding::Kind::UninitializedRead,
                "of block (1,0,0)",
                {2, 1, 1}});
    }

    void blocksThatWriteTheSamePlaceRace()
    {
        verify({"mul.wide.u32 %d3, %r1, 4;\nadd.s64 %d3, %d3, %d1;\nst.global.u32 [%d3], %r2; // BUG\n",
                Finding::Kind::Race,
                "nothing orders the two blocks",
                {2, 1, 1}});
        verifyClean("st.global.u32 [%d2], %r2;", {2, 1, 1});
        // The wrong stride: blocks 63 apart overlap in one place.
        verify({"mad.lo.s32 %r5, %r2, 63, %r1;\nmul.wide.u32 %d3, %r5, 4;\nadd.s64 %d3, %d3, %d1;\nst.global.u32 "
                "[%d3], %r2; // BUG\n",
                Finding::Kind::Race,
                "of block (1,0,0) writes",
                {2, 1, 1}});
    }

    void bytesBesideEachOtherAreNoRace()
    {
        verifyClean("cvt.u64.u32 %d3, %r3;\nadd.s64 %d3, %d3, %d1;\nst.global.u8 [%d3], %r1;", {2, 1, 1});
        verify(
            {"shr.u32 %r5, %r3, 1;\ncvt.u64.u32 %d3, %r5;\nadd.s64 %d3, %d3, %d1;\nst.global.u8 [%d3], %r1; // BUG\n",
             Finding::Kind::Race, "byte"});
    }

    void atomicsAreNoRaceButPlainAccessesBesideThemAre()
    {
        verifyClean("red.global.add.u32 [%d1], 1;", {4, 1, 1});
        verify({"red.global.add.u32 [%d1], 1; // OTHER\nld.global.u32 %r5, [%d1]; // BUG\n",
                Finding::Kind::Race,
                "atomic",
                {2, 1, 1}});
    }

    void afterAFenceAnAtomicHandsOnWhatABlockDid()
    {
        // Each block writes its word, then counts; the last one reads all.
        const auto body = [](const std::string& fence) {
            return "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\nmul.wide.u32 %d3, %r2, 4;\nadd.s64 %d3, %d3, %d1;\n"
                   "st.global.u32 [%d3+64], %r2; // OTHER\n"
                   + fence
                   + "atom.global.add.u32 %r5, [%d1], 1;\nsetp.ne.u32 %p2, %r5, 3;\n@%p2 bra END;\n"
                     "ld.global.u32 %r6, [%d1+64]; // BUG\nst.global.u32 [%d1+4], %r6;\nEND:\n";
        };
        verifyClean(body("membar.gl;\n"), {4, 1, 1});
        verifyClean(body("fence.acq_rel.gpu;\n"), {4, 1, 1});
        verify({body(""), Finding::Kind::Race, "nothing orders the two blocks", {4, 1, 1}});
        verify({body("membar.cta;\n"), Finding::Kind::Race, "nothing orders the two blocks", {4, 1, 1}});
    }

    void divergentBarriersAreFound()
    {
        // Half of a warp comes to the barrier, the others end: a device may hang, or not.
        verify({"setp.lt.u32 %p1, %r1, 16;\n@%p1 bra AT;\nret;\nAT:\nbar.sync 0; // BUG\n",
                Finding::Kind::DivergentBarrier, "thread (16,0,0)"});
        verify(
            {"setp.lt.u32 %p1, %r1, 16;\n@%p1 bra AT;\nbar.sync 0; // BUG\nbra END;\nAT:\nbar.sync 0; // OTHER\nEND:\n",
             Finding::Kind::DivergentBarrier, "different lines"});
        verifyClean("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra AT;\nbar.sync 0;\nbra END;\nAT:\nbar.sync 0;\nEND:\n");
    }

    void aBarrierForWhichNobodyComesEndsTheLaunch()
    {
        verifyFault("setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1; // BUG\n@!%p1 bar.sync 2;", FaultKind::Timeout,
                    "waits for ever");
        verifyFault("bar.sync 1, 96; // BUG\n", FaultKind::Timeout, "waits for ever");
    }

    void shufflesWithLanesThatAreElsewhereAreFound()
    {
        verify({"setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra END;\nshfl.sync.idx.b32 %r5, %r1, 0, 31, -1; // BUG\nEND:\n",
                Finding::Kind::DivergentShuffle,
                "ended already",
                {1, 1, 1},
                {32, 1, 1}});
        verify({"setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra END;\nshfl.sync.idx.b32 %r5, %r1, 20, 31, 0xffff; // BUG\nEND:\n",
                Finding::Kind::DivergentShuffle,
                "takes the value of lane 20",
                {1, 1, 1},
                {32, 1, 1}});
        verify({"shfl.sync.idx.b32 %r5, %r1, 0, 31, 0xffff; // BUG\n",
                Finding::Kind::DivergentShuffle,
                "not in the mask",
                {1, 1, 1},
                {32, 1, 1}});
    }

    void whatIsOutOfBoundsIsAFault()
    {
        verifyFault("ld.global.u32 %r5, [%d2+4]; // BUG\n", FaultKind::IllegalAddress, "thread (63,0,0)");
        verifyFault("st.global.u32 [%d2+-4], %r1; // BUG\n", FaultKind::IllegalAddress, "thread (0,0,0)");
        verifyFault("mov.u64 %d5, 0;\nst.global.u32 [%d5], %r1; // BUG\n", FaultKind::IllegalAddress,
                    "nothing was allocated");
        verifyFault(std::string(kShared) + "st.shared.u32 [%r12+772], %r1; // BUG\n", FaultKind::IllegalAddress,
                    "there are 1024 bytes");
        verifyFault(".local .align 4 .b8 mine[16];\nmov.u64 %d5, mine;\nst.local.u32 [%d5+16], %r1; // BUG\n",
                    FaultKind::IllegalAddress, "local");
        verifyFault("cvta.shared.u64 %d5, %d9;\nst.u32 [%d5], %r1; // BUG\n", FaultKind::IllegalAddress, "shared");
    }

    void dynamicSharedMemoryHasTheSizeOfTheLaunch()
    {
        const std::string text = kernelText(".param .u64 out",
                                            std::string(kIndices)
                                                + "mov.u32 %r10, room;\nshl.b32 %r11, %r1, 2;\n"
                                                  "add.s32 %r12, %r10, %r11;\nst.shared.u32 [%r12], %r1; // BUG\n",
                                            ".extern .shared .align 16 .b8 room[];");
        KernelRun kernel(text);
        const uint64_t out = kernel.put(std::vector<uint32_t>(64));
        LATHE_VERIFY_CLEAN(kernel.run({1, 1, 1}, {64, 1, 1}, {out}, 256));
        const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1}, {out}, 252);
        QVERIFY(report.fault && report.fault->kind == FaultKind::IllegalAddress);
        QCOMPARE(report.fault->line, lineOf(text, "// BUG"));
    }

    void memoryThatWasFreedIsNamed()
    {
        KernelRun kernel(kernelText(".param .u64 out", std::string(kIndices) + "st.global.u32 [%d2], %r1;"));
        const uint64_t out = kernel.room(256);
        QVERIFY(kernel.memory().release(out));
        const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1}, {out});
        QVERIFY(report.fault && report.fault->text.find("was freed") != std::string::npos);
    }

    // --- loads that leave bytes unused, as compilers say of those that they made of several with gaps between

    /// A vector of four words, of which these bytes are used.
    static std::string vectorLoad(const std::string& mask, const std::string& from, const std::string& guard = "")
    {
        return ".pragma \"used_bytes_mask " + mask + "\";\n" + guard + "ld." + from;
    }

    static std::string vectorsOfThreads()
    {
        return ".shared .align 16 .b8 room[1024];\nmov.u32 %r10, room;\nshl.b32 %r11, %r1, 4;\n"
               "add.s32 %r12, %r10, %r11;\nxor.b32 %r13, %r12, 512;\n";
    }

    void unusedBytesNeedNotBeWritten()
    {
        const auto body = [](const char* mask) {
            return vectorsOfThreads() + "st.shared.v2.u32 [%r12], {%r1, %r3};\nst.shared.u32 [%r12+8], %r3;\n"
                   + vectorLoad(mask, "shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r12]; // BUG\n")
                   + "add.s32 %r14, %r14, %r16;\nst.global.u32 [%d2], %r14;";
        };
        for (const char* mask : {"0xfff", "4095", "0x00000fff", "0xf", "0xf00"})
            verifyClean(body(mask));
        // Bytes that are used are found as ever.
        verify({body("0xffff"), Finding::Kind::UninitializedRead, "shared bytes 0 to 15"});
        verify({body("0xf0ff"), Finding::Kind::UninitializedRead, "shared bytes 12 to 15"});
        verify({body("0x1fff"), Finding::Kind::UninitializedRead, "shared bytes 0 to 12"});
        verify({body("0x8000"), Finding::Kind::UninitializedRead, "shared byte 15"});
        const auto local = [](const char* mask) {
            return ".local .align 16 .b8 mine[16];\nmov.u64 %d5, mine;\nst.local.u32 [%d5+8], %r1;\n"
                   + vectorLoad(mask, "local.v4.u32 {%r14, %r15, %r16, %r17}, [%d5]; // BUG\n");
        };
        verifyClean(local("0xf00"));
        verify({local("0xff0"), Finding::Kind::UninitializedRead, "local bytes 4 to 11"});
    }

    void aMaskIsOfTheNextLoadAlone()
    {
        const std::string first = vectorsOfThreads() + "st.shared.u32 [%r12], %r1;\n"
                                  + vectorLoad("0xf", "shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r12];\n");
        verify({first + "ld.shared.v2.u32 {%r18, %r19}, [%r12]; // BUG\n", Finding::Kind::UninitializedRead,
                "shared bytes 0 to 7"});
        verify({vectorsOfThreads()
                    + ".pragma \"used_bytes_mask 0xf\";\nst.shared.u32 [%r12], %r1;\n"
                      "ld.shared.v2.u32 {%r18, %r19}, [%r12]; // BUG\n",
                Finding::Kind::UninitializedRead, "shared bytes 0 to 7"});
    }

    void othersMayWriteUnusedBytes()
    {
        const auto shared = [](const char* mask) {
            return vectorsOfThreads() + "st.shared.v4.u32 [%r12], {%r1, %r1, %r1, %r1};\nbar.sync 0;\n"
                   + "setp.lt.u32 %p1, %r1, 32;\n"
                   + vectorLoad(mask, "shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r12]; // OTHER\n", "@%p1 ")
                   + "@!%p1 st.shared.u32 [%r13+12], %r1; // BUG\n";
        };
        verifyClean(shared("0xfff"));
        verify({shared("0xf0ff"), Finding::Kind::Race, "read at line"});
        const auto global = [](const char* mask) {
            return "setp.eq.u32 %p1, %r2, 0;\n"
                   + vectorLoad(mask, "global.v4.u32 {%r14, %r15, %r16, %r17}, [%d1]; // OTHER\n", "@%p1 ")
                   + "setp.eq.u32 %p2, %r3, 64;\n@%p2 st.global.u32 [%d1+4], %r1; // BUG\n";
        };
        verifyClean(global("0xff0f"), {2, 1, 1});
        verify({global("0xfff"), Finding::Kind::Race, "read at line", {2, 1, 1}});
    }

    void unusedBytesMayLieBehindTheEnd()
    {
        const auto body = [](const char* mask) {
            return vectorLoad(mask, "global.v4.u32 {%r14, %r15, %r16, %r17}, [%d1+240]; // BUG\n")
                   + "add.s32 %r14, %r14, %r16;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%d1], %r14;";
        };
        for (const bool quick : {false, true}) {
            KernelRun kernel(kernelText(".param .u64 out", kIndices + body("0xf0f")));
            kernel.quick = quick;
            const uint64_t out = kernel.put(std::vector<uint32_t>(63, 7));
            LATHE_VERIFY_CLEAN(kernel.run({1, 1, 1}, {64, 1, 1}, {out}));
            QCOMPARE(kernel.get<uint32_t>(out)[0], 14u);
        }
        const std::string text = kernelText(".param .u64 out", kIndices + body("0xf00f"));
        KernelRun kernel(text);
        const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1}, {kernel.put(std::vector<uint32_t>(63, 7))});
        QVERIFY(report.fault && report.fault->kind == FaultKind::IllegalAddress);
        QCOMPARE(report.fault->line, lineOf(text, "// BUG"));
        verifyFault(vectorLoad("0xff", "global.v4.u32 {%r14, %r15, %r16, %r17}, [%d1+8]; // BUG\n"),
                    FaultKind::MisalignedAddress, "no multiple of 16");
    }

    void misalignedVectorsAreAFault()
    {
        verifyFault("ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d1+8]; // BUG\n", FaultKind::MisalignedAddress,
                    "no multiple of 16");
        verifyFault("ld.global.u32 %r5, [%d1+2]; // BUG\n", FaultKind::MisalignedAddress, "no multiple of 4");
    }

    void constantsAndParametersAreNotWritten()
    {
        verifyFault("mov.u64 %d5, out;\ncvta.param.u64 %d5, %d5;\nst.u32 [%d5], %r1; // BUG\n",
                    FaultKind::IllegalAddress, "parameter");
    }

    void aTrapAndAnEndlessLoopEndTheLaunch()
    {
        verifyFault("setp.eq.u32 %p1, %r1, 40;\n@%p1 trap; // BUG\n", FaultKind::Trap, "thread (40,0,0)");
        KernelRun kernel(kernelText("", "LOOP:\nbra LOOP;"));
        const LaunchReport report = kernel.run({1, 1, 1}, {32, 1, 1}, {});
        QVERIFY(report.fault && report.fault->kind == FaultKind::Timeout);
    }

    // --- cp.async

    static std::string copying(const std::string& between)
    {
        return std::string(kShared)
               + "ld.global.u32 %r20, [%d2];\ncp.async.ca.shared.global [%r12], [%d2], 4; // "
                 "COPY\ncp.async.commit_group;\n"
               + between + "ld.shared.u32 %r14, [%r12]; // BUG\nst.global.u32 [%d2+256], %r14;";
    }

    void aCopyThatIsNotWaitedForIsFoundWheneverItArrives()
    {
        for (const AsyncArrival arrival : {AsyncArrival::AtIssue, AsyncArrival::AtWait}) {
            for (const char* between : {"", "bar.sync 0;\n", "cp.async.wait_group 1;\nbar.sync 0;\n"}) {
                const std::string text = kernelText(".param .u64 out", kIndices + copying(between));
                KernelRun kernel(text);
                const LaunchReport report = kernel.run({1, 1, 1}, {64, 1, 1},
                                                       {kernel.put(std::vector<uint32_t>(128, 7))}, 0, arrival);
                QVERIFY2(report.findings.all().size() == 1, qPrintable(textOf(report)));
                QVERIFY(report.findings.all()[0].kind == Finding::Kind::AsyncCopy);
                QCOMPARE(report.findings.all()[0].line, lineOf(text, "// BUG"));
                QCOMPARE(report.findings.all()[0].otherLine, lineOf(text, "// COPY"));
            }
        }
    }

    void aCopyThatIsWaitedForArrives()
    {
        for (const AsyncArrival arrival : {AsyncArrival::AtIssue, AsyncArrival::AtWait}) {
            for (const char* between : {"cp.async.wait_group 0;\n", "cp.async.wait_all;\nbar.sync 0;\n"}) {
                KernelRun kernel(kernelText(".param .u64 out", kIndices + copying(between)));
                const uint64_t out = kernel.put(std::vector<uint32_t>(128, 7));
                LATHE_VERIFY_CLEAN(kernel.run({1, 1, 1}, {64, 1, 1}, {out}, 0, arrival));
                QCOMPARE(kernel.get<uint32_t>(out)[64], 7u);
            }
        }
    }

    void othersNeedABarrierBehindTheWait()
    {
        const auto body = [](const std::string& between) {
            return std::string(kShared) + "cp.async.ca.shared.global [%r12], [%d2], 4; // OTHER\ncp.async.wait_all;\n"
                   + between
                   + "xor.b32 %r13, %r1, 32;\nshl.b32 %r13, %r13, 2;\nadd.s32 %r13, %r13, %r10;\nsetp.ge.u32 %p1, %r1, "
                     "32;\n"
                     "@%p1 ld.shared.u32 %r14, [%r13]; // BUG\n";
        };
        verify({body(""), Finding::Kind::Race, "without a barrier"});
        verifyClean(body("bar.sync 0;\n"));
    }

    void aCopyIntoWhatOthersStillReadIsARace()
    {
        const auto body = [](const std::string& between) {
            return std::string(kShared)
                   + "st.shared.u32 [%r12], %r1;\nbar.sync 0;\nxor.b32 %r13, %r12, 128;\n"
                     "ld.shared.u32 %r14, [%r13]; // BUG\n"
                   + between + "cp.async.ca.shared.global [%r12], [%d2], 4; // OTHER\ncp.async.wait_all;\n";
        };
        // The first warp has copied when the second one reads.
        verify({body(""), Finding::Kind::Race, "wrote at line"});
        verifyClean(body("bar.sync 0;\n"));
    }

    void theSourceOfACopyMayEndWithItsBytes()
    {
        // The last thread has 8 of its 16 bytes.
        const std::string body = std::string(kShared)
                                 + "shl.b32 %r21, %r1, 4;\nadd.s32 %r12, %r10, %r21;\nmul.wide.u32 %d5, %r1, "
                                   "16;\nadd.s64 %d5, %d5, %d1;\nsetp.eq.u32 %p1, %r1, 63;\nselp.b32 %r20, 8, 16, "
                                   "%p1;\ncp.async.ca.shared.global [%r12], [%d5], 16, %r20;\ncp.async.wait_all;\n"
                                   "ld.shared.u32 %r14, [%r12+8];\nbar.sync 0;\nst.global.u32 [%d2], %r14;";
        KernelRun kernel(kernelText(".param .u64 out", kIndices + body));
        const uint64_t out = kernel.put(std::vector<uint32_t>(254, 7));
        LATHE_VERIFY_CLEAN(kernel.run({1, 1, 1}, {64, 1, 1}, {out}));
        QCOMPARE(kernel.get<uint32_t>(out)[62], 7u);
        QCOMPARE(kernel.get<uint32_t>(out)[63], 0u);
    }

    void aBlockThatWritesWhatAnotherReadRacesWhoeverReadItSince()
    {
        const std::string body = "ld.global.u32 %r5, [%d1]; // OTHER\nbar.sync 0;\nsetp.eq.u32 %p1, %r3, 70;\n"
                                 "@%p1 st.global.u32 [%d1], %r5; // BUG\n";
        verify({body, Finding::Kind::Race, "nothing orders the two blocks", {2, 1, 1}});
        verifyClean(body, {1, 1, 1}, {96, 1, 1});
    }

    void onlyTheSourceBytesOfACopyAreRead()
    {
        const std::string body = std::string(kShared)
                                 + "mov.u32 %r20, 0;\nadd.s64 %d5, %d1, 1048576;\n"
                                   "cp.async.ca.shared.global [%r12], [%d5], 4, %r20;\ncp.async.wait_all;\n"
                                   "ld.shared.u32 %r14, [%r12];\nst.global.u32 [%d2], %r14;";
        KernelRun kernel(kernelText(".param .u64 out", kIndices + body));
        const uint64_t out = kernel.put(std::vector<uint32_t>(64, 7));
        LATHE_VERIFY_CLEAN(kernel.run({1, 1, 1}, {64, 1, 1}, {out}));
        QCOMPARE(kernel.get<uint32_t>(out)[5], 0u);
    }
};

LATHE_TEST(TestPtxFindings)

} // namespace tst_ptx_findings

#include "tst_ptx_findings.moc"
