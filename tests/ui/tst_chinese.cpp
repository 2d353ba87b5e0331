#include "core/store/project.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/models/core_text.h"
#include "ui/models/coverage_model.h"
#include "ui/models/failure_model.h"
#include "ui/models/hardware_model.h"
#include "ui/models/issue_model.h"
#include "ui/models/record_model.h"
#include "ui/models/round_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/failures_page.h"
#include "ui/pages/records_page.h"
#include "ui/pages/run_bar.h"

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QTableView>
#include <QTemporaryDir>

using namespace lathe;
using lathe::test::find;
using lathe::test::must;

namespace {

/// Two English words in a row: a sentence that was not translated. Names, options and signals stand alone or in quotes.
QString untranslated(QString text)
{
    text.remove(QRegularExpression(QStringLiteral("“[^”]*”|\\([^)]*\\)|（[^）]*）|/\\S+")));
    return QRegularExpression(QStringLiteral("[a-z]{2,} [a-z]{2,}")).match(text).captured();
}

} // namespace

/// What core says, in the Chinese window: reasons, failures, notices, limits.
class TestChinese : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::Workspace> m_workspace;

    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)); }
    QString write(const char* name, const QByteArray& bytes) const
    {
        QFile out(file(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size())
            qFatal("cannot write");
        return out.fileName();
    }
    void open(const QString& name)
    {
        QSignalSpy opened(&m_workspace->bridge(), &ui::SessionBridge::opened);
        m_workspace->open(name, QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        test::makeProject(file("mixed.lathe"), test::Project::Mixed);
        test::makeProject(file("empty.lathe"), test::Project::Empty);
    }

    void init()
    {
        m_workspace = std::make_unique<ui::Workspace>();
        ui::Language::instance().set(QStringLiteral("zh_CN"));
    }

    void cleanup()
    {
        m_workspace.reset();
        ui::Language::instance().set(QStringLiteral("en"));
    }

    void aModelThatIsNoModel()
    {
        m_workspace->open(write("broken.onnx", "not a model"), QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(m_workspace->issues().rowCount(), 1, 20000);
        const QModelIndex text = m_workspace->issues().index(0, ui::IssueModel::TextColumn);
        const QString chinese = text.data().toString();
        QVERIFY2(chinese.contains(QString::fromUtf8("不是有效的 ONNX 文件")), qPrintable(chinese));
        ui::Language::instance().set(QStringLiteral("en"));
        QVERIFY2(text.data().toString().contains("not a valid ONNX file"), qPrintable(text.data().toString()));
    }

    void failedTrials()
    {
        ui::FailuresPage failures(*m_workspace, nullptr);
        ui::RecordsPage records(*m_workspace, nullptr);
        failures.show();
        records.show();
        open(file("mixed.lathe"));
        auto* causes = find<QTableView>(&failures, "failureTable")->model();
        QTRY_COMPARE(causes->rowCount(), 2);
        const auto cause = [causes](int row) {
            return causes->index(row, ui::FailureModel::CauseColumn).data().toString();
        };
        QCOMPARE(cause(0), QString::fromUtf8("运行超过 # 秒（给内核计时时）"));
        QCOMPARE(cause(1), QString("the kernel crashed: signal 11")); // of an older version: as it is
        find<QTableView>(&failures, "failureTable")->setCurrentIndex(causes->index(0, 0));
        QTRY_COMPARE(find<QPlainTextEdit>(&failures, "failureText")->toPlainText(),
                     QString::fromUtf8("运行超过 21 秒（给内核计时时）"));
        auto* rows = find<QTableView>(&records, "recordTable")->model();
        QTRY_COMPARE(rows->rowCount(), 8); // of that cause: the same for the database, whatever the language
        QTRY_VERIFY(
            rows->index(0, ui::RecordModel::TextColumn).data().toString().startsWith(QString::fromUtf8("运行超过 ")));
        ui::Language::instance().set(QStringLiteral("en")); // what was read already, too
        QTRY_VERIFY(rows->index(0, ui::RecordModel::TextColumn).data().toString().startsWith("the run took longer"));
    }

    void coverage()
    {
        open(file("empty.lathe"));
        ui::ExportDialog dialog(m_workspace->bridge(), file("libx.so"));
        dialog.show();
        auto* table = dialog.findChild<QTableView*>();
        QVERIFY(table != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 1, 20000);
        QSet<QString> reasons;
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            const QString reason = table->model()->index(row, ui::CoverageModel::ReasonColumn).data().toString();
            QVERIFY2(!reason.isEmpty() && untranslated(reason).isEmpty(), qPrintable(reason));
            reasons << reason;
        }
        QVERIFY(reasons.contains(QString::fromUtf8("它没有有效的记录")));
        const auto labels = dialog.findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->text().contains(QString::fromUtf8("无法为目标"));
        }));
    }

    /// Lathe's own device has a name of Lathe's; that of a driver stays as it is.
    void devices()
    {
        ui::RunBar bar;
        session::DeviceView own, other;
        own.kind = other.kind = "sim";
        own.state = other.state = "ready";
        own.key = "sim";
        own.name = "Simulated device";
        other.key = "iris";
        other.name = "Iris Xe";
        bar.setDevices(session::DeviceDirectory({own, other}));
        bar.setTarget(QStringLiteral("sim"));
        auto* device = find<QComboBox>(&bar, "devicePicker");
        QCOMPARE(device->itemText(0), QString::fromUtf8("模拟设备"));
        QCOMPARE(device->itemText(1), QString("Iris Xe"));
        ui::Language::instance().set(QStringLiteral("en"));
        QCOMPARE(device->itemText(0), QString("Simulated device"));
    }

    /// As on all pages: milliseconds by their Chinese name.
    void gainsOfRounds()
    {
        open(file("mixed.lathe"));
        const ui::RoundModel& rounds = ui::RoundModel::of(*m_workspace);
        QTRY_COMPARE(rounds.rowCount(), 12);
        QCOMPARE(rounds.index(0, ui::RoundModel::PromiseColumn).data().toString(), QString::fromUtf8("2.00 毫秒"));
        QVERIFY2(!rounds.why(0).contains(QRegularExpression(QStringLiteral("[mµ]s"))), qPrintable(rounds.why(0)));
    }

    void nodesWithoutATask()
    {
        open(file("empty.lathe"));
        int reasons = 0;
        for (const session::NodeView& node : m_workspace->session()->graph()->nodes)
            if (!node.reason.empty()) {
                ++reasons;
                QVERIFY2(node.about && untranslated(ui::coreText(node.reason, node.about)).isEmpty(),
                         node.reason.c_str());
            }
        QVERIFY(reasons > 0);
    }

    void aProjectThatAnotherWritesTo()
    {
        const auto writer = must(
            store::Project::open(file("empty.lathe").toStdString(), store::Project::Access::Write));
        open(file("empty.lathe"));
        QTRY_VERIFY(m_workspace->issues().rowCount() > 0);
        const QString notice = m_workspace->issues().index(0, ui::IssueModel::TextColumn).data().toString();
        QVERIFY2(notice.contains(QString::fromUtf8("以只读方式打开：ui_tests（")), qPrintable(notice));
    }

    void limits()
    {
        open(file("empty.lathe"));
        ui::HardwareModel model;
        model.setLimits(m_workspace->session()->hardware());
        QVERIFY(model.rowCount() > 3);
        for (int row = 0; row < model.rowCount(); ++row)
            for (const int column : {ui::HardwareModel::NameColumn, ui::HardwareModel::UnitColumn,
                                     ui::HardwareModel::OriginColumn, ui::HardwareModel::MeaningColumn}) {
                const QString text = model.index(row, column).data().toString();
                QVERIFY2(!QRegularExpression(QStringLiteral("[a-z]{3,}"))
                              .match(QString(text).remove("sim").remove("cpu"))
                              .hasMatch(),
                         qPrintable(text));
            }
        const auto refused = m_workspace->session()->project()->setHardware("num_cores", 100000);
        QVERIFY(!refused);
        QVERIFY2(untranslated(ui::errorText(refused.error())).isEmpty(), qPrintable(ui::errorText(refused.error())));
    }
};

LATHE_TEST_GUI(TestChinese)
#include "tst_chinese.moc"
