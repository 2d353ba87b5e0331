#include "core/support/packages.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/models/failure_cure.h"
#include "ui/views/scatter_view.h"

#include <QSignalSpy>
#include <QtTest>

#include <cmath>

namespace tst_scatter_view {

using namespace lathe;
using ui::ScatterView;

/// The chart of trials as points, and the cures that the failures offer.
class TestScatterView : public QObject
{
    Q_OBJECT

    /// Row i at (i, i * factor).
    static std::shared_ptr<const ScatterView::Points> line(std::int64_t count, double factor = 1)
    {
        auto points = std::make_shared<ScatterView::Points>();
        for (std::int64_t i = 1; i <= count; ++i) {
            points->x.push_back(static_cast<double>(i));
            points->y.push_back(static_cast<double>(i) * factor);
            points->ids.push_back(10 * i);
        }
        return points;
    }
    static std::unique_ptr<ScatterView> shown()
    {
        auto view = std::make_unique<ScatterView>();
        view->resize(500, 400);
        view->show();
        return view;
    }

private slots:
    void everyPointIsCounted()
    {
        const auto view = shown();
        QVERIFY(view->summary().startsWith("No trial"));
        view->setPoints(line(1'000'000), false);
        QTRY_VERIFY2(view->summary().startsWith("1,000,000 trials."), qPrintable(view->summary()));
        QVERIFY(view->summary().contains("up to"));
        QTest::keyClick(view.get(), Qt::Key_Plus);
        QTRY_VERIFY2(view->summary().contains("of 1,000,000 trials visible"), qPrintable(view->summary()));
        QTest::keyClick(view.get(), Qt::Key_0);
        QTRY_VERIFY(view->summary().startsWith("1,000,000 trials."));
    }

    /// Nothing is drawn where the grip lies.
    void theTitleOfAnAxisEndsBesideTheGrip()
    {
        const auto view = shown();
        view->setAxes({"Predicted (ms)", false, false}, {"Latency (ms)", false, false});
        view->setPoints(line(3), false);
        QTRY_VERIFY(view->summary().startsWith("3 trials"));
        auto* const grip = test::find<QWidget>(view.get(), "dragHandle");
        grip->hide();
        const QImage there = view->grab(grip->geometry()).toImage().convertToFormat(QImage::Format_RGB32);
        QImage empty = there;
        empty.fill(view->palette().color(QPalette::Base));
        QCOMPARE(there, empty);
    }

    void aClickPicksTheNearestPoint()
    {
        const auto view = shown();
        view->setPoints(line(3), false);
        QTRY_VERIFY(view->summary().startsWith("3 trials"));
        QSignalSpy picked(view.get(), &ScatterView::picked);
        // The middle one of three on a line is in the middle of the plot; the margins about that are not even.
        for (int y = 60; y < 340 && picked.isEmpty(); y += 8)
            for (int x = 200; x < 340 && picked.isEmpty(); x += 8)
                QTest::mouseClick(view.get(), Qt::LeftButton, {}, {x, y});
        QCOMPARE(picked.size(), 1);
        QCOMPARE(picked[0][0].toLongLong(), 20);
        picked.clear();
        QTest::mouseClick(view.get(), Qt::LeftButton, {}, {120, 60}); // far from all
        QVERIFY(picked.isEmpty());
    }

    void aRectangleZooms()
    {
        const auto view = shown();
        view->setPoints(line(100), false);
        QTRY_VERIFY(view->summary().startsWith("100 trials"));
        QTest::mousePress(view.get(), Qt::LeftButton, {}, {100, 300});
        QTest::mouseMove(view.get(), {200, 200});
        QTest::mouseRelease(view.get(), Qt::LeftButton, {}, {280, 150});
        QTRY_VERIFY2(view->summary().contains("of 100 trials visible"), qPrintable(view->summary()));
        QTest::mouseDClick(view.get(), Qt::LeftButton, {}, {200, 200});
        QTRY_VERIFY(view->summary().startsWith("100 trials."));
    }

    void whatALogarithmicAxisLeavesOutIsSaid()
    {
        const auto view = shown();
        auto points = std::make_shared<ScatterView::Points>(*line(10));
        points->x[0] = 0;
        points->x[1] = -4;
        view->setPoints(points, true);
        QTRY_VERIFY(view->summary().startsWith("10 trials"));
        view->setAxes({"x", false, true}, {"y", false, false});
        QTRY_VERIFY2(view->summary().contains("2 at or below zero"), qPrintable(view->summary()));
        view->setMarked(30);
        QVERIFY(!view->grab().isNull()); // the ring and the line of equals
    }

    void oneValueForAllHasAPlace()
    {
        const auto view = shown();
        auto points = std::make_shared<ScatterView::Points>();
        points->x.assign(5, 2.0);
        points->y.assign(5, 0.0);
        for (int i = 1; i <= 5; ++i)
            points->ids.push_back(i);
        view->setPoints(points, false);
        QTRY_VERIFY2(view->summary().startsWith("5 trials."), qPrintable(view->summary()));
    }

    void failuresHaveACure()
    {
        const auto failed = [](const char* code, const Message& message) {
            return session::FailureView{code, "run", "", 1, {}, 1, "any words, 99 s, warp_size", about(message)};
        };
        const session::FailureView late = failed(
            "RunTimeout", say(Msg::Noted, say(Msg::RunTookLong, 10, say(Msg::WhileTiming)), "last words: 77 s"));
        auto cure = ui::failureCure(late, 10);
        QVERIFY(cure.act == ui::FailureCure::Act::Timeout);
        QCOMPARE(cure.seconds, 30.0);
        QVERIFY(cure.sentence.isEmpty());
        cure = ui::failureCure(late, 40); // it was raised since
        QCOMPARE(cure.seconds, 40.0);
        QVERIFY(cure.sentence.contains("try them again"));
        cure = ui::failureCure(
            failed("NotFound", say(Msg::NoTargetLibrary, "libm.so.6", "x86_64-linux-gnu", "/lib", "/usr/lib", "libc6")),
            10);
        QVERIFY(cure.act == ui::FailureCure::Act::Package);
        QCOMPARE(cure.package, QString("libc6"));
        cure = ui::failureCure(
            failed("BuildFailed", notLoaded("cuda_codegen.so", "libnvrtc.so.12: cannot open shared object file")), 10);
        QCOMPARE(cure.package, QString("nvidia-cuda-toolkit"));
        cure = ui::failureCure(
            failed("IllegalSchedule", say(Msg::ThreadsOverBlock, 2048, 1024, "max_threads_per_block")), 10);
        QVERIFY(cure.act == ui::FailureCure::Act::Limit);
        QCOMPARE(cure.limit, QString("max_threads_per_block"));
        QVERIFY(ui::failureCure(failed("WorkerCrashed", say(Msg::Plain, "the kernel crashed: signal 11")), 10).act
                == ui::FailureCure::Act::None);
        // A record of an older version has its text alone, which nothing is read from.
        cure = ui::failureCure({"RunTimeout", "run", "", 1, {}, 1, "the run took longer than 70 s while measuring"},
                               10);
        QCOMPARE(cure.seconds, 30.0);
        QVERIFY(ui::failureCure(
                    {"IllegalSchedule", "lower", "", 1, {}, 1, "2048 threads break max_threads_per_block (1024)"}, 10)
                    .act
                == ui::FailureCure::Act::None);
    }
};

LATHE_TEST_GUI(TestScatterView)

} // namespace tst_scatter_view

#include "tst_scatter_view.moc"
