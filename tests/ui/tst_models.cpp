#include "ui/models/issue_model.h"
#include "ui/models/task_model.h"
#include "ui/views/decimate.h"
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
        QCOMPARE(model.index(0, ui::TaskModel::LimitColumn).data().toString(), model.index(1, ui::TaskModel::LimitColumn).data().toString()); // neither known
        const double flop = model.task(0).flop;
        model.apply({{1.5, session::LimitsEvent{{flop * 1e-6 / 0.25, {{"memory", 0, 1e9}}}}}});
        QCOMPARE(model.index(0, ui::TaskModel::LimitColumn).data().toString(), QStringLiteral("50 %"));
        model.apply({{2.0, session::BestEvent{1, 1.0, "direct"}}});
        QCOMPARE(model.estimatedMs(), 2.0);
        QCOMPARE(model.index(0, ui::TaskModel::ShareColumn).data(ui::TaskModel::SortRole).toDouble(), 0.5);
    }

    void budgetsAndGainsAreShown()
    {
        ui::TaskModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.setTasks(twoTasks());
        QVERIFY(model.index(0, ui::TaskModel::BudgetColumn).data().toString().isEmpty());
        model.setBudget(0, {true, false, 2, 500});
        QCOMPARE(model.index(0, ui::TaskModel::BudgetColumn).data().toString(), QString("pinned, ×2, ≤ 500"));
        model.apply({{1.0, session::BudgetEvent{0, {false, true, 1, 0}}}});
        QCOMPARE(model.index(0, ui::TaskModel::BudgetColumn).data().toString(), QString("muted"));
        model.setHistory(0, {3.0, 2.0});
        model.apply({{1.0, session::BestEvent{0, 0.5, "direct"}}});
        QCOMPARE(model.index(0, 0).data(ui::TaskModel::HistoryRole).value<QList<double>>(), (QList<double>{3.0, 2.0, 0.5}));
        model.setHistory(0, {9.0}); // what the run said counts
        QCOMPARE(model.index(0, 0).data(ui::TaskModel::HistoryRole).value<QList<double>>().size(), 3);
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
        chart.resize(800, 400);
        QCOMPARE(chart.summary(), QString("Nothing measured yet"));
        ui::LatencyChart::Curves curves;
        for (int i = 0; i < 100000; ++i)
            curves.estimate << QPointF(i * 0.1, i == 50000 ? 0.001 : 50.0 - i * 0.0001);
        curves.seconds = 10000;
        curves.measured << QPointF(2000, 31.5) << QPointF(2100, std::nan("")); // what is no number is not drawn
        curves.untunedMs = 90;
        chart.setCurves(curves);
        QVERIFY(chart.drawnPoints() > 800);
        QVERIFY(chart.drawnPoints() <= 4 * 800 + 10);
        QVERIFY(chart.summary().contains("90.000"));
        chart.setLogarithmic(true);
        QVERIFY(chart.drawnPoints() > 800);
        chart.clear();
        QCOMPARE(chart.drawnPoints(), qsizetype{0});
    }

    void decimationKeepsTheEdgesOfEachColumn()
    {
        QList<QPointF> points;
        for (int i = 0; i < 10000; ++i)
            points << QPointF(i, i == 1234 ? -7 : i == 8765 ? 99 : std::sin(i * 0.001));
        const QList<QPointF> few = ui::decimated(points, 50, false);
        QVERIFY(few.size() <= 204);
        QVERIFY(few.contains(QPointF(1234, -7)));
        QVERIFY(few.contains(QPointF(8765, 99)));
        QCOMPARE(few.first(), points.first());
        QCOMPARE(few.last(), points.last());
        QVERIFY(std::is_sorted(few.begin(), few.end(), [](const QPointF& a, const QPointF& b) { return a.x() < b.x(); }));
        QVERIFY(!ui::decimated(points, 50, true).contains(QPointF(1234, -7))); // a logarithmic axis has no place for it
    }
};

QTEST_MAIN(TestModels)
#include "tst_models.moc"
