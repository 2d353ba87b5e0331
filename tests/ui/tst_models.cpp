#include "ui/models/issue_model.h"
#include "ui/models/task_model.h"
#include "ui/views/latency_chart.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>

using namespace lathe;

namespace {

std::vector<session::TaskView> twoTasks()
{
    session::TaskView a;
    a.id = 0;
    a.name = "conv";
    a.weight = 2;
    a.flop = 2e6;
    session::TaskView b;
    b.id = 1;
    b.name = "dense";
    b.flop = 1e6;
    return {a, b};
}

} // namespace

class TestModels : public QObject
{
    Q_OBJECT

private slots:
    void tasksFollowEvents()
    {
        ui::TaskModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.setTasks(twoTasks());
        QCOMPARE(model.rowCount(), 2);
        QVERIFY(std::isnan(model.estimatedMs()));
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        session::TrialView good;
        good.task = 0;
        good.code = "Ok";
        session::TrialView bad;
        bad.task = 0;
        bad.code = "RunTimeout";
        model.apply({{1.0, session::TrialEvent{good}}, {1.0, session::TrialEvent{bad}}, {1.0, session::BestEvent{0, 0.5, "direct"}}});
        QCOMPARE(changed.count(), 1); // one update for a batch
        QCOMPARE(model.index(0, ui::TaskModel::TrialsColumn).data().toInt(), 2);
        QCOMPARE(model.index(0, ui::TaskModel::ErrorsColumn).data().toInt(), 1);
        QCOMPARE(model.index(0, ui::TaskModel::GflopsColumn).data(ui::TaskModel::SortRole).toDouble(), 4.0);
        model.apply({{2.0, session::BestEvent{1, 1.0, "direct"}}});
        QCOMPARE(model.estimatedMs(), 2.0);
        QCOMPARE(model.index(0, ui::TaskModel::ShareColumn).data(ui::TaskModel::SortRole).toDouble(), 0.5);
    }

    void equalIssuesAreCounted()
    {
        ui::IssueModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.add({"RunTimeout", "conv", "took 10 s", 3, 1});
        model.add({"RunTimeout", "conv", "took 10 s", 3, 1});
        model.add({"WorkerCrashed", "conv", "signal 11", 3, 1});
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, ui::IssueModel::CountColumn).data().toInt(), 2);
        QCOMPARE(model.index(1, 0).data(ui::IssueModel::TaskIdRole).toInt(), 3);
        QVERIFY(model.index(0, 0).data(Qt::ToolTipRole).toString().size() > 20);
    }

    void aLongRunKeepsTheChartSmall()
    {
        ui::LatencyChart chart;
        QCOMPARE(chart.summary(), QString("Nothing measured yet"));
        for (int i = 0; i < 20000; ++i)
            chart.addEstimate(i * 0.1, i % 100 == 0 ? 50.0 - i * 0.001 : 50.0 - (i / 100) * 0.1);
        QVERIFY(chart.estimateCount() <= 4100);
        chart.addMeasured(2000, 31.5);
        chart.setBaseline(90);
        QVERIFY(chart.summary().contains("31.500"));
        QVERIFY(chart.summary().contains("90.000"));
        chart.setLogarithmic(true);
        chart.clear();
        QCOMPARE(chart.estimateCount(), 0);
    }
};

QTEST_MAIN(TestModels)
#include "tst_models.moc"
