#include "core/search/head_start_file.h"
#include "core/session/head_start.h"
#include "core/store/sqlite.h"
#include "core/support/files.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

namespace tst_head_start_runs {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Runs on the simulated device that begin with what was found for another network: the same three layers, for other
/// batches.
class TestHeadStartRuns : public QObject, Projects
{
    Q_OBJECT

    static TuneOptions sketch(std::int64_t trials, const std::string& headStart)
    {
        TuneOptions options = few(trials);
        options.policy = "sketch";
        options.headStart = headStart;
        return options;
    }
    std::unique_ptr<TuningSession> openBatch(const char* project, std::int64_t batch) const
    {
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.model.batch = batch;
        options.target = "sim";
        options.project = file(project);
        return must(TuningSession::open(options));
    }
    std::string headStart() const { return file("other.headstart").string(); }
    std::set<std::string> keys(const char* project) const
    {
        std::set<std::string> found;
        const store::Project read = reader(project);
        for (const store::ModelRow& model : must(read.models()))
            for (const store::TaskRow& task : must(read.tasks(model.id)))
                found.insert(task.key);
        return found;
    }
    static std::set<std::string> keysOf(const std::filesystem::path& file)
    {
        std::set<std::string> found;
        for (const auto& task : must(search::readHeadStart(must(readFile(file)))).tasks)
            found.insert(task.key);
        return found;
    }
    std::vector<Hash128> candidates(const char* project) const
    {
        std::vector<Hash128> hashes;
        for (const Record& record : searched(reader(project)))
            hashes.push_back(record.candidate.hash());
        return hashes;
    }
    void change(const char* project, const char* sql) const
    {
        auto db = must(store::Database::open(file(project), store::Database::Mode::ReadWrite));
        must(db.execute(sql));
    }

private slots:
    void initTestCase()
    {
        Watcher().run(*openBatch("four.lathe", 4), sketch(60, "none"));
        Watcher().run(*openBatch("one.lathe", 1), sketch(60, "none"));
        const auto report = must(makeHeadStart({{file("four.lathe")}, {}, 4, 64}, headStart(), {}, {}));
        QVERIFY(report.tasks > 0 && report.candidates >= report.tasks && report.rows > report.candidates);
        QCOMPARE(report.bytes, std::filesystem::file_size(headStart()));
        QVERIFY(report.leftOut.empty());
    }

    void noTaskOfALeftOutNetworkIsInIt()
    {
        const std::set<std::string> one = keys("one.lathe"), four = keys("four.lathe");
        for (const std::string& key : one)
            QVERIFY(!four.contains(key));
        const auto made = [this](const std::vector<std::string>& without) {
            return makeHeadStart({{file("one.lathe"), file("four.lathe")}, without, 4, 64}, file("made.headstart"), {},
                                 {});
        };
        const auto all = must(made({}));
        const std::set<std::string> both = keysOf(file("made.headstart"));
        QVERIFY(std::any_of(both.begin(), both.end(), [&](const std::string& key) { return one.contains(key); }));
        // By a model and by a project, to the key.
        for (const std::string& without : {std::string("zoo:mlp"), file("one.lathe").string()}) {
            const auto report = must(made({without}));
            const std::set<std::string> left = keysOf(file("made.headstart"));
            QVERIFY(left == keysOf(headStart()));
            QCOMPARE(report.leftOut.size(), one.size());
            QVERIFY(report.tasks < all.tasks);
            QCOMPARE(must(search::readHeadStart(must(readFile(file("made.headstart"))))).without,
                     std::vector{without.starts_with("zoo:") ? without : std::string("one.lathe")});
        }
        const auto nothing = made({file("one.lathe").string(), file("four.lathe").string()});
        QVERIFY(!nothing && nothing.error().code == Errc::NotFound);
        QVERIFY(!made({"zoo:nothing"}));
        QVERIFY(!made({file("nothing.lathe").string()}));
    }

    void firstRoundsHoldTheDefaultScheduleAndAdaptedCandidates()
    {
        const auto session = openBatch("first.lathe", 1);
        const Watcher watcher(*session, sketch(120, headStart()));
        QVERIFY(session->state() == RunState::Finished);
        const std::size_t tasks = session->tasks().size();
        const auto rounds = watcher.all<RoundEvent>();
        const auto trials = watcher.all<TrialEvent>();
        std::size_t at = 0, heirs = 0;
        for (std::size_t i = 0; i < tasks; ++i) {
            QCOMPARE(trials[at].trial.sketch, std::string("default"));
            QVERIFY(rounds[i].trials <= 1 + static_cast<std::int32_t>(search::kHeirs));
            for (std::int32_t t = 1; t < rounds[i].trials; ++t)
                QVERIFY(QString::fromStdString(trials[at + static_cast<std::size_t>(t)].trial.sketch)
                            .startsWith("lathe-cpu/"));
            heirs += static_cast<std::size_t>(rounds[i].trials) - 1;
            at += static_cast<std::size_t>(rounds[i].trials);
        }
        QVERIFY2(heirs >= 3, qPrintable(QString::number(heirs)));
        const auto logs = watcher.all<LogEvent>();
        QVERIFY(std::any_of(logs.begin(), logs.end(), [this](const LogEvent& log) {
            return log.text.find(headStart()) != std::string::npos
                   && log.text.find("tasks start with candidates of similar tasks") != std::string::npos;
        }));
    }

    void aSmallBudgetIsNotSpentOnFirstRounds()
    {
        const auto session = openBatch("small.lathe", 1);
        const Watcher watcher(*session, sketch(9, headStart()));
        const auto rounds = watcher.all<RoundEvent>();
        for (std::size_t i = 0; i < session->tasks().size(); ++i)
            QCOMPARE(rounds[i].trials, 1);
    }

    void equalRunsHaveEqualCandidates()
    {
        Watcher().run(*openBatch("a.lathe", 1), sketch(70, headStart()));
        Watcher().run(*openBatch("b.lathe", 1), sketch(70, headStart()));
        QCOMPARE(candidates("a.lathe").size(), std::size_t{70});
        QVERIFY(candidates("a.lathe") == candidates("b.lathe"));
        QVERIFY(candidates("a.lathe") != candidates("one.lathe"));
    }

    void aRunThatWasKilledGoesOnTheSameThoughTheFileIsGone()
    {
        const std::string copy = file("copy.headstart").string();
        must(writeFileAtomically(copy, must(readFile(headStart()))));
        Watcher().run(*openBatch("whole.lathe", 1), sketch(70, copy));
        Watcher().run(*openBatch("killed.lathe", 1), sketch(70, copy));
        change("killed.lathe", "DELETE FROM records WHERE round < 0 OR round > 4 OR (round = 4 AND position > 2); "
                               "DELETE FROM rounds WHERE position > 3; DELETE FROM events");
        std::filesystem::remove(copy);
        TuneOptions more = sketch(70, "none"); // what a run began with is stored
        more.resume = true;
        const auto session = openBatch("killed.lathe", 1);
        Watcher().run(*session, more);
        QVERIFY(session->state() == RunState::Finished);
        QVERIFY(candidates("killed.lathe") == candidates("whole.lathe"));
    }

    void runsOfAProjectShareOneCopy()
    {
        for (int i = 0; i < 2; ++i)
            Watcher().run(*openBatch("twice.lathe", 1), sketch(9, headStart()));
        auto db = must(store::Database::open(file("twice.lathe"), store::Database::Mode::ReadWrite));
        must(db.execute("DELETE FROM snapshots WHERE kind <> 'head start'; DELETE FROM snapshots WHERE session = 1"));
        const store::Project project = reader("twice.lathe");
        QVERIFY(!must(project.snapshot(2, "head start")));
    }

    void aRunWhoseHeadStartIsLostIsNotResumed()
    {
        const std::string copy = file("lost.headstart").string();
        must(writeFileAtomically(copy, must(readFile(headStart()))));
        Watcher().run(*openBatch("lost.lathe", 1), sketch(40, copy));
        change("lost.lathe", "DELETE FROM snapshots");
        TuneOptions more = sketch(60, {});
        more.resume = true;
        { // the file is still there
            const auto session = openBatch("lost.lathe", 1);
            Watcher().run(*session, more);
            QVERIFY(session->state() == RunState::Finished);
        }
        must(writeFileAtomically(copy, "something else"));
        more.trials = 80;
        const auto session = openBatch("lost.lathe", 1);
        const Watcher watcher(*session, more);
        QVERIFY(session->state() == RunState::Failed);
        const std::string text = watcher.all<StateEvent>().back().text;
        QVERIFY2(text.find("has changed or no longer exists") != std::string::npos
                     && text.find("--start-over") != std::string::npos,
                 text.c_str());
    }

    void aHeadStartThatIsNoneIsRefused()
    {
        const std::string bytes = must(readFile(headStart()));
        const auto refusal = [this](const std::string& contents) {
            must(writeFileAtomically(file("bad.headstart"), contents));
            const auto session = openBatch("refused.lathe", 1);
            const Watcher watcher(*session, sketch(20, file("bad.headstart").string()));
            return session->state() == RunState::Failed ? watcher.all<StateEvent>().back().text
                                                        : std::string("it was taken");
        };
        const auto says = [](const std::string& text, const char* what) {
            return text.find("bad.headstart") != std::string::npos && text.find(what) != std::string::npos;
        };
        std::string text = refusal(bytes.substr(0, bytes.size() / 2));
        QVERIFY2(says(text, "cut short or damaged"), text.c_str());
        std::string other = bytes;
        other.replace(other.find("start 1"), 7, "start 9");
        text = refusal(other);
        QVERIFY2(says(text, "format 9"), text.c_str());
        other = bytes;
        const std::size_t at = other.find("\"features\":\"") + 12;
        other[at] = '8';
        text = refusal(other);
        QVERIFY2(says(text, "other features"), text.c_str());
        std::filesystem::remove(file("bad.headstart"));
        const auto session = openBatch("refused.lathe", 1);
        const Watcher watcher(*session, sketch(20, file("bad.headstart").string()));
        QVERIFY(session->state() == RunState::Failed);

        TuneOptions random = sketch(20, headStart());
        random.policy = "random";
        const auto refused = openBatch("random.lathe", 1)->start(random);
        QVERIFY(!refused && refused.error().code == Errc::InvalidArgument);
        QVERIFY(refused.error().message.find("--head-start") != std::string::npos);
    }

    void whereNothingIsInstalledARunBeginsFromNothing()
    {
        QVERIFY(installedHeadStart("sim").empty());
        QVERIFY(installedHeadStart("no target").empty());
        QVERIFY(installedHeadStart("cuda").empty());
        const auto session = openBatch("plain.lathe", 1);
        const Watcher watcher(*session, sketch(60, {}));
        QVERIFY(session->state() == RunState::Finished);
        QVERIFY(candidates("plain.lathe") == candidates("one.lathe"));
        QVERIFY(must(reader("plain.lathe").sessions())[0].options.find("\"head_start\":\"none\"") != std::string::npos);
    }
};

LATHE_TEST_GUILESS(TestHeadStartRuns)

} // namespace tst_head_start_runs

#include "tst_head_start_runs.moc"
