#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <fstream>
#include <set>

namespace tst_remeasure {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Stored trials that are measured again, on the simulated device.
class TestRemeasure : public QObject, Projects
{
    Q_OBJECT

    static void tune(TuningSession& session, std::int64_t trials, bool resume = false)
    {
        TuneOptions options = few(trials);
        options.resume = resume;
        must(session.start(options));
        session.wait();
        QVERIFY(session.state() == RunState::Finished);
    }
    static std::vector<TrialRow> rows(const TuningSession& session, const TrialQuery& query = {})
    {
        const auto history = must(session.history());
        auto rows = must(history->rows(must(history->find(query, {}))));
        std::erase_if(rows, [](const TrialRow& row) { return row.round < 0; }); // finals, which the run held
        return rows;
    }

private slots:
    void aTrialIsMeasuredAgainAndNamesTheOneItRepeats()
    {
        const auto session = open("again.lathe");
        tune(*session, 8);
        const TrialRow first = rows(*session).front();
        double last = 0;
        const auto done = must(
            session->project()->remeasure(std::vector<std::string>{first.trial, first.trial}, {},
                                          [&last](std::string_view, double fraction) { last = fraction; }, {}));
        QCOMPARE(done.size(), std::size_t{1}); // named twice, measured once
        QCOMPARE(last, 1.0);
        QCOMPARE(done[0].repeats, first.trial);
        QCOMPARE(done[0].beforeMs, first.costMs);
        QVERIFY(std::isfinite(done[0].costMs));
        const std::vector<TrialRow> after = rows(*session);
        QCOMPARE(after.size(), std::size_t{9});
        QCOMPARE(after.back().trial, done[0].trial);
        QCOMPARE(after.back().repeats, first.trial);
        QCOMPARE(after.back().alternative, first.alternative);
        QCOMPARE(after.back().run, std::int64_t{0}); // of no run
        const auto history = must(session->history());
        const TrialDetail detail = must(history->detail(first.row));
        QVERIFY(!detail.repeats.empty()); // finals repeat it as well
        QCOMPARE(detail.repeats.back().trial, done[0].trial);
        QCOMPARE(must(history->detail(after.back().row)).repeatsMs.size(), std::size_t{3}); // costs, at least
    }

    void aFailedTrialIsTriedAgain()
    {
        const std::filesystem::path script = file("faults.json");
        std::ofstream(script)
            << R"({"rules": [{"fault": "crash", "ordinal": 3}, {"fault": "build-failed", "ordinal": 5}]})";
        const auto session = open("retry.lathe", "sim -script=" + script.string());
        tune(*session, 8);
        TrialQuery failed;
        failed.code = "failed";
        std::vector<std::string> trials;
        for (const TrialRow& row : rows(*session, failed))
            trials.push_back(row.trial);
        QCOMPARE(trials.size(), std::size_t{2});
        const auto done = must(session->project()->remeasure(trials, {}, {}, {}));
        QCOMPARE(done.size(), std::size_t{2});
        for (const RemeasuredTrial& trial : done) {
            QCOMPARE(trial.code, std::string("Ok")); // the script's fault is that of the run's third and fifth
            QVERIFY(std::isnan(trial.beforeMs) && std::isfinite(trial.costMs));
        }
    }

    void aRunThatGoesOnLearnsNothingFromThem()
    {
        const auto session = open("resumed.lathe");
        tune(*session, 16);
        std::vector<std::string> trials;
        for (const TrialRow& row : rows(*session))
            trials.push_back(row.trial);
        must(session->project()->remeasure(std::span(trials).first(3), {}, {}, {}));
        tune(*session, 24, true); // would be refused if the run's candidates differed
        QCOMPARE(rows(*session).size(), std::size_t{27});
    }

    void whatCannotBeMeasuredIsSaid()
    {
        const auto session = open("refused.lathe");
        tune(*session, 4);
        const std::string trial = rows(*session).front().trial;
        auto none = session->project()->remeasure(std::vector<std::string>{"00000000000000000000000000000000"}, {}, {},
                                                  {});
        QVERIFY(!none && none.error().code == Errc::NotFound);
        QVERIFY(!session->project()->remeasure({}, {}, {}, {}));
        RemeasureOptions options;
        options.repeat = 0;
        QVERIFY(session->project()->remeasure(std::vector<std::string>{trial}, options, {}, {}).error().code
                == Errc::InvalidArgument);
        // One that is there and one that is not: the first is measured.
        const auto both = must(session->project()->remeasure(std::vector<std::string>{"nowhere", trial}, {}, {}, {}));
        QCOMPARE(both.size(), std::size_t{2});
        QVERIFY(both[0].trial.empty() && !both[0].text.empty());
        QCOMPARE(both[1].repeats, trial);
        // Costs for one target say nothing for another.
        {
            const auto other = open("refused.lathe", "sim -like=cuda");
            QVERIFY(!other->project()->remeasure(std::vector<std::string>{trial}, {}, {},
                                                 {})); // read-only beside the first
        }
    }

    void costsOfAnotherTargetAreNotMixed()
    {
        std::string trial;
        {
            const auto session = open("targets.lathe");
            tune(*session, 4);
            trial = rows(*session).front().trial;
        }
        const auto other = open("targets.lathe", "sim -seed=7");
        const auto refused = other->project()->remeasure(std::vector<std::string>{trial}, {}, {}, {});
        QVERIFY(!refused && refused.error().code == Errc::Incompatible);
        QVERIFY2(refused.error().message.find("target sim") != std::string::npos, refused.error().message.c_str());
    }

    void aRunIsNotDisturbed()
    {
        const auto session = open("busy.lathe");
        tune(*session, 4);
        const std::string trial = rows(*session).front().trial;
        TuneOptions options;
        options.trials = 100000;
        options.policy = "random";
        options.buildJobs = 1;
        must(session->start(options));
        const auto refused = session->project()->remeasure(std::vector<std::string>{trial}, {}, {}, {});
        session->stop();
        session->wait();
        QVERIFY(!refused && refused.error().code == Errc::InvalidArgument);
        QVERIFY2(refused.error().message.find("a run is in progress") != std::string::npos,
                 refused.error().message.c_str());
        // Nor does a run begin in the midst of it.
        Errc code = Errc::Ok;
        must(session->project()->remeasure(std::vector<std::string>{trial}, {},
                                           [&](std::string_view, double) {
                                               QVERIFY(session->project()->isRemeasuring());
                                               if (const auto started = session->start(options); !started)
                                                   code = started.error().code;
                                           },
                                           {}));
        QVERIFY(code == Errc::InvalidArgument);
        QVERIFY(!session->project()->isRemeasuring());
    }

    void aStopKeepsWhatWasMeasured()
    {
        const auto session = open("stopped.lathe");
        tune(*session, 8);
        std::vector<std::string> trials;
        for (const TrialRow& row : rows(*session))
            trials.push_back(row.trial);
        std::stop_source stop;
        const auto done = must(session->project()->remeasure(
            trials, {}, [&stop](std::string_view, double) { stop.request_stop(); }, stop.get_token()));
        QVERIFY(!done.empty() && done.size() < trials.size());
        QCOMPARE(rows(*session).size(), trials.size() + done.size());
    }

    void notesAreKeptAndFound()
    {
        const auto session = open("notes.lathe");
        tune(*session, 4);
        const std::vector<TrialRow> all = rows(*session);
        must(session->project()->setNote(all[2].trial, "looks odd\nsee the log"));
        must(session->project()->setNote({}, "the second board"));
        QVERIFY(session->project()->setNote("nowhere", "x").error().code == Errc::NotFound);
        TrialQuery query;
        query.noted = true;
        QCOMPARE(rows(*session, query).size(), std::size_t{1});
        QCOMPARE(rows(*session, query)[0].note, std::string("looks odd\nsee the log"));
        query = {};
        query.text = "ODD";
        QCOMPARE(rows(*session, query).size(), std::size_t{1});
        QCOMPARE(must(must(session->history())->projectNote()), std::string("the second board"));
        must(session->project()->setNote(all[2].trial, {}));
        query = {};
        query.noted = true;
        QVERIFY(rows(*session, query).empty());
    }

    void numbersOfTrialsAreGivenAsPoints()
    {
        const auto session = open("points.lathe");
        tune(*session, 8);
        const auto history = must(session->history());
        const TrialPoints points = must(history->points({}, TrialAxis::Time, TrialAxis::Latency, {}));
        QCOMPARE(points.rows.size() + static_cast<std::size_t>(points.left), must(history->find({}, {})).size());
        QVERIFY(std::is_sorted(points.rows.begin(), points.rows.end()));
        QCOMPARE(*std::min_element(points.x.begin(), points.x.end()), 0.0);
        const auto row = must(history->rows(std::span(points.rows).first(1)));
        QCOMPARE(points.y[0], row[0].costMs);
        std::stop_source stop;
        stop.request_stop();
        TrialQuery query;
        query.task = 99;
        QVERIFY(!history->points(query, TrialAxis::Time, TrialAxis::Latency, {}));
    }

    void theListIsWrittenAsCsvAndAsLines()
    {
        const auto session = open("written.lathe");
        tune(*session, 4);
        const std::vector<TrialRow> all = rows(*session);
        must(session->project()->setNote(all[0].trial, "a \"quoted\", word"));
        const auto history = must(session->history());
        std::vector<std::int64_t> ids;
        for (const TrialRow& row : all)
            ids.push_back(row.row);
        must(history->write(ids, file("list.csv"), TrialFile::Csv, {}));
        std::ifstream csv(file("list.csv"));
        std::string line;
        std::getline(csv, line);
        QVERIFY(line.starts_with("trial,run,round,index,task,") && line.ends_with(",repeats,note"));
        std::getline(csv, line);
        QVERIFY2(line.ends_with("\"a \"\"quoted\"\", word\""), line.c_str());
        must(history->write(ids, file("list.jsonl"), TrialFile::JsonLines, {}));
        std::ifstream lines(file("list.jsonl"));
        int count = 0;
        while (std::getline(lines, line))
            ++count;
        QCOMPARE(count, 4);
        QVERIFY(!history->write(ids, file("no/such/folder.csv"), TrialFile::Csv, {}));
        QVERIFY(!std::filesystem::exists(file("list.csv.part")));
    }
};

LATHE_TEST(TestRemeasure)

} // namespace tst_remeasure

#include "tst_remeasure.moc"
