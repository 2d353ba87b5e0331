#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

namespace tst_project_follower {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// A session on a project that another one holds tells what that one stores, within a second. (In two processes:
/// tests/ui/tst_second_window.cpp.)
class TestProjectFollower : public QObject, Projects
{
    Q_OBJECT

    template<typename T>
    static std::optional<T> last(const Watcher& watcher)
    {
        const std::vector<T> all = watcher.all<T>();
        return all.empty() ? std::nullopt : std::optional(all.back());
    }
    static std::int64_t trials(const std::vector<TaskView>& tasks)
    {
        std::int64_t sum = 0;
        for (const TaskView& task : tasks)
            sum += task.trials;
        return sum;
    }

private slots:
    void aSecondSessionFollowsTheFirst()
    {
        const auto writer = open("shared.lathe");
        Watcher written;
        const auto reader = open("shared.lathe");
        QVERIFY(writer->follow() == nullptr && !writer->readOnly());
        QVERIFY(reader->follow() != nullptr && reader->readOnly());
        QCOMPARE(reader->follow()->writer()->pid, std::int64_t{QCoreApplication::applicationPid()});
        QVERIFY(!reader->follow()->writer()->program.empty() && !reader->follow()->writer()->host.empty());
        QVERIFY(textOf(*reader->readOnly()).find(reader->follow()->writer()->program) != std::string::npos);
        Watcher read;
        reader->setObserver(&read);

        written.run(*writer, few(64));
        const std::int64_t wanted = trials(writer->tasks());
        const auto follows = [&] {
            const auto tasks = last<TasksEvent>(read);
            // The state is set before what led to it is told.
            return tasks && trials(tasks->tasks) == wanted && reader->state() == RunState::Finished
                   && last<DoneEvent>(read);
        };
        QTRY_VERIFY_WITH_TIMEOUT(follows(), 1000);
        // As if the run were its own: rounds with their reasons, trials, and how it ended.
        const auto told = [](const Watcher& watcher) {
            std::vector<std::string> lines;
            for (const Event& event : watcher.events())
                if (const auto* round = std::get_if<RoundEvent>(&event.what))
                    lines.push_back(std::to_string(round->index) + " of " + std::to_string(round->task) + ' '
                                    + round->reason);
                else if (const auto* trial = std::get_if<TrialEvent>(&event.what))
                    lines.push_back(trial->trial.id + ' ' + trial->trial.code);
                else if (const auto* done = std::get_if<RoundDoneEvent>(&event.what))
                    lines.push_back("end of " + std::to_string(done->index));
            return lines;
        };
        QVERIFY(told(read) == told(written));
        QCOMPARE(last<DoneEvent>(read)->trials, last<DoneEvent>(written)->trials);
        QVERIFY(std::abs(last<EstimateEvent>(read)->ms - last<EstimateEvent>(written)->ms) < 1e-9);
        QVERIFY(read.all<RunBegunEvent>().size() == 1); // it stood there before the run began

        // What would write is refused, and says who writes.
        const auto refused = [&](const Result<>& result) {
            return !result && result.error().message.find("is writing to it") != std::string::npos;
        };
        QVERIFY(refused(reader->start(few(8))));
        QVERIFY(refused(reader->project()->setBudget(0, {true, false, 1, 0})));
        QVERIFY(refused(reader->project()->setNote({}, "a note")));
        QVERIFY(refused(reader->project()->setChoices({"20 min", std::nullopt})));
        reader->setObserver(nullptr);
    }

    void theWriterEndsAndTheProjectIsTakenOver()
    {
        auto writer = open("left.lathe");
        {
            const Watcher written(*writer, few(24));
        }
        auto reader = open("left.lathe");
        Watcher read;
        reader->setObserver(&read);
        QTRY_VERIFY(last<TasksEvent>(read));
        QCOMPARE(trials(last<TasksEvent>(read)->tasks), std::int64_t{24});
        QVERIFY(read.all<TrialEvent>().empty()); // they are stored: views read them
        writer.reset();
        QTRY_VERIFY_WITH_TIMEOUT(last<WriterEvent>(read) && !last<WriterEvent>(read)->writer, 1000);
        QVERIFY(!reader->follow()->writer());
        QVERIFY(!reader->start(few(8)));
        reader->setObserver(nullptr);
        reader.reset();
        const auto taken = open("left.lathe");
        QVERIFY(taken->follow() == nullptr);
        const Watcher goesOn(*taken, few(8));
        QCOMPARE(searched(this->reader("left.lathe")).size(), std::size_t{32});
    }

    /// A run that is stored as going on, though nobody holds the project that runs it.
    void aRunThatWasCutOffDoesNotGoOn()
    {
        {
            const auto writer = open("cut.lathe");
            const Watcher written(*writer, few(16));
        }
        {
            auto project = must(store::Project::open(file("cut.lathe"), store::Project::Access::Write));
            must(project.updateSession(1, "running", 3));
        }
        QTest::qSleep(20); // the next writer comes later, however coarse the clock of files is
        const auto writer = open("cut.lathe"); // which holds it, and runs nothing
        const auto reader = open("cut.lathe");
        Watcher read;
        reader->setObserver(&read);
        QTRY_VERIFY(last<StateEvent>(read));
        QVERIFY(last<StateEvent>(read)->state == RunState::Stopped);
        reader->setObserver(nullptr);
    }

    void theBandOfAnEstimateIsStored()
    {
        const auto session = open("band.lathe");
        const Watcher written(*session, few(48));
        const auto rounds = must(must(session->history())->rounds(1));
        std::size_t bands = 0;
        for (const EstimateEvent& estimate : written.all<EstimateEvent>())
            bands += std::isfinite(estimate.low) ? 1 : 0;
        QVERIFY(bands > 0);
        QCOMPARE(static_cast<std::size_t>(std::ranges::count_if(
                     rounds,
                     [](const RoundView& round) { return std::isfinite(round.lowMs) && round.lowMs < round.highMs; })),
                 bands);
    }
};

LATHE_TEST(TestProjectFollower)

} // namespace tst_project_follower

#include "tst_project_follower.moc"
