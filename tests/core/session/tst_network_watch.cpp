#include "core/session/run/network_watch.h"
#include "core/session/run/run_estimate.h"
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
    NetworkRequest m_request; ///< the last
    deploy::EstimateParts m_parts;
    measure::MachineState m_machine;
    std::optional<Error> m_unpaired;
    /// Takes so many seconds and says so many milliseconds; negative: it fails.
    NetworkMeasure takes(FakeRun& run, double seconds, double ms)
    {
        m_asked = 0;
        return [&run, this, seconds, ms](const NetworkRequest& request, std::stop_token) -> Result<NetworkFigures> {
            ++m_asked;
            m_request = request;
            run.seconds += seconds;
            if (request.choice.only->deviceKey != "fake")
                return makeError(Errc::Internal, "of other devices");
            if (ms < 0)
                return makeError(Errc::BuildFailed, "no linker");
            NetworkFigures figures;
            figures.measured = {ms, 0.25, request.build == NetworkBuild::Untuned, m_parts};
            figures.measured.besideTasksMs = 0.5;
            figures.measured.machine = m_machine;
            if (request.build == NetworkBuild::Both && m_unpaired)
                figures.unpaired = m_unpaired;
            else if (request.build == NetworkBuild::Both)
                figures.pairs = TimedPairs{std::vector<double>(8, ms), std::vector<double>(8, 2 * ms), m_machine};
            return figures;
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
        must(watch.measure(NetworkBuild::Untuned, {}));
        QCOMPARE(m_request.device, run.devices.networkDevice());
        QVERIFY(std::isnan(watch.measured().ms)); // of the untuned one
        must(watch.measure(NetworkBuild::Tuned, {}));
        QCOMPARE(watch.measured().ms, 5.0);
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
        must(watch.measure(NetworkBuild::Tuned, {}));
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
        must(watch.measure(NetworkBuild::Untuned, {}));
        QCOMPARE(run.clock.networkReserve(), 9.5); // the first time did more; turns of 3 s
        must(watch.measure(NetworkBuild::Tuned, {}));
        QCOMPARE(run.clock.networkReserve(), 14.5);
        m_machine.others = 0.85; // turns take six times as long
        must(watch.measure(NetworkBuild::Tuned, {}));
        QCOMPARE(run.clock.networkReserve(), 29.8);
        m_machine = {};
        NetworkWatch slow(*run.parts, takes(run, 50, 5));
        must(slow.measure(NetworkBuild::Tuned, {}));
        QCOMPARE(run.clock.networkReserve(), 30.0); // never more than this part of the budget
    }

    void theEstimateIsOfTheNetworkAsItWasMeasuredLast()
    {
        FakeRun run(few(100));
        NetworkWatch watch(*run.parts, takes(run, 1, 5));
        must(watch.measure(NetworkBuild::Untuned, {}));
        QCOMPARE(run.parts->besideTasksMs, 0.5); // functions that are no task
        m_parts = {3, 1.25, 0.5, 0.25};
        must(watch.measure(NetworkBuild::Tuned, {}));
        QCOMPARE(run.parts->besideTasksMs, 2.0); // chain, untuned functions, call
        for (std::size_t i = 0; i < run.tasks.size(); ++i)
            run.tasks[static_cast<std::int32_t>(i)].takeBest(1e6);
        const EstimateEvent estimate = estimateAt(1, *run.parts);
        QVERIFY(estimate.tasksMs > 0);
        QCOMPARE(estimate.ms, estimate.tasksMs + 2);
        QCOMPARE(run.watcher.all<EstimateEvent>().size(), std::size_t{2}); // told again with each
    }

    void atTheEndTheUntunedNetworkRunsInTurnsWithIt()
    {
        store::Project project = must(store::Project::open(file("turns.lathe"), store::Project::Access::Write));
        TuneOptions options = few(100);
        options.seconds = 20;
        FakeRun run(options, &project);
        NetworkWatch watch(*run.parts, takes(run, 1, 5));
        m_machine.others = 0.5;
        QVERIFY(watch.gain().verdict() == Verdict::Unknown);
        must(watch.measure(NetworkBuild::Both, {}));
        QCOMPARE(m_request.untunedSeconds, 1.0); // a small budget has short turns
        QCOMPARE(watch.gain().ratio, 2.0);
        QVERIFY(watch.gain().verdict() == Verdict::Faster);
        QCOMPARE(watch.machine().others, 0.5);
        m_unpaired = makeError(Errc::WorkerCrashed, "it fell over");
        must(watch.measure(NetworkBuild::Both, {}));
        QCOMPARE(run.watcher.all<ErrorEvent>()[0].text,
                 std::string("timing the tuned and the untuned network in turn: it fell over"));
        QCOMPARE(run.watcher.all<MeasuredEvent>().size(), std::size_t{2}); // what was measured alone counts
        FakeRun later(options, &project);
        later.journal.goOn(run.journal.session());
        NetworkWatch again(*later.parts, {});
        must(again.restore());
        QCOMPARE(again.measured().ms, 5.0);
    }

    void aFailureIsToldAndTheRunGoesOn()
    {
        FakeRun run(few(100));
        NetworkWatch watch(*run.parts, takes(run, 1, -1));
        must(watch.measure(NetworkBuild::Tuned, {}));
        QCOMPARE(run.watcher.all<ErrorEvent>()[0].text, std::string("measuring the whole network: no linker"));
        QVERIFY(std::isnan(watch.measured().ms));
        must(NetworkWatch(*run.parts, {}).measure(NetworkBuild::Tuned, {})); // nobody can: nothing to tell
        QCOMPARE(run.watcher.events().size(), std::size_t{1});
    }
};

LATHE_TEST(TestNetworkWatch)

} // namespace tst_network_watch

#include "tst_network_watch.moc"
