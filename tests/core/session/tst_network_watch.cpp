#include "core/session/run/network_watch.h"
#include "tests/support/fake_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_network_watch {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// When the whole network is measured beside the search, and what becomes of it.
class TestNetworkWatch : public QObject, Projects
{
    Q_OBJECT

    int m_asked = 0;
    /// Takes so many seconds and says so many milliseconds; negative: it fails.
    NetworkMeasure takes(FakeRun& run, double seconds, double ms)
    {
        m_asked = 0;
        return [&run, this, seconds, ms](bool untuned, const RecordChoice& choice,
                                         std::stop_token) -> Result<MeasuredEvent> {
            ++m_asked;
            run.seconds += seconds;
            if (choice.only->deviceKey != "fake")
                return makeError(Errc::Internal, "of other devices");
            if (ms < 0)
                return makeError(Errc::BuildFailed, "no linker");
            return MeasuredEvent{ms, 0.25, untuned, {}};
        };
    }
    static void tellAll(FakeRun& run, double seconds)
    {
        for (std::size_t i = 0; i < run.tasks.size(); ++i)
            run.scheduler->tell(static_cast<std::int32_t>(i), {1, seconds, 1, false});
    }

private slots:
    void whatIsMeasuredIsToldAndKept()
    {
        store::Project project = must(store::Project::open(file("measured.lathe"), store::Project::Access::Write));
        FakeRun run(few(100), &project);
        NetworkWatch watch(*run.parts, takes(run, 2, 5));
        must(watch.measure(true, {}));
        QVERIFY(std::isnan(watch.measuredMs())); // of the untuned one
        must(watch.measure(false, {}));
        QCOMPARE(watch.measuredMs(), 5.0);
        const auto told = run.watcher.all<MeasuredEvent>();
        QCOMPARE(told.size(), std::size_t{2});
        QVERIFY(told[0].untuned && !told[1].untuned);
        std::vector<std::string> kinds;
        must(project.forEachEvent(run.journal.session(), [&kinds](std::string_view kind, double, std::string_view) {
            kinds.emplace_back(kind);
        }));
        QCOMPARE(kinds, (std::vector<std::string>{"untuned", "measured"}));
    }

    void itComesAboutOnceAMinuteAndWhereSomethingWasWon()
    {
        FakeRun run(few(100));
        NetworkWatch watch(*run.parts, takes(run, 5, 5));
        tellAll(run, 1);
        must(watch.measure(false, {}));
        run.seconds += 99; // it takes 5 s: every 100 s is enough
        tellAll(run, 0.5);
        must(watch.measureIfDue({}));
        QCOMPARE(m_asked, 1);
        run.seconds += 2;
        must(watch.measureIfDue({}));
        QCOMPARE(m_asked, 2);
        run.seconds += 200;
        tellAll(run, 0.495); // 1 % is nothing to measure for
        must(watch.measureIfDue({}));
        QCOMPARE(m_asked, 2);
    }

    void whatItTakesIsReservedForTheNextTime()
    {
        TuneOptions options = few(0);
        options.seconds = 100;
        FakeRun run(options);
        NetworkWatch watch(*run.parts, takes(run, 10, 5));
        must(watch.measure(true, {}));
        QCOMPARE(run.clock.networkReserve(), 6.0); // the first time did more
        must(watch.measure(false, {}));
        QCOMPARE(run.clock.networkReserve(), 11.0);
        NetworkWatch slow(*run.parts, takes(run, 50, 5));
        must(slow.measure(false, {}));
        QCOMPARE(run.clock.networkReserve(), 30.0); // never more than this part of the budget
    }

    void aFailureIsToldAndTheRunGoesOn()
    {
        FakeRun run(few(100));
        NetworkWatch watch(*run.parts, takes(run, 1, -1));
        must(watch.measure(false, {}));
        QCOMPARE(run.watcher.all<ErrorEvent>()[0].text, std::string("measuring the whole network: no linker"));
        QVERIFY(std::isnan(watch.measuredMs()));
        must(NetworkWatch(*run.parts, {}).measure(false, {})); // nobody can: nothing to tell
        QCOMPARE(run.watcher.events().size(), std::size_t{1});
    }
};

LATHE_TEST(TestNetworkWatch)

} // namespace tst_network_watch

#include "tst_network_watch.moc"
