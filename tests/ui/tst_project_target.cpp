#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/recent_projects.h"
#include "ui/models/round_model.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"

#include <QComboBox>
#include <QLabel>
#include <QTemporaryDir>

namespace tst_project_target {

using namespace lathe;
using test::find;
using test::must;

/// Target and device belong to a project: what is opened after another has its own.
class TestProjectTarget : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    void open(const QString& source, const QString& target = {}) const
    {
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        m_window->openSource(source, target);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    }
    QString target() const { return QString::fromStdString(workspace().session()->options().target); }

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }
    void init() { m_window = test::shownWindow({1280, 800}); }
    void cleanup() { m_window.reset(); }

    void whatIsPickedOnTheStartPageIsForWhatBeginsThere()
    {
        find<ui::RunBar>(m_window.get(), "runBar")->setTarget(QStringLiteral("sim -seed=3"));
        open(QStringLiteral("zoo:mlp"));
        QCOMPARE(target(), QStringLiteral("sim -seed=3"));
    }

    void aTargetDoesNotLeakIntoTheNextProject()
    {
        auto* const picker = find<QComboBox>(m_window.get(), "targetPicker");
        open(QStringLiteral("zoo:mlp")); // remembered
        QCOMPARE(target(), QStringLiteral("sim -seed=3"));
        QVERIFY(picker->findData(QStringLiteral("sim -seed=3")) >= 0);
        open(QStringLiteral("zoo:dcgan")); // was never opened: the default
        QCOMPARE(target(), QStringLiteral("cpu"));
        QCOMPARE(picker->currentData().toString(), QStringLiteral("cpu"));
        QCOMPARE(picker->findData(QStringLiteral("sim -seed=3")), -1);
        open(QStringLiteral("zoo:mlp"));
        QCOMPARE(target(), QStringLiteral("sim -seed=3"));
    }

    void theStartPageKeepsFiguresOfOneTargetTogether()
    {
        ui::RecentProject project;
        project.source = QStringLiteral("zoo:mlp");
        project.target = QStringLiteral("cpu");
        project.when = QDateTime::currentDateTime();
        project.untunedMs = 12;
        project.measuredMs = 3;
        ui::rememberProject(project);
        open(QStringLiteral("zoo:mlp"), QStringLiteral("sim"));
        const auto known = ui::recentProjects().first();
        QCOMPARE(known.target, QStringLiteral("sim"));
        QVERIFY(std::isnan(known.untunedMs) && std::isnan(known.measuredMs));
    }

    /// ui/README.md has the table: whatever shows a number shows the same.
    void aNumberIsTheSameWhereverItStands()
    {
        const QString file = m_dir.filePath(QStringLiteral("numbers.lathe"));
        test::makeProject(file, test::Project::Mixed);
        open(file, QStringLiteral("sim"));
        ui::RoundModel& rounds = ui::RoundModel::of(workspace());
        QTRY_COMPARE(rounds.rowCount(), 12);
        const auto* const counts = find<QLabel>(m_window.get(), "statusCounts");
        const auto* const latency = find<QLabel>(m_window.get(), "statusLatency");
        const auto agree = [&](qint64 trials, double measured, double untuned) {
            qint64 sum = 0, failed = 0;
            for (int row = 0; row < workspace().tasks().rowCount(); ++row) {
                sum += workspace().tasks().task(row).trials;
                failed += workspace().tasks().task(row).errors;
            }
            const auto shows = [&](const QString& what, double ms) {
                return latency->text().contains(QStringLiteral("%1 %2 ms").arg(what).arg(ms, 0, 'f', 3));
            };
            return sum == trials && workspace().figures().trials == trials && workspace().figures().failed == failed
                   && counts->text().startsWith(QStringLiteral("%1 trials").arg(trials))
                   && shows(QStringLiteral("measured"), measured) && shows(QStringLiteral("untuned"), untuned)
                   && rounds.untunedMs() == untuned && !rounds.measured().empty()
                   && rounds.measured().back().ms == measured;
        };
        QTRY_VERIFY2(agree(96, 31, 90), qPrintable(counts->text() + latency->text()));
        QCOMPARE(rounds.trials(), qint64{96});
        QTRY_VERIFY(counts->toolTip().contains(QStringLiteral("of the latest run: 96")));
        // Timed alone, then in turns with the untuned one: the latter is shown everywhere, and the tool tip says why.
        session::MeasuredEvent alone;
        alone.ms = 24;
        session::VerdictEvent verdict;
        verdict.gain.pairs = 12;
        verdict.gain.ms = 41;
        verdict.gain.untunedMs = 53;
        verdict.gain.ratio = verdict.gain.low = verdict.gain.high = 1.3;
        emit workspace().bridge().eventsArrived({{60, alone}, {60, verdict}});
        QVERIFY2(agree(96, 41, 53), qPrintable(latency->text()));
        QVERIFY2(latency->toolTip().contains(QStringLiteral("24.000 ms and 90.000 ms")),
                 qPrintable(latency->toolTip()));
        m_window->close();
        const auto known = ui::recentProjects();
        QCOMPARE(known.first().trials, qint64{96});
        QCOMPARE(known.first().measuredMs, 41.0);
        QCOMPARE(known.first().untunedMs, 53.0);
    }

    void figuresNameTheirTargetWhereThereAreSeveral()
    {
        const QString file = m_dir.filePath(QStringLiteral("mixed.lathe"));
        test::makeProject(file, test::Project::Mixed);
        auto* const latency = find<QLabel>(m_window.get(), "statusLatency");
        open(file, QStringLiteral("sim"));
        QTRY_VERIFY(latency->text().startsWith(QStringLiteral("estimated")));
        workspace().bridge().close(); // it has the project, until it has ended on a thread of its own
        const auto isFree = [&file] {
            const auto project = store::Project::open(file.toStdString(), store::Project::Access::Write);
            return project && !project->readOnly();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isFree(), 20000);
        {
            auto project = must(store::Project::open(file.toStdString(), store::Project::Access::Write));
            std::vector<Record> records;
            must(project.forEachRecord({}, [&records](const Record& record) {
                if (records.empty() && record.result.ok())
                    records.push_back(record);
            }));
            records.at(0).trial = std::string(32, 'a');
            records.at(0).target = "sim -seed=4";
            must(project.addRecords(records));
        }
        open(file, QStringLiteral("sim"));
        QTRY_VERIFY2(latency->text().contains(QStringLiteral(":  estimated")), qPrintable(latency->text()));
        // So do the curves; the records are those of all targets.
        const auto* const age = find<QLabel>(m_window.get(), "chartAge");
        QTRY_VERIFY2(age->text().startsWith(QStringLiteral("simulated device")), qPrintable(age->text()));
        QVERIFY2(latency->text().startsWith(QStringLiteral("simulated device:")), qPrintable(latency->text()));
        const auto* const count = find<QLabel>(m_window.get(), "recordCount");
        QTRY_VERIFY2(count->text().contains(QStringLiteral("of all targets")), qPrintable(count->text()));
    }
};

LATHE_TEST_GUI(TestProjectTarget)

} // namespace tst_project_target

#include "tst_project_target.moc"
