#include "tests/cuda_driver/kernel_run.h"
#include "tests/support/test_program.h"

using namespace lathe::ptx;
using namespace lathe::ptx::testing;

namespace tst_ptx_control {

/// Each thread stores %r9 in its word of out.
const char* const kBegin =
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "mov.u32 %r5, %laneid;\nmov.u32 %r9, 0;\n";
const char* const kEnd =
    "\nld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %r4, 4;\nadd.s64 %d3, %d1, %d2;\nst.global.u32 [%d3], %r9;\n";

/// Branches, loops, calls, what warps do together.
class TestPtxControl : public QObject
{
    Q_OBJECT

    using Words = std::vector<uint32_t>;

    static Words ran(const std::string& body, Size3 grid, Size3 block, const std::string& before = "")
    {
        KernelRun kernel(kernelText(".param .u64 out", kBegin + body + kEnd, before));
        if (!kernel.problem().empty()) {
            QTest::qFail(kernel.problem().c_str(), __FILE__, __LINE__);
            return {};
        }
        const uint64_t out = kernel.put(Words(grid.count() * block.count(), 0xdead));
        const LaunchReport report = kernel.run(grid, block, {out});
        if (report.fault || !report.findings.all().empty())
            QTest::qFail(qPrintable(textOf(report)), __FILE__, __LINE__);
        return kernel.get<uint32_t>(out);
    }

    template<typename F>
    static void verify(const std::string& body, F&& expected, Size3 grid = {1, 1, 1}, Size3 block = {64, 1, 1},
                       const std::string& before = "")
    {
        const Words got = ran(body, grid, block, before);
        for (uint32_t i = 0; i < got.size(); ++i)
            QVERIFY2(got[i] == uint32_t(expected(i)),
                     qPrintable(
                         QStringLiteral("thread %1: %2 instead of %3").arg(i).arg(got[i]).arg(uint32_t(expected(i)))));
    }

private slots:
    void specialRegisters()
    {
        verify("mov.u32 %r10, %tid.y;\nmov.u32 %r11, %tid.z;\nmov.u32 %r12, %ctaid.y;\nmov.u32 %r13, "
               "%nctaid.y;\nmov.u32 %r14, %ntid.y;\nmov.u32 %r15, %warpid;\n"
               "mov.u32 %r16, %lanemask_lt;\nmov.u32 %r20, %tid.x;\n"
               // A number for the thread within the block, of its own.
               "mov.u32 %r21, %ntid.x;\nmad.lo.u32 %r22, %r11, %r14, %r10;\nmad.lo.u32 %r4, %r22, %r21, %r20;\n"
               "mul.lo.u32 %r9, %r15, 1000;\nadd.u32 %r9, %r9, %r16;\nmad.lo.u32 %r9, %r13, 100000, %r9;\n",
               [](uint32_t i) { return i / 32 * 1000 + ((1u << i % 32) - 1) + 100000; }, {1, 1, 1}, {8, 4, 3});
    }

    void lanesGoDifferentWaysAndMeetAgain()
    {
        verify("and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra EVEN;\nmul.lo.u32 %r9, %r1, 3;\nbra "
               "MEET;\nEVEN:\nadd.u32 %r9, %r1, 100;\n"
               "MEET:\nactivemask.b32 %r11;\npopc.b32 %r11, %r11;\nmad.lo.u32 %r9, %r11, 1000, %r9;\n",
               [](uint32_t i) { return 32000 + (i % 2 == 0 ? i + 100 : 3 * i); });
    }

    /// Odd lanes go back to where a predicate is written while even ones hold a register that begins behind it.
    void whatLanesWriteElsewhereChangesNothingOfOthers()
    {
        verify("and.b32 %r10, %r1, 1;\nmov.u32 %r11, 0;\nmov.u32 %r9, 0;\nTOP:\nsetp.lt.u32 %p1, %r11, 2;\n"
               "@%p1 add.u32 %r9, %r9, 100;\nmad.lo.u32 %r12, %r1, 10, 7;\nadd.u32 %r11, %r11, 1;\n"
               "setp.lt.u32 %p2, %r11, 3;\nsetp.ne.and.u32 %p3, %r10, 0, %p2;\n@%p3 bra TOP;\n"
               "add.u32 %r9, %r9, %r12;\n",
               [](uint32_t i) { return (i % 2 == 0 ? 100 : 200) + 10 * i + 7; });
    }

    void loopsEndWhenTheirLaneDoes()
    {
        verify("mov.u32 %r10, 0;\nLOOP:\nsetp.ge.u32 %p1, %r10, %r1;\n@%p1 bra DONE;\nadd.u32 %r9, %r9, %r10;\nadd.u32 "
               "%r10, %r10, 1;\nbra LOOP;\nDONE:\n",
               [](uint32_t i) { return i * (i - 1) / 2; });
    }

    void guardsKeepLanesBack()
    {
        verify("setp.lt.u32 %p1, %r1, 10;\nmov.u32 %r9, 1;\n@%p1 mov.u32 %r9, 2;\n@!%p1 add.u32 %r9, %r9, "
               "5;\nsetp.eq.u32 %p2, %r1, 20;\n@%p2 ret;\n",
               [](uint32_t i) { return i == 20  ? 0xdead
                                       : i < 10 ? 2
                                                : 6; });
    }

    void labelsOfBracesAreTheirOwn()
    {
        std::string body;
        for (int k = 0; k < 2; ++k)
            body += "{\n.reg .pred %q;\nsetp.lt.u32 %q, %r1, 5;\n@%q bra L;\nadd.u32 %r9, %r9, 7;\nL:\nadd.u32 %r9, "
                    "%r9, 1;\n}\n";
        verify(body, [](uint32_t i) { return i < 5 ? 2 : 16; });
    }

    void indexedBranches()
    {
        verify("rem.u32 %r10, %r1, 3;\nT: .branchtargets A, B, C;\nbrx.idx %r10, T;\nA:\nmov.u32 %r9, 11;\nbra "
               "E;\nB:\nmov.u32 %r9, 22;\nbra E;\nC:\nmov.u32 %r9, 33;\nE:\n",
               [](uint32_t i) { return 11 * (i % 3 + 1); });
    }

    void functionsAreCalledByTheLanesThatDo()
    {
        const std::string function = ".func (.param .b32 r) twice(.param .b32 a, .param .b32 b)\n{\n.reg .b32 "
                                     "%x<4>;\nld.param.b32 %x1, [a];\nld.param.b32 %x2, [b];\n"
                                     "mad.lo.u32 %x3, %x1, 2, %x2;\nst.param.b32 [r], %x3;\nret;\n}\n"
                                     ".func (.param .b32 r) thrice(.param .b32 a)\n{\n.reg .b32 %x<4>;\nld.param.b32 "
                                     "%x1, [a];\n{\n.param .b32 p0;\n.param .b32 p1;\n.param .b32 q;\n"
                                     "st.param.b32 [p0], %x1;\nst.param.b32 [p1], %x1;\ncall.uni (q), twice, (p0, "
                                     "p1);\nld.param.b32 %x2, [q];\n}\nst.param.b32 [r], %x2;\nret;\n}\n";
        verify(
            "setp.lt.u32 %p1, %r1, 7;\n@!%p1 bra OTHER;\n{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], "
            "%r1;\ncall.uni (q), thrice, (p);\nld.param.b32 %r9, [q];\n}\nbra E;\n"
            "OTHER:\n{\n.param .b32 p0;\n.param .b32 p1;\n.param .b32 q;\nst.param.b32 [p0], %r1;\nst.param.b32 [p1], "
            "1;\ncall (q), twice, (p0, p1);\nld.param.b32 %r9, [q];\n}\nE:\n",
            [](uint32_t i) { return i < 7 ? 3 * i : 2 * i + 1; }, {1, 1, 1}, {64, 1, 1}, function);
    }

    void shuffles()
    {
        verify("shfl.sync.idx.b32 %r9, %r1, 5, 31, -1;\n", [](uint32_t i) { return i / 32 * 32 + 5; });
        verify("shfl.sync.up.b32 %r9|%p1, %r1, 3, 0, -1;\n@!%p1 mov.u32 %r9, 77;\n",
               [](uint32_t i) { return i % 32 < 3 ? 77 : i - 3; });
        verify("shfl.sync.down.b32 %r9|%p1, %r1, 4, 31, -1;\n@!%p1 add.u32 %r9, %r9, 1000;\n",
               [](uint32_t i) { return i % 32 + 4 > 31 ? i + 1000 : i + 4; });
        verify("shfl.sync.bfly.b32 %r9, %r1, 6, 31, -1;\n", [](uint32_t i) { return i ^ 6; });
        // Segments of eight: the mask of c is 0x18 << 8.
        verify("shfl.sync.idx.b32 %r9, %r1, 2, 6175, -1;\n", [](uint32_t i) { return i / 8 * 8 + 2; });
        verify("shfl.sync.down.b32 %r9, %r1, 7, 6175, -1;\n", [](uint32_t i) { return i % 8 == 0 ? i + 7 : i; });
        // A register that is source and result.
        verify("mov.u32 %r9, %r1;\nshfl.sync.idx.b32 %r9, %r9, 9, 31, -1;\n",
               [](uint32_t i) { return i / 32 * 32 + 9; });
    }

    void lanesWaitForThoseThatAreNamed()
    {
        // Half of the lanes come by a longer way to the same shuffle.
        verify("setp.lt.u32 %p1, %r5, 16;\n@%p1 bra AT;\nadd.u32 %r10, %r1, 0;\nadd.u32 %r10, %r10, "
               "0;\nAT:\nshfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;\n",
               [](uint32_t i) { return i ^ 16; });
        // The lower half loops behind it first, so that the upper half has to wait.
        verify("mov.u32 %r10, 0;\nLOOP:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, %r5;\n@%p1 bra "
               "LOOP;\nbar.warp.sync -1;\nvote.sync.ballot.b32 %r9, 1, -1;\n",
               [](uint32_t) { return 0xffffffff; });
    }

    void votes()
    {
        verify("setp.lt.u32 %p1, %r5, 3;\nvote.sync.ballot.b32 %r9, %p1, -1;\n", [](uint32_t) { return 7; });
        verify("setp.lt.u32 %p1, %r1, 40;\nvote.sync.all.pred %p2, %p1, -1;\nvote.sync.any.pred %p3, !%p1, "
               "-1;\nselp.u32 %r9, 1, 0, %p2;\n@%p3 add.u32 %r9, %r9, 2;\n",
               [](uint32_t i) { return i < 32 ? 1 : 2; });
        verify("and.b32 %r10, %r1, 3;\nmatch.any.sync.b32 %r9, %r10, -1;\n",
               [](uint32_t i) { return 0x11111111u << (i & 3); });
        verify("match.all.sync.b32 %r9|%p1, %r2, -1;\n@!%p1 mov.u32 %r9, 0;\n", [](uint32_t) { return 0xffffffff; });
        verify("redux.sync.add.s32 %r9, %r5, -1;\n", [](uint32_t) { return 496; });
        verify("sub.s32 %r10, %r5, 40;\nredux.sync.max.s32 %r9, %r10, -1;\n", [](uint32_t) { return uint32_t(-9); });
    }

    void barriersThatReduce()
    {
        verify("setp.lt.u32 %p1, %r1, 40;\nbar.red.popc.u32 %r9, 0, %p1;\n", [](uint32_t) { return 40; });
        verify("setp.lt.u32 %p1, %r1, 40;\nbar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, %p1;\nselp.u32 %r9, "
               "1, 0, %p2;\n@%p3 add.u32 %r9, %r9, 2;\n",
               [](uint32_t) { return 2; });
        verify("setp.lt.u32 %p1, %r1, 40;\nbarrier.cta.red.popc.aligned.u32 %r9, 1, 64, !%p1;\n",
               [](uint32_t) { return 24; });
    }

    void someArriveAndOthersWait()
    {
        // Warp 0 writes and arrives; warp 1 waits and reads.
        verify(".shared .align 4 .b8 room[128];\nmov.u32 %r10, room;\nshl.b32 %r11, %r5, 2;\nadd.u32 %r10, %r10, "
               "%r11;\nsetp.lt.u32 %p1, %r1, 32;\n@!%p1 bra READ;\n"
               "add.u32 %r12, %r1, 7;\nst.shared.u32 [%r10], %r12;\nbar.arrive 3, 64;\nbra E;\nREAD:\nbar.sync 3, "
               "64;\nld.shared.u32 %r9, [%r10];\nE:\n",
               [](uint32_t i) { return i < 32 ? 0 : i - 32 + 7; });
    }

    void aLaneThatSpinsLetsOthersRun()
    {
        // Every thread takes a lock of shared memory: those of a warp spin until their neighbour has left.
        verify(".shared .align 4 .b8 lock[8];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [lock], 0;\n@%p1 "
               "st.shared.u32 [lock+4], 0;\nbar.sync 0;\n"
               "SPIN:\natom.shared.cas.b32 %r10, [lock], 0, 1;\nsetp.ne.u32 %p2, %r10, 0;\n@%p2 bra SPIN;\n"
               "atom.shared.add.u32 %r11, [lock+4], 1;\natom.shared.exch.b32 %r10, [lock], 0;\nbar.sync "
               "0;\natom.shared.add.u32 %r9, [lock+4], 0;\n",
               [](uint32_t) { return 64; });
    }

    void warpsAtTheEndOfABlockMayBePartOfOne()
    {
        verify("vote.sync.ballot.b32 %r9, 1, 31;\nbar.sync 0;\n", [](uint32_t) { return 31; }, {3, 1, 1}, {5, 1, 1});
        verify("activemask.b32 %r9;\n", [](uint32_t i) { return i % 40 < 32 ? 0xffffffff : 0xff; }, {2, 1, 1},
               {40, 1, 1});
    }
};

LATHE_TEST(TestPtxControl)

} // namespace tst_ptx_control

#include "tst_ptx_control.moc"
