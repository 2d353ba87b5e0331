#include "tests/support/test_program.h"
#include "tests/ui/fake_history.h"
#include "ui/models/failure_model.h"
#include "ui/models/record_model.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QtTest>

namespace tst_record_model {

using namespace lathe;
using ui::RecordModel;

class TestRecordModel : public QObject
{
    Q_OBJECT

    std::shared_ptr<std::atomic<std::int64_t>> m_count = std::make_shared<std::atomic<std::int64_t>>(0);

    void open(RecordModel& model, std::int64_t count)
    {
        *m_count = count;
        QSignalSpy ended(&model, &RecordModel::queryEnded);
        model.setTaskNames({"conv", "dense", "pool"});
        model.setHistory(std::make_unique<FakeHistory>(m_count));
        QTRY_VERIFY(ended.count() >= 1 && !model.isReading());
    }
    static QString cell(const RecordModel& model, int row, int column)
    {
        return model.index(row, column).data().toString();
    }

private slots:
    void rowsComeWhenTheyAreLookedAt()
    {
        RecordModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        open(model, 1000);
        QCOMPARE(model.rowCount(), 1000);
        QCOMPARE(model.index(0, 0).data(RecordModel::RowIdRole).toLongLong(), 1000); // newest first
        QTRY_COMPARE(cell(model, 0, RecordModel::TaskColumn), QString("dense"));
        QTRY_COMPARE(cell(model, 500, RecordModel::StateColumn), QString("Run took too long"));
        QVERIFY(cell(model, 500, RecordModel::LatencyColumn).isEmpty());
        QVERIFY(model.index(500, 0).data(Qt::ToolTipRole).toString().contains("took 10 s"));
    }

    void theListIsFilteredAndOrdered()
    {
        RecordModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        open(model, 1000);
        session::TrialQuery query;
        query.code = "failed";
        model.setQuery(query);
        QTRY_COMPARE(model.rowCount(), 100);
        model.setQuery({});
        model.sort(RecordModel::LatencyColumn, Qt::AscendingOrder);
        QTRY_VERIFY(!model.isReading() && model.rowCount() == 1000);
        QTRY_VERIFY(!cell(model, 0, RecordModel::LatencyColumn).isEmpty()
                    && !cell(model, 1, RecordModel::LatencyColumn).isEmpty());
        QVERIFY(cell(model, 0, RecordModel::LatencyColumn).toDouble()
                <= cell(model, 1, RecordModel::LatencyColumn).toDouble());
        QVERIFY(model.find(model.rowIds()[700]) == 700);
        QCOMPARE(model.find(5000), -1);
    }

    void newTrialsAreAddedWithoutAReset()
    {
        RecordModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        open(model, 200);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        *m_count = 264;
        model.refresh();
        QTRY_COMPARE(model.rowCount(), 264);
        QCOMPARE(reset.count(), 0);
        QCOMPARE(inserted.count(), 1);
        QCOMPARE(model.index(0, 0).data(RecordModel::RowIdRole).toLongLong(), 264);
    }

    void anEmptyProjectAndABrokenOneAreSaid()
    {
        RecordModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        open(model, 0);
        QCOMPARE(model.rowCount(), 0);
        QSignalSpy failed(&model, &RecordModel::queryFailed);
        session::TrialQuery query;
        query.text = "broken";
        model.setQuery(query);
        QTRY_COMPARE(failed.count(), 1);
        QCOMPARE(failed[0][0].toString(), QString("the disk is gone"));
        model.setHistory(nullptr);
        QVERIFY(!model.isReading());
    }

    void aMillionRowsScroll()
    {
        RecordModel model;
        open(model, 1'000'000);
        QCOMPARE(model.rowCount(), 1'000'000);
        for (int row = 0; row < 1'000'000; row += 9973)
            model.index(row, RecordModel::RoundColumn).data(); // asks, as a dragged scroll bar does
        QTRY_VERIFY(model.index(997'300, RecordModel::TrialColumn).data().toString().size()
                    == 8); // where it came to rest is read
    }

    void causesOfFailuresKeepTheirRows()
    {
        ui::FailureModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.setTaskNames({"conv", "dense"});
        const session::FailureView late{"RunTimeout", "run", "took # s", 12, {{1, 8}, {0, 4}}, 3, "took 10 s"};
        model.setFailures({late, {"WorkerCrashed", "run", "signal 11", 2, {{0, 2}}, 5, "signal 11"}});
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.total(), 14);
        QCOMPARE(model.index(0, ui::FailureModel::TasksColumn).data().toString(), QString("8 × dense, 4 × conv"));
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        session::FailureView more = late;
        more.count = 20;
        model.setFailures({more, model.failure(1)});
        QCOMPARE(reset.count(), 0);
        QCOMPARE(model.index(0, ui::FailureModel::CountColumn).data().toString(), QString("20"));
        model.setFailures({});
        QCOMPARE(model.rowCount(), 0);
    }
};

LATHE_TEST_GUI(TestRecordModel)

} // namespace tst_record_model

#include "tst_record_model.moc"
