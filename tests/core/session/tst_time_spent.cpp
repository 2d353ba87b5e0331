#include "core/session/project/stored_time.h"
#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace tst_time_spent {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Where a run's time goes, by a clock that only the test moves.
class TestTimeSpent : public QObject
{
    Q_OBJECT

    double m_now = 100;
    TimeAccount account()
    {
        return TimeAccount([this] { return m_now; });
    }

private slots:
    void eachMomentCountsOnce()
    {
        TimeAccount time = account();
        m_now += 1;
        {
            const auto finals = time.in("finals");
            m_now += 2;
            {
                const auto reference = time.in("reference");
                m_now += 4;
            }
            m_now += 8;
            QCOMPARE(time.seconds(), 15.0); // of what is still open too
            QCOMPARE(time.sums().at("finals"), 10.0);
        }
        m_now += 16;
        const std::map<std::string, double> expected = {{"other", 17}, {"finals", 10}, {"reference", 4}};
        QVERIFY(time.sums() == expected);
        QCOMPARE(time.seconds(), 31.0);
    }

    void aPauseCountsForNothing()
    {
        TimeAccount time = account();
        const auto finals = time.in("finals");
        m_now += 1;
        {
            const auto pause = time.in({});
            m_now += 1000;
            QCOMPARE(time.seconds(), 1.0);
        }
        m_now += 1;
        QCOMPARE(time.seconds(), 2.0);
        QVERIFY(time.sums() == (std::map<std::string, double>{{"finals", 2}}));
    }

    void whatIsMovedNeitherGrowsNorShrinks()
    {
        TimeAccount time = account();
        m_now += 10;
        time.move("other", "build", 4);
        time.move("other", "measure", 100); // more than there is
        time.move("other", "store", -3);
        QCOMPARE(time.sums().at("build"), 4.0);
        QCOMPARE(time.sums().at("measure"), 6.0);
        QCOMPARE(time.sums().at("other"), 0.0);
        QCOMPARE(time.seconds(), 10.0);
    }

    void rowsComeInTheOrderOfARoundWithSharesOfTheirOwnKind()
    {
        TimeSpent time;
        time.activities = {{"measure", 6}, {"propose", 3}, {"what a later version adds", 1}, {"train", 0}};
        time.workers = {{"runner idle", {4, 0}}, {"generate", {3, 3}}, {"measure", {12, 20}}, {"builder idle", {1, 0}}};
        const auto activities = activityRows(time);
        QCOMPARE(activities.size(), std::size_t{3});
        QCOMPARE(activities[0].name, std::string("propose"));
        QCOMPARE(activities[0].share, 0.3);
        QVERIFY(!activities[0].meaning.empty());
        QCOMPARE(activities[2].name, std::string("what a later version adds"));
        QVERIFY(activities[2].meaning.empty());
        const auto workers = workerRows(time);
        QCOMPARE(workers.size(), std::size_t{4});
        QCOMPARE(workers[0].name, std::string("generate"));
        QCOMPARE(workers[0].share, 0.75); // of the builders
        QCOMPARE(workers[2].name, std::string("measure"));
        QCOMPARE(workers[2].share, 0.75); // of the runners
        QCOMPARE(workers[2].processor, 20.0);
        QVERIFY(activityRows({}).empty() && workerRows({}).empty());
    }

    void everyPieceHasOneNameAndAMeaning()
    {
        for (const auto pieces : {activityPieces(), workerPieces()}) {
            std::set<std::string> names;
            for (const TimePiece& piece : pieces)
                QVERIFY(names.insert(piece.name).second && *piece.meaning != 0);
        }
        QVERIFY(isBuilderPiece("link") && isBuilderPiece("builder idle"));
        QVERIFY(!isBuilderPiece("upload") && !isBuilderPiece("measure") && !isBuilderPiece(""));
    }

    void whatGrewIsToldAlone()
    {
        TimeSpent before, now;
        before.activities = {{"build", 2}, {"train", 1}};
        before.workers = {{"generate", {2, 2}}, {"builder idle", {5, 0}}};
        now.activities = {{"build", 2.5}, {"train", 1}, {"finals", 4}};
        now.workers = {{"generate", {3, 3}}, {"builder idle", {4, 0}}};
        const TimeSpent grown = now.since(before);
        QVERIFY(grown.activities == (std::map<std::string, double>{{"build", 0.5}, {"finals", 4}}));
        QCOMPARE(grown.workers.size(), std::size_t{1});
        QCOMPARE(grown.workers.at("generate").seconds, 1.0);
        QCOMPARE(grown.seconds(), 4.5);
    }

    void partsAddUpToTheBitInAnyOrder()
    {
        std::vector<TimeSpent> parts;
        TimeSpent now, told;
        for (int i = 1; i <= 200; ++i) {
            now.activities["build"] += 1.0 / (3 * i);
            now.activities["train"] += 0.1 * i;
            now.workers["measure"].seconds += 0.7 / i;
            now.workers["measure"].processor += std::sqrt(i);
            parts.push_back(now.since(told));
            told += parts.back();
        }
        TimeSpent backwards;
        for (auto part = parts.rbegin(); part != parts.rend(); ++part)
            backwards += *part;
        QVERIFY(backwards.activities == told.activities);
        QVERIFY(backwards.workers.at("measure").seconds == told.workers.at("measure").seconds);
        QVERIFY(backwards.workers.at("measure").processor == told.workers.at("measure").processor);
        QVERIFY(std::abs(told.seconds() - now.seconds()) < 1e-8); // what a part leaves out, the next one tells
    }

    void itIsReadBackAsItWasWritten()
    {
        TimeSpent time;
        time.activities = {{"build", 2}, {"whole network", 0.125}};
        time.workers = {{"measure", {1, 1.75}}};
        nlohmann::json object = {{"elapsed_s", 3}};
        putTimeSpent(object, time);
        const TimeSpent again = timeSpentIn(nlohmann::json::parse(object.dump()));
        QVERIFY(again.activities == time.activities);
        QCOMPARE(again.workers.at("measure").processor, 1.75);
        QCOMPARE(object["elapsed_s"].get<int>(), 3);
    }

    void whatIsDamagedReadsAsNothing()
    {
        for (const char* text :
             {"3", "[]", "{}", R"({"activities": [1], "workers": "x"})",
              R"({"activities": {"build": "long"}, "workers": {"link": 3, "lower": [1], "upload": ["a", 2]}})",
              "nonsense"}) {
            const TimeSpent time = timeSpentIn(nlohmann::json::parse(text, nullptr, false));
            QVERIFY2(time.activities.empty() && time.workers.empty(), text);
        }
    }

    void aProjectOfAnOlderVersionTellsWhatItHas()
    {
        QTemporaryDir folder;
        const std::filesystem::path file = std::filesystem::path(folder.path().toStdString()) / "old.lathe";
        store::Project project = must(store::Project::open(file, store::Project::Access::Write));
        const auto model = must(project.addModel({0, "h", "zoo:net", "net", "{}"}));
        const auto run = must(project.addSession({0, model, "sim", "{}", 1000, 20, "finished"}));
        must(
            project.addRound({run, 0, "a", 8, "{}",
                              R"({"elapsed_s": 5, "activities": {"search": 1, "build": 2, "measure": 1.5}})", 6, 9.0}));
        must(project.addRound({run, 1, "a", 8, "{}", "damaged", 12, 9.0}));
        must(project.addEvent(run, 15, "finals", R"({"ms": 9, "seconds": 3})"));
        must(project.addEvent(run, 20, "done", R"({"trials": 16, "time_s": {"build and measure": 4}})"));
        const TimeSpent time = must(storedTime(project, run));
        QVERIFY(time.activities
                == (std::map<std::string, double>{{"search", 1}, {"build", 2}, {"measure", 1.5}, {"finals", 3}}));
        QVERIFY(time.workers.empty());
    }
};

LATHE_TEST_GUILESS(TestTimeSpent)

} // namespace tst_time_spent

#include "tst_time_spent.moc"
