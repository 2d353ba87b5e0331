#include "tests/cuda_driver/kernel_run.h"
#include "tests/support/test_program.h"

#include <random>

using namespace lathe::ptx;
using namespace lathe::ptx::testing;

namespace tst_ptx_quick {

/// %r1: the thread, %r2: the block, %d1: out, %d2: the thread's word of the block's part of it; %r10: shared memory,
/// %r11: the thread's word of it.
const char* const kIndices = "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                             "mov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %d2, %r4, 4;\n"
                             "add.s64 %d2, %d2, %d1;\nmov.u32 %r10, tile;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r11, %r11, "
                             "%r10;\n";
const char* const kTile = ".shared .align 16 .b8 tile[4096];\n.global .align 16 .b8 kept[64];\n";

std::string told(const Counters& c)
{
    std::string text;
    for (const uint64_t number : {c.warpInstructions, c.threadInstructions, c.flops, c.sharedRequests,
                                  c.sharedWavefronts, c.sharedIdeal, c.globalRequests, c.globalSectors, c.globalIdeal,
                                  c.globalReadBytes, c.globalWrittenBytes, c.atomics, c.barriers, c.divergentBranches})
        text += std::to_string(number) + " ";
    return text;
}

/// All that a launch leaves: what is told of it, and memory, with what is known to be written.
struct Left
{
    std::string told;
    std::vector<uint32_t> values;
    std::vector<uint8_t> initialized;
    bool wasQuick = false, isClean = false;
    bool operator==(const Left& other) const
    {
        return told == other.told && values == other.values && initialized == other.initialized;
    }
};

struct Case
{
    std::string body;
    Size3 grid = {3, 1, 1}, block = {64, 1, 1};
    AsyncArrival arrival = AsyncArrival::AtIssue;
    bool checked = true;
};

Left leftBy(const Case& of, bool quick)
{
    KernelRun kernel(kernelText(".param .u64 out", kIndices + of.body, kTile));
    Left left;
    if (!kernel.problem().empty()) {
        left.told = kernel.problem();
        return left;
    }
    kernel.quick = quick;
    kernel.checked = of.checked;
    std::vector<uint32_t> values(2048);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<uint32_t>(i * 2654435761U);
    const uint64_t out = kernel.put(values);
    // The last part was never written.
    std::memset(kernel.memory().find(out)->initialized.get() + 6144, 0, 2048);
    const LaunchReport report = kernel.run(of.grid, of.block, {out}, 0, of.arrival);
    left.told = textOf(report).toStdString();
    for (const Finding& finding : report.findings.all())
        left.told += std::to_string(finding.count) + " times\n";
    left.told += told(report.counters);
    left.values = kernel.get<uint32_t>(out);
    const uint8_t* const flags = kernel.memory().find(out)->initialized.get();
    left.initialized.assign(flags, flags + 8192);
    left.wasQuick = report.wasQuick;
    left.isClean = !report.fault && report.findings.all().empty();
    return left;
}

/// Launches are first run the quick way and, with a doubt, the exact one: that nobody can tell.
class TestPtxQuick : public QObject
{
    Q_OBJECT

    /// The same both ways. `isQuick`: no doubt comes up.
    static void verifyAlike(const Case& of, bool isQuick, bool isClean = true)
    {
        const Left quick = leftBy(of, true), exact = leftBy(of, false);
        QCOMPARE(QString::fromStdString(quick.told), QString::fromStdString(exact.told));
        QCOMPARE(quick.values, exact.values);
        QVERIFY(quick.initialized == exact.initialized);
        QVERIFY2(exact.isClean == isClean, exact.told.c_str());
        QCOMPARE(quick.wasQuick, isQuick);
        QVERIFY(!exact.wasQuick);
        Case unchecked = of;
        unchecked.checked = false;
        const Left plain = leftBy(unchecked, true), slow = leftBy(unchecked, false);
        QCOMPARE(QString::fromStdString(plain.told), QString::fromStdString(slow.told));
        QCOMPARE(plain.values, slow.values);
    }

private slots:
    void plainLaunchesAreQuick_data()
    {
        QTest::addColumn<QString>("body");
        QTest::addColumn<unsigned>("threads");
        const std::string swap = "ld.global.u32 %r20, [%d2+3072];\nst.shared.u32 [%r11], %r20;\nbar.sync 0;\n"
                                 "xor.b32 %r12, %r1, 1;\nshl.b32 %r12, %r12, 2;\nadd.u32 %r12, %r12, %r10;\n"
                                 "ld.shared.u32 %r21, [%r12];\nst.global.u32 [%d2], %r21;";
        const auto row = [](const char* name, const std::string& body, unsigned threads = 64) {
            QTest::newRow(name) << QString::fromStdString(body) << threads;
        };
        row("words", "ld.global.u32 %r20, [%d2+3072];\nst.global.u32 [%d2], %r20;");
        row("neighbours by way of shared memory", swap);
        row("a warp that is not full", swap, 28);
        row("a second warp that is not full", swap, 50);
        row("all read one place", "st.shared.u32 [%r11], %r1;\nbar.sync 0;\nld.shared.u32 %r21, [%r10+8];\n"
                                  "st.global.u32 [%d2], %r21;");
        row("vectors of four", "mul.lo.u32 %r12, %r1, 16;\nadd.u32 %r12, %r12, %r10;\nst.shared.v4.u32 [%r12], {%r1, "
                               "%r2, %r3, %r4};\nbar.sync 0;\nxor.b32 %r13, %r1, 5;\nmul.lo.u32 %r13, %r13, 16;\n"
                               "add.u32 %r13, %r13, %r10;\nld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r13];\n"
                               "add.u32 %r20, %r20, %r21;\nadd.u32 %r20, %r20, %r22;\nxor.b32 %r20, %r20, %r23;\n"
                               "st.global.u32 [%d2], %r20;");
        row("vectors of two", "ld.global.v2.u32 {%r20, %r21}, [%d1+4096];\nld.global.v2.b64 {%d5, %d6}, [%d1+4112];\n"
                              "cvt.u32.u64 %r22, %d6;\nadd.u32 %r20, %r20, %r21;\nxor.b32 %r20, %r20, %r22;\n"
                              "st.global.u32 [%d2], %r20;");
        row("vectors with gaps that nobody wrote",
            "mul.lo.u32 %r12, %r1, 16;\nadd.u32 %r12, %r12, %r10;\nst.shared.v2.u32 [%r12], {%r1, %r4};\n"
            "st.shared.u32 [%r12+12], %r3;\n.pragma \"used_bytes_mask 0xf0ff\";\n"
            "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r12];\nadd.u32 %r20, %r20, %r21;\n"
            ".local .align 16 .b8 mine[16];\nmov.u64 %d5, mine;\nst.local.u32 [%d5+4], %r1;\n"
            ".pragma \"used_bytes_mask 240\";\nld.local.v2.u32 {%r24, %r25}, [%d5];\n"
            "add.u32 %r20, %r20, %r23;\nxor.b32 %r20, %r20, %r25;\nst.global.u32 [%d2], %r20;");
        row("vectors with gaps that others write",
            "mul.wide.u32 %d5, %r4, 16;\nadd.s64 %d5, %d5, %d1;\nxor.b32 %r12, %r4, 1;\nmul.wide.u32 %d6, %r12, "
            "16;\nadd.s64 %d6, %d6, %d1;\n.pragma \"used_bytes_mask 0xfff\";\nld.global.v4.u32 {%r20, %r21, %r22, "
            "%r23}, [%d5];\nst.global.u32 [%d6+12], %r20;");
        row("some lanes alone", "setp.lt.u32 %p1, %r1, 11;\nld.global.u32 %r20, [%d2+3072];\n@%p1 ld.global.u32 %r20, "
                                "[%d2+4096];\n@!%p1 st.global.u32 [%d2], %r20;\n@%p1 st.global.u32 [%d2], %r1;");
        row("paths that part", "and.b32 %r12, %r1, 3;\nsetp.eq.u32 %p1, %r12, 2;\nmov.u32 %r20, 7;\n@%p1 bra AWAY;\n"
                               "ld.global.u32 %r20, [%d2+3072];\nbra ON;\nAWAY:\nld.global.u32 %r20, [%d2+4096];\n"
                               "add.u32 %r20, %r20, 3;\nON:\nst.global.u32 [%d2], %r20;");
        row("bytes and halves read", "and.b32 %r12, %r1, 31;\ncvt.u64.u32 %d5, %r12;\nadd.s64 %d5, %d5, %d1;\n"
                                     "ld.global.s8 %r20, [%d5+4099];\nshl.b64 %d6, %d5, 0;\nadd.s64 %d6, %d6, %d5;\n"
                                     "sub.s64 %d6, %d6, %d1;\nld.global.u16 %h1, [%d6+4098];\ncvt.u32.u16 %r21, %h1;\n"
                                     "xor.b32 %r20, %r20, %r21;\nst.global.u32 [%d2], %r20;");
        row("bytes written", "and.b32 %r12, %r4, 255;\ncvt.u64.u32 %d5, %r4;\nadd.s64 %d5, %d5, %d1;\n"
                             "st.global.u8 [%d5+64], %r12;");
        row("local memory", ".local .align 16 .b8 mine[64];\nand.b32 %r12, %r1, 7;\nshl.b32 %r12, %r12, 2;\nmov.u64 "
                            "%d5, mine;\ncvt.u64.u32 %d6, %r12;\nadd.s64 %d6, %d6, %d5;\nst.local.u32 [%d6], %r1;\n"
                            "st.local.v4.u32 [%d5+32], {%r1, %r2, %r3, %r4};\nld.local.u32 %r20, [%d6];\n"
                            "ld.local.u32 %r21, [%d5+44];\nadd.u32 %r20, %r20, %r21;\nst.global.u32 [%d2], %r20;");
        row("generic addresses", "cvta.shared.u64 %d5, %d9;\ncvt.u64.u32 %d6, %r11;\nadd.s64 %d5, %d5, %d6;\n"
                                 "sub.s64 %d5, %d5, %d9;\nst.u32 [%d5], %r4;\nld.u32 %r20, [%d5];\nst.u32 [%d2], "
                                 "%r20;");
        row("atomics", "red.global.add.u32 [%d1], 1;\natom.global.max.u32 %r20, [%d2+1024], %r4;\nst.global.u32 "
                       "[%d2+2048], %r20;");
        row("in place", "ld.global.u32 %r20, [%d2];\nadd.u32 %r20, %r20, 5;\nst.global.u32 [%d2], %r20;");
        row("in place, twice", "ld.global.u32 %r20, [%d2];\nst.global.u32 [%d2], %r4;\nbar.sync 0;\nld.global.u32 "
                               "%r21, [%d2];\nadd.u32 %r20, %r20, %r21;\nst.global.u32 [%d2], %r20;");
        row("sums in shared memory",
            "st.shared.u32 [%r11], %r4;\nbar.sync 0;\nmov.u32 %r12, 16;\nLOOP:\nsetp.lt.u32 %p1, %r1, %r12;\n"
            "shl.b32 %r13, %r12, 2;\nadd.u32 %r13, %r13, %r11;\n@%p1 ld.shared.u32 %r20, [%r13];\n@%p1 ld.shared.u32 "
            "%r21, [%r11];\n@%p1 add.u32 %r20, %r20, %r21;\n@%p1 st.shared.u32 [%r11], %r20;\nbar.sync 0;\n"
            "shr.u32 %r12, %r12, 1;\nsetp.ne.u32 %p2, %r12, 0;\n@%p2 bra LOOP;\nld.shared.u32 %r20, [%r11];\n"
            "st.global.u32 [%d2], %r20;");
        row("copies that are waited for",
            "cp.async.ca.shared.global [%r11], [%d2+3072], 4;\ncp.async.commit_group;\ncp.async.ca.shared.global "
            "[%r11+512], [%d2+3076], 4, %r12;\ncp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\n"
            "xor.b32 %r13, %r11, 4;\nld.shared.u32 %r20, [%r13];\ncp.async.wait_all;\nld.shared.u32 %r21, "
            "[%r11+512];\nadd.u32 %r20, %r20, %r21;\nst.global.u32 [%d2], %r20;");
    }
    void plainLaunchesAreQuick()
    {
        QFETCH(QString, body);
        QFETCH(unsigned, threads);
        for (const AsyncArrival arrival : {AsyncArrival::AtIssue, AsyncArrival::AtWait})
            verifyAlike({body.toStdString(), {3, 1, 1}, {threads, 1, 1}, arrival}, true);
    }

    void whatIsFoundIsFoundEitherWay_data()
    {
        QTest::addColumn<QString>("body");
        const auto row = [](const char* name, const char* body) { QTest::newRow(name) << QString::fromUtf8(body); };
        row("no barrier", "st.shared.u32 [%r11], %r1;\nxor.b32 %r13, %r11, 128;\nld.shared.u32 %r20, [%r13];\n"
                          "st.global.u32 [%d2], %r20;");
        row("no barrier within a warp", "st.shared.u32 [%r11], %r1;\nxor.b32 %r13, %r11, 4;\nld.shared.u32 %r20, "
                                        "[%r13];\nst.global.u32 [%d2], %r20;");
        row("written while others read", "st.shared.u32 [%r11], %r1;\nbar.sync 0;\nld.shared.u32 %r20, [%r10];\n"
                                         "setp.eq.u32 %p1, %r1, 40;\n@%p1 st.shared.u32 [%r10], %r20;");
        row("read by one, then by all, then written by the one",
            "st.shared.u32 [%r11], %r1;\nbar.sync 0;\nsetp.eq.u32 %p1, %r1, 3;\nld.shared.u32 %r20, [%r10];\n"
            "@%p1 ld.shared.u32 %r20, [%r10];\n@%p1 st.shared.u32 [%r10], %r20;");
        row("two lanes write one word", "shr.u32 %r12, %r1, 1;\nshl.b32 %r12, %r12, 2;\nadd.u32 %r12, %r12, %r10;\n"
                                        "st.shared.u32 [%r12], %r1;");
        row("shared memory that nobody wrote", "ld.shared.u32 %r20, [%r11+512];\nst.global.u32 [%d2], %r20;");
        row("shared memory of the last block",
            "setp.eq.u32 %p1, %r2, 0;\n@%p1 st.shared.u32 [%r11], %r1;\nld.shared.u32 %r20, [%r11];\n"
            "st.global.u32 [%d2], %r20;");
        row("global memory that nobody wrote", "ld.global.u32 %r20, [%d2+6144];\nst.global.u32 [%d2], %r20;");
        row("what is used of a vector, which nobody wrote",
            "mul.lo.u32 %r12, %r1, 16;\nadd.u32 %r12, %r12, %r10;\nst.shared.v2.u32 [%r12], {%r1, %r4};\n"
            ".pragma \"used_bytes_mask 0xf0ff\";\nld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r12];\n"
            "st.global.u32 [%d2], %r20;");
        row("a byte that nobody wrote", "ld.global.u8 %r20, [%d2+6143];\nst.global.u32 [%d2], %r20;");
        row("local memory that nobody wrote", ".local .align 4 .b8 mine[16];\nmov.u64 %d5, mine;\nld.local.u32 %r20, "
                                              "[%d5+4];\nst.global.u32 [%d2], %r20;");
        row("blocks write one place", "mul.wide.u32 %d3, %r1, 4;\nadd.s64 %d3, %d3, %d1;\nst.global.u32 [%d3], %r2;");
        row("a block reads what another wrote",
            "st.global.u32 [%d2], %r4;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra END;\nld.global.u32 %r20, [%d2+-256];\n"
            "st.global.u32 [%d2+3072], %r20;\nEND:\n");
        row("a block writes what another read", "ld.global.u32 %r20, [%d2+256];\nst.global.u32 [%d2], %r20;");
        row("a block writes what several read",
            "ld.global.u32 %r20, [%d1+4];\nbar.sync 0;\nsetp.eq.u32 %p1, %r4, 130;\n@%p1 st.global.u32 [%d1+4], %r20;");
        row("a read beside atomics", "red.global.add.u32 [%d1], 1;\nld.global.u32 %r20, [%d1];\nst.global.u32 "
                                     "[%d2+256], %r20;");
        row("a write beside atomics", "red.global.add.u32 [%d1], 1;\nsetp.eq.u32 %p1, %r4, 100;\n@%p1 st.global.u32 "
                                      "[%d1], %r4;");
        row("an atomic on what nobody wrote", "red.global.add.u32 [%d1+6400], 1;");
        row("a word of bytes of several threads, one twice",
            "cvt.u64.u32 %d5, %r4;\nadd.s64 %d5, %d5, %d1;\nst.global.u8 [%d5], %r1;\nxor.b32 %r12, %r4, 1;\n"
            "cvt.u64.u32 %d5, %r12;\nadd.s64 %d5, %d5, %d1;\nst.global.u8 [%d5], %r1;");
        row("out of bounds, after something was written",
            "st.global.u32 [%d2], %r4;\nsetp.eq.u32 %p1, %r4, 150;\nmov.u64 %d5, %d1;\n@%p1 add.s64 %d5, %d1, 8192;\n"
            "st.global.u32 [%d5], %r1;");
        row("shared memory out of bounds", "st.global.u32 [%d2], %r4;\nst.shared.u32 [%r11+3900], %r1;");
        row("misaligned", "st.global.u32 [%d2], %r4;\nld.global.v2.u32 {%r20, %r21}, [%d2];");
        row("a trap, after a race", "st.shared.u32 [%r10], %r1;\nsetp.eq.u32 %p1, %r4, 70;\n@%p1 trap;");
        row("a copy that is not waited for", "cp.async.ca.shared.global [%r11], [%d2+3072], 4;\n"
                                             "cp.async.commit_group;\nld.shared.u32 %r20, [%r11];\n"
                                             "st.global.u32 [%d2], %r20;");
        row("a copy that is waited for by others",
            "cp.async.ca.shared.global [%r11], [%d2+3072], 4;\ncp.async.wait_all;\nxor.b32 %r13, %r11, 128;\n"
            "ld.shared.u32 %r20, [%r13];\nst.global.u32 [%d2], %r20;");
        row("lanes elsewhere", "setp.lt.u32 %p1, %r1, 16;\nst.global.u32 [%d2], %r4;\n@%p1 bra AT;\nret;\nAT:\n"
                               "bar.sync 0;");
        row("an endless loop after a race", "st.global.u32 [%d1], %r4;\nLOOP:\nbra LOOP;");
    }
    void whatIsFoundIsFoundEitherWay()
    {
        QFETCH(QString, body);
        for (const AsyncArrival arrival : {AsyncArrival::AtIssue, AsyncArrival::AtWait})
            verifyAlike({body.toStdString(), {3, 1, 1}, {64, 1, 1}, arrival}, false, false);
    }

    void anEndlessLoopIsEndedOnce() { verifyAlike({"LOOP:\nbra LOOP;"}, true, false); }

    void finerOrdersAreLeftToTheExactWay_data()
    {
        QTest::addColumn<QString>("body");
        QTest::newRow("a barrier of a warp") << "st.shared.u32 [%r11], %r1;\nbar.warp.sync -1;\nxor.b32 %r13, %r11, "
                                                "4;\nld.shared.u32 %r20, [%r13];\nst.global.u32 [%d2], %r20;";
        QTest::newRow("a barrier of some warps")
            << "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra END;\nst.shared.u32 [%r11], %r1;\nbar.sync 1, 32;\nxor.b32 %r13, "
               "%r11, 4;\nld.shared.u32 %r20, [%r13];\nst.global.u32 [%d2], %r20;\nEND:\n";
        QTest::newRow("atomics of shared memory")
            << "st.shared.u32 [%r11], %r1;\nbar.sync 0;\nred.shared.add.u32 [%r10], 1;";
        QTest::newRow("a volatile write") << "st.volatile.global.u32 [%d2], %r4;";
        QTest::newRow("bytes of shared memory") << "add.u32 %r12, %r10, %r1;\nst.shared.u8 [%r12], %r1;\nld.shared.u8 "
                                                   "%r20, [%r12];\nst.global.u32 [%d2], %r20;";
    }
    void finerOrdersAreLeftToTheExactWay()
    {
        QFETCH(QString, body);
        const Case of{body.toStdString()};
        const Left quick = leftBy(of, true), exact = leftBy(of, false);
        QCOMPARE(QString::fromStdString(quick.told), QString::fromStdString(exact.told));
        QCOMPARE(quick.values, exact.values);
        QVERIFY2(exact.isClean, exact.told.c_str());
        QVERIFY(!quick.wasQuick);
    }

    void randomLaunchesAreTheSameEitherWay()
    {
        unsigned seed = 1;
        if (const char* const given = std::getenv("LATHE_TEST_SEED"))
            seed = static_cast<unsigned>(std::strtoul(given, nullptr, 10));
        size_t rounds = 400;
        if (const char* const given = std::getenv("LATHE_TEST_ROUNDS"))
            rounds = std::strtoul(given, nullptr, 10);
        std::mt19937 random(seed);
        const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
        size_t quickOnes = 0, cleanOnes = 0;
        for (size_t round = 0; round < rounds; ++round) {
            Case of;
            of.grid.x = 1 + below(3);
            of.block.x = 1 + below(100);
            of.arrival = below(2) == 0 ? AsyncArrival::AtIssue : AsyncArrival::AtWait;
            const bool isCareful = below(2) == 0; // each thread to itself, or with barriers
            const unsigned steps = 2 + below(8);
            of.body = "st.shared.u32 [%r11], %r4;\nbar.sync 0;\n";
            for (unsigned step = 0; step < steps; ++step) {
                const std::string guard = below(4) == 0 ? "@%p1 " : "";
                if (!guard.empty())
                    of.body += "setp.lt.u32 %p1, %r1, " + std::to_string(below(100)) + ";\n";
                // A place of shared memory: the thread's own, or another's.
                const bool isOwn = below(3) > 0;
                of.body += isOwn ? "mov.u32 %r12, %r11;\n"
                                 : "mul.lo.u32 %r12, %r1, " + std::to_string(below(6)) + ";\nadd.u32 %r12, %r12, "
                                       + std::to_string(below(8))
                                       + ";\nrem.u32 %r12, %r12, %r3;\nshl.b32 %r12, %r12, "
                                         "2;\nadd.u32 %r12, %r12, %r10;\n";
                const std::string barrier = isCareful && !isOwn ? "bar.sync 0;\n" : "";
                switch (below(7)) {
                case 0:
                case 1: of.body += barrier + guard + "ld.shared.u32 %r20, [%r12];\n" + barrier; break;
                case 2:
                    if (isOwn || !isCareful)
                        of.body += guard + "st.shared.u32 [%r12], %r20;\n";
                    break;
                case 3:
                    of.body += guard + "ld.global.u32 %r21, [%d2+" + std::to_string(4096 + 4 * below(8)) + "];\n"
                               + "add.u32 %r20, %r20, %r21;\n";
                    break;
                case 4:
                    of.body += guard + "st.global.u32 [%d2+" + std::to_string(isCareful ? 0 : 4 * below(2))
                               + "], %r20;\n";
                    break;
                case 5: of.body += "bar.sync 0;\n"; break;
                default:
                    of.body += barrier + guard + "cp.async.ca.shared.global [%r11], [%d2+4096], 4;\n";
                    of.body += below(4) > 0 || isCareful ? "cp.async.wait_all;\n" + barrier : "";
                    break;
                }
            }
            of.body += "st.global.u32 [%d2+64], %r20;\n";
            const Left quick = leftBy(of, true), exact = leftBy(of, false);
            if (!(quick == exact))
                QFAIL(qPrintable(QStringLiteral("seed %1, round %2:\n%3\nquick: %4\nexact: %5")
                                     .arg(seed)
                                     .arg(round)
                                     .arg(QString::fromStdString(of.body), QString::fromStdString(quick.told),
                                          QString::fromStdString(exact.told))));
            quickOnes += quick.wasQuick ? 1 : 0;
            cleanOnes += exact.isClean ? 1 : 0;
            QVERIFY(!quick.wasQuick || exact.isClean);
        }
        // Of those without a finding most have no doubt either, and there are enough of both kinds.
        QVERIFY2(quickOnes > rounds / 10 && cleanOnes < rounds * 9 / 10 && quickOnes * 2 > cleanOnes,
                 qPrintable(QStringLiteral("%1 quick, %2 clean").arg(quickOnes).arg(cleanOnes)));
    }
};

LATHE_TEST(TestPtxQuick)

} // namespace tst_ptx_quick

#include "tst_ptx_quick.moc"
