#include "core/backend/c_source.h"
#include "tests/core/backend/printed_kernels.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>

namespace tst_shuffle_source {

using namespace lathe;
using namespace lathe::test;

namespace {

/// y[i] = x[j] by a block of these threads, where j and i differ in the bit `distance`.
ir::LoopNest exchanging(const std::array<std::int64_t, 3>& block, std::int32_t warp, std::int32_t distance = 4,
                        DType dtype = DType::F32)
{
    ir::LoopNest nest = oneLaunch({parameter("x", dtype, true), parameter("y", dtype), parameter("other", dtype)}, 1,
                                  [](const ir::Expr&) { return ir::makeBlock({}); });
    nest.buffers[2].scope = ir::Scope::Register;
    nest.buffers[2].shape = {1};
    ir::Launch& launch = nest.launches[0];
    launch.block = block;
    launch.threadIndex = {ir::var("x_of"), ir::var("y_of"), ir::var("z_of")};
    ir::Expr number = launch.threadIndex[0];
    if (block[1] > 1)
        number = number + launch.threadIndex[1] * ir::intImm(block[0]);
    if (block[2] > 1)
        number = number + launch.threadIndex[2] * ir::intImm(block[0] * block[1]);
    launch.body = ir::makeBlock({ir::makeShuffle(2, {0}, load(0, number, dtype), distance, warp),
                                 store(1, number, load(2, ir::intImm(0), dtype))});
    return nest;
}

QString inOpenCl(const ir::LoopNest& nest)
{
    const backend::KernelSource source = must(backend::printOpenCl(nest));
    QString text = QString::fromStdString(source.text());
    return text.replace(QString::fromStdString(source.launches.at(0).symbol), QStringLiteral("SYMBOL"));
}

QString refusalOf(const Result<backend::KernelSource>& source)
{
    return source ? QString() : QString::fromStdString(source.error().message);
}

} // namespace

/// Shuffles within warps as OpenCL C, which leaves open what a warp is, and as CUDA.
class TestShuffleSource : public QObject
{
    Q_OBJECT

private slots:
    void openClRequiresTheWarp()
    {
        QCOMPARE(inOpenCl(exchanging({64, 1, 1}, 16)), QString(R"(#pragma OPENCL EXTENSION cl_intel_subgroups : enable

// launch: 1 block of 64 threads
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void SYMBOL(__global const float *restrict x, __global float *restrict y)
{
    float other[1];
    const int x_of = get_sub_group_id() * 16 + get_sub_group_local_id();
    other[0] = intel_sub_group_shuffle_xor(x[x_of], 4u);
    y[x_of] = other[0];
}
)"));
    }

    /// Which threads are neighbours is the driver's affair: so they are numbered by their places in its subgroups.
    void threadsAreNumberedByTheirSubgroups_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QStringList>("numbers");
        const QString lane = "get_sub_group_local_id()", warp = "get_sub_group_id()";
        const auto row = [](const char* block, const QStringList& numbers) {
            QTest::newRow(block) << block << numbers;
        };
        row("16,1,1", {"x_of = " + lane});
        row("8,1,1", {"x_of = " + lane});
        const QString number = "(" + warp + " * get_sub_group_size() + " + lane + ")";
        row("8,2,1", {"x_of = " + number + " % 8", "y_of = " + number + " / 8"});
        row("2,4,2", {"x_of = " + number + " % 2", "y_of = " + number + " / 2 % 4", "z_of = " + number + " / 8"});
        row("8,4,1", {"x_of = " + number + " % 8", "y_of = " + number + " / 8"});
        row("8,4,3", {"x_of = " + number + " % 8", "y_of = " + number + " / 8 % 4", "z_of = " + number + " / 32"});
        row("16,4,1", {"x_of = " + lane, "y_of = " + warp});
        row("16,4,2", {"x_of = " + lane, "y_of = " + warp + " % 4", "z_of = " + warp + " / 4"});
        row("48,4,2",
            {"x_of = " + warp + " % 3 * 16 + " + lane, "y_of = " + warp + " / 3 % 4", "z_of = " + warp + " / 12"});
    }
    void threadsAreNumberedByTheirSubgroups()
    {
        QFETCH(QString, block);
        QFETCH(QStringList, numbers);
        const QStringList extents = block.split(',');
        const QString text = inOpenCl(exchanging({extents[0].toInt(), extents[1].toInt(), extents[2].toInt()}, 16, 1));
        for (const QString& number : numbers)
            QVERIFY2(text.contains("    const int " + number + ";\n"), qPrintable(text));
        QCOMPARE(text.count("_of = "), numbers.size());
        QVERIFY2(!text.contains("get_local_id"), qPrintable(text));
    }

    void smallIntegersGoAsInt_data()
    {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<QString>("value");
        const auto row = [](DType dtype, const char* value) { QTest::newRow(toString(dtype)) << int(dtype) << value; };
        row(DType::U8, "(uchar)intel_sub_group_shuffle_xor((int)(x[x_of]), 4u)");
        row(DType::I16, "(short)intel_sub_group_shuffle_xor((int)(x[x_of]), 4u)");
        for (const DType dtype : {DType::I32, DType::U32, DType::I64, DType::U64, DType::F16, DType::F32, DType::F64})
            row(dtype, " intel_sub_group_shuffle_xor(x[x_of], 4u)");
    }
    void smallIntegersGoAsInt()
    {
        QFETCH(int, dtype);
        QFETCH(QString, value);
        const QString text = inOpenCl(exchanging({32, 1, 1}, 32, 4, DType(dtype)));
        QVERIFY2(text.contains(value), qPrintable(text));
        const bool isHalf = DType(dtype) == DType::F16, isDouble = DType(dtype) == DType::F64;
        QCOMPARE(text.contains("cl_khr_fp16"), isHalf);
        QCOMPARE(text.contains("cl_khr_fp64"), isDouble);
    }

    void aKernelHasWarpsOfOneWidth()
    {
        ir::LoopNest nest = exchanging({64, 1, 1}, 16);
        nest.launches[0].body = ir::makeBlock(
            {nest.launches[0].body, ir::makeShuffle(2, {0}, load(2, ir::intImm(0)), 1, 32)});
        const QString refusal = refusalOf(backend::printOpenCl(nest));
        QVERIFY2(refusal.contains("OpenCL C") && refusal.contains("several widths"), qPrintable(refusal));
        // Launches of one kernel may differ.
        nest = exchanging({64, 1, 1}, 16);
        nest.launches.push_back(exchanging({64, 1, 1}, 32).launches[0]);
        const QString text = inOpenCl(nest);
        QVERIFY2(text.contains("intel_reqd_sub_group_size(16)") && text.contains("intel_reqd_sub_group_size(32)"),
                 qPrintable(text));
    }

    void cudaHasWarpsOf32Lanes()
    {
        const QString refusal = refusalOf(backend::printCuda(exchanging({64, 1, 1}, 16)));
        QVERIFY2(refusal.contains("CUDA C++") && refusal.contains("shuffles within warps of 16 lanes"),
                 qPrintable(refusal));
        const QString text = QString::fromStdString(must(backend::printCuda(exchanging({64, 1, 1}, 32))).text());
        QVERIFY2(text.contains("const int x_of = threadIdx.x;"), qPrintable(text));
        QVERIFY2(text.contains("= __shfl_xor_sync(0xffffffffu, x[x_of], 4);"), qPrintable(text));
    }

    void otherKernelsRequireNothing()
    {
        const QString text = QString::fromStdString(must(backend::printOpenCl(reduction())).text());
        QVERIFY2(!text.contains("sub_group") && !text.contains("subgroups"), qPrintable(text));
    }

    void tensorsCalledAsTheFunctions()
    {
        ir::LoopNest nest = exchanging({32, 1, 1}, 32);
        nest.buffers[0].name = "intel_sub_group_shuffle_xor";
        nest.buffers[1].name = "get_sub_group_local_id";
        const QString text = inOpenCl(nest);
        QVERIFY2(text.contains("= intel_sub_group_shuffle_xor(v_intel_sub_group_shuffle_xor["), qPrintable(text));
    }
};

LATHE_TEST(TestShuffleSource)

} // namespace tst_shuffle_source

#include "tst_shuffle_source.moc"
