#include "core/session/comparison.h"

#include <QtTest>

using namespace lathe::session;

namespace {

Standing project(std::vector<Standing::Task> tasks)
{
    Standing s;
    s.model = "net";
    s.target = "cpu";
    s.device = "{}";
    s.tasks = std::move(tasks);
    return s;
}

} // namespace

class TestComparison : public QObject
{
    Q_OBJECT

private slots:
    void tasksAreMatchedByKeyAndOrderedByHarm()
    {
        const Standing before = project({{"a", "conv", 4, 1.0, "direct", "t1", 1, 0}, {"b", "dense", 1, 2.0, "direct", "t2", 1, 0}});
        const Standing after = project({{"b", "dense", 1, 1.5, "direct", "t3", 1, 0}, {"a", "conv", 4, 1.1, "direct", "t4", 1, 0}});
        const Comparison c = compare(before, after);
        QCOMPARE(c.tasks.size(), std::size_t{2});
        QCOMPARE(c.tasks[0].name, std::string("conv"));
        QCOMPARE(c.beforeMs, 6.0);
        QVERIFY(std::abs(c.afterMs - 5.9) < 1e-9);
        QVERIFY(c.unlike.empty() && c.lost.empty());
    }

    void whatHasNoRecordAnyMoreIsLostNotFaster()
    {
        const Standing before = project({{"a", "conv", 1, 1.0, "direct", "t1", 1, 0}, {"b", "dense", 1, 2.0, "direct", "t2", 1, 0}, {"c", "gone", 1, 2.0, "direct", "t5", 1, 0}});
        const Standing after = project({{"a", "conv", 1, 1.0, "direct", "t1", 1, 0}, {"b", "dense", 1, kUnknown, "", "", 3, 3}, {"d", "new", 1, 2.0, "direct", "t6", 1, 0}});
        const Comparison c = compare(before, after);
        QCOMPARE(c.beforeMs, 1.0);
        QCOMPARE(c.afterMs, 1.0);
        QCOMPARE(c.lost, std::vector<std::string>{"dense"}); // a task that the network no longer has is not lost
        QCOMPARE(c.tasks.size(), std::size_t{4});
    }

    void conditionsThatDifferAreNamed()
    {
        Standing before = project({}), after = project({});
        after.target = "cpu -threads=1";
        after.coldBytes = 1 << 25;
        after.device = "{\"l2\": 1}";
        after.deviceName = before.deviceName = "EPYC";
        const Comparison c = compare(before, after);
        QCOMPARE(c.unlike.size(), std::size_t{3});
        QVERIFY(c.unlike[0].find("targets differ: cpu before, cpu -threads=1 now") != std::string::npos);
        QVERIFY(c.unlike[1].find("other hardware parameters") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestComparison)
#include "tst_comparison.moc"
