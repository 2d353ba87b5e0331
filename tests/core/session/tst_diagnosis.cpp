#include "core/session/verdict/diagnosis.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

namespace tst_diagnosis {

using namespace lathe;
using namespace lathe::session;

using Change = std::function<void(RunFacts&)>;

/// What the rules find: each of them just above its threshold and just below.
class TestDiagnosis : public QObject
{
    Q_OBJECT

    /// A run with nothing to say against it.
    static RunFacts healthy()
    {
        RunFacts facts;
        facts.gain = {20, 2.5, 8.6, 3.4, 3.3, 3.5};
        facts.machine.seconds = 3;
        facts.machine.processors = 2;
        facts.machine.others = 0.02;
        facts.machine.stolen = 0.01;
        facts.machine.heldBackSeconds = 0;
        facts.machine.heatSlowdowns = 0;
        facts.machine.mhz = 2600;
        facts.machine.mostMhz = 2600;
        facts.machine.controlSpread = 1.1;
        facts.measuredMs = 2.5;
        facts.parts = {2.2, 0.2, 0.09, 0.01};
        facts.small = {3, 0.03};
        facts.threads = facts.processors = 2;
        for (int i = 0; i < 4; ++i)
            facts.tasks.push_back({i, "task " + std::to_string(i), 0.55, 5, 0.2, false});
        return facts;
    }
    static std::vector<Finding> after(const Change& change)
    {
        RunFacts facts = healthy();
        change(facts);
        return diagnose(facts);
    }

private slots:
    void aHealthyRunHasNothingToSay()
    {
        const std::vector<Finding> findings = diagnose(healthy());
        QVERIFY2(findings.empty(), findings.empty() ? "" : findings.front().rule.c_str());
        QVERIFY(believable(healthy().gain, findings));
        QVERIFY2(diagnose(RunFacts()).empty(), "what is unknown finds nothing");
        QVERIFY2(!believable(Gain(), {}), "and proves nothing");
    }

    void eachRuleHasItsThreshold_data()
    {
        QTest::addColumn<QString>("rule");
        QTest::addColumn<Change>("below");
        QTest::addColumn<Change>("above");
        QTest::addColumn<QString>("evidence"); // a part of it
        QTest::addColumn<int>("task");
        const auto row = [](const char* rule, const char* name, const Change& below, const Change& above,
                            const char* evidence, int task = -1) {
            QTest::newRow(name) << QString::fromLatin1(rule) << below << above << QString::fromUtf8(evidence) << task;
        };
        row(
            "others take processors", "others", [](RunFacts& f) { f.machine.others = 0.085; },
            [](RunFacts& f) { f.machine.others = 0.6; }, "other programs used 60 %");
        row(
            "others take processors", "guests", [](RunFacts& f) { f.machine.stolen = 0.07; },
            [](RunFacts& f) { f.machine.stolen = 0.15; }, "other virtual machines 15 % of the processor time");
        row(
            "gain not proven", "holds one", [](RunFacts& f) { f.gain.low = 1.001; },
            [](RunFacts& f) { f.gain.low = 0.98; }, "interval, 0.98 to 3.50, includes 1");
        row(
            "gain not proven", "slower", [](RunFacts&) {},
            [](RunFacts& f) { f.gain = {20, 13.68, 8.67, 0.634, 0.6, 0.7}; },
            "1.58 times the latency (95 % interval 1.43 to 1.67");
        row(
            "gain not proven", "few pairs", [](RunFacts&) {},
            [](RunFacts& f) {
                f.gain = {3, 13.68, 8.67, 1.5};
            },
            "in 3 pairs of runs, but an interval needs 6");
        row(
            "sum of parts apart", "more", [](RunFacts& f) { f.measuredMs = 2.6; },
            [](RunFacts& f) { f.measuredMs = 3.0; }, "took 3.000 ms, 20 % more than the sum of its parts, 2.500 ms");
        row(
            "sum of parts apart", "less", [](RunFacts& f) { f.measuredMs = 2.4; },
            [](RunFacts& f) { f.measuredMs = 2.0; }, "20 % less than");
        row(
            "throttled", "heat", [](RunFacts&) {}, [](RunFacts& f) { f.machine.heatSlowdowns = 4; },
            "throttled 4 times because of heat");
        row(
            "throttled", "quota", [](RunFacts& f) { f.machine.heldBackSeconds = 0.4; },
            [](RunFacts& f) { f.machine.heldBackSeconds = 1.2; }, "throttled the network for 1.2 s of the 3.0 s");
        row(
            "throttled", "clock", [](RunFacts& f) { f.machine.mhz = 2300; }, [](RunFacts& f) { f.machine.mhz = 1200; },
            "ran at 1200 MHz; their maximum is 2600 MHz");
        row(
            "unsteady", "control kernel", [](RunFacts& f) { f.machine.controlSpread = 1.9; },
            [](RunFacts& f) { f.machine.controlSpread = 2.6; }, "2.6 times as long in its slowest run");
        row(
            "tasks not searched", "one round", [](RunFacts& f) { f.tasks[1].rounds = 2; },
            [](RunFacts& f) { f.tasks[1].rounds = 1; }, "1 of 4 tasks had at most one round; they take 25 %", 1);
        row(
            "one task dominates", "share", [](RunFacts& f) { f.tasks[2].ms = 1.6; },
            [](RunFacts& f) { f.tasks[2].ms = 1.8; }, "task 2 takes 52 % of the tasks' time", 2);
        row(
            "memory-bound", "near its limit",
            [](RunFacts& f) {
                f.tasks[3].memoryBound = f.tasks[0].memoryBound = true; // far from it
                f.tasks[3].leastMs = 0.5; // 25 %
            },
            [](RunFacts& f) {
                f.tasks[3].memoryBound = f.tasks[0].memoryBound = true;
                f.tasks[3].leastMs = f.tasks[0].leastMs = 0.5;
            },
            "memory limits 2 tasks, which take 50 %", 0);
        row(
            "long chain", "share",
            [](RunFacts& f) {
                f.parts = {2.0, 0.4, 0.09, 0.01};
            },
            [](RunFacts& f) {
                f.parts = {1.775, 0.625, 0.09, 0.01};
            },
            "take longer than alone, by 25 % of the network's time (0.625 ms)");
        row(
            "small functions", "share",
            [](RunFacts& f) {
                f.small = {30, 0.24};
            },
            [](RunFacts& f) {
                f.small = {60, 0.5};
            },
            "functions under 20 µs: 60, together 20 %");
        row(
            "small kernels", "share on a device",
            [](RunFacts& f) {
                f.startsKernels = true;
                f.small = {30, 0.24};
            },
            [](RunFacts& f) {
                f.startsKernels = true;
                f.small = {60, 0.5};
            },
            "functions under 20 µs: 60, together 20 %");
        row(
            "few threads", "one of two", [](RunFacts& f) { f.threads = 4; }, [](RunFacts& f) { f.threads = 1; },
            "the target uses 1 thread, and this machine has 2 processors");
        row(
            "many rejected", "most of them",
            [](RunFacts& f) {
                f.proposed = {50, 50};
            },
            [](RunFacts& f) {
                f.proposed = {49, 51};
            },
            "51 of 100 candidates were rejected before building: more threads or memory than the device has");
    }
    void eachRuleHasItsThreshold()
    {
        QFETCH(QString, rule);
        QFETCH(Change, below);
        QFETCH(Change, above);
        QFETCH(QString, evidence);
        QFETCH(int, task);
        const std::vector<Finding> none = after(below);
        QVERIFY2(none.empty(), none.empty() ? "" : none.front().rule.c_str());
        const std::vector<Finding> findings = after(above);
        QCOMPARE(findings.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(findings[0].rule), rule);
        const QString text = QString::fromStdString(textOf(findings[0].evidence));
        QVERIFY2(text.contains(evidence), qPrintable(text));
        QCOMPARE(findings[0].task, task);
        QVERIFY(!textOf(findings[0].title).empty() && !textOf(findings[0].cure).empty());
        QCOMPARE(believable(healthy().gain, findings), findings[0].gravity == Gravity::Hint);
    }

    /// What nobody has is not said to be the reason: a device wakes no threads.
    void theCureFitsTheKindOfDevice()
    {
        const auto cure = [](bool startsKernels) {
            const std::vector<Finding> findings = after([startsKernels](RunFacts& f) {
                f.startsKernels = startsKernels;
                f.small = {60, 0.5};
            });
            return findings.size() == 1 ? QString::fromStdString(textOf(findings.front().cure)) : QString();
        };
        QVERIFY2(cure(false).contains("threads") && !cure(false).contains("kernel"), qPrintable(cure(false)));
        QVERIFY2(cure(true).contains("kernel") && !cure(true).contains("threads"), qPrintable(cure(true)));
    }

    void withoutAllTasksNoShareIsKnown()
    {
        const std::vector<Finding> findings = after([](RunFacts& f) {
            f.tasks[2].ms = 5;
            f.tasks[1].ms = kUnknown;
        });
        QVERIFY(findings.empty());
    }

    void everyRuleIsTested()
    {
        std::set<std::string> ids;
        for (const Rule& rule : rules())
            QVERIFY(ids.insert(std::string(rule.id)).second);
        QCOMPARE(ids, (std::set<std::string>{"others take processors", "gain not proven", "sum of parts apart",
                                             "throttled", "unsteady", "tasks not searched", "one task dominates",
                                             "memory-bound", "long chain", "small functions", "small kernels",
                                             "few threads", "many rejected"}));
    }

    void theGravestComesFirst()
    {
        const std::vector<Finding> findings = after([](RunFacts& f) {
            f.threads = 1;
            f.machine.others = 0.6;
            f.tasks[0].rounds = 0;
        });
        QCOMPARE(findings.size(), std::size_t{3});
        QCOMPARE(findings[0].rule, std::string("others take processors"));
        QCOMPARE(findings[1].rule, std::string("tasks not searched"));
    }

    void isTheSameFromJson()
    {
        const std::vector<Finding> findings = after([](RunFacts& f) {
            f.machine.others = 0.6;
            f.tasks[2].ms = 1.8;
        });
        nlohmann::json list = toJson(findings);
        list.push_back({{"rule", "of a later version"}});
        list.push_back(3);
        const std::vector<Finding> again = findingsIn(list);
        QCOMPARE(again.size(), findings.size());
        for (std::size_t i = 0; i < again.size(); ++i) {
            QCOMPARE(again[i].rule, findings[i].rule);
            QCOMPARE(textOf(again[i].evidence), textOf(findings[i].evidence));
            QCOMPARE(textOf(again[i].cure), textOf(findings[i].cure));
            QCOMPARE(again[i].task, findings[i].task);
            QVERIFY(again[i].gravity == findings[i].gravity);
            QVERIFY2(again[i].evidence.id == findings[i].evidence.id, "so that it can be said in other languages");
        }
    }

    void tasksAreHeldAgainstTheDevice()
    {
        std::vector<TaskView> tasks(2);
        tasks[0].id = 0;
        tasks[0].weight = 2;
        tasks[0].bestMs = 1;
        tasks[0].flop = 1e6;
        tasks[0].bytes = 4e6;
        tasks[1].id = 1;
        tasks[1].bestMs = 1;
        tasks[1].flop = 5e8;
        tasks[1].bytes = 100;
        const std::int64_t rounds[] = {3, 1};
        const auto facts = taskFacts(tasks, rounds, {1000, {{"cache", 1024, 100}, {"memory", 0, 10}}});
        QCOMPARE(facts[0].ms, 2.0);
        QVERIFY(std::abs(facts[0].leastMs - 0.79981568) < 1e-9);
        QVERIFY(facts[0].memoryBound && !facts[1].memoryBound);
        QCOMPARE(facts[1].rounds, std::int64_t{1});
    }
};

LATHE_TEST(TestDiagnosis)

} // namespace tst_diagnosis

#include "tst_diagnosis.moc"
