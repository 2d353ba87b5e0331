#include "tests/cuda_driver/kernel_run.h"
#include "tests/support/test_program.h"

#include <QFile>

#include <random>

using namespace lathe::ptx;
using namespace lathe::ptx::testing;

namespace tst_ptx_texts {

/// A text with a bit of everything that a module may hold.
std::string sample()
{
    return "//\n// by hand\n//\n.version 8.4\n.target sm_80\n.address_size 64\n\n"
           ".const .align 4 .b8 table[8] = {0, 0, 128, 63, 1};\n.global .align 4 .u32 counter;\n.extern .shared .align "
           "16 .b8 dynamic[];\n"
           ".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %x<3>;\nld.param.b32 %x1, [a];\nshl.b32 %x2, %x1, "
           "1;\nst.param.b32 [r], %x2;\nret;\n}\n"
           ".visible .entry test(\n\t.param .u64 out,\n\t.param .u32 n\n)\n.maxntid 128, 1, 1\n.minnctapersm "
           "2\n{\n\t.reg .pred \t%p<4>;\n.reg .b16 %h<3>;\n.reg .f32 %f<8>;\n.reg .b32 %r<12>;\n.reg .b64 %d<6>;\n"
           ".shared .align 16 .b8 room[512];\n.local .align 8 .b8 depot[16];\n.loc 1 2 3\nld.param.u64 %d1, "
           "[out];\nmov.u32 %r1, %tid.x;\nsetp.ge.s32 %p1, %r1, 100;\n@%p1 bra $L1;\n"
           "mul.wide.s32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.f32 %f1, [%d3];\nfma.rn.f32 %f2, %f1, "
           "0f3F000000, %f1;\nst.global.f32 [%d3], %f2;\n{\n.reg .b32 temp;\nmov.b64 {temp, %r2}, %d3;\n}\n"
           "{\n.param .b32 param0;\nst.param.b32 [param0+0], %r1;\n.param .b32 retval0;\ncall.uni "
           "(retval0),\ntwice,\n(\nparam0\n);\nld.param.b32 %r3, [retval0+0];\n}\n"
           "mov.u32 %r4, room;\nst.shared.v4.f32 [%r4], {%f1, %f1, %f1, %f1};\n.pragma \"nounroll\";\nbar.sync "
           "0;\n.pragma \"nounroll\", \"used_bytes_mask 0xff0\";\nld.shared.v4.f32 {%f3, %f4, %f5, %f6}, "
           "[%r4];\nshfl.sync.down.b32 %r5|%p2, %r3, 16, 31, -1;\nlop3.b32 %r6, %r1, %r2, %r3, 0x96;\n"
           "T: .branchtargets $L1, $L2;\nand.b32 %r7, %r1, 1;\nbrx.idx %r7, T;\n$L2:\nred.global.add.u32 [counter], "
           "1;\n$L1:\nret;\n}\n.file 1 \"a.cu\"\n.section .debug_str\n{\n.b8 1,2,3\n}\n";
}

/// What the reader of PTX takes and refuses.
class TestPtxTexts : public QObject
{
    Q_OBJECT

    static std::string problemOf(const std::string& text)
    {
        const auto loaded = load(text);
        const auto* const error = std::get_if<LoadError>(&loaded);
        return error ? error->text : std::string();
    }

    static void verifyRefused(const std::string& body, const char* says)
    {
        const std::string text = kernelText(".param .u64 out", body);
        const std::string problem = problemOf(text);
        QVERIFY2(problem.find(says) != std::string::npos, (body + " -> " + problem).c_str());
        QVERIFY2(problem.find("PTX line " + std::to_string(lineOf(text, body)) + ":") == 0, problem.c_str());
    }

private slots:
    void theSampleLoads()
    {
        QCOMPARE(problemOf(sample()), std::string());
        const auto program = std::get<std::shared_ptr<const Program>>(load(sample()));
        const Kernel* const kernel = program->find("test");
        QVERIFY(kernel);
        QCOMPARE(kernel->staticShared, 512u);
        QCOMPARE(kernel->maxThreads[0], 128u);
        QCOMPARE(kernel->parameterBytes, 12u);
        QVERIFY(kernel->localBytes >= 16);
        QVERIFY(!kernel->copiesAsynchronously);
        QCOMPARE(program->target, 80u);
        QVERIFY(!program->find("twice"));
    }

    void anInstructionThatIsNotThereIsNamedWithItsLine()
    {
        verifyRefused("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
                      "ldmatrix.sync.aligned.m8n8.x4.shared.b16");
        verifyRefused("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2}, {%r1, %r2}, {%r3}, {%f1, %f2};",
                      "mma.sync");
        verifyRefused("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];", "");
        verifyRefused("cp.async.bulk.commit_group;", "cp.async.bulk");
        verifyRefused("add.weird.s32 %r1, %r2, %r3;", "add.weird.s32");
        verifyRefused("mov.u32 %r1, %reserved_smem_offset_0;", "%reserved_smem_offset_0");
        verifyRefused("shfl.down.b32 %r1, %r2, 1, 31;", ".sync");
        verifyRefused("min.xorsign.abs.f32 %f1, %f2, %f3;", "min.xorsign.abs.f32");
    }

    void wrongOperandsAreRefused()
    {
        verifyRefused("add.s32 %r1, %r2;", "operands");
        verifyRefused("add.s32 %d1, %r2, %r3;", "type");
        verifyRefused("add.s64 %d1, %r2, %d3;", "type");
        verifyRefused("add.f32 %f1, %f2, 1;", "whole number");
        verifyRefused("ld.global.v2.u32 %r1, [%d1];", "vector");
        verifyRefused("ld.global.v2.u64 {%d1, %d2, %d3}, [%d1];", "vector");
        verifyRefused("st.global.u32 %d1, %r1;", "no address");
        verifyRefused("bra NOWHERE;", "no label NOWHERE");
        verifyRefused("add.s32 %r1, %unknown, 1;", "%unknown");
        verifyRefused("@%r1 add.s32 %r1, %r2, 1;", "no predicate");
        verifyRefused("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "no whole number");
        verifyRefused("call nothing;", "no body");
        verifyRefused("cp.async.cg.shared.global [%r1], [%d1], 4;", "cannot copy 4 bytes");
        for (const char* const mask :
             {"used_bytes_mask", "used_bytes_mask all", "used_bytes_mask 0x1ffffffff", "used_bytes_mask 1.5"})
            verifyRefused(".pragma \"" + std::string(mask) + "\";", "has no mask of 32 bits");
        QVERIFY(problemOf(kernelText("", "add.s32 %r1, %r2, 3")).find("\";\" is missing") != std::string::npos);
    }

    void modulesThatAreNoneAreRefused()
    {
        for (const char* text :
             {"", " ", "hello", ".version", ".version x", ".version 8.4",
              ".version 8.4\n.target sm_80\n.address_size 32", "/* no end", "\"", ".version 8.4 .target sm_80 @"})
            QVERIFY2(problemOf(text).find("PTX line") == 0, text);
        QVERIFY(problemOf(std::string("\0\0\0", 3)).find("PTX line") == 0);
        const std::string head = ".version 8.4\n.target sm_80\n.address_size 64\n";
        QVERIFY(problemOf(head + ".func f()\n{\ncall f;\nret;\n}\n").find("calls itself") != std::string::npos);
        QVERIFY(problemOf(head + ".global .b8 a[99999999999];\n").find("more than") != std::string::npos);
        QVERIFY(problemOf(head + ".entry k()\n{\n.reg .b32 %r<99999999>;\nret;\n}\n").find("more than")
                != std::string::npos);
        QVERIFY(problemOf(head + ".entry k()\n{\n" + std::string(1000, '{') + "\n").find("nested")
                != std::string::npos);
        QVERIFY(problemOf(head + ".entry k()\n{\nL:\nL:\nret;\n}\n").find("second time") != std::string::npos);
    }

    void everyBeginningGivesASentence()
    {
        const std::string whole = sample();
        for (size_t length = 0; length + 1 < whole.size(); ++length) {
            const std::string problem = problemOf(whole.substr(0, length));
            // Between two things of the module the text may end.
            const bool within = length > whole.find(".visible") && length < whole.find("}\n.file");
            QVERIFY2(!within || problem.find("PTX line ") == 0, qPrintable(QString::number(length)));
        }
    }

    void randomDamageNeverCrashes()
    {
        unsigned seed = 1;
        if (const char* const given = std::getenv("LATHE_TEST_SEED"))
            seed = static_cast<unsigned>(std::strtoul(given, nullptr, 10));
        size_t rounds = 3000;
        if (const char* const given = std::getenv("LATHE_TEST_ROUNDS"))
            rounds = std::strtoul(given, nullptr, 10);
        std::string whole = sample();
        if (const char* const file = std::getenv("LATHE_TEST_PTX")) { // a larger one, by hand
            QFile opened(QString::fromLocal8Bit(file));
            QVERIFY(opened.open(QIODevice::ReadOnly));
            whole = opened.readAll().toStdString();
        }
        std::mt19937 random(seed);
        const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
        size_t loaded = 0;
        for (size_t round = 0; round < rounds; ++round) {
            std::string text = whole;
            for (size_t k = below(4) + 1; k > 0; --k) {
                const size_t at = below(text.size()), length = std::min(below(20) + 1, text.size() - at);
                switch (below(4)) {
                case 0: text[at] = static_cast<char>(below(256)); break;
                case 1: text.erase(at, length); break;
                case 2: text.insert(at, text.substr(below(text.size()), length)); break;
                default: text.replace(at, length, whole.substr(below(whole.size()), length)); break;
                }
            }
            const auto result = load(text);
            if (const auto* const program = std::get_if<std::shared_ptr<const Program>>(&result)) {
                ++loaded;
                runAnyway(text, **program);
            } else {
                QVERIFY2(std::get<LoadError>(result).text.find("PTX line ") == 0,
                         qPrintable(QStringLiteral("seed %1, round %2").arg(seed).arg(round)));
            }
        }
        QVERIFY2(loaded > 0 && loaded < rounds, qPrintable(QString::number(loaded)));
    }

private:
    /// What loads in spite of the damage runs, too: to its end, or to a fault.
    static void runAnyway(const std::string& text, const Program& program)
    {
        if (program.kernels.empty() || program.kernels[0].parameterBytes != 12)
            return;
        KernelRun kernel(text);
        const uint64_t out = kernel.put(std::vector<float>(128, 1.0F));
        kernel.run({2, 1, 1}, {96, 1, 1}, {out, 100}, 64, AsyncArrival::AtWait, program.kernels[0].name.c_str());
    }
};

LATHE_TEST(TestPtxTexts)

} // namespace tst_ptx_texts

#include "tst_ptx_texts.moc"
