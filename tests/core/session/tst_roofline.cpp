#include "core/session/roofline.h"
#include "core/session/session.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_roofline {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

/// Tasks beside what a device can do, with limits that are easy to reckon with.
class TestRoofline : public QObject
{
    Q_OBJECT

    /// 1000 GFLOP/s; 1 KiB at 100 GB/s, memory at 10 GB/s.
    static DeviceLimits limits() { return {1000, {{"cache", 1024, 100}, {"memory", 0, 10}}}; }

    static TaskView task(double flop, double bytes, double bestMs)
    {
        TaskView view;
        view.flop = flop;
        view.bytes = bytes;
        view.bestMs = bestMs;
        return view;
    }

private slots:
    void theSlowerOfBothLimitsBinds()
    {
        const std::vector<TaskView> tasks = {task(1e9, 1e6, 2.0), task(1e6, 1e7, 4.0), task(0, 1000, 0.1),
                                             task(1e9, 1e6, kUnknown)};
        const std::vector<RooflineRow> rows = roofline(tasks, limits());
        QCOMPARE(rows.size(), std::size_t{4});
        QCOMPARE(rows[0].computeMs, 1.0);
        QCOMPARE(rows[0].memoryMs, 1.024e-5 + 0.0998976); // 1 KiB of it from the cache
        QVERIFY(!rows[0].memoryBound());
        QCOMPARE(rows[0].shareOfLimit, 0.5);
        QCOMPARE(rows[0].gflops, 500.0);
        QCOMPARE(rows[1].lowerBoundMs, 1.024e-5 + 0.9998976);
        QVERIFY(rows[1].memoryBound());
        QCOMPARE(rows[1].level, std::string("memory"));
        QCOMPARE(rows[1].gbytesPerS, 2.5);
        QCOMPARE(rows[2].level, std::string("cache"));
        QCOMPARE(rows[2].memoryMs, 1e-5);
        QVERIFY2(std::isnan(rows[3].shareOfLimit), "no best, no part of it");
        QCOMPARE(rows[3].lowerBoundMs, 1.0);
    }

    /// A pool of 1,536 bytes that took less time than memory needs for them: two thirds came from the cache.
    void whatACacheHoldsInPartComesInPartFromIt()
    {
        const double least = 1024 / 100.0 * 1e-6 + 512 / 10.0 * 1e-6;
        const std::vector<RooflineRow> rows = roofline(std::vector<TaskView>{task(0, 1536, 1.2 * least)}, limits());
        QCOMPARE(rows[0].memoryMs, least);
        QCOMPARE(rows[0].level, std::string("cache"));
        QVERIFY(rows[0].shareOfLimit < 1);
        QVERIFY(1.2 * least < 1536 / 10.0 * 1e-6); // all from memory would have been 130 % of the limit
    }

    void figuresOfFewerOperationsAreEffective()
    {
        std::vector<TaskView> tasks(2, task(1e9, 1000, 0.6));
        tasks[0].bestAlternative = "winograd-4";
        tasks[1].bestAlternative = "direct";
        const std::vector<RooflineRow> rows = roofline(tasks, limits());
        QVERIFY(rows[0].effective && !rows[1].effective);
        QVERIFY(rows[0].shareOfLimit > 1);
    }

    void weightsComeFromWhereTheNetworksOthersPushThem()
    {
        std::vector<TaskView> tasks = {task(1e3, 1000, 1.0), task(1e3, 600, 1.0)};
        tasks[0].weightBytes = 500;
        QCOMPARE(roofline(tasks, limits())[0].memoryMs, 1e-5);
        QCOMPARE(roofline(tasks, limits())[0].level, std::string("cache"));
        tasks[1].weightBytes = 300;
        tasks[1].weight = 2; // 1,100 bytes of weights together: more than the cache holds
        QCOMPARE(roofline(tasks, limits())[0].memoryMs, 0.5e-5 + 5e-5);
        QCOMPARE(roofline(tasks, limits())[0].level, std::string("memory"));
        QCOMPARE(roofline(tasks, limits())[1].memoryMs, 0.3e-5 + 3e-5);
    }

    void unknownLimitsSayNothing_data()
    {
        QTest::addColumn<QByteArray>("json");
        for (const char* json :
             {"", "{}", "[]", "{\"gflops\": 5}", "{\"gflops\": 5, \"levels\": []}",
              "{\"gflops\": \"much\", \"levels\": []}", "{\"gflops\": 5, \"levels\": [{\"name\": \"L1\"}]}",
              "{\"gflops\": 5, \"levels\": [3]}"})
            QTest::newRow(json) << QByteArray(json);
    }
    void unknownLimitsSayNothing()
    {
        QFETCH(QByteArray, json);
        const DeviceLimits none = limitsFromJson(json.toStdString());
        QVERIFY(!none.known());
        std::vector<TaskView> tasks = {task(1e9, 1e6, 2.0)};
        setLeastMs(tasks, none);
        QVERIFY(std::isnan(tasks[0].lowerBoundMs));
    }

    void limitsAreReadAsTheDeviceSaysThem()
    {
        const DeviceLimits read = limitsFromJson(
            R"({"gflops": 12.5, "levels": [{"name": "L1", "bytes": 64, "gbytes_per_s": 3}, {"name": "memory", "bytes": 0, "gbytes_per_s": 1}]})");
        QVERIFY(read.known());
        QCOMPARE(read.gflops, 12.5);
        QCOMPARE(read.levels.size(), std::size_t{2});
        QCOMPARE(read.levels[0].bytes, 64.0);
    }

    void everyTaskCountsItsBytesOnce()
    {
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        const auto session = must(TuningSession::open(options));
        for (const TaskView& view : session->tasks()) {
            double elements = 0;
            for (const auto* tensors : {&view.inputs, &view.outputs})
                for (const TensorView& tensor : *tensors) {
                    double count = 1;
                    for (const std::int64_t extent : tensor.shape)
                        count *= static_cast<double>(extent);
                    elements += count;
                }
            QCOMPARE(view.bytes, 4 * elements);
        }
        auto refused = measureLimits("sim");
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::Unsupported);
    }
};

LATHE_TEST_GUILESS(TestRoofline)

} // namespace tst_roofline

#include "tst_roofline.moc"
