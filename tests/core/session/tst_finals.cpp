#include "core/session/run/finals.h"
#include "core/store/record_range.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace tst_finals {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

namespace {

Record record(const std::string& trial, double ns, const std::string& steps, const std::string& alternative = "direct",
              const std::string& sketch = "s")
{
    Record r;
    r.trial = trial;
    r.candidate.task = "conv";
    r.candidate.alternative = alternative;
    r.candidate.sketch = sketch;
    r.candidate.steps = steps;
    r.result.costsNs = {ns};
    r.result.conditions = "{}";
    r.target = "sim";
    r.result.device = identityOf("here");
    return r;
}

} // namespace

/// The best trials of a run, measured once more side by side on the simulated device.
class TestFinals : public QObject, Projects
{
    Q_OBJECT

    std::vector<Record> finalsOf(const char* project) const
    {
        std::vector<Record> finals;
        must(reader(project).forEachRecord({}, [&finals](const Record& r) {
            if (!lathe::finalsOf(r).empty())
                finals.push_back(r);
        }));
        return finals;
    }

private slots:
    void aBadMomentOfAPassStrikesAllAlike()
    {
        // The first is faster by a fifth; each pass comes at another speed of the machine, one moment struck the first
        // alone.
        const std::vector<std::vector<double>> passes = {{80, 100}, {160, 200}, {84, 105}, {300, 100}, {88, 110}};
        const auto all = standings(passes);
        QCOMPARE(all.size(), std::size_t{2});
        QVERIFY(std::abs(all[0] / all[1] - 0.8) < 1e-6 || all[0] / all[1] < 0.95);
        QVERIFY(all[0] < all[1]);
        QVERIFY(all[1] > 95 && all[1] < 160); // neither the luckiest moment nor the worst
        QCOMPARE(robustMean({5, 1, 3}), 3.0);
        QCOMPARE(robustMean({1, 2, 3, 100}), 2.5);
        QCOMPARE(robustMean({7}), 7.0);
        QVERIFY(std::isnan(robustMean({})));
        QCOMPARE(standings(std::vector<std::vector<double>>{{4, 6}}), (std::vector<double>{4, 6}));
        QVERIFY(standings({}).empty());
    }

    void aTakenCoreIsLeftOutOfARunoff()
    {
        const std::vector<std::vector<double>> passes = {{900, 110}, {100, 108}, {102, 2000}};
        QCOMPARE(quickest(passes), (std::vector<double>{100, 108}));
        QCOMPARE(quickest(std::vector<std::vector<double>>{{4}, {2}, {9}, {3}, {9}, {9}}), (std::vector<double>{2.5}));
        QVERIFY(quickest({}).empty());
    }

    void aBadMomentDoesNotMakeAWinnerSlow()
    {
        // Once more the one that stood: the mean of its moments, of which a bad one counts as a quarter more.
        LevelledCost of = smoothedCost(100, 1, 121, true);
        QVERIFY(std::abs(of.ns - 110) < 1e-9 && of.moments == 2);
        of = smoothedCost(100, 3, 81, true);
        QVERIFY(std::abs(of.ns - 100 * std::pow(0.81, 0.25)) < 1e-9 && of.moments == 4);
        of = smoothedCost(100, 1, 10'000, true);
        QVERIFY(std::abs(of.ns - std::sqrt(100 * 125.0)) < 1e-9 && of.moments == 2);
        QVERIFY(std::abs(smoothedCost(100, 50, 121, true).ns - 100 * std::pow(1.21, 1.0 / 8)) < 1e-9); // one of many
        // A newcomer, which is quicker than the one that stood.
        of = smoothedCost(100, 5, 95, false);
        QVERIFY(of.ns == 95 && of.moments == 1);
        QCOMPARE(smoothedCost(100, 5, 120, false).ns, 120.0);
        of = smoothedCost(100, 5, 9000, false);
        QVERIFY(of.ns == 100 && of.moments == 1);
        // The bad moment was before.
        for (const bool again : {true, false}) {
            of = smoothedCost(9000, 4, 100, again);
            QVERIFY(of.ns == 100 && of.moments == 1);
        }
        // An ordinary trial may have been lucky.
        of = smoothedCost(50, 0, 100, true);
        QVERIFY(of.ns == 100 && of.moments == 1);
        QCOMPARE(smoothedCost(50, 0, 90, false).ns, 90.0);
        for (const bool again : {true, false}) { // but not that much
            of = smoothedCost(340, 0, 3259, again);
            QVERIFY(of.ns == 680 && of.moments == 1);
        }
    }

    void theirShareOfTheTimeIsBounded()
    {
        QCOMPARE(finalsReserve(100, false), 8.0);
        QCOMPARE(finalsReserve(30, false), 3.0);
        QCOMPARE(finalsReserve(5, false), 1.0);
        QCOMPARE(finalsReserve(3600, false), 45.0);
        QCOMPARE(finalsReserve(100, true), 4.0);
        QCOMPARE(finalsReserve(3600, true), 22.5);
    }

    void tasksThatWeighMoreSendMore()
    {
        const std::vector<FinalsTask> tasks = {{8, 10}, {8, 1}, {1, 100}, {8, 4}};
        const auto few = finalistCounts(tasks, 5);
        QCOMPARE(few, (std::vector<std::size_t>{3, 0, 0, 2}));
        const auto some = finalistCounts(tasks, 10);
        QCOMPARE(std::accumulate(some.begin(), some.end(), std::size_t{0}), std::size_t{10});
        QVERIFY(some[0] > some[3] && some[3] >= some[1] && some[1] >= 2);
        QCOMPARE(finalistCounts(tasks, 1), (std::vector<std::size_t>{0, 0, 0, 0}));
        QCOMPARE(finalistCounts(tasks, 1000), (std::vector<std::size_t>{8, 8, 0, 8}));
    }

    void contendersAreDifferentPrograms()
    {
        auto project = must(store::Project::open(file("contenders.lathe"), store::Project::Access::Write));
        const store::Conditions here{"here", 0};
        must(project.addRecords(
            std::vector{record("a", 100, "1"), record("b", 101, "1"), record("c", 400, "[]", "winograd")}));
        auto found = must(contenders(project, "conv", "sim", here));
        QCOMPARE(found.size(), std::size_t{2}); // at least two, however far apart; "b" is "a" once more
        QCOMPARE(found[1].trial, std::string("c"));
        must(project.addRecords(std::vector{record("d", 102, "2"), record("e", 103, "3"),
                                            record("f", 124, "4", "direct", "other"),
                                            record("g", 126, "5", "direct", "third"), record("h", 160, "6")}));
        found = must(contenders(project, "conv", "sim", here));
        QStringList names;
        for (const Record& r : found)
            names << QString::fromStdString(r.trial);
        QCOMPARE(names, (QStringList{"a", "d", "f", "e", "g"}));
        QVERIFY(must(contenders(project, "conv", "sim", {"elsewhere", 0})).empty());
        must(project.addRecords(std::vector{[] {
            Record r = record("z", 5, "1");
            r.candidate.task = "alone";
            return r;
        }()}));
        QVERIFY(must(contenders(project, "alone", "sim", here)).empty()); // nothing competes
    }

    void aLuckyMomentDoesNotStand()
    {
        const std::filesystem::path script = file("lucky.json");
        std::ofstream(script) << R"({"rules": [{"fault": "slow", "every": 7, "offset": 3, "factor": 0.3}]})";
        const auto session = open("lucky.lathe", "sim -script=" + script.string());
        Watcher watcher(*session, few(48));
        QVERIFY(session->state() == RunState::Finished);
        QCOMPARE(watcher.all<TrialEvent>().size(), std::size_t{48}); // finals come on top
        QCOMPARE(watcher.all<DoneEvent>().back().trials, std::int64_t{48});
        const auto held = watcher.all<FinalsEvent>();
        QCOMPARE(held.size(), std::size_t{1});
        const std::vector<Record> finals = finalsOf("lucky.lathe");
        QCOMPARE(finals.size(), static_cast<std::size_t>(held[0].finalists));
        QVERIFY(held[0].afterMs > held[0].beforeMs); // the luck is gone
        QVERIFY(held[0].changed > 0);

        // Who stands best is the finalist that is fastest in truth, and the luckier old trial is out of the running.
        const auto project = reader("lucky.lathe");
        std::map<std::string, double> least;
        for (const Record& r : finals) {
            QCOMPARE(r.round, kFinalsRound);
            QVERIFY(!r.repeats.empty() && r.result.ok());
            QCOMPARE(nlohmann::json::parse(r.result.conditions).at("passes_ns").size(),
                     static_cast<std::size_t>(held[0].passes));
            const double ns = r.result.meanNs();
            double& known = least.try_emplace(r.candidate.task, ns).first->second;
            known = std::min(known, ns);
        }
        double sum = 0;
        std::map<std::string, store::BestRow> best;
        for (const auto& row : must(project.best()))
            best.try_emplace(row.task, row);
        std::map<std::string, double> ordinary;
        must(project.forEachRecord({}, [&](const Record& r) {
            if (lathe::finalsOf(r).empty() && r.result.ok())
                ordinary.try_emplace(r.candidate.task, r.result.meanNs()).first->second = std::min(
                    ordinary[r.candidate.task], r.result.meanNs());
        }));
        bool lucky = false;
        for (const TaskView& task : session->tasks()) {
            if (const auto found = least.find(task.key); found != least.end()) {
                QCOMPARE(best.at(task.key).costNs, found->second);
                QVERIFY(!best.at(task.key).record.repeats.empty());
                lucky = lucky || ordinary.at(task.key) < 0.5 * found->second;
            }
            QCOMPARE(task.bestMs, best.at(task.key).costNs * 1e-6);
            QVERIFY(task.trials <= 48);
            sum += task.bestMs * task.weight;
        }
        QVERIFY(lucky);
        // All who tell of the network agree.
        QVERIFY(std::abs(watcher.all<DoneEvent>().back().estimatedMs - sum) < 1e-9 * sum);
        QVERIFY(std::abs(watcher.all<EstimateEvent>().back().ms - sum) < 1e-9 * sum);
        QVERIFY(std::abs(must(session->exports()->coverage({})).estimatedTasksMs - sum) < 1e-9 * sum);
        std::map<std::int32_t, double> told;
        for (const BestEvent& event : watcher.all<BestEvent>())
            told[event.task] = event.costMs;
        for (const TaskView& task : session->tasks())
            QCOMPARE(told.at(task.id), task.bestMs);
    }

    void theSameRunHoldsTheSameFinals()
    {
        std::vector<std::vector<std::pair<std::string, double>>> all;
        for (const char* name : {"one.lathe", "two.lathe"}) {
            const auto session = open(name);
            Watcher watcher(*session, few(24));
            auto& finals = all.emplace_back();
            for (const Record& r : finalsOf(name))
                finals.emplace_back(r.candidate.hash().hex(), r.result.meanNs());
        }
        QVERIFY(!all[0].empty());
        QVERIFY(all[0] == all[1]);
    }

    void trialsThatComeLaterCompeteUntilTheNextFinals()
    {
        // After 24 trials the finals; trial 40 of the run is lucky.
        const std::filesystem::path script = file("later.json");
        std::ofstream(script) << R"({"rules": [{"fault": "slow", "ordinal": 40, "factor": 0.2}]})";
        const auto session = open("later.lathe", "sim -script=" + script.string());
        Watcher first(*session, few(24));
        const std::size_t before = finalsOf("later.lathe").size();
        QVERIFY(before > 0);
        Watcher second;
        std::string lucky;
        second.onEvent = [&](const Event& event) {
            const auto* trial = std::get_if<TrialEvent>(&event.what);
            if (trial != nullptr && trial->trial.code == "Ok" && lucky.empty()) {
                const auto project = reader("later.lathe");
                for (const auto& row : must(project.best()))
                    if (row.record.trial == trial->trial.id)
                        lucky = row.record.trial; // it stands best at that moment
            }
        };
        TuneOptions more = few(48);
        more.resume = true;
        second.run(*session, more);
        QVERIFY(session->state() == RunState::Finished);
        QCOMPARE(second.all<DoneEvent>().back().trials, std::int64_t{48});
        QVERIFY2(!lucky.empty(), "no new trial ever stood best");
        QVERIFY(finalsOf("later.lathe").size() > before);
        const auto project = reader("later.lathe");
        for (const auto& row : must(project.best()))
            QVERIFY(row.record.trial != lucky); // the finals have told
        // Once more with nothing new: nothing competes.
        Watcher third(*session, more);
        QVERIFY(third.all<FinalsEvent>().empty());
    }

    void aRunGoesOnAsIfFinalsHadTaughtItNothing()
    {
        const auto straight = open("straight.lathe"), broken = open("broken.lathe");
        Watcher a, b, c;
        a.run(*straight, few(40));
        const auto rounds = a.all<RoundDoneEvent>();
        QVERIFY(rounds.size() > 3);
        b.run(*broken, few(rounds[0].trials + rounds[1].trials)); // a round that is cut short would go on with fewer
        TuneOptions more = few(40);
        more.resume = true;
        c.run(*broken, more);
        QVERIFY(broken->state() == RunState::Finished);
        std::vector<std::string> one, two;
        for (const TrialEvent& trial : a.all<TrialEvent>())
            one.push_back(trial.trial.candidate);
        for (const auto* watcher : {&b, &c})
            for (const TrialEvent& trial : watcher->all<TrialEvent>())
                two.push_back(trial.trial.candidate);
        QVERIFY(one == two);
    }

    void finalsThatAreCutShortLeaveTheOldBest()
    {
        const auto session = open("cut.lathe");
        Watcher watcher;
        watcher.onEvent = [&session](const Event& event) {
            const auto* state = std::get_if<StateEvent>(&event.what);
            if (state != nullptr && state->text == "finals")
                session->stop();
        };
        watcher.run(*session, few(24));
        QVERIFY(session->state() == RunState::Stopped);
        QVERIFY(watcher.all<FinalsEvent>().empty());
        QVERIFY(finalsOf("cut.lathe").empty());
        const auto project = reader("cut.lathe");
        for (const auto& row : must(project.best()))
            QVERIFY(row.record.repeats.empty());
        // They are made up for when the run goes on.
        TuneOptions more = few(24);
        more.resume = true;
        Watcher again(*session, more);
        QCOMPARE(again.all<FinalsEvent>().size(), std::size_t{1});
        QVERIFY(again.all<TrialEvent>().empty());
    }

    void aFinalistThatFailsIsOut()
    {
        const std::filesystem::path script = file("fails.json");
        std::ofstream(script) << R"({"rules": [{"fault": "crash", "ordinal": -1}]})";
        const auto session = open("fails.lathe", "sim -script=" + script.string());
        Watcher watcher(*session, few(16));
        QVERIFY(session->state() == RunState::Finished);
        for (const Record& r : finalsOf("fails.lathe"))
            QVERIFY(!r.result.ok());
        QVERIFY(!finalsOf("fails.lathe").empty());
        const auto project = reader("fails.lathe");
        for (const auto& row : must(project.best()))
            QVERIFY(row.record.repeats.empty()); // all of them failed: what stood stands
    }

    void aReplayTellsOfThem()
    {
        const auto live = open("replayed.lathe");
        Watcher told(*live, few(24));
        const auto session = replay("replayed.lathe");
        Watcher again(*session, {});
        QCOMPARE(again.all<FinalsEvent>().size(), std::size_t{1});
        QCOMPARE(again.all<FinalsEvent>()[0].afterMs, told.all<FinalsEvent>()[0].afterMs);
        QCOMPARE(again.all<EstimateEvent>().back().ms, told.all<EstimateEvent>().back().ms);
        const auto a = told.all<BestEvent>(), b = again.all<BestEvent>();
        QCOMPARE(b.size(), a.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            QVERIFY(a[i].task == b[i].task && a[i].costMs == b[i].costMs && a[i].final == b[i].final);
        QCOMPARE(again.all<RoundEvent>().size(), told.all<RoundEvent>().size()); // finals are no round
    }
};

LATHE_TEST_GUILESS(TestFinals)

} // namespace tst_finals

#include "tst_finals.moc"
