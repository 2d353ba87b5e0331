#include "core/support/files.h"
#include "plugins/cuda/codegen/sass_listing.h"
#include "plugins/cuda/model/gpu_facts.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/plugins/cuda/kernels/compiled.h"
#include "tests/plugins/cuda/kernels/network_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_cuda_kernels {

using namespace lathe;
using namespace lathe::cuda;
using namespace lathe::cuda::kernels;
using backend::LineMark;
using lathe::test::must;

namespace {

const std::vector<search::SearchTask>& tasks()
{
    static const std::vector<search::SearchTask> all =
        must(tasksOf("resnet-18", "NHWC", "cuda -arch=sm_80", "expected -gpu=a100")).tasks;
    return all;
}

} // namespace

/// Kernels of a network's tasks as NVIDIA's compiler has them, without a GPU: tests/bench/cuda_kernels looks at more.
class TestCudaKernels : public QObject
{
    Q_OBJECT

private slots:
    void candidatesTakeWhatIsExpected_data()
    {
        QTest::addColumn<int>("capability");
        for (const int capability : {75, 80, 90, 120})
            QTest::addRow("sm_%d", capability) << capability;
    }
    void candidatesTakeWhatIsExpected()
    {
        QFETCH(int, capability);
        LATHE_NEEDS_NVRTC();
        const Nvrtc* const compiler = must(Nvrtc::find(capability));
        Random random(3);
        int launches = 0, near = 0, counted = 0;
        for (std::size_t i = 0; launches < 30; ++i) {
            const auto kernel = draw(tasks()[random.below(tasks().size())], static_cast<Origin>(i % 3), random);
            if (!kernel)
                continue; // what was drawn breaks a limit
            for (const CompiledLaunch& launch : must(compile(*kernel, *compiler, capability))) {
                ++launches;
                QCOMPARE(launch.made.threads, launch.expected.threads);
                // Arrays are declared in whole vectors; the compiler may leave off what nobody reads at their end.
                const std::int64_t left = launch.expected.sharedBytes - launch.made.sharedBytes;
                QVERIFY2(left >= 0 && left < 16, launch.symbol.c_str());
                QVERIFY2(launch.made.registers > 0 && launch.made.registers <= 255, launch.symbol.c_str());
                // What a schedule says of room on a multiprocessor, the compiler keeps to.
                const QRegularExpression bounds(R"(__launch_bounds__\((\d+), (\d+)\))");
                if (const auto said = bounds.match(QString::fromStdString(launch.source));
                    said.hasMatch() && launch.made.threads * said.captured(2).toLongLong() <= 1024) {
                    ++counted;
                    const std::int64_t warps = (launch.made.threads + 31) / 32 * said.captured(2).toLongLong();
                    QVERIFY2(warps * 32 * launch.made.registers <= 65536, launch.symbol.c_str());
                }
                QVERIFY2(launch.registersOff() > -0.75 && launch.registersOff() < 2, launch.symbol.c_str());
                near += std::abs(launch.registersOff()) <= 0.25 ? 1 : 0;
            }
        }
        // Nine in ten are within a quarter (tests/bench/README.md); of so few, two in three.
        qInfo("%d of %d within a quarter", near, launches);
        QVERIFY(3 * near >= 2 * launches);
        QVERIFY(counted > 0);
    }

    /// Of the candidates with large tiles that the search's estimate likes best, of images that the tiles do not divide.
    void hotLoopsOfLargeTilesAreProducts_data()
    {
        QTest::addColumn<QString>("task");
        QTest::newRow("14x14") << "conv2d 3x3 256->256 @14 +add+relu";
        QTest::newRow("14x14, every other element") << "conv2d 3x3/2 128->256 @14 +add+relu";
        QTest::newRow("28x28") << "conv2d 3x3 128->128 @28 +add+relu";
    }
    void hotLoopsOfLargeTilesAreProducts()
    {
        QFETCH(QString, task);
        LATHE_NEEDS_NVRTC();
        const auto nvdisasm = findDisassembler();
        if (!nvdisasm) {
            QVERIFY2(!lathe::test::isCudaDemanded(), nvdisasm.error().message.c_str());
            QSKIP(nvdisasm.error().message.c_str());
        }
        const auto found = std::ranges::find(tasks(), task.toStdString(), &search::SearchTask::name);
        QVERIFY(found != tasks().end());
        const GpuFacts& gpu = *findGpu("A100");
        double best = 0;
        for (const DrawnKernel& kernel : must(likedBest(*found, 16, 1000, 1, true))) {
            QVERIFY(kernel.tile.isLarge());
            if (best >= 0.85)
                break; // each takes the compiler a third of a second
            for (const CompiledLaunch& launch :
                 must(compile(kernel, *must(Nvrtc::find(gpu.capability)), gpu.capability)))
                if (const auto one = read(launch, *nvdisasm, gpu))
                    best = std::max(best, one->hotShare());
        }
        QVERIFY2(best >= 0.85, qPrintable(QString::number(best)));
    }

    void whatIsNoCubinHasNoKernels()
    {
        QVERIFY(!readCubin(""));
        QVERIFY(!readCubin("\x7f"
                           "ELF\x02\x01"));
        LATHE_NEEDS_NVRTC();
        const std::string source =
            "extern \"C\" __global__ void __launch_bounds__(96) k(float* x)\n"
            "{ __shared__ float s[300]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[95 - "
            "threadIdx.x]; }\n";
        for (const int capability : {75, 90}) {
            const Compiled compiled = must(must(Nvrtc::find(capability))->compile(source, capability));
            const auto kernels = readCubin(compiled.cubin);
            QVERIFY(kernels && kernels->size() == 1);
            QCOMPARE(kernels->front().name, std::string("k"));
            QCOMPARE(kernels->front().threads, std::int64_t{96});
            QCOMPARE(kernels->front().sharedBytes, std::int64_t{1200}); // without the driver's own on sm_90
            QCOMPARE(kernels->front().registers, compiled.registers);
            QVERIFY(kernels->front().codeBytes > 0);
            // Cut off anywhere it is none, or one with less in it, and nothing is read beyond its end.
            for (std::size_t size = 0; size < compiled.cubin.size(); size += 97)
                if (const auto cut = readCubin(std::string_view(compiled.cubin).substr(0, size)))
                    for (const auto& kernel : *cut)
                        QVERIFY(kernel.name == "k" && kernel.registers == compiled.registers);
        }
    }

    /// Of a text that nvdisasm printed.
    void machineCodeIsShownWithItsLoops()
    {
        const std::string printed = must(readFile(LATHE_SOURCE_DIR "/tests/plugins/cuda/texts/small_sm_86.sass"));
        backend::Listing listing;
        must(listSass(printed, false, listing));
        const QStringList lines = QString::fromStdString(listing.text).split('\n');
        QVERIFY(!listing.text.empty() && listing.text.find("0x0000000000000000") == std::string::npos);
        QVERIFY(listing.generalRegisters > 0 && listing.generalRegistersOf == 255);
        QVERIFY(std::ranges::any_of(listing.marks, [](const auto& mark) { return mark.mark == LineMark::HotLoop; }));
        for (const backend::MarkedLines& mark : listing.marks) {
            QVERIFY(mark.mark == LineMark::Loop || mark.mark == LineMark::HotLoop);
            QVERIFY(mark.first <= mark.last);
            QVERIFY2(lines.at(mark.last).contains("BRA"), qPrintable(lines.at(mark.last)));
        }
    }
};

LATHE_TEST(TestCudaKernels)

} // namespace tst_cuda_kernels

#include "tst_cuda_kernels.moc"
