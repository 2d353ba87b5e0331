#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/models/workspace.h"
#include "ui/pages/log_page.h"

#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QToolButton>

namespace tst_log_page {

using namespace lathe;
using test::find;

/// The log follows what comes, but for a reader.
class TestLogPage : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void itFollowsUntilSomebodyReadsAndThenAgain()
    {
        ui::Workspace workspace;
        ui::LogPage page(workspace, nullptr);
        page.resize(400, 200);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        const auto write = [&workspace] {
            for (int i = 0; i < 100; ++i)
                workspace.log(QStringLiteral("line %1").arg(i));
        };
        auto* const bar = find<QPlainTextEdit>(&page, "log")->verticalScrollBar();
        auto* const follow = find<QToolButton>(&page, "logFollow");
        const auto atEnd = [bar] { return bar->maximum() > 0 && bar->value() == bar->maximum(); };
        write();
        QTRY_VERIFY(atEnd());
        page.resize(400, 120); // is no wish to read
        write();
        QTRY_VERIFY(atEnd());
        QVERIFY(!follow->isVisible());
        bar->triggerAction(QAbstractSlider::SliderPageStepSub);
        QVERIFY(follow->isVisible());
        const int there = bar->value();
        write();
        QCOMPARE(bar->value(), there);
        QTest::mouseClick(follow, Qt::LeftButton);
        QVERIFY(!follow->isVisible());
        write();
        QTRY_VERIFY(atEnd());
    }
};

LATHE_TEST_GUI(TestLogPage)

} // namespace tst_log_page

#include "tst_log_page.moc"
