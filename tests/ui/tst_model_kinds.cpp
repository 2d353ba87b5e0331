#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/issue_model.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/run_bar.h"

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>

namespace tst_model_kinds {

using namespace lathe;
using test::find;

constexpr int kOpenMs = 20000;

/// Models of the kinds that people bring (tests/data/kinds), in the real window: each opens, or a row of the Issues
/// says what is missing and what to do. Those that leave sizes open are in tst_input_sizes.
class TestModelKinds : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    QString file(const QString& name) const { return m_dir.filePath(name); }
    /// Opens a copy of the model: its project is written beside it.
    bool opens(const char* name) const
    {
        QSignalSpy opened(&workspace().bridge(), &ui::SessionBridge::opened);
        m_window->openSource(file(QLatin1String(name) + QStringLiteral(".onnx")));
        return QTest::qWaitFor([&opened] { return opened.count() > 0; }, kOpenMs);
    }
    /// What the Issues say once the model is refused.
    QString refusal(const char* name) const
    {
        workspace().issues().clear();
        m_window->openSource(file(QLatin1String(name) + QStringLiteral(".onnx")));
        const auto text = [this] {
            return workspace().issues().index(0, ui::IssueModel::TextColumn).data().toString();
        };
        return QTest::qWaitFor([&text] { return !text().isEmpty(); }, kOpenMs) ? text() : QString();
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        for (const char* name : {"branch", "loop", "conv_integer", "qdq", "half", "external", "broken"})
            QVERIFY(QFile::copy(QStringLiteral(LATHE_SOURCE_DIR "/tests/data/kinds/%1.onnx").arg(QLatin1String(name)),
                                file(QLatin1String(name) + QStringLiteral(".onnx"))));
        m_window = test::shownWindow({1280, 800});
        find<ui::RunBar>(m_window.get(), "runBar")->setTarget(QStringLiteral("sim"));
    }
    void cleanupTestCase() { m_window.reset(); }

    /// Lists without rows say why, and offer the next step.
    void emptyListsSayWhatToDoNext()
    {
        const auto sentence = [this](const char* list) {
            return find<QLabel>(find<QWidget>(m_window.get(), list), "emptySentence")->text();
        };
        QVERIFY2(sentence("taskTableEmpty").startsWith("Open a network"), qPrintable(sentence("taskTableEmpty")));
        QVERIFY(sentence("issueTableEmpty") == "No issues.");
        QVERIFY(opens("half"));
        find<QAction>(m_window.get(), "page.records")->trigger();
        QTRY_VERIFY(sentence("recordTableEmpty").startsWith("No trials yet"));
        QVERIFY(!find<QWidget>(m_window.get(), "taskTableEmpty")->isVisible());
        find<QAction>(m_window.get(), "page.scheduler")->trigger();
        QTRY_VERIFY(sentence("roundTableEmpty").startsWith("No rounds yet"));
        const auto* start = find<QPushButton>(find<QWidget>(m_window.get(), "roundTableEmpty"), "emptyAction");
        QTRY_VERIFY(start->isVisible());
        QVERIFY2(start->text().contains("tart"), qPrintable(start->text()));
    }

    void modelsOpenWithTheirTasks_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<int>("tasks");
        QTest::addRow("branch") << QByteArray("branch") << 3;
        QTest::addRow("loop") << QByteArray("loop") << 3;
        QTest::addRow("integers") << QByteArray("conv_integer") << 3;
        QTest::addRow("pairs") << QByteArray("qdq") << 1;
        QTest::addRow("half floats") << QByteArray("half") << 3;
    }
    void modelsOpenWithTheirTasks()
    {
        QFETCH(QByteArray, name);
        QFETCH(int, tasks);
        QVERIFY(opens(name));
        QTRY_COMPARE(workspace().tasks().rowCount(), tasks);
    }

    void aMissingFileOfWeightsIsNamedAndThenFound()
    {
        const QString text = refusal("external");
        QVERIFY2(text.contains("\"external.weights\" is missing"), qPrintable(text));
        QVERIFY2(text.contains("put it beside"), qPrintable(text));
        QFile weights(file(QStringLiteral("external.weights")));
        QVERIFY(weights.open(QFile::WriteOnly) && weights.resize(600000000)); // sparse: takes no room on disk
        weights.close();
        QVERIFY(opens("external"));
        QTRY_COMPARE(workspace().tasks().rowCount(), 1);
    }

    void aBrokenFileIsRefusedAndTheOpenNetworkStays()
    {
        const QString source = workspace().source();
        const QString text = refusal("broken");
        QVERIFY2(text.contains("not a valid ONNX file") && text.contains("again"), qPrintable(text));
        QCOMPARE(workspace().source(), source);
    }
};

LATHE_TEST_GUI(TestModelKinds)

} // namespace tst_model_kinds

#include "tst_model_kinds.moc"
