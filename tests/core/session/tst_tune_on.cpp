#include "core/session/options/options_json.h"
#include "core/session/options/tune_options.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tst_tune_on {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// Start on a tuned project: the run goes on from what was measured, unless it is told to start over.
class TestTuneOn : public QObject, Projects
{
    Q_OBJECT

    static std::vector<std::string> reasons(const Watcher& watcher)
    {
        std::vector<std::string> found;
        for (const RoundEvent& round : watcher.all<RoundEvent>())
            found.push_back(round.reason);
        return found;
    }
    static bool warmsUp(const Watcher& watcher) { return std::ranges::count(reasons(watcher), "first") > 0; }

private slots:
    void whatIsUsualSuitsTheTargetsPolicy()
    {
        // A run with the policy of processors and its head start; what searches for GPUs takes none.
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim -like=cuda";
        options.project = file("suits.lathe");
        (void)must(TuningSession::open(options));
        {
            auto project = must(store::Project::open(options.project, store::Project::Access::Write));
            TuneOptions before;
            before.headStart = "sim";
            before.policy = "reference"; // which takes no head start
            must(project.addSession({0, must(project.models()).back().id, options.target, toJson(before).dump(),
                                     1700000000000, 5, "stopped"}));
        }
        const auto session = must(TuningSession::open(options));
        TuneOptions usual = must(session->project()->usualOptions());
        usual.trials = 8;
        QCOMPARE(usual.policy, std::string("reference"));
        const auto checked = check(usual);
        QVERIFY2(checked, checked ? "" : checked.error().message.c_str());
    }

    void aRunThatIsStartedAgainGoesOn()
    {
        const auto session = open("on.lathe");
        const Watcher first(*session, few(48));
        QVERIFY(warmsUp(first));
        QCOMPARE(first.all<RunBegunEvent>().size(), std::size_t{1});
        const double end = first.events().back().atSeconds;
        const auto rounds = static_cast<std::int32_t>(must(reader("on.lathe").rounds(1)).size());

        const Watcher second(*session, few(24));
        QVERIFY2(!warmsUp(second), "measured tasks got their first trials again");
        QVERIFY(second.all<RunBegunEvent>().empty());
        QCOMPARE(second.all<TrialEvent>().size(), std::size_t{24}); // the budget is on top
        QCOMPARE(second.all<RoundEvent>().front().index, rounds);
        for (const Event& event : second.events())
            if (std::holds_alternative<RoundEvent>(event.what))
                QVERIFY2(event.atSeconds >= end, "the time axis goes on");
        const auto project = reader("on.lathe");
        QCOMPARE(must(project.sessions()).size(), std::size_t{1});
        const std::vector<Record> records = searched(project);
        QCOMPARE(records.size(), std::size_t{72});
        std::set<std::pair<std::string, std::string>> candidates;
        for (const Record& record : records)
            candidates.emplace(record.candidate.task, record.candidate.hash().hex());
        QCOMPARE(candidates.size(), records.size()); // none was measured twice
    }

    void itGoesOnInAnotherProcessAsWell()
    {
        { // after the end of the session that began it; every task has had its first trials
            const auto session = open("later.lathe");
            const Watcher first(*session, few(40));
        }
        const auto session = open("later.lathe");
        const Watcher second(*session, few(16));
        QVERIFY(!warmsUp(second));
        QCOMPARE(must(reader("later.lathe").sessions()).size(), std::size_t{1});
        QCOMPARE(searched(reader("later.lathe")).size(), std::size_t{56});
    }

    void startingOverKnowsNothing()
    {
        const auto session = open("over.lathe");
        const Watcher first(*session, few(24));
        TuneOptions over = few(24);
        over.startOver = true;
        const Watcher second(*session, over);
        QVERIFY(warmsUp(second));
        QCOMPARE(second.all<RunBegunEvent>().size(), std::size_t{1});
        QCOMPARE(must(reader("over.lathe").sessions()).size(), std::size_t{2});
        // Equal seeds and nothing known: the same candidates again.
        const auto hashes = [this](std::int64_t run) {
            std::vector<std::string> found;
            for (const Record& record : must(reader("over.lathe").sessionRecords(run)))
                if (record.round >= 0)
                    found.push_back(record.candidate.hash().hex());
            return found;
        };
        QVERIFY(hashes(1) == hashes(2));
        over.resume = true;
        QVERIFY(session->start(over).error().code == Errc::InvalidArgument);
    }

    void otherOptionsBeginARunThatKnowsTheTrialsOfBefore()
    {
        const auto session = open("other.lathe");
        const Watcher first(*session, few(48));
        TuneOptions other = few(24);
        other.seed = 2;
        const Watcher second(*session, other);
        QCOMPARE(must(reader("other.lathe").sessions()).size(), std::size_t{2});
        QVERIFY2(!warmsUp(second), "measured tasks got their first trials again");
        QCOMPARE(second.all<RunBegunEvent>().size(), std::size_t{1});
        std::set<std::string> before;
        for (const Record& record : must(reader("other.lathe").sessionRecords(1)))
            before.insert(record.candidate.task + record.candidate.hash().hex());
        for (const Record& record : must(reader("other.lathe").sessionRecords(2)))
            QVERIFY2(record.round < 0 || !before.contains(record.candidate.task + record.candidate.hash().hex()),
                     "a candidate was measured twice");
        const auto logs = second.all<LogEvent>();
        QVERIFY(std::ranges::any_of(logs,
                                    [](const LogEvent& log) { return log.text.find("--seed") != std::string::npos; }));
    }

    /// A run that began with others' trials, and was cut off, asks for the same candidates when it goes on.
    void aRunThatBeganWithOthersTrialsCanBeResumed()
    {
        const auto hashes = [this](const char* project) {
            std::vector<std::string> found;
            for (const Record& record : must(reader(project).sessionRecords(2)))
                if (record.round >= 0)
                    found.push_back(record.candidate.hash().hex());
            return found;
        };
        TuneOptions other = few(32);
        other.seed = 2;
        {
            const auto session = open("whole.lathe");
            const Watcher first(*session, few(24));
            const Watcher second(*session, other);
        }
        {
            const auto session = open("halves.lathe");
            const Watcher first(*session, few(24));
            TuneOptions half = other;
            half.trials = 16;
            const Watcher second(*session, half);
        }
        const auto session = open("halves.lathe");
        TuneOptions rest = other;
        rest.resume = true;
        const Watcher third(*session, rest);
        QCOMPARE(hashes("halves.lathe").size(), std::size_t{32});
        QVERIFY(hashes("halves.lathe") == hashes("whole.lathe"));
    }

    void aProjectRemembersWhatItsRunsHad()
    {
        const auto session = open("usual.lathe");
        QVERIFY(must(session->project()->usualOptions()).policy == TuneOptions().policy);
        TuneOptions options = few(16);
        options.seed = 7;
        const Watcher first(*session, options);
        const TuneOptions usual = must(session->project()->usualOptions());
        QCOMPARE(usual.policy, std::string("random"));
        QCOMPARE(usual.seed, std::uint64_t{7});
        QCOMPARE(usual.trials, std::int64_t{0}); // a budget is for one run
        QVERIFY(must(session->project()->choices()) == RunChoices());
        const RunChoices picked{"until 18:00", "none"};
        must(session->project()->setChoices(picked));
        QVERIFY(must(session->project()->choices()) == picked);
    }
};

LATHE_TEST(TestTuneOn)

} // namespace tst_tune_on

#include "tst_tune_on.moc"
