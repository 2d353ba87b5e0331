#include "tests/cuda_driver/kernel_run.h"
#include "tests/support/test_program.h"

using namespace lathe::ptx;
using namespace lathe::ptx::testing;

namespace tst_ptx_memory {

const char* const kPlace =
    "mov.u32 %r1, %tid.x;\nld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n";

/// Loads, stores, atomics in all spaces; what is counted of them.
class TestPtxMemory : public QObject
{
    Q_OBJECT

    using Words = std::vector<uint32_t>;

    static Words ran(const std::string& body, Words out, Size3 block = {32, 1, 1}, const std::string& before = "",
                     Counters* counters = nullptr)
    {
        KernelRun kernel(kernelText(".param .u64 out", kPlace + body, before));
        if (!kernel.problem().empty()) {
            QTest::qFail(kernel.problem().c_str(), __FILE__, __LINE__);
            return {};
        }
        const uint64_t address = kernel.put(out);
        const LaunchReport report = kernel.run({1, 1, 1}, block, {address});
        if (report.fault || !report.findings.all().empty())
            QTest::qFail(qPrintable(textOf(report)), __FILE__, __LINE__);
        if (counters)
            *counters = report.counters;
        return kernel.get<uint32_t>(address);
    }

private slots:
    void bytesAndHalvesKeepTheirSign()
    {
        const Words got = ran(
            "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nld.global.s8 %r2, [%d1];\nld.global.u8 %r3, [%d1];\nld.global.s16 "
            "%r4, [%d1];\nld.global.u16 %h1, [%d1];\n"
            "ld.global.s8 %h2, [%d1];\ncvt.s32.s16 %r5, %h2;\nld.global.s32 %d5, [%d1+4];\nst.global.u32 [%d1+8], "
            "%r2;\nst.global.u32 [%d1+12], %r3;\nst.global.u32 [%d1+16], %r4;\n"
            "st.global.u16 [%d1+20], %h1;\nst.global.u32 [%d1+24], %r5;\nst.global.u64 [%d1+32], %d5;\nst.global.u8 "
            "[%d1+40], %r4;\n",
            {0xffff8091, 0x80000000, 0, 0, 0, 0x11111111, 0, 0, 0, 0, 0x22222222});
        QCOMPARE(got, (Words{0xffff8091, 0x80000000, 0xffffff91, 0x91, 0xffff8091, 0x11118091, 0xffffff91, 0,
                             0x80000000, 0xffffffff, 0x22222291}));
    }

    void initialValuesAreOfTheirType()
    {
        const Words got = ran("setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nld.global.u32 %r2, [one];\nld.global.u32 %r3, "
                              "[one+4];\nld.global.u64 %d5, [two];\nld.const.u32 %r4, [three+4];\n"
                              "st.global.u32 [%d1], %r2;\nst.global.u32 [%d1+4], %r3;\nst.global.u64 [%d1+8], %d5;\n"
                              "st.global.u32 [%d1+16], %r4;",
                              {0, 0, 0, 0, 0}, {32, 1, 1},
                              ".global .align 4 .f32 one[2] = {1.5, -0f3F800000};\n.global .align 8 .f64 two[1] = "
                              "{-0.25};\n.const .align 4 .s32 three[2] = {1, -3};\n");
        QCOMPARE(got, (Words{0x3fc00000, 0xbf800000, 0, 0xbfd00000, 0xfffffffd}));
        KernelRun kernel(kernelText("", "", ".global .f32 one = 1;\n"));
        QVERIFY(kernel.problem().find("whole number") != std::string::npos);
    }

    void whatStandsBehindALocationIsRun()
    {
        const Words got = ran("setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n.loc 1 7 3 st.global.u32 [%d1], 5;\n.loc 1 8 2, "
                              "function_name $L__info_string0+24, inlined_at 1 20 3\nst.global.u32 [%d1+4], 6;",
                              {0, 0});
        QCOMPARE(got, (Words{5, 6}));
    }

    void sumsOfFloatsInGlobalMemoryHaveNoSubnormals()
    {
        const Words got = ran(".shared .align 4 .b8 s[8];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nmov.b32 %f1, "
                              "0x80000001;\nred.global.add.f32 [%d1], %f1;\nmov.u32 %r2, 0x00000003;\n"
                              "st.shared.u32 [s], %r2;\nred.shared.add.f32 [s], %f1;\nld.shared.u32 %r3, [s];\n"
                              "st.global.u32 [%d1+4], %r3;\nmov.b32 %f2, 0xffc12345;\nred.global.add.f32 [%d1+8], "
                              "%f2;",
                              {0x80000000, 0, 0x3f800000});
        QCOMPARE(got, (Words{0x80000000, 2, 0x7fffffff}));
    }

    void vectorsAndModifiers()
    {
        const Words got = ran(
            "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, "
            "[%d1];\nld.volatile.global.v2.u32 {%r2, _}, [%d1+8];\n"
            "ld.global.L1::evict_last.L2::128B.v2.b64 {%d5, %d6}, [%d1];\nld.relaxed.gpu.global.u32 %r3, [%d1+4];\n"
            "st.global.cs.v4.f32 [%d1+16], {%f4, %f3, %f2, %f1};\nst.global.v2.b64 [%d1+32], {%d6, "
            "%d5};\nst.release.gpu.global.u32 [%d1+48], %r2;\nst.global.u32 [%d1+52], %r3;\n",
            {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        QCOMPARE(got, (Words{1, 2, 3, 4, 4, 3, 2, 1, 3, 4, 1, 2, 3, 2}));
    }

    void genericAddressesLeadToTheirSpace()
    {
        // The same instruction reads shared memory in even lanes and local memory in odd ones.
        const Words got = ran(
            ".shared .align 4 .b8 s[128];\n.local .align 4 .b8 l[8];\nmov.u64 %d5, s;\nadd.s64 %d5, %d5, %d2;\nmov.u64 "
            "%d6, l;\nst.shared.u32 [%d5], %r1;\nadd.u32 %r2, %r1, 100;\n"
            "st.local.u32 [%d6+4], %r2;\ncvta.shared.u64 %d7, %d5;\ncvta.local.u64 %d8, %d6;\nadd.s64 %d8, %d8, "
            "4;\nand.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
            "selp.b64 %d9, %d7, %d8, %p1;\nld.u32 %r4, [%d9];\nisspacep.shared %p2, %d9;\n@%p2 add.u32 %r4, %r4, "
            "1000;\ncvta.global.u64 %d10, %d3;\nst.u32 [%d10], %r4;\n"
            "cvta.to.shared.u64 %d11, %d7;\nld.shared.u32 %r5, [%d11];\nsetp.ne.u32 %p3, %r5, %r1;\n@%p3 trap;\n",
            Words(32));
        for (uint32_t i = 0; i < 32; ++i)
            QCOMPARE(got[i], i % 2 == 0 ? i + 1000 : i + 100);
    }

    void variablesOfTheModule()
    {
        const std::string before = ".const .align 4 .u32 c[4] = {10, 20, 30};\n.global .align 8 .b8 g[16] = {1, 0, 0, "
                                   "0, 2};\n.global .f32 one = 0f3F800000;\n";
        const Words got = ran(
            "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nld.const.u32 %r2, [c+4];\nmov.u64 %d5, c;\nld.const.u32 %r3, "
            "[%d5+8];\nld.const.u32 %r4, [%d5+12];\n"
            "ld.global.u32 %r5, [g+4];\natom.global.add.u32 %r6, [g], 5;\nld.global.u32 %r7, [one];\nst.global.v4.u32 "
            "[%d1], {%r2, %r3, %r4, %r5};\nst.global.v2.u32 [%d1+16], {%r6, %r7};\n",
            Words(6), {32, 1, 1}, before);
        QCOMPARE(got, (Words{20, 30, 0, 2, 1, 0x3f800000}));
    }

    void parametersHaveTheirPlaces()
    {
        const std::string text = kernelText(
            ".param .u8 a, .param .u64 out, .param .align 4 .b8 s[12], .param .f64 d",
            "ld.param.u8 %r1, [a];\nld.param.u64 %d1, [out];\nld.param.u32 %r2, [s+8];\nld.param.f64 %g1, "
            "[d];\ncvt.rzi.u32.f64 %r3, %g1;\nst.global.v2.u32 [%d1], {%r1, %r2};\nst.global.u32 [%d1+8], %r3;\n");
        KernelRun kernel(text);
        QVERIFY2(kernel.problem().empty(), kernel.problem().c_str());
        QCOMPARE(kernel.program().kernels[0].parameters[1].offset, 8u);
        QCOMPARE(kernel.program().kernels[0].parameters[2].offset, 16u);
        QCOMPARE(kernel.program().kernels[0].parameters[3].offset, 32u);
        QCOMPARE(kernel.program().kernels[0].parameterBytes, 40u);
    }

    void atomics()
    {
        struct Row
        {
            const char* instruction;
            uint32_t first, last;
        };
        // All 32 threads in turn: what the word is at the end.
        for (const Row& row :
             std::initializer_list<Row>{{"red.global.add.u32 [%d1], %r1;", 5, 5 + 496},
                                        {"atom.global.min.s32 %r9, [%d1], %r1;", 5, 0},
                                        {"atom.global.max.u32 %r9, [%d1], %r1;", 5, 31},
                                        {"red.global.and.b32 [%d1], %r1;", 0xff, 0},
                                        {"red.global.or.b32 [%d1], %r1;", 0x100, 0x11f},
                                        {"red.global.xor.b32 [%d1], %r1;", 7, 7},
                                        {"atom.global.exch.b32 %r9, [%d1], %r1;", 7, 31},
                                        {"atom.global.cas.b32 %r9, [%d1], %r1, 12;", 7, 12},
                                        {"atom.global.inc.u32 %r9, [%d1], 9;", 0, 2},
                                        {"atom.global.dec.u32 %r9, [%d1], 9;", 0, 8},
                                        {"red.relaxed.gpu.global.add.f32 [%d1], 0f3F000000;", 0, 0x41800000},
                                        {"red.global.add.noftz.f16x2 [%d1], 1006648320;", 0, 0x50005000}}) {
            const Words got = ran(row.instruction, Words{row.first, 0});
            QVERIFY2(
                got[0] == row.last,
                qPrintable(QStringLiteral("%1 gives %2").arg(QString::fromLatin1(row.instruction)).arg(got[0], 0, 16)));
        }
        QCOMPARE(ran("red.global.add.f64 [%d1], 0d3FF0000000000000;", {0, 0}), (Words{0, 0x40400000}));
        QCOMPARE(ran("mov.u64 %d5, 3;\natom.global.add.u64 %d6, [%d1], %d5;", {0xfffffffe, 0}),
                 (Words{0xfffffffe + 96, 1}));
        // What atom returns is what was there before: every thread another number.
        const Words old = ran(".shared .align 4 .b8 s[4];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], "
                              "0;\nbar.sync 0;\natom.shared.add.u32 %r9, [s], 1;\nst.global.u32 [%d3], %r9;",
                              Words(64), {64, 1, 1});
        Words sorted = old;
        std::sort(sorted.begin(), sorted.end());
        for (uint32_t i = 0; i < 64; ++i)
            QCOMPARE(sorted[i], i);
    }

    void copiesOfCpAsync()
    {
        for (const int size : {4, 8, 16}) {
            const std::string n = std::to_string(size);
            const std::string text = kernelText(
                ".param .u64 out",
                std::string(kPlace) + ".shared .align 16 .b8 s[1024];\nmov.u32 %r2, s;\nmul.lo.u32 %r3, %r1, " + n
                    + ";\nadd.u32 %r2, %r2, %r3;\n"
                      "mul.wide.u32 %d5, %r1, "
                    + n + ";\nadd.s64 %d5, %d5, %d1;\ncp.async." + (size == 16 ? "cg" : "ca")
                    + ".shared.global.L2::128B [%r2+512], [%d5], " + n
                    + ";\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\nxor.b32 %r4, %r2, " + n
                    + ";\nld.shared.u32 %r5, [%r4+512];\nst.global.u32 [%d3+512], %r5;\n");
            KernelRun kernel(text);
            QVERIFY2(kernel.problem().empty(), kernel.problem().c_str());
            Words in(256);
            for (uint32_t i = 0; i < 256; ++i)
                in[i] = i;
            const uint64_t out = kernel.put(in);
            LATHE_VERIFY_CLEAN(kernel.run({1, 1, 1}, {32, 1, 1}, {out}, 0, AsyncArrival::AtWait));
            const Words got = kernel.get<uint32_t>(out);
            for (uint32_t i = 0; i < 32; ++i)
                QCOMPARE(got[128 + i], (i ^ 1) * uint32_t(size) / 4);
        }
    }

    void bankConflictsAndSectorsAreCounted()
    {
        // Words of shared memory that lie `stride` apart; what is written first are 32 words in a row.
        const auto conflicts = [](int stride, const char* load = "ld.shared.u32 %r9, [%r4];\n") {
            Counters counters;
            ran(".shared .align 16 .b8 s[8192];\nmov.u32 %r2, s;\nmov.u32 %r5, 0;\nLOOP:\nshl.b32 %r6, %r1, "
                "2;\nshl.b32 %r7, %r5, 7;\nadd.u32 %r6, %r6, %r7;\nadd.u32 %r6, %r6, %r2;\nst.shared.u32 [%r6], %r1;\n"
                "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 64;\n@%p1 bra LOOP;\nbar.sync 0;\nmul.lo.u32 %r3, %r1, "
                    + std::to_string(4 * stride) + ";\nadd.u32 %r4, %r2, %r3;\n" + load,
                Words(32), {32, 1, 1}, "", &counters);
            return counters.bankConflicts();
        };
        QCOMPARE(conflicts(1), uint64_t(0));
        QCOMPARE(conflicts(0), uint64_t(0)); // one word for all
        QCOMPARE(conflicts(2), uint64_t(1));
        QCOMPARE(conflicts(32), uint64_t(31));
        QCOMPARE(conflicts(33), uint64_t(0));
        QCOMPARE(conflicts(4, "ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r4];\n"), uint64_t(0));
        QCOMPARE(conflicts(8, "ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r4];\n"),
                 uint64_t(4)); // two in each quarter of the warp
        const auto sectors = [](int stride) {
            Counters counters;
            ran("mul.wide.u32 %d5, %r1, " + std::to_string(4 * stride)
                    + ";\nadd.s64 %d5, %d5, %d1;\nld.global.u32 %r9, [%d5];\n",
                Words(2048), {32, 1, 1}, "", &counters);
            return std::pair(counters.globalSectors, counters.globalIdeal);
        };
        QCOMPARE(sectors(1), std::pair(uint64_t(4), uint64_t(4)));
        QCOMPARE(sectors(2), std::pair(uint64_t(8), uint64_t(4)));
        QCOMPARE(sectors(64), std::pair(uint64_t(32), uint64_t(4)));
        QCOMPARE(sectors(0), std::pair(uint64_t(1), uint64_t(1)));
        Counters counters;
        ran("mov.f32 %f1, 0f3F800000;\nfma.rn.f32 %f2, %f1, %f1, %f1;\nadd.f32 %f2, %f2, %f1;\nsetp.lt.u32 %p1, %r1, "
            "8;\n@%p1 mul.f32 %f2, %f2, %f1;\n",
            Words(32), {32, 1, 1}, "", &counters);
        QCOMPARE(counters.flops, uint64_t(32 * 3 + 8));
    }
};

LATHE_TEST(TestPtxMemory)

} // namespace tst_ptx_memory

#include "tst_ptx_memory.moc"
