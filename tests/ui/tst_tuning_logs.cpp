#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/dialogs/log_preview_dialog.h"
#include "ui/models/issue_model.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/shell/main_window.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QPointer>
#include <QPushButton>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QUrl>
#include <QtTest>

namespace tst_tuning_logs {

using namespace lathe;

/// Tuning logs dropped on the window, with and without a network.
class TestTuningLogs : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;

    template<typename T>
    T* find(const char* name) const
    {
        T* found = m_window->findChild<T*>(QLatin1String(name));
        if (found == nullptr)
            qFatal("no widget named %s", name);
        return found;
    }
    QString path(const char* name) const { return m_dir.filePath(QLatin1String(name)); }
    QString write(const char* name, const QByteArray& content) const
    {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("%s cannot be written", name);
        file.write(content);
        return file.fileName();
    }
    void drop(const QStringList& files)
    {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString& file : files)
            urls << QUrl::fromLocalFile(file);
        data.setUrls(urls);
        QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter); // which makes it the target
        QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &event);
    }
    /// The dialog that shows what the logs hold, once it has read them.
    ui::LogPreviewDialog* preview() const
    {
        ui::LogPreviewDialog* dialog = nullptr;
        const bool read = QTest::qWaitFor(
            [&] {
                dialog = m_window->findChild<ui::LogPreviewDialog*>();
                return dialog != nullptr && !test::find<QWidget>(dialog, "logPreviewProgress")->isVisible();
            },
            20000);
        if (!read)
            qFatal("no preview of the logs was shown");
        return dialog;
    }
    QString previewText() const { return test::find<QLabel>(preview(), "logPreviewIntro")->text(); }
    /// The cells of a row.
    QString previewRow(const char* table, int row) const
    {
        const auto* model = test::find<QTableView>(preview(), table)->model();
        QStringList cells;
        for (int column = 0; column < model->columnCount(); ++column)
            cells << model->index(row, column).data().toString();
        return cells.join(QStringLiteral(" | "));
    }
    void accept() const
    {
        auto* button = test::find<QPushButton>(preview(), "logPreviewImport");
        QVERIFY2(button->isEnabled(), qPrintable(previewText()));
        button->click();
    }
    /// Of what cannot be imported.
    void closePreview() const
    {
        QPointer<ui::LogPreviewDialog> dialog = preview();
        QVERIFY(!test::find<QPushButton>(dialog, "logPreviewImport")->isEnabled());
        test::find<QPushButton>(dialog, "logPreviewCancel")->click();
        QTRY_VERIFY(dialog.isNull());
    }
    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }
    QStringList issues() const
    {
        QStringList texts;
        const ui::IssueModel& model = workspace().issues();
        for (int row = 0; row < model.rowCount(); ++row)
            texts << model.index(row, ui::IssueModel::CountColumn).data().toString() + QLatin1Char(' ')
                         + model.index(row, ui::IssueModel::TextColumn).data().toString();
        return texts;
    }
    bool hasIssue(const QString& text) const
    {
        const QStringList all = issues();
        return std::any_of(all.begin(), all.end(), [&text](const QString& issue) { return issue.contains(text); });
    }
    /// Below the records; nowhere else.
    QString message() const
    {
        auto* page = find<QWidget>("recordsPage");
        int shown = 0;
        for (const QWidget* bar : m_window->findChildren<QWidget*>("remeasureBar"))
            shown += bar->isVisibleTo(bar->parentWidget()) ? 1 : 0;
        if (shown != 1 || !page->findChild<QWidget*>("remeasureBar")->isVisible())
            return {};
        return page->findChild<QLabel*>("remeasureText")->text();
    }
    /// Of the softmax over ten classes, with which zoo:mlp ends.
    static QByteArray softmax(int time)
    {
        return "{\"i\": [[\"[\\\"d7b65649a4dd54becea0a52aabbc5af5\\\", 1, 10, 1, 10]\", \"cuda -keys=cuda,gpu\", [-1, "
               "16, 64, 49152, 2147483647, 1024, 8, 32], \"\", 0], [[], "
               "[[\"SP\", 4, 1, 10, [5], 1], [\"AN\", 4, 2, 6], [\"CI\", 2], [\"AN\", 4, 0, 5]]]], \"r\": [[4.8e-06], "
               "0, 1.3, "
               + QByteArray::number(time) + "], \"v\": \"v0.6\"}\n";
    }

private slots:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        qputenv("HOME", m_dir.path().toLocal8Bit());
        qputenv("XDG_DATA_HOME", m_dir.path().toLocal8Bit());
        qputenv("XDG_CONFIG_HOME", m_dir.path().toLocal8Bit());
        QApplication::setOrganizationName("LatheTest");
        QApplication::setApplicationName("LatheTest");
        ui::Language::instance().set("en");
        test::makeProject(path("p.lathe"), test::Project::Empty);
        m_window = std::make_unique<ui::MainWindow>();
        m_window->resize(1280, 800);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }

    void aLogWaitsForItsNetwork()
    {
        QVERIFY(find<QPushButton>("startImportLog")->isVisible());
        drop({write("first.json", softmax(1700000000) + softmax(1700000001))});
        QVERIFY2(hasIssue("Open the network of this log"), qPrintable(issues().join('\n')));
        m_window->openSource(path("p.lathe"));
        accept();
        QTRY_VERIFY_WITH_TIMEOUT(message().contains("2 of 2 lines imported (tasks: 1)."), 20000);
        QVERIFY2(message().contains("Measured elsewhere by another tuner: 2."), qPrintable(message()));
        QTRY_COMPARE(find<QTableView>("recordTable")->model()->rowCount(), 2);
        QCOMPARE(workspace().figures().trials, qint64(2));
    }

    void whatALogHoldsBesidesIsAmongTheIssues()
    {
        drop({write("second.log", softmax(1700000001) + softmax(1700000002) + "Best: 1 ms\nBest: 2 ms\n")});
        QCOMPARE(previewText(),
                 QString("second.log: 4 lines. 1 record will be imported (tasks: 1). 1 record is in the project "
                         "already. 2 lines will be skipped. 1 record was measured elsewhere by another "
                         "tuner: exports use it only after it is measured again here."));
        QVERIFY2(previewRow("logPreviewTasks", 0).endsWith(" | 1"), qPrintable(previewRow("logPreviewTasks", 0)));
        QVERIFY2(previewRow("logPreviewSkipped", 0).startsWith("2 | not JSON")
                     && previewRow("logPreviewSkipped", 0).endsWith("second.log, line 3"),
                 qPrintable(previewRow("logPreviewSkipped", 0)));
        QCOMPARE(find<QTableView>("recordTable")->model()->rowCount(), 2); // nothing was changed yet
        accept();
        QTRY_VERIFY_WITH_TIMEOUT(
            message().contains("1 of 4 lines imported (tasks: 1). Already present: 1. Skipped lines: 2"), 20000);
        QVERIFY2(hasIssue("2 not JSON"), qPrintable(issues().join('\n')));
        QVERIFY(find<QTableView>("issueTable")->isVisible());
        QTRY_COMPARE(find<QTableView>("recordTable")->model()->rowCount(), 3);
    }

    void theCommandLineDoesTheSame()
    {
        find<QAction>("copy.import")->trigger();
        const QString command = QApplication::clipboard()->text();
        QVERIFY2(command.startsWith("lathe-cli records import ") && command.contains("p.lathe")
                     && command.endsWith("second.log"),
                 qPrintable(command));
    }

    void aFileThatIsNoLogIsSaidToBeNone()
    {
        drop({write("words.json", QByteArray("\0\1\2\n", 4))});
        QVERIFY2(previewText().contains("Nothing in it can be imported"), qPrintable(previewText()));
        QVERIFY2(previewRow("logPreviewSkipped", 0).contains("binary data"),
                 qPrintable(previewRow("logPreviewSkipped", 0)));
        closePreview();
        drop({path("gone.json")});
        QVERIFY2(previewText().contains("there is no file"), qPrintable(previewText()));
        closePreview();
        drop({write("empty.json", {})});
        QVERIFY2(previewText().contains("the files contain no lines of a log"), qPrintable(previewText()));
        closePreview();
        QCOMPARE(find<QTableView>("recordTable")->model()->rowCount(), 3);
    }

    /// Whoever looks and leaves changes nothing.
    void aPreviewThatIsClosedImportsNothing()
    {
        drop({write("third.json", softmax(1700000005))});
        QVERIFY2(previewText().contains("1 record will be imported"), qPrintable(previewText()));
        QPointer<ui::LogPreviewDialog> dialog = preview();
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(dialog.isNull());
        QVERIFY(!workspace().trialJobs().isImporting());
        QCOMPARE(find<QTableView>("recordTable")->model()->rowCount(), 3);
    }

    void severalLogsAreImportedTogether()
    {
        drop({write("a.json", softmax(1700000010)), write("b.jsonl", softmax(1700000011) + softmax(1700000012))});
        accept();
        QTRY_VERIFY_WITH_TIMEOUT(message().contains("3 of 3 lines imported"), 20000);
        QTRY_COMPARE(find<QTableView>("recordTable")->model()->rowCount(), 6);
    }

    void aNetworkAndItsLogAreDroppedTogether()
    {
        test::makeProject(path("q.lathe"), test::Project::Empty);
        drop({write("together.json", softmax(1700000020)), path("q.lathe")});
        QTRY_VERIFY_WITH_TIMEOUT(workspace().source().endsWith("q.lathe"), 20000);
        accept();
        QTRY_VERIFY_WITH_TIMEOUT(
            workspace().source().endsWith("q.lathe") && message().contains("1 of 1 lines imported"), 20000);
        QTRY_COMPARE(find<QTableView>("recordTable")->model()->rowCount(), 1);
    }

    void aReplayTakesNoLog()
    {
        test::makeProject(path("r.lathe"), test::Project::Mixed);
        m_window->openReplay(path("r.lathe"));
        QTRY_VERIFY_WITH_TIMEOUT(workspace().replay() != nullptr, 20000);
        drop({path("first.json")});
        QVERIFY(hasIssue("A replay is read-only"));
        QVERIFY(!workspace().trialJobs().isImporting());
    }
};

LATHE_TEST_GUI(TestTuningLogs)

} // namespace tst_tuning_logs

#include "tst_tuning_logs.moc"
