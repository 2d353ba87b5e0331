#include "tests/support/test_program.h"
#include "ui/models/issue_model.h"
#include "ui/models/named_numbers.h"
#include "ui/models/pace.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/views/decimate.h"
#include "ui/views/latency_chart.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>

namespace tst_models {

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
    void bothEndsOfARangeHaveAsManyDecimals()
    {
        QCOMPARE(ui::msRangeText(7.05, 9.6), QString("7.05–9.60 ms"));
        QCOMPARE(ui::msRangeText(9.96, 12.34), QString("10.0–12.3 ms"));
        QCOMPARE(ui::msRangeText(120, 1234), QString("120–1234 ms"));
        QCOMPARE(ui::msRangeText(0.0071, 0.0123), QString("7.1–12.3 µs"));
        QCOMPARE(ui::msRangeText(108, 17169807), QString("at least 108.000 ms"));
        QCOMPARE(ui::msRangeText(0, 0), QString("0.00–0.00 µs"));
    }

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
        model.apply({{1.0, session::TrialEvent{good}},
                     {1.0, session::TrialEvent{bad}},
                     {1.0, session::BestEvent{0, 0.5, "direct"}}});
        QCOMPARE(changed.count(), 1); // one update for a batch
        QCOMPARE(model.index(0, ui::TaskModel::TrialsColumn).data().toInt(), 2);
        QCOMPARE(model.index(0, ui::TaskModel::ErrorsColumn).data().toInt(), 1);
        QCOMPARE(model.index(0, ui::TaskModel::GflopsColumn).data(ui::TaskModel::SortRole).toDouble(), 4.0);
        QCOMPARE(model.index(0, ui::TaskModel::LimitColumn).data().toString(),
                 model.index(1, ui::TaskModel::LimitColumn).data().toString()); // neither known
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
        QCOMPARE(model.index(0, 0).data(ui::TaskModel::HistoryRole).value<QList<double>>(),
                 (QList<double>{3.0, 2.0, 0.5}));
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

    void aRunThatFailsInEverNewWordsIsCounted()
    {
        ui::IssueModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.add({"WorkerCrashed", "conv", "signal 11", 3, 1});
        for (int i = 0; i < ui::IssueModel::kMostRows + 50; ++i)
            model.add({"RunTimeout", "conv", QString("took %1 s").arg(i), 3, 1});
        QCOMPARE(model.rowCount(), ui::IssueModel::kMostRows);
        model.add({"WorkerCrashed", "conv", "signal 6", 3, 1}); // with the last of its kind
        QCOMPARE(model.index(0, ui::IssueModel::CountColumn).data().toInt(), 2);
        QCOMPARE(model.index(model.rowCount() - 1, ui::IssueModel::CountColumn).data().toInt(), 52);
        model.clear();
        model.add({"RunTimeout", "conv", "took 1 s", 3, 1});
        QCOMPARE(model.rowCount(), 1);
    }

    void onlyTasksThatMovedAreToldOf()
    {
        ui::TaskModel model;
        model.setTasks(twoTasks());
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        session::TrialView good;
        good.task = 1;
        good.code = "Ok";
        model.apply({{1.0, session::TrialEvent{good}}});
        QCOMPARE(changed.count(), 1);
        QCOMPARE(changed[0][0].toModelIndex().row(), 1);
        QCOMPARE(changed[0][1].toModelIndex().row(), 1);
        model.apply({{1.0, session::BestEvent{1, 0.5, "direct"}}}); // everybody's share
        QCOMPARE(changed[1][0].toModelIndex().row(), 0);
        model.apply({{1.0, session::LogEvent{"nothing of theirs"}}});
        QCOMPARE(changed.count(), 2);
        for (int i = 0; i < 5000; ++i)
            model.apply({{1.0 + i, session::BestEvent{1, 0.5 - i * 1e-6, "direct"}}});
        const auto gains = model.index(1, 0).data(ui::TaskModel::HistoryRole).value<QList<double>>();
        QVERIFY(gains.size() <= 2000);
        QCOMPARE(gains.first(), 0.5);
        QCOMPARE(gains.last(), 0.5 - 4999 * 1e-6);
    }

    void aPaceCallsAtOnceThenLaterOnce()
    {
        int calls = 0;
        ui::Pace pace([&calls] { ++calls; }, 50);
        for (int i = 0; i < 5; ++i)
            pace.ask();
        QCOMPARE(calls, 1);
        QTRY_COMPARE(calls, 2);
        QTest::qWait(120);
        QCOMPARE(calls, 2);
    }

    void numbersAreFoundByTheirNames()
    {
        const ui::NamedNumbers numbers({{"search", 1.5}, {"build", 2.0}});
        QCOMPARE(numbers["search"], 1.5);
        QVERIFY(std::isnan(numbers["train"]));
        QVERIFY(ui::NamedNumbers().isEmpty() && !numbers.isEmpty());
        const ui::NamedNumbers more({{"search", 7.0}});
        QVERIFY((*more.begin()).first == (*std::next(numbers.begin())).first); // one copy of the name
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
        QVERIFY(
            std::is_sorted(few.begin(), few.end(), [](const QPointF& a, const QPointF& b) { return a.x() < b.x(); }));
        QVERIFY(!ui::decimated(points, 50, true).contains(QPointF(1234, -7))); // a logarithmic axis has no place for it
    }
};

LATHE_TEST_GUI(TestModels)

} // namespace tst_models

#include "tst_models.moc"
