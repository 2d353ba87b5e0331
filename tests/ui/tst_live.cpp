#include "core/store/project.h"
#include "core/support/hash.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/issue_model.h"
#include "ui/models/round_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QTreeWidget>
#include <QtTest>

namespace tst_live {

using namespace lathe;
using lathe::test::must;

/// What the window shows of a run: live, held, opened again, replayed.
class TestLive : public QObject, test::WindowTest
{
    Q_OBJECT

    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    QString file() const { return m_dir.filePath(QStringLiteral("run.lathe")); }
    QString farmFile() const { return m_dir.filePath(QStringLiteral("farm.lathe")); }

    /// Six rounds of four trials on zoo:mlp, a second each; of two boards behind a broker, the second of which is
    /// shaky.
    static void makeProject(const QString& name, bool isAtFarm)
    {
        session::OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        options.project = name.toStdString();
        const auto tasks = must(session::TuningSession::open(options))->tasks();
        auto project = must(store::Project::open(options.project, store::Project::Access::Write));
        const auto run = must(
            project.addSession({0, must(project.models()).back().id, "sim", "{}", 1700000000000, 6, "stopped"}));
        must(project.addEvent(run, 0.1, "untuned", "{\"ms\": 8.5}"));
        for (int round = 0; round < 6; ++round) {
            const session::TaskView& task = tasks[static_cast<std::size_t>(round) % tasks.size()];
            std::vector<Record> records;
            for (int i = 0; i < 4; ++i) {
                Record r;
                r.trial = contentHash(std::to_string(round * 4 + i)).hex();
                r.session = run;
                r.round = round;
                r.index = i;
                r.candidate.task = task.key;
                r.candidate.alternative = task.alternatives.front();
                r.candidate.sketch = "s";
                r.candidate.steps = "[]";
                r.result.device = identityOf("{\"name\": \"Simulated device\"}");
                r.timeMs = 1700000000000 + round * 1000 + i;
                r.result.stage = TrialStage::Done;
                r.result.costsNs = {1e6 - round * 1e5 - i * 1e3, 1.1e6 - round * 1e5};
                r.result.conditions = "{\"calibration_ns\": " + std::to_string(1000 + round * 20)
                                      + (!isAtFarm ? "}"
                                         : i % 2 == 0
                                             ? R"(, "runner": "board0", "probe_drift": -0.01})"
                                             : R"(, "runner": "board1", "probe_drift": 0.2, "rejected": [{}]})");
                r.result.durationsMs = {{"measure", 100}, {"upload", 20}};
                if (i == 3) {
                    r.result = {};
                    r.result.stage = TrialStage::Run;
                    r.result.code = Errc::RunTimeout;
                    r.result.text = "took too long";
                    r.result.conditions = "{}";
                }
                records.push_back(std::move(r));
            }
            must(project.addRecords(records));
            must(project.addRound({run, round, task.key, 4, "{\"reason\": \"first\"}",
                                   "{\"elapsed_s\": 1, \"activities\": {\"search\": 0.4, \"measure\": 0.6}}",
                                   round + 1.0, 9.0 - round}));
        }
        must(project.addEvent(
            run, 6, "measured",
            R"({"ms": 4.25, "estimated_ms": {"tasks": 4, "chain": -0.5, "untuned": 0.75, "call": 0.125, "with_overheads": 4.375}})"));
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        makeProject(file(), false);
        makeProject(farmFile(), true);
        m_window = test::shownWindow();
    }

    void aProjectThatIsOpenedAgainTellsAllThreeFigures()
    {
        QVERIFY(!find<QToolBar>("replayBar")->isVisible());
        m_window->openSource(file());
        auto* latency = find<QLabel>("statusLatency");
        QTRY_VERIFY2_WITH_TIMEOUT(latency->text().contains(QStringLiteral("measured 4.250 ms")),
                                  qPrintable(latency->text()), 20000);
        QVERIFY2(latency->text().contains(QStringLiteral("untuned 8.500 ms")), qPrintable(latency->text()));
        QCOMPARE(workspace().figures().runSeconds, 6.0); // so that a resumed run gets its budget on top
        QVERIFY2(latency->toolTip().endsWith(
                     QStringLiteral("\nSum of the measured parts: 4.375 ms (tasks 4.000 ms, chain -0.5000 ms, "
                                    "untuned functions 0.7500 ms, call 0.1250 ms)")),
                 qPrintable(latency->toolTip()));
    }

    void aMeasurementOfTheNetworkTellsItsParts()
    {
        emit workspace().bridge().eventsArrived({{3, session::MeasuredEvent{3.5, 0, false, {3, 0.25, 0.125, 0.0625}}}});
        QVERIFY(find<QLabel>("statusLatency")
                    ->toolTip()
                    .contains(QStringLiteral("3.438 ms (tasks 3.000 ms, chain +0.2500 ms")));
        QVERIFY(find<QWidget>("log")
                    ->property("plainText")
                    .toString()
                    .contains(QStringLiteral("Sum of the measured parts: 3.438 ms")));
        // Of a version that measured no parts: none, instead of those of another time.
        emit workspace().bridge().eventsArrived({{4, session::MeasuredEvent{3.5, 0, false, {}}}});
        QVERIFY(!find<QLabel>("statusLatency")->toolTip().contains(QStringLiteral("Sum of the measured parts")));
    }

    /// Of two cores at load 5.8: slower than untuned, and now something says so.
    void aVerdictEndsARun()
    {
        auto* banner = find<QToolBar>("resultBanner");
        QVERIFY(!banner->isVisible());
        session::RunFacts facts;
        facts.gain = {20, 13.68, 8.67, 0.634, 0.6, 0.7};
        facts.machine.processors = 2;
        facts.machine.others = 0.62;
        facts.machine.stolen = 0.01;
        session::VerdictEvent verdict{facts.gain, facts.machine, session::diagnose(facts)};
        emit workspace().bridge().eventsArrived({{6, verdict}});
        QVERIFY(banner->isVisible());
        QCOMPARE(find<QLabel>("resultHeadline")->text(), QStringLiteral("Slower than untuned"));
        QVERIFY2(find<QLabel>("resultReasons")->text().contains(QStringLiteral("other programs used 62 %")),
                 qPrintable(find<QLabel>("resultReasons")->text()));
        QVERIFY(!find<QToolButton>("resultAgain")->isEnabled()); // a simulator's networks are not timed
        QVERIFY(find<QToolButton>("resultExport")->isEnabled());
        const ui::IssueModel& issues = workspace().issues();
        QVERIFY(issues.rowCount() >= 2);
        const auto cell = [&issues](int row, int column) { return issues.index(row, column).data().toString(); };
        QCOMPARE(cell(0, ui::IssueModel::CodeColumn), QStringLiteral("The machine was busy"));
        QVERIFY(cell(0, ui::IssueModel::TextColumn).contains(QStringLiteral("Close other programs")));
        QCOMPARE(cell(1, ui::IssueModel::CodeColumn), QStringLiteral("Gain not proven"));
        const int before = issues.rowCount();
        // A better one takes the place of all of that.
        verdict.gain = {20, 2.48, 8.67, 3.5, 3.4, 3.6};
        verdict.findings.clear();
        find<QToolButton>("resultClose")->click();
        QVERIFY(!banner->isVisible());
        emit workspace().bridge().eventsArrived({{7, verdict}});
        QVERIFY(banner->isVisible());
        QCOMPARE(find<QLabel>("resultHeadline")->text(), QStringLiteral("3.50 times as fast as untuned"));
        const QString figures = find<QLabel>("resultReasons")->text();
        QVERIFY2(!figures.contains(QStringLiteral("as fast as untuned")), qPrintable(figures)); // is said above
        auto* const reasons = find<QLabel>("resultReasons");
        m_window->resize(1280, 800);
        QTRY_VERIFY(reasons->height() < 2 * reasons->fontMetrics().height()); // as high as its one line
        QVERIFY2(figures.startsWith(QStringLiteral("2.480 ms instead of 8.670 ms; 95 % interval")),
                 qPrintable(figures));
        QCOMPARE(issues.rowCount(), before - 2);
        find<QToolButton>("resultChecks")->click();
        auto* checks = find<QDialog>("checksDialog");
        auto* list = test::find<QTreeWidget>(checks, "checksList");
        QTRY_VERIFY(list->topLevelItemCount() > 2);
        auto* found = test::find<QTreeWidget>(checks, "checksFindings");
        QCOMPARE(found->topLevelItemCount(), 1); // that there is nothing is said
        QVERIFY(found->topLevelItem(0)->text(0).startsWith(QStringLiteral("No reason was found")));
        delete checks;
        verdict.gain = {};
        session::Finding open;
        open.gravity = session::Gravity::Hint;
        verdict.findings = {open};
        emit workspace().bridge().eventsArrived({{8, verdict}});
        QCOMPARE(find<QLabel>("resultHeadline")->text(), QStringLiteral("Not compared with the untuned network"));
        QVERIFY2(reasons->text().isEmpty(), qPrintable(reasons->text())); // nor once more below
        workspace().clearRun();
        QVERIFY(!banner->isVisible());
    }

    void aPauseIsAStateThatOneSees()
    {
        auto* bar = find<ui::RunBar>("runBar");
        ui::RoundModel& rounds = ui::RoundModel::of(workspace());
        emit workspace().bridge().eventsArrived(
            {{5, session::EstimateEvent{9, session::kUnknown, session::kUnknown, 45}}});
        emit workspace().bridge().eventsArrived({{5, session::StateEvent{session::RunState::Paused, {}}}});
        QCOMPARE(rounds.leftSeconds(), 45.0);
        bar->setState(true, session::RunState::Paused, true, true);
        auto* budget = find<QComboBox>("budgetPicker");
        QVERIFY(budget->isEnabled()); // of a run that goes on, too
        QCOMPARE(budget->itemText(0), QStringLiteral("+5 min"));
        QSignalSpy chosen(bar, &ui::RunBar::runBudgetChosen);
        emit budget->activated(0);
        QCOMPARE(chosen.size(), 1);
        bar->setState(true, session::RunState::Idle, true, true);
        QCOMPARE(bar->startAction()->text(), QStringLiteral("Con&tinue tuning"));
        QCOMPARE(bar->resumeAction()->text(), QStringLiteral("Res&ume run"));
        QCOMPARE(budget->itemText(0), QStringLiteral("2 min"));
        bar->setState(true, session::RunState::Idle, false, false);
        QCOMPARE(bar->startAction()->text(), QStringLiteral("&Start"));
    }

    void aBandStandsForAnEstimateThatIsNotKnownYet()
    {
        workspace().clearRun();
        ui::TaskModel& tasks = workspace().tasks();
        const std::vector<session::TaskView> all = workspace().session()->tasks();
        std::vector<session::TaskView> some = all;
        some.front().bestMs = session::kUnknown;
        tasks.setTasks(some);
        emit workspace().bridge().eventsArrived({{3, session::EstimateEvent{session::kUnknown, 8.9, 12.3, 60}}});
        QVERIFY2(find<QLabel>("statusLatency")->text().contains(QStringLiteral("8.9–12.3 ms")),
                 qPrintable(find<QLabel>("statusLatency")->text()));
        tasks.setTasks(all);
    }

    void timeIsToldByDevice()
    {
        m_window->openSource(file());
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session() != nullptr && !workspace().bridge().isOpening(), 20000);
        auto* pages = find<QTabWidget>("pages");
        const int before = pages->currentIndex();
        find<QAction>("page.time")->trigger();
        find<QTabWidget>("timeTabs")->setCurrentIndex(2);
        auto* table = find<QTreeWidget>("qualityDevices");
        QTRY_COMPARE(table->topLevelItemCount(), 2);
        const auto row = [table](int at) {
            QStringList cells;
            for (int column = 0; column < table->columnCount(); ++column)
                cells << table->topLevelItem(at)->text(column);
            return cells;
        };
        // Six rounds: 0.4 s of search each; four trials each that loaded 20 ms and measured 100.
        QTRY_COMPARE(row(0), (QStringList{"this machine, for all devices", "2.4 (40 %)", "0.0 (0 %)", "–", "–",
                                          "0.0 (0 %)", "0.0 (0 %)", "3.6 (60 %)"}));
        QCOMPARE(row(1),
                 (QStringList{"Simulated device", "–", "–", "0.5 (8 %)", "2.4 (40 %)", "–", "–", "3.1 (52 %)"}));
        pages->setCurrentIndex(before);
    }

    void qualityIsToldByDeviceWhereTheyCanDiffer()
    {
        auto* pages = find<QTabWidget>("pages");
        auto* tabs = find<QTabWidget>("timeTabs");
        auto* table = find<QTreeWidget>("qualityOfDevices");
        const int before = pages->currentIndex();
        const auto open = [&](const QString& project) {
            m_window->openSource(project);
            QTRY_VERIFY_WITH_TIMEOUT(!workspace().bridge().isOpening() && workspace().session() != nullptr
                                         && workspace().session()->options().project == project.toStdString(),
                                     20000);
            find<QAction>("page.time")->trigger();
            tabs->setCurrentIndex(3);
        };
        open(file());
        QTRY_COMPARE(table->topLevelItemCount(), 1);
        QVERIFY(!table->isVisible()); // the figures above are of that one
        open(farmFile());
        QTRY_COMPARE(table->topLevelItemCount(), 2);
        QTRY_COMPARE(table->topLevelItem(0)->text(1), QStringLiteral("12"));
        QVERIFY(table->isVisible());
        const auto row = [table](int at) {
            QStringList cells;
            for (int column = 0; column < 4; ++column)
                cells << table->topLevelItem(at)->text(column);
            return cells;
        };
        QCOMPARE(row(0), (QStringList{"board0", "12", "0", "1.0"}));
        QCOMPARE(row(1), (QStringList{"board1", "6", "6", "20.0"})); // a failed trial each round
        open(file());
        tabs->setCurrentIndex(0);
        pages->setCurrentIndex(before);
    }

    void liveViewsAreHeldTogetherAndCatchUp()
    {
        ui::RoundModel& rounds = ui::RoundModel::of(workspace());
        m_window->openSource(file());
        QTRY_COMPARE_WITH_TIMEOUT(rounds.rowCount(), 6, 20000);
        find<QToolButton>("schedulerHold")->click();
        QVERIFY(find<QToolButton>("timeHold")->isChecked());
        QVERIFY(find<QToolButton>("chartHold")->isChecked());
        session::TrialView slow{"a", 6, 0, 0, "c", "s", 2.0, "done", "Ok", ""}, fast = slow;
        fast.index = 1;
        fast.costMs = 0.5;
        emit workspace().bridge().eventsArrived({{7, session::RoundEvent{6, 0, 2, {}, "promise"}},
                                                 {7.1, session::TrialEvent{slow}},
                                                 {7.2, session::TrialEvent{fast}},
                                                 {8, session::RoundDoneEvent{6, 0, 2, {{{"search", 1.0}}, {}}, 3.5}}});
        QCOMPARE(rounds.rowCount(), 6);
        find<QToolButton>("timeHold")->setChecked(false);
        QVERIFY(!find<QToolButton>("chartHold")->isChecked());
        QCOMPARE(rounds.rowCount(), 7);
        QCOMPARE(rounds.rounds().back().bestMs, 0.5);
        QCOMPARE(rounds.rounds().back().estimateMs, 3.5);
    }

    void whatCannotBeOpenedLeavesWhatIsOpen()
    {
        m_window->openSource(file());
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session() != nullptr && !workspace().bridge().isOpening(), 20000);
        const session::TuningSession* before = workspace().session();
        const QString title = m_window->windowTitle();
        workspace().selection().selectTask(1);
        QFile broken(m_dir.filePath(QStringLiteral("broken.onnx")));
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write(QByteArray(100, 'x'));
        broken.close();
        QSignalSpy closed(&workspace().bridge(), &ui::SessionBridge::closed),
            failed(&workspace().bridge(), &ui::SessionBridge::openFailed);
        m_window->openSource(broken.fileName());
        QCOMPARE(workspace().session(), before); // it is there while the other one is read, too
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 20000);
        m_window->openReplay(m_dir.filePath(QStringLiteral("none.lathe")));
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 2, 20000);
        QCOMPARE(closed.count(), 0);
        QCOMPARE(workspace().session(), before);
        QCOMPARE(workspace().source(), file());
        QCOMPARE(m_window->windowTitle(), title);
        QCOMPARE(workspace().selection().current().task, 1);
        QCOMPARE(workspace().issues().rowCount(), 2);
        QCOMPARE(ui::RoundModel::of(workspace()).rowCount(), 6);
    }

    /// Its project has one writer, so it has to let go of it first.
    void aProjectThatCannotBeOpenedForAnotherModelComesBack()
    {
        QFile broken(m_dir.filePath(QStringLiteral("run.onnx"))); // whose project is the one that is open
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write(QByteArray(100, 'x'));
        broken.close();
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened),
            failed(&workspace().bridge(), &ui::SessionBridge::openFailed);
        m_window->openSource(broken.fileName());
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 20000);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        QVERIFY(workspace().session() != nullptr);
        QCOMPARE(workspace().source(), file());
        QVERIFY(workspace().session()->notices().empty()); // it writes to the project again
        QTRY_COMPARE(ui::RoundModel::of(workspace()).rowCount(), 6);
        QVERIFY(workspace().issues().rowCount() >= 1); // why it failed is still said
    }

    void aRunIsReplayedAndSaysSo()
    {
        m_window->openReplay(file());
        auto* bar = find<QToolBar>("replayBar");
        QTRY_VERIFY_WITH_TIMEOUT(bar->isVisible(), 20000);
        QVERIFY(find<QLabel>("replayTitle")->text().contains(QStringLiteral("Replay")));
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("Replay")));
        QVERIFY(!find<QAction>("actionStart")->isEnabled());
        QVERIFY(!find<QToolButton>("actionExportButton")->isEnabled());
        // One button pauses: that of the replay. The keys go on doing what they do.
        for (const char* gone : {"actionStartButton", "actionResumeButton", "actionPauseButton", "actionStopButton"}) {
            const auto* const button = m_window->findChild<QToolButton*>(QLatin1String(gone));
            QVERIFY2(button == nullptr || !button->isVisible(), gone);
        }
        QCOMPARE(find<QComboBox>("replayRun")->count(), 1);
        auto* speed = find<QComboBox>("replaySpeed");
        speed->setCurrentIndex(speed->count() - 1);
        QCOMPARE(workspace().replay()->speed(), 1000.0);
        QTRY_COMPARE(workspace().figures().trials, qint64{24});
        QTRY_COMPARE(ui::RoundModel::of(workspace()).rowCount(), 6);
        QTRY_VERIFY(find<QLabel>("statusLatency")->text().contains(QStringLiteral("measured 4.250 ms")));
        QCOMPARE(workspace().figures().failed, qint64{6});
        QCOMPARE(find<QTableView>("taskTable")->model()->rowCount(), workspace().tasks().rowCount());
        QTRY_VERIFY(workspace().session()->state() == session::RunState::Stopped); // as the run was
    }

    void aReplayGoesBackAndPlaysAgain()
    {
        auto* slider = find<QSlider>("replaySlider");
        // A click on the groove goes there: three of six seconds.
        m_window->resize(1280, 800);
        QTRY_VERIFY(slider->isVisible());
        QSignalSpy gone(slider, &QSlider::valueChanged);
        QTest::mouseClick(slider, Qt::LeftButton, {}, slider->rect().center());
        QVERIFY(!gone.isEmpty());
        QVERIFY2(std::abs(gone[0][0].toInt() - slider->maximum() / 2) < slider->maximum() / 50,
                 qPrintable(gone[0][0].toString()));
        find<QComboBox>("replaySpeed")->setCurrentIndex(0);
        QTRY_VERIFY(workspace().figures().trials >= 8 && workspace().figures().trials < 24);
        QTRY_VERIFY(ui::RoundModel::of(workspace()).rowCount() < 6);
        QTest::mouseClick(find<QToolButton>("replayPlay"), Qt::LeftButton);
        QTRY_VERIFY(workspace().session()->state() == session::RunState::Paused);
        slider->setValue(slider->maximum());
        QTRY_COMPARE(workspace().figures().trials, qint64{24});
    }

    void leavingAReplayOpensTheProject()
    {
        QTest::mouseClick(find<QToolButton>("replayLeave"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session() != nullptr && workspace().replay() == nullptr, 20000);
        QTRY_VERIFY(!find<QToolBar>("replayBar")->isVisible());
        QTRY_VERIFY(find<QToolButton>("actionStartButton")->isEnabled());
        QTRY_VERIFY(find<QToolButton>("actionPauseButton")->isVisible());
    }

    /// Two seconds of 200 trials a second on all tasks: no turn of the event loop takes half a second (the figure is 50
    /// ms; other programs may have the processor).
    void theEventLoopTurnsWhileTrialsPourIn()
    {
        const int tasks = workspace().tasks().rowCount();
        QElapsedTimer since, run;
        qint64 longest = 0;
        QTimer probe;
        probe.setInterval(5);
        connect(&probe, &QTimer::timeout, this, [&] { longest = std::max(longest, since.restart()); });
        QTimer feed;
        feed.setInterval(100);
        int round = 100;
        connect(&feed, &QTimer::timeout, this, [&] {
            const double at = 10 + static_cast<double>(run.elapsed()) / 1000;
            std::vector<session::Event> events{{at, session::RoundEvent{round, round % tasks, 20, {}, "promise"}}};
            for (int i = 0; i < 20; ++i)
                events.push_back(
                    {at, session::TrialEvent{{"t", round, i, round % tasks, "c", "s", 1.0, i % 9 == 0 ? "run" : "done",
                                              i % 9 == 0 ? "RunTimeout" : "Ok", "took too long"}}});
            events.push_back({at, session::BestEvent{round % tasks, 1.0 / round, "direct"}});
            events.push_back(
                {at, session::RoundDoneEvent{round, round % tasks, 20, {{{"search", 0.1}}, {}}, 5.0 - 0.001 * round}});
            events.push_back(
                {at, session::EstimateEvent{5.0 - 0.001 * round, session::kUnknown, session::kUnknown, 60}});
            ++round;
            emit workspace().bridge().eventsArrived(events);
        });
        since.start();
        run.start();
        probe.start();
        feed.start();
        QTRY_VERIFY_WITH_TIMEOUT(run.elapsed() >= 2000, 10000);
        QVERIFY2(longest < 500, qPrintable(QStringLiteral("%1 ms").arg(longest)));
        QVERIFY(round >= 110);
    }
};

LATHE_TEST_GUI(TestLive)

} // namespace tst_live

#include "tst_live.moc"
