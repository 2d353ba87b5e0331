#include "plugins/cuda/model/gpu_facts.h"
#include "plugins/cuda/model/occupancy.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_gpu_occupancy {

using namespace lathe::cuda;

class TestGpuOccupancy : public QObject
{
    Q_OBJECT

private slots:
    /// Figures of NVIDIA's own calculator for these resources.
    void blocksAreThoseOfNvidiasCalculator_data()
    {
        QTest::addColumn<QString>("gpu");
        QTest::addColumn<int>("threads");
        QTest::addColumn<int>("registers");
        QTest::addColumn<qint64>("shared");
        QTest::addColumn<int>("blocks");
        QTest::newRow("RTX A6000 32 x 245 registers, 101376 bytes") << "RTX A6000" << 32 << 245 << qint64{101376} << 1;
        QTest::newRow("RTX A6000 96 x 40 registers, 49000 bytes") << "RTX A6000" << 96 << 40 << qint64{49000} << 2;
        QTest::newRow("RTX A6000 128 x 72 registers, 4096 bytes") << "RTX A6000" << 128 << 72 << qint64{4096} << 7;
        QTest::newRow("RTX A6000 288 x 40 registers, 120000 bytes") << "RTX A6000" << 288 << 40 << qint64{120000} << 0;
        QTest::newRow("RTX A6000 96 x 24 registers, 101376 bytes") << "RTX A6000" << 96 << 24 << qint64{101376} << 1;
        QTest::newRow("RTX A6000 160 x 200 registers, 8192 bytes") << "RTX A6000" << 160 << 200 << qint64{8192} << 1;
        QTest::newRow("RTX A6000 64 x 128 registers, 49000 bytes") << "RTX A6000" << 64 << 128 << qint64{49000} << 2;
        QTest::newRow("RTX A6000 512 x 24 registers, 0 bytes") << "RTX A6000" << 512 << 24 << qint64{0} << 3;
        QTest::newRow("RTX A6000 128 x 24 registers, 16384 bytes") << "RTX A6000" << 128 << 24 << qint64{16384} << 5;
        QTest::newRow("RTX A6000 128 x 127 registers, 101376 bytes")
            << "RTX A6000" << 128 << 127 << qint64{101376} << 1;
        QTest::newRow("RTX A6000 128 x 24 registers, 0 bytes") << "RTX A6000" << 128 << 24 << qint64{0} << 12;
        QTest::newRow("RTX A6000 160 x 200 registers, 120000 bytes")
            << "RTX A6000" << 160 << 200 << qint64{120000} << 0;
        QTest::newRow("RTX A6000 288 x 24 registers, 101376 bytes") << "RTX A6000" << 288 << 24 << qint64{101376} << 1;
        QTest::newRow("RTX A6000 288 x 127 registers, 49000 bytes") << "RTX A6000" << 288 << 127 << qint64{49000} << 1;
        QTest::newRow("A100 32 x 42 registers, 4096 bytes") << "A100" << 32 << 42 << qint64{4096} << 32;
        QTest::newRow("A100 288 x 96 registers, 17000 bytes") << "A100" << 288 << 96 << qint64{17000} << 2;
        QTest::newRow("A100 96 x 168 registers, 49000 bytes") << "A100" << 96 << 168 << qint64{49000} << 3;
        QTest::newRow("A100 1024 x 24 registers, 49000 bytes") << "A100" << 1024 << 24 << qint64{49000} << 2;
        QTest::newRow("A100 288 x 40 registers, 17000 bytes") << "A100" << 288 << 40 << qint64{17000} << 5;
        QTest::newRow("A100 288 x 128 registers, 4096 bytes") << "A100" << 288 << 128 << qint64{4096} << 1;
        QTest::newRow("A100 256 x 255 registers, 101376 bytes") << "A100" << 256 << 255 << qint64{101376} << 1;
        QTest::newRow("A100 288 x 128 registers, 33000 bytes") << "A100" << 288 << 128 << qint64{33000} << 1;
        QTest::newRow("A100 1024 x 32 registers, 17000 bytes") << "A100" << 1024 << 32 << qint64{17000} << 2;
        QTest::newRow("A100 512 x 72 registers, 4096 bytes") << "A100" << 512 << 72 << qint64{4096} << 1;
        QTest::newRow("A100 256 x 72 registers, 17000 bytes") << "A100" << 256 << 72 << qint64{17000} << 3;
        QTest::newRow("A100 96 x 64 registers, 101376 bytes") << "A100" << 96 << 64 << qint64{101376} << 1;
        QTest::newRow("A100 128 x 255 registers, 17000 bytes") << "A100" << 128 << 255 << qint64{17000} << 2;
        QTest::newRow("A100 288 x 32 registers, 17000 bytes") << "A100" << 288 << 32 << qint64{17000} << 7;
        QTest::newRow("H100 1024 x 128 registers, 33000 bytes") << "H100" << 1024 << 128 << qint64{33000} << 0;
        QTest::newRow("H100 512 x 168 registers, 4096 bytes") << "H100" << 512 << 168 << qint64{4096} << 0;
        QTest::newRow("H100 256 x 168 registers, 33000 bytes") << "H100" << 256 << 168 << qint64{33000} << 1;
        QTest::newRow("H100 32 x 168 registers, 49000 bytes") << "H100" << 32 << 168 << qint64{49000} << 4;
        QTest::newRow("H100 288 x 32 registers, 120000 bytes") << "H100" << 288 << 32 << qint64{120000} << 1;
        QTest::newRow("H100 64 x 127 registers, 49000 bytes") << "H100" << 64 << 127 << qint64{49000} << 4;
        QTest::newRow("H100 768 x 32 registers, 33000 bytes") << "H100" << 768 << 32 << qint64{33000} << 2;
        QTest::newRow("H100 256 x 40 registers, 120000 bytes") << "H100" << 256 << 40 << qint64{120000} << 1;
        QTest::newRow("H100 32 x 96 registers, 8192 bytes") << "H100" << 32 << 96 << qint64{8192} << 20;
        QTest::newRow("H100 768 x 200 registers, 101376 bytes") << "H100" << 768 << 200 << qint64{101376} << 0;
        QTest::newRow("H100 96 x 128 registers, 0 bytes") << "H100" << 96 << 128 << qint64{0} << 5;
        QTest::newRow("H100 96 x 255 registers, 4096 bytes") << "H100" << 96 << 255 << qint64{4096} << 2;
        QTest::newRow("H100 512 x 64 registers, 16384 bytes") << "H100" << 512 << 64 << qint64{16384} << 2;
        QTest::newRow("H100 288 x 72 registers, 16384 bytes") << "H100" << 288 << 72 << qint64{16384} << 3;
        QTest::newRow("RTX 4090 160 x 245 registers, 120000 bytes") << "RTX 4090" << 160 << 245 << qint64{120000} << 0;
        QTest::newRow("RTX 4090 128 x 168 registers, 49000 bytes") << "RTX 4090" << 128 << 168 << qint64{49000} << 2;
        QTest::newRow("RTX 4090 32 x 24 registers, 16384 bytes") << "RTX 4090" << 32 << 24 << qint64{16384} << 5;
        QTest::newRow("RTX 4090 512 x 96 registers, 120000 bytes") << "RTX 4090" << 512 << 96 << qint64{120000} << 0;
        QTest::newRow("RTX 4090 96 x 96 registers, 4096 bytes") << "RTX 4090" << 96 << 96 << qint64{4096} << 6;
        QTest::newRow("RTX 4090 288 x 200 registers, 33000 bytes") << "RTX 4090" << 288 << 200 << qint64{33000} << 0;
        QTest::newRow("RTX 4090 768 x 40 registers, 16384 bytes") << "RTX 4090" << 768 << 40 << qint64{16384} << 2;
        QTest::newRow("RTX 4090 160 x 64 registers, 33000 bytes") << "RTX 4090" << 160 << 64 << qint64{33000} << 3;
        QTest::newRow("RTX 4090 768 x 96 registers, 0 bytes") << "RTX 4090" << 768 << 96 << qint64{0} << 0;
        QTest::newRow("RTX 4090 32 x 128 registers, 4096 bytes") << "RTX 4090" << 32 << 128 << qint64{4096} << 16;
        QTest::newRow("RTX 4090 64 x 200 registers, 8192 bytes") << "RTX 4090" << 64 << 200 << qint64{8192} << 4;
        QTest::newRow("RTX 4090 128 x 64 registers, 0 bytes") << "RTX 4090" << 128 << 64 << qint64{0} << 8;
        QTest::newRow("RTX 4090 768 x 42 registers, 17000 bytes") << "RTX 4090" << 768 << 42 << qint64{17000} << 1;
        QTest::newRow("RTX 4090 768 x 64 registers, 16384 bytes") << "RTX 4090" << 768 << 64 << qint64{16384} << 1;
    }
    void blocksAreThoseOfNvidiasCalculator()
    {
        QFETCH(QString, gpu);
        QFETCH(int, threads);
        QFETCH(int, registers);
        QFETCH(qint64, shared);
        const Occupancy found = occupancyOf(*findGpu(gpu.toStdString()), threads, registers, shared);
        QTEST(found.blocks, "blocks");
        QCOMPARE(found.warps, found.blocks * ((threads + 31) / 32));
    }

    void theLimitIsNamed()
    {
        const GpuFacts& gpu = *findGpu("RTX A6000");
        QVERIFY(occupancyOf(gpu, 1024, 32, 0).limit == OccupancyLimit::Threads);
        QVERIFY(occupancyOf(gpu, 32, 32, 0).limit == OccupancyLimit::Blocks);
        QVERIFY(occupancyOf(gpu, 256, 128, 0).limit == OccupancyLimit::Registers);
        QVERIFY(occupancyOf(gpu, 128, 32, 40000).limit == OccupancyLimit::SharedMemory);
        for (const Occupancy& none :
             {occupancyOf(gpu, 1024, 255, 0), occupancyOf(gpu, 128, 32, 100 * 1024), occupancyOf(gpu, 0, 32, 0),
              occupancyOf(gpu, 1025, 32, 0), occupancyOf(gpu, 128, 256, 0), occupancyOf(gpu, 128, 32, -1)}) {
            QVERIFY(none.limit == OccupancyLimit::Impossible);
            QCOMPARE(none.blocks, 0);
        }
    }

    /// The products of the figures are those that the data sheets print.
    void factsAreWhatDataSheetsSay()
    {
        const auto peak = [](const char* name) { return qRound(findGpu(name)->peakFlops() / 1e11) / 10.0; };
        QCOMPARE(peak("RTX A6000"), 38.7);
        QCOMPARE(peak("A100"), 19.5);
        QCOMPARE(peak("H100"), 66.9);
        QCOMPARE(peak("H200"), 66.9);
        QCOMPARE(peak("RTX 4090"), 82.6);
        QVERIFY(findGpu("GTX 1") == nullptr);
        QCOMPARE(knownGpus().size(), std::size_t{5});
        for (const GpuFacts& gpu : knownGpus()) {
            QVERIFY(gpu.baseHz < gpu.boostHz && gpu.baseHz > 1e9);
            QVERIFY(gpu.sharedLatency < gpu.firstLatency && gpu.firstLatency < gpu.secondLatency
                    && gpu.secondLatency < gpu.memoryLatency);
            QVERIFY(gpu.cacheBytesPerCycle * gpu.boostHz > gpu.memoryBytesPerSecond);
            QVERIFY(gpu.maxBlockSharedBytes + 1024 == gpu.sharedBytes && gpu.sharedBytes < gpu.arrayBytes);
            QVERIFY(gpu.launchGapSeconds < gpu.launchSeconds);
        }
    }
};

LATHE_TEST(TestGpuOccupancy)

} // namespace tst_gpu_occupancy
#include "tst_gpu_occupancy.moc"
