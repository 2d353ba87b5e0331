#include "core/session/project/project_history.h"
#include "core/session/project/stored_events.h"
#include "core/session/report/checks.h"
#include "core/session/report/comparison.h"
#include "core/session/report/report.h"
#include "core/session/report/text_diff.h"
#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tst_comparison {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;
using nlohmann::json;

namespace {

Standing project(std::vector<Standing::Task> tasks)
{
    Standing s;
    s.model = "net";
    s.target = "cpu";
    s.device = "{}";
    s.deviceKey = "here";
    s.tasks = std::move(tasks);
    return s;
}

Record record(const std::string& id, std::int64_t run, const std::string& task, double ms, std::int64_t timeMs)
{
    Record r;
    r.trial = id;
    r.session = run;
    r.candidate.task = task;
    r.candidate.alternative = "direct";
    r.candidate.steps = "[]";
    r.target = "cpu";
    r.result.device = identityOf(R"({"name": "EPYC", "hardware": {"num_cores": {"value": 2, "origin": "detected"}}})");
    r.timeMs = timeMs;
    if (ms > 0) {
        r.result.costsNs = {ms * 1e6};
        r.result.verified = true;
    } else {
        r.result.stage = TrialStage::Build;
        r.result.code = Errc::BuildFailed;
        r.result.text = "<no> \"register\" is left\nsecond line";
    }
    return r;
}

constexpr std::int64_t kDay = 24 * 3600 * 1000LL, kStart = 1'700'000'000'000LL;

/// Two runs of a network of two tasks; the second, a day later, is better, and half of it failed.
std::filesystem::path twoRuns(const QTemporaryDir& dir, const char* name)
{
    const std::filesystem::path file = std::filesystem::path(dir.path().toStdString()) / name;
    store::Project p = must(store::Project::open(file, store::Project::Access::Write));
    const auto model = must(p.addModel({0, "0123456789abcdef", "zoo:net", "net", R"({"batch": 1})"}));
    must(p.addTasks(model, {{"a", "conv", 4, 1e9, "{}"}, {"b", "dense", 1, 1e6, "{}"}}));
    const auto first = must(
        p.addSession({0, model, "cpu", R"({"seed": 1, "policy": "sketch"})", kStart, 60, "finished"}));
    must(p.addRecords(
        std::vector{record("aa1", first, "a", 2, kStart + 1000), record("bb1", first, "b", 1, kStart + 2000)}));
    must(p.addRound({first, 0, "a", 2, "{}", R"({"activities": {"measure": 3.5}})", 30, 9.0}));
    must(p.addEvent(first, 50, "measured", R"({"ms": 9.5})"));
    const auto second = must(
        p.addSession({0, model, "cpu", R"({"seed": 2, "policy": "random"})", kStart + kDay, 30, "stopped"}));
    must(p.addRecords(std::vector{record("aa2", second, "a", 1, kStart + kDay + 1000),
                                  record("bb2", second, "b", 0, kStart + kDay + 2000)}));
    must(p.addEvent(second, 20, "measured", R"({"ms": 5.5})"));
    return file;
}

/// Two runs, of which the second, slower one measured elsewhere, on a board behind a broker.
std::filesystem::path twoDevices(const QTemporaryDir& dir, const char* name)
{
    const std::filesystem::path file = std::filesystem::path(dir.path().toStdString()) / name;
    store::Project p = must(store::Project::open(file, store::Project::Access::Write));
    const auto model = must(p.addModel({0, "0123456789abcdef", "zoo:net", "net", R"({"batch": 1})"}));
    must(p.addTasks(model, {{"a", "conv", 4, 1e9, "{}"}, {"b", "dense", 1, 1e6, "{}"}}));
    const auto here = must(p.addSession({0, model, "cpu", R"({"devices": ["0"]})", kStart, 60, "finished"}));
    must(p.addRecords(
        std::vector{record("aa1", here, "a", 2, kStart + 1000), record("bb1", here, "b", 1, kStart + 2000)}));
    must(p.addEvent(here, 50, "measured", R"({"ms": 9.5})"));
    const auto there = must(
        p.addSession({0, model, "cpu", R"({"devices": ["pi"], "broker": "farm:9190"})", kStart + kDay, 30, "stopped"}));
    std::vector<Record> slow{record("aa2", there, "a", 20, kStart + kDay + 1000),
                             record("bb2", there, "b", 0, kStart + kDay + 2000),
                             record("bb3", there, "b", 10, kStart + kDay + 3000)};
    for (Record& one : slow)
        one.result.device = identityOf(R"({"name": "Cortex-A72"})");
    slow[1].result.device = {}; // it never got there
    must(p.addRecords(slow));
    must(p.addEvent(there, 20, "measured", R"({"ms": 95})"));
    return file;
}

} // namespace

class TestComparison : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void baselinesAreReadAndWrittenAlike_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("good");
        QTest::newRow("project") << "p.lathe" << true;
        QTest::newRow("commas in the name") << "a,b,run.lathe" << true;
        QTest::newRow("run") << "p.lathe,run=3" << true;
        QTest::newRow("all") << "p.lathe,model=2,run=3,until=2026-01-31T18:00:05" << true;
        QTest::newRow("device") << "p.lathe,run=3,device=cpu-5ac01d94b2e7" << true;
        QTest::newRow("device in between") << "p.lathe,device=pi,run=3" << true;
        QTest::newRow("no device") << "p.lathe,device=" << false;
        QTest::newRow("no run") << "p.lathe,run=0" << false;
        QTest::newRow("words for a run") << "p.lathe,run=last" << false;
        QTest::newRow("not a date") << "p.lathe,until=yesterday" << false;
        QTest::newRow("nothing") << "" << false;
        QTest::newRow("no file") << ",run=1" << false;
    }
    void baselinesAreReadAndWrittenAlike()
    {
        QFETCH(QString, text);
        QFETCH(bool, good);
        const auto baseline = parseBaseline(text.toStdString());
        QCOMPARE(baseline.has_value(), good);
        if (good && text == "p.lathe,device=pi,run=3")
            QCOMPARE(toString(*baseline), std::string("p.lathe,run=3,device=pi"));
        else if (good)
            QCOMPARE(QString::fromStdString(toString(*baseline)), text);
        else
            QVERIFY(baseline.error().code == Errc::InvalidArgument);
    }

    void aDayCountsWhole()
    {
        const Baseline day = must(parseBaseline("p,until=2026-01-31")),
                       end = must(parseBaseline("p,until=2026-01-31T23:59:59"));
        QCOMPARE(day.untilMs, end.untilMs);
    }

    void figuresOfTheNetworkAreThoseThatTheWindowShows()
    {
        const auto file = twoRuns(m_dir, "figures.lathe");
        {
            store::Project p = must(store::Project::open(file, store::Project::Access::Write));
            const json parts = {{"tasks", 5}, {"chain", 0.5}, {"untuned", 0.25}, {"call", 0.25}};
            must(p.addEvent(2, 21, "untuned", json{{"ms", 8.0}}.dump()));
            must(p.addEvent(2, 22, "measured", json{{"ms", 6.25}, {"estimated_ms", parts}}.dump()));
            VerdictEvent verdict;
            verdict.gain.pairs = 20;
            verdict.gain.ms = 6.5;
            verdict.gain.untunedMs = 9.5;
            must(p.addEvent(2, 23, "verdict", toJson(verdict).dump()));
        }
        const Standing s = must(standing(file));
        QCOMPARE(s.tasksMs, 5.0);
        QCOMPARE(s.estimatedMs(), 6.0);
        QCOMPARE(s.network.ms, 6.5); // timed in turns
        QCOMPARE(s.network.untunedMs, 9.5);
        QCOMPARE(s.network.aloneMs, 6.25);
        const std::vector<Check> checks = checksOf(s); // the sum of parts is that of what was timed alone
        QVERIFY(std::any_of(checks.begin(), checks.end(), [](const Check& check) {
            return textOf(check.text).find("6.250 ms") != std::string::npos;
        }));
    }

    void runsAndDatesAreStandingsOfTheirOwn()
    {
        const auto file = twoRuns(m_dir, "runs.lathe");
        const Standing all = must(standing(file));
        QCOMPARE(all.tasksMs, 5.0); // 4 x 1 + 1
        QCOMPARE(all.trials, std::int64_t{4});
        QCOMPARE(all.errors, std::int64_t{1});
        QCOMPARE(all.network.ms, 5.5);
        const Standing first = must(standing(Baseline{file, 1, 0, 0}));
        QCOMPARE(first.tasksMs, 9.0);
        QCOMPARE(first.network.ms, 9.5);
        QCOMPARE(first.trials, std::int64_t{2});
        const Standing second = must(standing(Baseline{file, 2, 0, 0}));
        QVERIFY(std::isnan(second.tasksMs));
        QCOMPARE(second.tasks[0].trial, std::string("aa2"));
        const Standing before = must(standing(Baseline{file, 0, kStart + kDay / 2, 0}));
        QCOMPARE(before.tasksMs, 9.0);
        QCOMPARE(before.network.ms, 9.5);
        QVERIFY(standing(Baseline{file, 7, 0, 0}).error().code == Errc::NotFound);
        QVERIFY(standing(Baseline{file, 0, 0, 9}).error().code == Errc::NotFound);
        QCOMPARE(must(listRuns(file)).size(), std::size_t{2});
    }

    void devicesAreStandingsOfTheirOwn()
    {
        const auto file = twoDevices(m_dir, "devices.lathe");
        const auto devices = must(listDevices(file));
        QCOMPARE(devices.size(), std::size_t{2});
        QCOMPARE(devices[0].name, std::string("EPYC"));
        QVERIFY(devices[0].keys.empty()); // how its machine calls it is no key
        QCOMPARE(devices[1].keys, std::vector<std::string>{"pi"});
        Baseline pi{file, 0, 0, 0, "pi"}, epyc{file, 0, 0, 0, devices[0].device};
        const Standing fast = must(standing(epyc)), slow = must(standing(pi));
        QCOMPARE(fast.deviceName, std::string("EPYC"));
        QCOMPARE(fast.tasksMs, 9.0);
        QCOMPARE(fast.network.ms, 9.5);
        QCOMPARE(fast.trials, std::int64_t{2});
        QCOMPARE(slow.deviceName, std::string("Cortex-A72"));
        QCOMPARE(slow.tasksMs, 90.0);
        QCOMPARE(slow.network.ms, 95.0);
        QCOMPARE(slow.activeSeconds, 30.0);
        const Standing byClass = must(standing(Baseline{file, 0, 0, 0, devices[1].device}));
        QCOMPARE(byClass.tasksMs, slow.tasksMs);
        const auto nobody = standing(Baseline{file, 0, 0, 0, "tx2"});
        QVERIFY(nobody.error().code == Errc::NotFound);
        QVERIFY2(nobody.error().message.find("no trials of a device tx2") != std::string::npos,
                 nobody.error().message.c_str());
        QVERIFY(standing(Baseline{file, 1, 0, 0, "pi"}).error().code == Errc::NotFound); // the run of the other
    }

    /// A key whose boards became others: by its name those that were measured last, by their class each.
    void aKeyOfTwoClassesHidesNone()
    {
        const auto file = twoDevices(m_dir, "classes.lathe");
        {
            store::Project p = must(store::Project::open(file, store::Project::Access::Write));
            const auto later = must(p.addSession(
                {0, 1, "cpu", R"({"devices": ["pi"], "broker": "farm:9190"})", kStart + 2 * kDay, 30, "stopped"}));
            Record one = record("aa4", later, "a", 5, kStart + 2 * kDay);
            one.result.device = identityOf(R"({"name": "Cortex-A76"})");
            must(p.addRecords(std::vector{one}));
        }
        const auto devices = must(listDevices(file));
        QCOMPARE(devices.size(), std::size_t{3});
        for (const DeviceChoice& device : devices) {
            QCOMPARE(calledOf(device, devices), device.device);
            QCOMPARE(must(standing(Baseline{file, 0, 0, 0, device.device})).deviceName, device.name);
        }
        QCOMPARE(must(standing(Baseline{file, 0, 0, 0, "pi"})).deviceName, std::string("Cortex-A76"));
    }

    /// What of a round each device measured, and how well.
    void qualityIsToldOfEachDevice()
    {
        const auto file = twoDevices(m_dir, "quality.lathe");
        {
            store::Project p = must(store::Project::open(file, store::Project::Access::Write));
            must(p.addRound({2, 7, "a", 40, "{}", "{}", 30, 9.0}));
            std::vector<Record> round;
            for (int i = 0; i < 20; ++i) { // more than a sample
                Record one = record("q" + std::to_string(i), 2, "a", 20, kStart + kDay + 5000);
                one.round = 7;
                one.index = i;
                one.result.costsNs = {100, i % 2 == 0 ? 110.0 : 150.0};
                one.result.durationsMs = {{"upload", 10}, {"measure", 200}, {"check", 50}};
                json conditions = {{"calibration_ns", 1000 * (i % 4 + 1)}, {"probe_drift", i % 2 == 0 ? -0.01 : 0.2}};
                conditions["runner"] = i % 2 == 0 ? "steady" : "shaky";
                if (i % 2 == 0) // it compiles itself
                    conditions["device_build_ms"] = 30;
                if (i % 2 == 1)
                    conditions["rejected"] = {{{"costs_ns", {120}}, {"probe_drift", 0.2}}, {{"costs_ns", {130}}}};
                one.result.conditions = conditions.dump();
                round.push_back(std::move(one));
            }
            must(p.addRecords(round));
        }
        ModelSpec spec;
        spec.source = "zoo:mlp";
        const auto history = must(readProjectHistory({file, 1, must(loadModel(spec, "cpu")), nullptr}));
        const auto rounds = must(history->quality(2, 0, {}));
        QCOMPARE(rounds.size(), std::size_t{1});
        QCOMPARE(rounds[0].devices.size(), std::size_t{2});
        const auto &steady = rounds[0].devices.at("steady"), &shaky = rounds[0].devices.at("shaky");
        QCOMPARE(steady.trials, std::int64_t{10}); // half of the round's trials failed
        QCOMPARE(steady.rejected, std::int64_t{0});
        QCOMPARE(shaky.rejected, std::int64_t{20});
        QCOMPARE(steady.drift, 0.01);
        QCOMPARE(shaky.drift, 0.2);
        QCOMPARE(steady.spread, 0.1);
        QCOMPARE(shaky.spread, 0.5);
        QCOMPARE(steady.controlNs, 2000.0);
        QCOMPARE(shaky.controlNs, 3000.0);
        QCOMPARE(qRound(1000 * steady.upload), 200); // of all trials
        QCOMPARE(qRound(1000 * steady.measure), 5000);
        QCOMPARE(qRound(1000 * steady.build), 600);
        QCOMPARE(shaky.build, 0.0);
        QCOMPARE(rounds[0].controlNs, 2500.0);
    }

    void conditionsThatDifferAreMarkedAndTheSeriousOnesKnown()
    {
        const auto file = twoRuns(m_dir, "conditions.lathe");
        std::vector<Standing> both{must(standing(Baseline{file, 1, 0, 0})), must(standing(Baseline{file, 2, 0, 0}))};
        both[1].deviceName = "Xeon";
        std::map<std::string, ConditionRow> rows;
        for (const ConditionRow& row : conditionTable(both))
            rows[row.name] = row;
        QVERIFY(rows["seed"].differs && !rows["seed"].serious);
        QVERIFY(rows["device"].differs && rows["device"].serious);
        QVERIFY(!rows["network"].differs && !rows["hardware: num_cores"].differs);
        QCOMPARE(rows["search policy"].values[1], std::string("random"));
    }

    void changesAreGradedInWords()
    {
        QVERIFY(gradeOf(1.019) == Grade::Same && gradeOf(0.985) == Grade::Same);
        QVERIFY(gradeOf(1.1) == Grade::Slower && gradeOf(1.3) == Grade::MuchSlower);
        QVERIFY(gradeOf(0.9) == Grade::Faster && gradeOf(0.5) == Grade::MuchFaster);
        QVERIFY(gradeOf(kUnknown) == Grade::Unknown);
    }

    void differingLinesAreFoundWithTheirNumbers()
    {
        const auto lines = diffLines("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n");
        std::string text;
        for (const DiffLine& line : lines)
            text += std::to_string(line.left) + "/" + std::to_string(line.right)
                    + (line.kind == DiffLine::Kind::Same      ? " "
                       : line.kind == DiffLine::Kind::Removed ? "-"
                                                              : "+")
                    + line.text + "\n";
        QCOMPARE(text, std::string("1/1 a\n2/0-b\n0/2+x\n3/3 c\n4/4 d\n0/5+e\n"));
        QCOMPARE(unifiedDiff(lines, 0), std::string("@@ -2 +2 @@\n-b\n+x\n@@ -5 +5 @@\n+e\n"));
        QVERIFY(unifiedDiff(diffLines("same\n", "same\n")).empty());
        QCOMPARE(diffLines("", "x").size(), std::size_t{1});
        QVERIFY(diffLines("", "").empty());
    }

    void theReportHasAllInOneFileAndNoMarkupOfOthers()
    {
        const std::filesystem::path html = std::filesystem::path(m_dir.path().toStdString()) / "r.html";
        must(writeReport(twoRuns(m_dir, "report.lathe"), html));
        QFile file(QString::fromStdString(html.string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        for (const char* there :
             {"<svg", "tasks with a valid record: all 2", "EPYC", "Settings of run 2", "BuildFailed",
              "&lt;no&gt; &quot;register&quot;", "<td>measure<td class=\"n\">3.5<td class=\"n\">100.0 %",
              "prefers-color-scheme: dark", "@media print"})
            QVERIFY2(text.contains(there), there);
        for (const char* absent : {"<no>", "<script", "http:", "https:", "src=", "nan"})
            QVERIFY2(!text.contains(absent), absent);
    }

    void anEmptyProjectHasAReportTooAndNoModelIsAnError()
    {
        const std::filesystem::path folder(m_dir.path().toStdString());
        {
            store::Project p = must(store::Project::open(folder / "none.lathe", store::Project::Access::Write));
            QVERIFY(writeReport(folder / "none.lathe", folder / "none.html").error().code == Errc::NotFound);
            const auto model = must(p.addModel({0, "h", "zoo:net", "net", "{}"}));
            must(p.addTasks(model, {{"a", "conv", 4, 1e9, "{}"}}));
        }
        must(writeReport(folder / "none.lathe", folder / "none.html"));
        QFile file(QString::fromStdString((folder / "none.html").string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY(text.contains("has not been tuned yet") && text.contains("tasks with a valid record: 0 of 1")
                && text.contains("No trial has failed"));
        QVERIFY(writeReport(folder / "none.lathe", folder / "no" / "where.html").error().code == Errc::StoreFailed);
    }

    void tasksAreMatchedByKeyAndOrderedByHarm()
    {
        const Standing before = project(
            {{"a", "conv", 4, 1.0, "direct", "t1", 1, 0}, {"b", "dense", 1, 2.0, "direct", "t2", 1, 0}});
        const Standing after = project(
            {{"b", "dense", 1, 1.5, "direct", "t3", 1, 0}, {"a", "conv", 4, 1.1, "direct", "t4", 1, 0}});
        const Comparison c = compare(before, after);
        QCOMPARE(c.tasks.size(), std::size_t{2});
        QCOMPARE(c.tasks[0].name, std::string("conv"));
        QCOMPARE(c.beforeMs, 6.0);
        QVERIFY(std::abs(c.afterMs - 5.9) < 1e-9);
        QVERIFY(c.unlike.empty() && c.lost.empty());
    }

    void whatHasNoRecordAnyMoreIsLostNotFaster()
    {
        const Standing before = project({{"a", "conv", 1, 1.0, "direct", "t1", 1, 0},
                                         {"b", "dense", 1, 2.0, "direct", "t2", 1, 0},
                                         {"c", "gone", 1, 2.0, "direct", "t5", 1, 0}});
        const Standing after = project({{"a", "conv", 1, 1.0, "direct", "t1", 1, 0},
                                        {"b", "dense", 1, kUnknown, "", "", 3, 3},
                                        {"d", "new", 1, 2.0, "direct", "t6", 1, 0}});
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
        after.deviceKey = "there";
        after.deviceName = before.deviceName = "EPYC";
        const Comparison c = compare(before, after);
        QCOMPARE(c.unlike.size(), std::size_t{3});
        QVERIFY(c.unlike[0].find("targets differ: cpu before, cpu -threads=1 now") != std::string::npos);
        QVERIFY(c.unlike[1].find("other hardware parameters") != std::string::npos);
    }
};

LATHE_TEST(TestComparison)

} // namespace tst_comparison

#include "tst_comparison.moc"
