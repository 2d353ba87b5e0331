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

/// Threads below five copy, the others store zeros, or `other`; or the other way round.
QString paddedInCuda(std::int32_t count, bool isOther = false, double other = 0, std::int64_t elsewhere = 0)
{
    const DType dtype = DType::F32;
    const auto nest = oneLaunch(
        {parameter("x", dtype, true), parameter("y", dtype), shared("tile", dtype, 64)}, 8,
        [&](const ir::Expr& thread) {
            const ir::Expr at = thread * ir::intImm(count), lane = ir::var("lane");
            const ir::Stmt copied = ir::makeAsyncCopy(2, {at}, load(0, at, dtype), count);
            const ir::Expr zero = ir::floatImm(other, dtype), to = at + ir::intImm(elsewhere);
            const ir::Stmt zeros = count == 1 ? store(2, to, zero)
                                              : ir::makeFor(lane, 0, count, ir::LoopKind::Vectorized,
                                                            store(2, to + lane, zero));
            return ir::makeBlock(
                {ir::makeIf(thread < ir::intImm(5), isOther ? zeros : copied, isOther ? copied : zeros),
                 ir::makeAsyncCommit(), ir::makeAsyncWait(0), ir::makeBarrier(),
                 store(1, thread, load(2, ir::intImm(0), dtype))});
        });
    return QString::fromStdString(must(backend::printCuda(nest)).text());
}

QString inOpenCl(DType dtype, std::int32_t count)
{
    return QString::fromStdString(must(backend::printOpenCl(copying(dtype, count))).text());
}

/// A loop of so many steps that copies a tile in each, and stores from it in a loop of its own of so many.
QString tiledInCuda(std::int64_t steps, std::int64_t inner = 1, std::int64_t copies = 1)
{
    const DType dtype = DType::F32;
    const auto nest = oneLaunch(
        {parameter("x", dtype, true), parameter("y", dtype), shared("tile", dtype, 64)}, 8,
        [&](const ir::Expr& thread) {
            const ir::Expr step = ir::var("step"), part = ir::var("part"), at = step * ir::intImm(8) + thread;
            const auto storeFrom = [&](const ir::Expr& from) { return store(1, at, load(2, from, dtype)); };
            const ir::Stmt stored = inner == 1 ? storeFrom(ir::intImm(0))
                                               : ir::makeFor(part, 0, ir::intImm(inner), ir::LoopKind::Serial,
                                                             storeFrom(part));
            return ir::makeFor(step, 0, ir::intImm(steps), ir::LoopKind::Serial,
                               ir::makeBlock({ir::makeFor(ir::var("copy"), 0, ir::intImm(copies), ir::LoopKind::Serial,
                                                          ir::makeAsyncCopy(2, {thread}, load(0, at, dtype), 1)),
                                              ir::makeAsyncCommit(), ir::makeAsyncWait(0), ir::makeBarrier(), stored,
                                              ir::makeBarrier()}));
        });
    return QString::fromStdString(must(backend::printCuda(nest)).text());
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

    /// One step without a branch: what lies past the edge of an image is not read.
    void whereNothingIsCopiedZerosAreWritten()
    {
        const QString text = paddedInCuda(4);
        QVERIFY2(
            text.contains("    copy_async_or_zero_16(&tile[at_0], &x[at_0], (thread < 5));\n    commit_copies();\n"),
            qPrintable(text));
        QVERIFY2(text.contains("cp.async.cg.shared.global [%0], [%1], 16, %2;") && text.contains("\"r\"(is ? 16 : 0)"),
                 qPrintable(text));
        QVERIFY2(text.contains("*(uint4*)to = is ? *(const uint4*)from : make_uint4(0, 0, 0, 0);"), qPrintable(text));
        QVERIFY(paddedInCuda(1).contains("copy_async_or_zero_4(&tile[thread], &x[thread], (thread < 5));"));
        QVERIFY(paddedInCuda(2, true).contains("copy_async_or_zero_8(&tile[at_0], &x[at_0], !((thread < 5)));"));
        // A place that is read from memory is there only where something is copied.
        const auto gathered = oneLaunch(
            {parameter("x", DType::F32, true), parameter("at", DType::I32, true), shared("tile", DType::F32, 64)}, 8,
            [&](const ir::Expr& thread) {
                const ir::Expr from = load(1, thread, DType::I32);
                return ir::makeIf(thread < ir::intImm(5), ir::makeAsyncCopy(2, {thread}, load(0, from, DType::F32), 1),
                                  store(2, thread, ir::floatImm(0)));
            });
        QVERIFY(!QString::fromStdString(must(backend::printCuda(gathered)).text()).contains("or_zero"));
        // Other values, and other places, are a branch.
        for (const QString& branch :
             {paddedInCuda(4, false, 1), paddedInCuda(4, false, 0, 4), paddedInCuda(1, false, -0.0)})
            QVERIFY2(branch.contains("if ((thread < 5)) {") && !branch.contains("or_zero"), qPrintable(branch));
    }

    /// What is counted along from tile to tile is made once for two.
    void loopsThatCopyATileAheadAreWrittenTwice()
    {
        QVERIFY2(tiledInCuda(8).contains("    #pragma unroll 2\n    for (int step = 0;"), qPrintable(tiledInCuda(8)));
        QVERIFY(tiledInCuda(8, 1, 12).contains("    #pragma unroll 2\n    for (int step = 0;"));
        // Tiles that are left over; a loop that stays.
        for (const QString& once : {tiledInCuda(7), tiledInCuda(8, 50), tiledInCuda(8, 1, 40)})
            QVERIFY2(once.contains("    #pragma unroll 1\n    for (int step = 0;"), qPrintable(once));
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
