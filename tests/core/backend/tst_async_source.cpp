#include "core/backend/c_source.h"
#include "core/ir/async_copy.h"
#include "tests/core/backend/printed_kernels.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_async_source {

using namespace lathe;
using namespace lathe::test;

namespace {

/// Each of eight threads copies so many elements to shared memory, and stores the first of those of another.
ir::LoopNest copying(DType dtype, std::int32_t count)
{
    return oneLaunch({parameter("x", dtype, true), parameter("y", dtype), shared("tile", dtype, 64)}, 8,
                     [&](const ir::Expr& thread) {
                         const ir::Expr at = thread * ir::intImm(count);
                         return ir::makeBlock({ir::makeAsyncCopy(2, {at}, load(0, at, dtype), count),
                                               ir::makeAsyncCommit(), ir::makeAsyncWait(0), ir::makeBarrier(),
                                               store(1, thread, load(2, ir::intImm(0), dtype))});
                     });
}

QString inCuda(DType dtype, std::int32_t count)
{
    return QString::fromStdString(must(backend::printCuda(copying(dtype, count))).text());
}

QString inOpenCl(DType dtype, std::int32_t count)
{
    return QString::fromStdString(must(backend::printOpenCl(copying(dtype, count))).text());
}

} // namespace

/// Asynchronous copies as CUDA, and as what a language without them makes of them.
class TestAsyncSource : public QObject
{
    Q_OBJECT

private slots:
    void cudaCopiesPastTheRegisters()
    {
        const QString text = inCuda(DType::F32, 4);
        QVERIFY2(text.contains("    copy_async_16(&tile[at_0], &x[at_0]);\n    commit_copies();\n"
                               "    wait_for_copies<0>();\n    __syncthreads();\n"),
                 qPrintable(text));
        QVERIFY2(
            text.contains("#if __CUDA_ARCH__ >= 800\n    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\""),
            qPrintable(text));
        QVERIFY2(text.contains("#else\n    *(uint4*)to = *(const uint4*)from;\n#endif"), qPrintable(text));
        QVERIFY(inCuda(DType::F32, 1).contains("copy_async_4(&tile[thread], &x[thread]);"));
        QVERIFY(inCuda(DType::F32, 2).contains("cp.async.ca.shared.global [%0], [%1], 8;"));
        QVERIFY(inCuda(DType::F64, 1).contains("copy_async_8("));
        QVERIFY(inCuda(DType::I8, 16).contains("copy_async_16("));
        QVERIFY(inCuda(DType::F16, 2).contains("copy_async_4("));
        // Only what is used is there.
        QVERIFY(!text.contains("copy_async_4("));
        QVERIFY(!QString::fromStdString(must(backend::printCuda(reduction())).text()).contains("copies"));
    }

    void openClCopiesAtOnce()
    {
        const QString text = inOpenCl(DType::F32, 4);
        QVERIFY2(text.contains(
                     "got_0 = (*(__global const float4*)(x + at_0));\n    *(__local float4*)(tile + at_0) = got_0;"),
                 qPrintable(text));
        QVERIFY2(!text.contains("async") && !text.contains("wait"), qPrintable(text));
        QVERIFY(inOpenCl(DType::F32, 1).contains("tile[thread] = x[thread];"));
        // Types that are written element by element.
        const QString bytes = inOpenCl(DType::I8, 4);
        QVERIFY2(bytes.count("tile[") == 4 + 2, qPrintable(bytes)); // and its declaration, and the read
    }

    void tensorsCalledAsTheHelpers()
    {
        ir::LoopNest nest = copying(DType::F32, 4);
        nest.buffers[0].name = "copy_async_16";
        nest.buffers[1].name = "commit_copies";
        const QString text = QString::fromStdString(must(backend::printCuda(nest)).text());
        QVERIFY2(text.contains("copy_async_16(&tile[at_0], &v_copy_async_16[at_0]);"), qPrintable(text));
    }
};

LATHE_TEST(TestAsyncSource)

} // namespace tst_async_source

#include "tst_async_source.moc"
