#include "core/session/run/finals.h"
#include "core/store/record_reader.h"
#include "core/store/sqlite.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

namespace tst_runoff {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// What stands and the best of each round, in turns on the simulated device.
class TestRunoff : public QObject, Projects
{
    Q_OBJECT

    static TuneOptions withRunoffs(std::int64_t trials)
    {
        TuneOptions options = few(trials);
        options.runoff = "on";
        return options;
    }
    /// Every fifth trial was measured in a moment in which everything was twice as fast.
    std::string lucky() const
    {
        const std::filesystem::path script = file("lucky.json");
        std::ofstream(script) << R"({"rules": [{"fault": "lucky", "every": 5, "offset": 2, "factor": 0.5}]})";
        return "sim -script=" + script.string();
    }
    std::vector<Record> records(const char* project) const
    {
        std::vector<Record> all;
        must(reader(project).forEachRecord({}, [&all](const Record& r) { all.push_back(r); }));
        return all;
    }

private slots:
    void aLuckyTrialDoesNotWin()
    {
        const auto session = open("lucky.lathe", lucky());
        Watcher watcher(*session, withRunoffs(96));
        QVERIFY(session->state() == RunState::Finished);
        QCOMPARE(watcher.all<DoneEvent>().back().trials, std::int64_t{96}); // runoffs come on top
        // In truth: what a program took whenever it was measured again.
        std::map<std::string, double> truth;
        bool luck = false;
        const std::vector<Record> all = records("lucky.lathe");
        for (const Record& r : all)
            if (isRunoff(r))
                truth[originOf(r)] = nlohmann::json::parse(r.result.conditions).at("passes_ns")[0].get<double>();
        QVERIFY(!truth.empty());
        for (const Record& r : all)
            if (r.repeats.empty() && truth.contains(r.trial))
                luck = luck || r.result.meanNs() < 0.6 * truth[r.trial];
        QVERIFY(luck); // some who took part had been lucky
        for (const Record& r : all)
            if (isRunoff(r)) {
                QCOMPARE(r.round, kFinalsRound);
                QVERIFY2(std::abs(r.result.meanNs() - truth.at(originOf(r))) < 1e-6 * r.result.meanNs(),
                         r.result.conditions.c_str());
            }
        // What is told after a runoff only falls, and the finals have nothing to take back.
        std::map<std::int32_t, double> told;
        for (const BestEvent& best : watcher.all<BestEvent>()) {
            const auto known = told.find(best.task);
            if (best.final && known != told.end())
                QVERIFY(best.costMs <= known->second * (1 + 1e-4)); // model time is told in whole nanoseconds
            if (best.final)
                told[best.task] = best.costMs;
        }
        QVERIFY(!told.empty());
        const auto finals = watcher.all<FinalsEvent>();
        QCOMPARE(finals.size(), std::size_t{1});
        QVERIFY2(std::abs(finals[0].afterMs - finals[0].beforeMs) < 1e-4 * finals[0].afterMs,
                 qPrintable(QStringLiteral("%1 and %2 ms").arg(finals[0].beforeMs).arg(finals[0].afterMs)));
        QCOMPARE(finals[0].changed, 0);
        // The same run without them believes in luck until its finals.
        const auto trusting = open("trusting.lathe", lucky());
        Watcher other(*trusting, few(96));
        QVERIFY(other.all<FinalsEvent>()[0].afterMs > 1.05 * other.all<FinalsEvent>()[0].beforeMs);
    }

    void theProjectHoldsWhoWonAtAnyTime()
    {
        const auto session = open("held.lathe", lucky());
        Watcher watcher;
        std::map<std::int32_t, double> told;
        int looked = 0;
        watcher.onEvent = [&](const Event& event) {
            if (const auto* best = std::get_if<BestEvent>(&event.what))
                told[best->task] = best->costMs;
            if (std::holds_alternative<RoundDoneEvent>(event.what)) {
                for (const TaskView& task : session->tasks())
                    if (const auto known = told.find(task.id); known != told.end())
                        QVERIFY(std::abs(task.bestMs - known->second) < 1e-9 * task.bestMs);
                ++looked;
            }
        };
        watcher.run(*session, withRunoffs(64));
        QVERIFY(looked >= 8);
    }

    void aRunGoesOnAsIfItHadNotBeenStopped()
    {
        const auto straight = open("straight.lathe", lucky()), broken = open("broken.lathe", lucky());
        Watcher a, b, c;
        a.run(*straight, withRunoffs(64));
        const auto rounds = a.all<RoundDoneEvent>();
        QVERIFY(rounds.size() > 6);
        std::size_t done = 0;
        b.onEvent = [&](const Event& event) { // in the middle of a round, most likely
            if (std::holds_alternative<RoundDoneEvent>(event.what) && ++done == rounds.size() / 2)
                broken->stop();
        };
        b.run(*broken, withRunoffs(64));
        QVERIFY(broken->state() == RunState::Stopped);
        TuneOptions more = withRunoffs(64);
        more.resume = true;
        c.run(*broken, more);
        std::vector<std::pair<std::string, double>> one, two;
        std::set<std::string> ids;
        for (const TrialEvent& trial : a.all<TrialEvent>())
            one.emplace_back(trial.trial.candidate, trial.trial.costMs);
        for (const auto* watcher : {&b, &c}) // trials of a round that was cut short are told of once more
            for (const TrialEvent& trial : watcher->all<TrialEvent>())
                if (ids.insert(trial.trial.id).second)
                    two.emplace_back(trial.trial.candidate, trial.trial.costMs);
        QCOMPARE(two.size(), one.size());
        for (std::size_t i = 0; i < one.size(); ++i)
            QVERIFY2(one[i] == two[i],
                     qPrintable(QStringLiteral("trial %1: %2 and %3 ms").arg(i).arg(one[i].second).arg(two[i].second)));
        QVERIFY(std::abs(a.all<EstimateEvent>().back().ms - c.all<EstimateEvent>().back().ms)
                < 1e-6 * a.all<EstimateEvent>().back().ms);
    }

    void aRunThatDiedBetweenARunoffAndTheEndOfItsRoundGoesOn()
    {
        // No luck here: a runoff that is held once more ends as it did.
        const auto straight = open("whole.lathe");
        const Watcher a(*straight, withRunoffs(64));
        Watcher().run(*open("died.lathe"), withRunoffs(64));
        const auto rounds = must(reader("died.lathe").rounds(1));
        QVERIFY(rounds.size() > 6);
        const auto runoffs = [this] {
            std::map<std::int64_t, std::size_t> found; // by the rounds before they were over
            for (const Record& r : records("died.lathe"))
                if (isRunoff(r))
                    ++found[nlohmann::json::parse(r.result.conditions).at("finals_round").get<std::int64_t>()];
            return found;
        };
        // The last round of the first half that held one.
        std::size_t last = rounds.size() / 2;
        const auto before = runoffs();
        while (last > 0 && !before.contains(static_cast<std::int64_t>(last) + 1))
            --last;
        QVERIFY(last > 0);
        {
            auto db = must(store::Database::open(file("died.lathe"), store::Database::Mode::ReadWrite));
            must(db.execute(QStringLiteral("DELETE FROM records WHERE round > %1 OR (round < 0 AND "
                                           "(json_extract(conditions, '$.runoff') IS NULL OR "
                                           "json_extract(conditions, '$.finals_round') > %1 + 1)); DELETE FROM rounds "
                                           "WHERE position >= %1; DELETE FROM events")
                                .arg(last)
                                .toStdString()));
        }
        const std::size_t held = runoffs().at(static_cast<std::int64_t>(last) + 1);
        const auto session = open("died.lathe");
        TuneOptions more = withRunoffs(64);
        more.resume = true;
        const Watcher b(*session, more);
        QVERIFY(session->state() == RunState::Finished);
        QVERIFY(runoffs().at(static_cast<std::int64_t>(last) + 1) > held); // both are kept
        const auto one = searched(reader("whole.lathe")), two = searched(reader("died.lathe"));
        QCOMPARE(two.size(), one.size());
        for (std::size_t i = 0; i < one.size(); ++i)
            QVERIFY2(one[i].candidate.hash() == two[i].candidate.hash(), qPrintable(QStringLiteral("trial %1").arg(i)));
        QVERIFY(std::abs(a.all<EstimateEvent>().back().ms - b.all<EstimateEvent>().back().ms)
                < 1e-4 * a.all<EstimateEvent>().back().ms);
    }

    void whatAnEarlierRunFoundIsNotLost()
    {
        const auto session = open("twice.lathe");
        Watcher first(*session, withRunoffs(96));
        std::map<std::string, double> before;
        for (const TaskView& task : session->tasks())
            before[task.key] = task.bestMs;
        TuneOptions other = withRunoffs(12);
        other.seed = 7;
        Watcher second(*session, other);
        QVERIFY(second.all<BestEvent>().size() > 0);
        for (const TaskView& task : session->tasks())
            QVERIFY(task.bestMs <= before.at(task.key) * (1 + 1e-4));
    }

    void aDeviceThatFailsSaysNothingOfThePrograms()
    {
        // When the run goes on, what stands is built anew, and hangs.
        const std::filesystem::path script = file("hangs.json");
        const auto write = [&script](const char* rules) { std::ofstream(script) << rules; };
        write(R"({"rules": []})");
        const auto session = open("hangs.lathe", "sim -script=" + script.string());
        TuneOptions options = withRunoffs(40);
        options.timeoutSeconds = 0.3;
        Watcher first(*session, options);
        std::map<std::string, double> before;
        for (const TaskView& task : session->tasks())
            before[task.key] = task.bestMs;
        write(R"({"rules": [{"fault": "hang", "ordinal": -1}]})");
        TuneOptions more = withRunoffs(48);
        more.resume = true;
        Watcher second(*session, more);
        QVERIFY(session->state() == RunState::Finished);
        QVERIFY(second.all<TrialEvent>().size() > 0);
        for (const BestEvent& best : second.all<BestEvent>())
            QVERIFY(!best.final
                    || best.costMs
                           <= before.at(session->tasks()[static_cast<std::size_t>(best.task)].key) * (1 + 1e-4));
        for (const TaskView& task : session->tasks())
            QVERIFY(task.bestMs <= before.at(task.key) * (1 + 1e-4));
    }

    void aReplayTellsOfThem()
    {
        const auto live = open("replayed.lathe", lucky());
        Watcher told(*live, withRunoffs(48));
        const auto session = replay("replayed.lathe");
        Watcher again(*session, {});
        const auto a = told.all<BestEvent>(), b = again.all<BestEvent>();
        QVERIFY(a.size() > 4);
        QCOMPARE(b.size(), a.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            QVERIFY(a[i].task == b[i].task && a[i].costMs == b[i].costMs && a[i].final == b[i].final
                    && a[i].alternative == b[i].alternative);
    }

    void aListOfRecordsTellsThemFromFinals()
    {
        const auto session = open("listed.lathe", lucky());
        const Watcher watcher(*session, withRunoffs(24));
        const auto reader = must(store::RecordReader::open(file("listed.lathe")));
        std::size_t runoffs = 0, finals = 0;
        for (const store::RecordSummary& summary : must(reader.rows(must(reader.find({}))))) {
            QCOMPARE(summary.runoff, isRunoff(must(reader.record(summary.row))));
            runoffs += summary.runoff ? 1 : 0;
            finals += !summary.runoff && !summary.repeats.empty() ? 1 : 0;
        }
        QVERIFY(runoffs > 0 && finals > 0);
    }

    void simulatorsHoldThemOnlyWhenAsked()
    {
        const auto session = open("quiet.lathe");
        Watcher watcher(*session, few(24));
        for (const Record& r : records("quiet.lathe"))
            QVERIFY(!isRunoff(r));
    }
};

LATHE_TEST_GUILESS(TestRunoff)

} // namespace tst_runoff

#include "tst_runoff.moc"
