#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/notice_settings.h"
#include "ui/models/workspace.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTemporaryDir>

namespace tst_closing {

using namespace lathe;
using test::find;

/// Closing the window while a run goes on.
class TestClosing : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase() { test::settleIn(m_dir.path()); }

    void itAsksOnceWhileARunGoesOn()
    {
        const auto window = test::shownWindow({1280, 800});
        auto& workspace = *window->findChild<ui::Workspace*>();
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        window->openSource(QStringLiteral("zoo:mlp"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        find<QComboBox>(window.get(), "budgetPicker")->lineEdit()->setText(QStringLiteral("10 min"));
        find<QAction>(window.get(), "actionStart")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(workspace.session()->state() == session::RunState::Running, 60000);
        const auto question = [&window] { return window->findChild<QMessageBox*>(QStringLiteral("closingQuestion")); };
        QVERIFY(!window->close());
        QVERIFY(question() != nullptr && question()->isVisible());
        QTest::keyClick(question(), Qt::Key_Escape);
        QTRY_VERIFY(question() == nullptr);
        QVERIFY(window->isVisible() && workspace.session()->state() == session::RunState::Running);
        QVERIFY(!window->close());
        question()->checkBox()->setChecked(true);
        for (QAbstractButton* button : question()->buttons())
            if (question()->buttonRole(button) == QMessageBox::AcceptRole)
                button->click();
        QTRY_VERIFY(!window->isVisible());
        QVERIFY(!ui::closingIsAskedAbout());
        ui::setClosingIsAskedAbout(true);
    }

    /// A project has one writer: it is opened again once no job holds it any more.
    void whatJobsStillHoldIsWaitedFor()
    {
        const QString file = m_dir.filePath(QStringLiteral("held.lathe"));
        test::makeProject(file, test::Project::Empty);
        ui::Workspace workspace;
        QSignalSpy opened(&workspace.bridge(), &ui::SessionBridge::opened);
        workspace.open(file, QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        auto held = workspace.bridge().shared(); // as a job does
        workspace.open(file, QStringLiteral("sim"));
        QVERIFY(workspace.session() == nullptr);
        QTest::qWait(500);
        QCOMPARE(opened.count(), 1);
        held.reset();
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 2, 20000);
        QVERIFY(!workspace.session()->readOnly());
    }

    void itAsksNobodyWhileNothingRuns()
    {
        const auto window = test::shownWindow({1280, 800});
        QVERIFY(window->close());
        QVERIFY(!window->isVisible());
    }
};

LATHE_TEST_GUI(TestClosing)

} // namespace tst_closing

#include "tst_closing.moc"
