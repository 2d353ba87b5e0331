#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/input_sizes_dialog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/dialogs/unsupported_dialog.h"
#include "ui/models/command_line.h"
#include "ui/models/issue_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>

namespace tst_input_sizes {

using namespace lathe;
using test::find;

constexpr int kOpenMs = 20000;

/// Models that leave sizes open, in the real window; and what can be done about each row of the Issues.
class TestInputSizes : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)); }
    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    ui::InputSizesDialog* dialog() const { return m_window->findChild<ui::InputSizesDialog*>(); }
    ui::InputSizesDialog* asked(const char* name) const
    {
        m_window->openSource(file(name));
        return QTest::qWaitFor([this] { return dialog() != nullptr && dialog()->isVisible(); }, kOpenMs) ? dialog()
                                                                                                         : nullptr;
    }
    /// Presses OK and waits for the network.
    bool accept() const
    {
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        QTest::mouseClick(find<QPushButton>(dialog(), "inputSizesOk"), Qt::LeftButton);
        return QTest::qWaitFor([&opened] { return opened.count() > 0; }, kOpenMs);
    }
    QString sizes() const
    {
        QStringList texts;
        for (const auto& [name, size] : frontend::sizesOf(workspace().session()->inputSizes()))
            texts << QString("%1=%2").arg(QString::fromStdString(name)).arg(size);
        return texts.join(' ');
    }
    QTableView* issues() const { return find<QTableView>(m_window.get(), "issueTable"); }
    QString issueText(int row) const
    {
        return workspace().issues().index(row, ui::IssueModel::TextColumn).data().toString();
    }
    /// What the row's menu shows.
    QStringList menuOf(int row) const
    {
        issues()->setCurrentIndex(workspace().issues().index(row, 0));
        QStringList names;
        for (const char* name :
             {"issueInputSizes", "issueListUnsupported", "issueShowTask", "issueShowNode", "issueManual"})
            if (find<QAction>(m_window.get(), name)->isVisible())
                names << QLatin1String(name);
        return names;
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        for (const char* name :
             {"images_by_name", "images_by_number", "images_batch", "texts", "no_shape", "unsupported"})
            QVERIFY(QFile::copy(QStringLiteral(LATHE_SOURCE_DIR "/tests/data/kinds/%1.onnx").arg(QLatin1String(name)),
                                m_dir.filePath(QLatin1String(name) + QStringLiteral(".onnx"))));
        m_window = test::shownWindow({1280, 800});
        find<ui::RunBar>(m_window.get(), "runBar")->setTarget(QStringLiteral("sim"));
    }
    void cleanupTestCase() { m_window.reset(); }

    void openingAsksForWhatIsOpenWithGuesses()
    {
        QVERIFY(asked("images_by_name.onnx"));
        QCOMPARE(find<QSpinBox>(dialog(), "inputSize_batch")->value(), 1);
        QCOMPARE(find<QSpinBox>(dialog(), "inputSize_height")->value(), 224);
        QVERIFY(workspace().session() == nullptr);
        QTest::mouseClick(find<QToolButton>(dialog(), "inputPreset_height_320"), Qt::LeftButton);
        QCOMPARE(find<QSpinBox>(dialog(), "inputSize_height")->value(), 320);
        find<QSpinBox>(dialog(), "inputSize_height")->setValue(32);
        find<QSpinBox>(dialog(), "inputSize_width")->setValue(48);
        QVERIFY(find<QLabel>(dialog(), "inputSizesResult")->text().contains("images [1, 3, 32, 48]"));
        QVERIFY(accept());
        QCOMPARE(sizes(), "batch=1 height=32 width=48");
        QVERIFY(m_window->windowTitle().contains("height = 32"));
        QVERIFY(ui::tasksCommand(workspace().session()->options()).contains("--dim height=32 --dim width=48"));
    }

    void cancellingKeepsWhatWasOpen()
    {
        const int before = workspace().issues().rowCount();
        QVERIFY(asked("texts.onnx"));
        QVERIFY(find<QSpinBox>(dialog(), "inputSize_sequence_length")->value() == 128);
        QTest::keyClick(dialog(), Qt::Key_Escape);
        QTRY_COMPARE(workspace().issues().rowCount(), before + 1);
        QVERIFY2(issueText(before).contains("images_by_name.onnx stays open"), qPrintable(issueText(before)));
        QCOMPARE(sizes(), "batch=1 height=32 width=48");
        // Its row asks again.
        QCOMPARE(menuOf(before), QStringList({"issueInputSizes", "issueManual"}));
        QTRY_VERIFY(dialog() == nullptr);
        QTest::keyClick(issues(), Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(dialog() != nullptr, kOpenMs);
        find<QSpinBox>(dialog(), "inputSize_sequence_length")->setValue(8);
        QVERIFY(accept());
        QCOMPARE(sizes(), "batch_size=1 sequence_length=8");
    }

    void theProjectRemembersAndTheMenuChangesThem()
    {
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        m_window->openSource(file("images_by_name.onnx"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kOpenMs); // nobody is asked
        QCOMPARE(sizes(), "batch=1 height=32 width=48");
        find<QAction>(m_window.get(), "file.inputSizes")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(dialog() != nullptr && dialog()->isVisible(), kOpenMs);
        QCOMPARE(find<QSpinBox>(dialog(), "inputSize_width")->value(), 48);
        find<QSpinBox>(dialog(), "inputSize_width")->setValue(32);
        QVERIFY(accept());
        QCOMPARE(sizes(), "batch=1 height=32 width=32");
        opened.clear();
        m_window->openSource(file("images_by_name.lathe"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kOpenMs);
        QCOMPARE(sizes(), "batch=1 height=32 width=32");
        // Another target, the same sizes.
        opened.clear();
        m_window->openSource(file("images_by_name.onnx"), QStringLiteral("cpu"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kOpenMs);
        QCOMPARE(sizes(), "batch=1 height=32 width=32");
    }

    void inputsWithoutAShapeGetOne()
    {
        QVERIFY(asked("no_shape.onnx"));
        QVERIFY(!find<QPushButton>(dialog(), "inputSizesOk")->isEnabled());
        auto* shape = find<QLineEdit>(dialog(), "inputShape_x");
        QTest::keyClicks(shape, "2, y");
        QVERIFY(!find<QPushButton>(dialog(), "inputSizesOk")->isEnabled());
        shape->setText(QStringLiteral("2, 6"));
        QVERIFY(accept());
        QCOMPARE(workspace().session()->graph()->inputs[0].shape, (std::vector<std::int64_t>{2, 6}));
    }

    void aNetworkWithoutTasksSaysSoWhenItIsStarted()
    {
        QCOMPARE(workspace().tasks().rowCount(), 0);
        const int before = workspace().issues().rowCount();
        find<QAction>(m_window.get(), "actionStart")->trigger();
        QCOMPARE(workspace().issues().rowCount(), before + 1);
        QVERIFY2(issueText(before).contains("no task"), qPrintable(issueText(before)));
        QVERIFY(workspace().session()->state() == session::RunState::Idle);
    }

    void sizesWithoutANameAreAskedForByPlace()
    {
        QVERIFY(asked("images_by_number.onnx"));
        find<QSpinBox>(dialog(), "inputSize_images:2")->setValue(16);
        find<QSpinBox>(dialog(), "inputSize_images:3")->setValue(16);
        QVERIFY(accept());
        QCOMPARE(sizes(), "images:0=1 images:2=16 images:3=16");
    }

    void anotherModelMakesAQuestionStale()
    {
        QVERIFY(asked("images_batch.onnx"));
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        const int before = workspace().issues().rowCount();
        m_window->openSource(QStringLiteral("zoo:mlp"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kOpenMs);
        QTRY_VERIFY(dialog() == nullptr);
        QVERIFY(workspace().issues().rowCount() <= before);
        QCOMPARE(workspace().source(), QStringLiteral("zoo:mlp"));
    }

    void whatIsNotSupportedIsListedWithCounts()
    {
        workspace().issues().clear();
        m_window->openSource(file("unsupported.onnx"));
        QTRY_COMPARE_WITH_TIMEOUT(workspace().issues().rowCount(), 2, kOpenMs);
        QCOMPARE(menuOf(0), QStringList({"issueListUnsupported", "issueManual"}));
        emit issues()->activated(workspace().issues().index(0, 0)); // a double click
        auto* const listed = m_window->findChild<ui::UnsupportedDialog*>();
        QVERIFY(listed != nullptr && listed->isVisible());
        const auto* const rows = find<QTableView>(listed, "unsupportedTable")->model();
        QCOMPARE(rows->rowCount(), 2);
        QVERIFY(rows->index(0, 0).data().toString().contains("ImageDecoder"));
        QCOMPARE(rows->index(0, 1).data().toInt(), 2);
        QCOMPARE(rows->index(0, 2).data().toString(), QStringLiteral("decode_left, decode_right"));
        QTest::mouseClick(find<QPushButton>(listed, "unsupportedClose"), Qt::LeftButton);
    }

    void everyRowHasAnAction()
    {
        workspace().issues().clear();
        const auto manual = [this] { return m_window->findChild<ui::ManualWindow*>(); };
        workspace().addIssue(QStringLiteral("DeviceLost"), QStringLiteral("board"), QStringLiteral("gone"));
        workspace().addIssue(QStringLiteral("RunTimeout"), QStringLiteral("conv"), QStringLiteral("late"), 0);
        const std::string node = workspace().session()->graph()->nodes.front().name;
        workspace().addIssue(QStringLiteral("run"),
                             makeError(Errc::Internal, say(Msg::NodeAt, node, std::string("dense"))));
        QCOMPARE(menuOf(0), QStringList({"issueManual"}));
        issues()->setFocus();
        QTest::keyClick(issues(), Qt::Key_Return);
        QTRY_VERIFY(manual() != nullptr && manual()->isVisible());
        QCOMPARE(manual()->topic(), QStringLiteral("devices"));
        manual()->close();
        QCOMPARE(menuOf(1), QStringList({"issueShowTask", "issueManual"}));
        emit issues()->activated(workspace().issues().index(1, 0));
        QCOMPARE(workspace().selection().current().task, 0);
        QCOMPARE(menuOf(2), QStringList({"issueShowNode", "issueManual"}));
        find<QAction>(m_window.get(), "issueShowNode")->trigger();
        QCOMPARE(workspace().selection().current().node, 0);
        find<QAction>(m_window.get(), "issueManual")->trigger();
        QTRY_VERIFY(manual() != nullptr && manual()->topic() == QStringLiteral("errors"));
        manual()->close();
    }
};

LATHE_TEST_GUI(TestInputSizes)

} // namespace tst_input_sizes

#include "tst_input_sizes.moc"
