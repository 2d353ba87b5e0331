#include "core/session/project/stored_events.h"
#include "tests/support/killed_run.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/issue_model.h"
#include "ui/models/round_model.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/curves_page.h"
#include "ui/views/latency_chart.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolBar>
#include <QToolButton>

#include <nlohmann/json.hpp>

#include <csignal>

namespace tst_second_window {

using namespace lathe;
using test::find;
using test::must;

/// A window on a project that another process tunes: it shows all, follows, changes nothing, and takes over when that
/// process has ended or was killed.
class TestSecondWindow : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    QString project(const char* name) const { return m_dir.filePath(QLatin1String(name)); }
    void open(const QString& source) const
    {
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        m_window->openSource(source);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
    }
    static void tune(QProcess& process, const QString& project, int trials)
    {
        process.start(test::KilledRun::program("lathe-cli"),
                      {"tune", "zoo:mlp", "--target", "sim", "--project", project, "--trials-per-round", "8",
                       "--trials", QString::number(trials), "--build-jobs", "1", "--json"});
    }
    /// Waits until it has stored so many more.
    static bool trialsCome(QProcess& process, int count)
    {
        while (count > 0) {
            if (!process.canReadLine() && !process.waitForReadyRead(60000))
                return false;
            count -= process.readLine().contains("\"event\":\"trial\"") ? 1 : 0;
        }
        return true;
    }
    static qint64 stored(const QString& file)
    {
        const auto reader = must(store::Project::open(file.toStdString(), store::Project::Access::Read));
        qint64 trials = 0;
        for (const store::TaskRow& task : must(reader.tasks(must(reader.models()).back().id)))
            trials += must(reader.totals(task.key)).trials;
        return trials;
    }

    /// A network that was measured to have so much beside its tasks.
    static session::MeasuredEvent measuredBeside(double tasksMs, double besideMs)
    {
        session::MeasuredEvent measured;
        measured.ms = tasksMs + besideMs;
        measured.estimated = {tasksMs, besideMs, 0, 0};
        return measured;
    }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }
    void init() { m_window = test::shownWindow({1280, 800}); }
    void cleanup() { m_window.reset(); }

    void itFollowsWhatAnotherProcessDoesAndTakesOver()
    {
        const QString file = project("shared.lathe");
        QProcess writer;
        tune(writer, file, 100000);
        QVERIFY(trialsCome(writer, 30));
        open(file);

        // Who writes is said, and nothing can be changed.
        auto* const bar = find<QToolBar>(m_window.get(), "readerBar");
        auto* const text = find<QLabel>(bar, "readerText");
        auto* const takeOver = find<QToolButton>(bar, "readerTakeOver");
        QVERIFY(bar->isVisible());
        const QString pid = QString::number(writer.processId());
        QVERIFY2(text->text().contains(QStringLiteral("lathe-cli (process %1 on ").arg(pid)), qPrintable(text->text()));
        QVERIFY(!takeOver->isEnabled());
        for (const char* name : {"actionStart", "actionResume", "actionPause", "actionStop", "actionStartOver"}) {
            auto* const action = find<QAction>(m_window.get(), name);
            QVERIFY2(!action->isEnabled() && action->toolTip().contains(pid), name);
        }
        for (const char* name : {"budgetPicker", "devicePicker", "budgetBar", "recordAgain"}) {
            auto* const widget = find<QWidget>(m_window.get(), name);
            QVERIFY2(!widget->isEnabled() && widget->toolTip().contains(pid), name);
        }
        for (const char* name : {"file.importLog", "project.note", "records.note", "records.remeasure"}) {
            auto* const action = find<QAction>(m_window.get(), name);
            QVERIFY2(!action->isEnabled() && action->toolTip().contains(pid), name);
        }
        QVERIFY(find<QAction>(m_window.get(), "actionExport")->isEnabled());
        QVERIFY(find<QAction>(m_window.get(), "actionOpen")->isEnabled());

        // Nothing failed to be written: it is a note.
        const auto* const issues = find<QTableView>(m_window.get(), "issueTable")->model();
        QCOMPARE(issues->rowCount(), 1);
        QCOMPARE(issues->index(0, ui::IssueModel::CodeColumn).data().toString(), QStringLiteral("Note"));

        // What was stored before is shown, and what comes is at most a second behind.
        const auto rounds = [this] { return ui::RoundModel::of(workspace()).rowCount(); };
        QTRY_VERIFY(rounds() > 2);
        QTRY_VERIFY(workspace().session()->state() == session::RunState::Running);
        for (int i = 0; i < 3; ++i) {
            QVERIFY(trialsCome(writer, 20));
            const qint64 there = stored(file);
            QVERIFY(there > 0);
            QTRY_VERIFY2_WITH_TIMEOUT(
                workspace().figures().trials >= there,
                qPrintable(QStringLiteral("%1 of %2").arg(workspace().figures().trials).arg(there)), 1000);
        }
        QVERIFY(std::isfinite(workspace().estimatedMs()));
        QVERIFY(std::isfinite(ui::RoundModel::of(workspace()).rounds().front().estimateMs)
                || ui::RoundModel::of(workspace()).rounds().size() > 1);
        int before = -1;
        for (const ui::RoundModel::Round& round : ui::RoundModel::of(workspace()).rounds()) {
            QCOMPARE(round.index, before + 1); // none is missing, none comes twice
            before = round.index;
        }

        // Killed: it offers to take over, and then the run goes on here.
        writer.kill();
        QVERIFY(writer.waitForFinished(20000));
        QTRY_VERIFY_WITH_TIMEOUT(takeOver->isEnabled(), 1500);
        QVERIFY(text->text().contains(QStringLiteral("has ended")));
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session()->state() == session::RunState::Stopped, 1500);
        const qint64 left = stored(file);
        QTRY_COMPARE_WITH_TIMEOUT(workspace().figures().trials, left, 1500);
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        takeOver->click();
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
        QVERIFY(!bar->isVisible());
        QVERIFY(workspace().follow() == nullptr);
        // The killed writer may have stored what readers could not see yet: SQLite tells them of a transaction after it is
        // on the disk, and the next writer finds it there.
        QVERIFY(workspace().figures().trials >= left);
        QCOMPARE(workspace().figures().trials, stored(file));
        QTRY_VERIFY(find<QAction>(m_window.get(), "actionStart")->isEnabled());
        QVERIFY(find<QAction>(m_window.get(), "actionResume")->isEnabled());
        QVERIFY(!find<QAction>(m_window.get(), "actionStart")->toolTip().contains(pid));
        QVERIFY(find<QWidget>(m_window.get(), "budgetPicker")->isEnabled());
        QTRY_VERIFY(rounds() > 2); // what the reader had shown
        find<QAction>(m_window.get(), "actionResume")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(workspace().figures().trials > left, 60000);
        find<QAction>(m_window.get(), "actionStop")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session()->state() == session::RunState::Stopped, 60000);
    }

    void aWriterThatEndsLeavesTheSameFiguresAsAProjectThatIsOpened()
    {
        const QString file = project("ended.lathe");
        QProcess writer;
        tune(writer, file, 64);
        QVERIFY(trialsCome(writer, 10));
        open(file);
        if (workspace().follow() == nullptr)
            QSKIP("the run was over before the window was open");
        QVERIFY(writer.waitForFinished(60000));
        QTRY_VERIFY_WITH_TIMEOUT(workspace().session()->state() == session::RunState::Finished, 1500);
        QTRY_COMPARE_WITH_TIMEOUT(workspace().figures().trials, qint64{64}, 1500);
        const double estimate = workspace().estimatedMs();
        const int rounds = ui::RoundModel::of(workspace()).rowCount();
        m_window = test::shownWindow({1280, 800}); // the other one gives the project back first
        open(file);
        QVERIFY(workspace().follow() == nullptr);
        QCOMPARE(workspace().figures().trials, qint64{64});
        QTRY_COMPARE(ui::RoundModel::of(workspace()).rowCount(), rounds);
        QVERIFY(std::abs(workspace().estimatedMs() - estimate) < 1e-9);

        // The estimate is of the network, what was measured beside its tasks included; the curve ends there too, though
        // its last round knew nothing of that.
        emit workspace().bridge().eventsArrived({{1000, measuredBeside(workspace().tasks().estimatedMs(), 0.375)}});
        QVERIFY(std::abs(workspace().estimatedMs() - estimate - 0.375) < 1e-9);
        ui::CurvesPage page(workspace(), nullptr);
        page.show();
        const QString status =
            find<QLabel>(m_window.get(), "statusLatency")->text().section(QStringLiteral("   "), 0, 0);
        const QString summary = page.findChild<ui::LatencyChart*>()->summary();
        QVERIFY2(summary.startsWith(status), qPrintable(status + '/' + summary));
    }

    /// What a run measured after its last round counts for a reader that comes later, too.
    void aReaderEstimatesWhatTheWriterDoes()
    {
        const QString file = project("figures.lathe");
        test::makeProject(file, test::Project::Mixed);
        {
            auto writer = must(store::Project::open(file.toStdString(), store::Project::Access::Write));
            const std::int64_t run = must(writer.sessions()).back().id;
            const std::string task = must(writer.tasks(must(writer.models()).back().id)).front().key;
            must(writer.addRound({run, 12, task, 8, "{}", R"({"tasks_ms": 27.5})", 65, 28.125}));
            must(writer.addEvent(run, 70, "measured", session::toJson(measuredBeside(27.5, 3.75)).dump()));
            open(file);
            QVERIFY(workspace().follow() != nullptr);
            QTRY_COMPARE(ui::RoundModel::of(workspace()).rowCount(), 13);
            QTRY_VERIFY(std::isfinite(workspace().dataAge())); // what it follows has told where the run stands
            QTRY_COMPARE(workspace().figures().besideTasksMs, 3.75);
            m_window.reset();
        }
        m_window = test::shownWindow({1280, 800});
        open(file);
        QVERIFY(workspace().follow() == nullptr);
        QTRY_COMPARE(workspace().figures().besideTasksMs, 3.75);
    }

    /// Budget and head start belong to the project; the next one starts from the settings' defaults.
    void whatIsPickedForARunBelongsToTheProject()
    {
        const QString first = project("first.lathe"), second = project("second.lathe");
        test::makeProject(first, test::Project::Mixed);
        test::makeProject(second, test::Project::Mixed);
        auto* const budget = find<QComboBox>(m_window.get(), "budgetPicker");
        open(first);
        const QString usual = budget->currentText();
        budget->setEditText(QStringLiteral("777 trials"));
        emit budget->lineEdit()->textEdited(QStringLiteral("777 trials"));
        QTest::keyClick(budget->lineEdit(), Qt::Key_Return);
        find<QAction>(m_window.get(), "headStartNone")->trigger();
        open(second);
        QCOMPARE(budget->currentText(), usual);
        QVERIFY(find<QAction>(m_window.get(), "headStartInstalled")->isChecked());
        m_window = test::shownWindow({1280, 800});
        open(first);
        QCOMPARE(find<QComboBox>(m_window.get(), "budgetPicker")->currentText(), QStringLiteral("777 trials"));
        QVERIFY(find<QAction>(m_window.get(), "headStartNone")->isChecked());
    }

    /// Start on a tuned project tunes on: what was shown stays, and counts go up from there.
    void startTunesOnAndStartOverDoesNot()
    {
        const QString file = project("on.lathe");
        {
            QProcess cli;
            tune(cli, file, 32);
            QVERIFY(cli.waitForFinished(60000));
        }
        open(file);
        ui::RoundModel& rounds = ui::RoundModel::of(workspace());
        QTRY_VERIFY(rounds.rowCount() > 0);
        QVERIFY(!rounds.band().empty()); // the likely range, as it was while some tasks had no program
        const int before = rounds.rowCount();
        auto* const start = find<QAction>(m_window.get(), "actionStart");
        QVERIFY2(start->text().contains(QStringLiteral("tuning")), qPrintable(start->text()));
        auto* const budget = find<QComboBox>(m_window.get(), "budgetPicker");
        budget->setEditText(QStringLiteral("16 trials"));
        const auto ended = [this] { return workspace().session()->state() == session::RunState::Finished; };
        start->trigger();
        QCOMPARE(rounds.rowCount(), before); // the curves keep what they had
        QTRY_VERIFY_WITH_TIMEOUT(ended() && workspace().figures().trials == 48, 60000);
        QTRY_VERIFY(rounds.rowCount() > before);
        QCOMPARE(rounds.rounds().front().index, 0);
        for (std::size_t i = static_cast<std::size_t>(before); i < rounds.rounds().size(); ++i) {
            QVERIFY(*rounds.rounds()[i].reason != "first");
            QVERIFY(rounds.rounds()[i].atSeconds >= rounds.rounds()[i - 1].atSeconds);
        }
        auto* const over = find<QAction>(m_window.get(), "actionStartOver");
        QTRY_VERIFY(over->isEnabled());
        over->trigger();
        QTRY_VERIFY2_WITH_TIMEOUT(ended() && workspace().figures().trials == 64,
                                  qPrintable(QStringLiteral("state %1, %2 trials")
                                                 .arg(static_cast<int>(workspace().session()->state()))
                                                 .arg(workspace().figures().trials)),
                                  60000);
        QCOMPARE(*rounds.rounds().front().reason, std::string("first"));
        QCOMPARE(rounds.trials(), qint64{16});
    }
};

LATHE_TEST_GUI(TestSecondWindow)

} // namespace tst_second_window

#include "tst_second_window.moc"
