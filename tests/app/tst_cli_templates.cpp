#include "tests/support/command_line.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_cli_templates {

/// Template tuning on the command line: runs, layouts of the network, logs and packages. On the simulated device.
class TestCliTemplates : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    using Output = lathe::test::CliOutput;
    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words); }
    /// On the network of the tests, which has convolutions in several layouts.
    Output onNetwork(const QString& command, const QStringList& words) const
    {
        return cli(QStringList{command, "zoo:squeezenet-1.1", "--layout", "NCHW", "--target", "sim"} + words);
    }
    static QJsonObject object(const Output& output) { return QJsonDocument::fromJson(output.out).object(); }
    QJsonObject dryRun(const QStringList& words) const
    {
        // The simulated device has no libraries, so that it ends with that error.
        return object(onNetwork("compile", words + QStringList{"--dry-run", "--json"}));
    }
    QByteArray contents(const QString& name) const
    {
        QFile file(m_dir.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// Options of a project's latest run.
    Output tuneMore(const QString& project, const QStringList& words) const
    {
        return cli(QStringList{"tune", "zoo:mlp", "--target", "sim", "--project", project} + words);
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_DATA_HOME", m_dir.filePath("data").toUtf8());
        const Output tuned = onNetwork("tune", {"--project", "t.lathe", "--policy", "template", "--operators", "conv2d",
                                                "--trials-per-task", "6", "--trials-per-round", "3", "--seed", "1"});
        QVERIFY2(tuned.code == 0, tuned.err);
        QVERIFY2(tuned.out.contains("[Task  1/"), tuned.out);
    }

    void layoutsAreChosenAndConversionsAreTimedOnce()
    {
        const Output first = onNetwork("graph-tune", {"--project", "t.lathe", "-o", "plan.log"});
        QVERIFY2(first.code == 0, first.err);
        QVERIFY2(first.out.contains("Start to benchmark layout transformation..."), first.out);
        QVERIFY2(first.out.contains("INFO Start to choose layouts..."), first.out);
        const Output again = onNetwork("graph-tune", {"--project", "t.lathe", "--graph-tuner", "dp"});
        QVERIFY2(again.code == 0, again.err);
        QVERIFY2(!again.out.contains("Start to benchmark"), again.out); // they were kept
        for (const char* row :
             {"Start to run dynamic programming algorithm...", "Start forward pass...", "Finished DPExecutor run."})
            QVERIFY2(again.out.contains(row), again.out);
        const Output json = onNetwork("graph-tune", {"--project", "t.lathe", "--json"});
        const QJsonObject plan = object(json);
        QVERIFY2(plan["optimal"].toBool() && plan["nodes"].toArray().size() > 20, json.out);
        QCOMPARE(plan["guessed"].toInt(-1), 0);
        double kernels = 0, conversions = 0;
        for (const auto& node : plan["nodes"].toArray())
            kernels += node.toObject()["ms"].toDouble();
        for (const auto& edge : plan["edges"].toArray())
            conversions += edge.toObject()["ms"].toDouble();
        QVERIFY(std::abs(plan["kernels_ms"].toDouble() - kernels) < 1e-9 * kernels);
        QVERIFY(std::abs(plan["ms"].toDouble() - kernels - conversions) < 1e-9 * kernels);
        QVERIFY(plan["ms"].toDouble() <= plan["fastest_ms"].toDouble());
        // A run measures first what an export takes untuned: no kernel that was chosen is slower.
        QCOMPARE(plan["defaults_missing"].toInt(-1), 0);
        QVERIFY2(plan["default_ms"].toDouble() >= plan["fastest_kernels_ms"].toDouble(), json.out);
        for (const char* row : {"\ndefault   ", "\nkernel-tuned ", "\ngraph-tuned  "})
            QVERIFY2(again.out.contains(row), again.out);
    }

    void thePlansLogIsShownAndApplied()
    {
        const Output planned = onNetwork("graph-tune", {"--project", "t.lathe", "-o", "plan.log"});
        QVERIFY2(planned.code == 0, planned.err);
        const Output shown = cli({"logs", "show", "plan.log", "--json"});
        const qsizetype workloads = object(shown)["workloads"].toArray().size();
        QVERIFY2(workloads > 0, shown.out);
        const QJsonObject given = dryRun({"--log", "plan.log"})["given_records"].toObject();
        QCOMPARE(given["lines"].toInt(), static_cast<int>(contents("plan.log").count('\n')));
        QVERIFY(given["fitting"].toInt() >= workloads);
        QVERIFY(given["skipped"].toArray().isEmpty());
        // Without a project, from the log alone.
        const Output ofLog = onNetwork("graph-tune", {"--log", "plan.log", "--json"});
        QVERIFY2(ofLog.code == 0, ofLog.err);
        QVERIFY(object(ofLog)["kernels_ms"].toDouble() > 0);
        QVERIFY(object(ofLog)["default_ms"].isNull() && object(ofLog)["defaults_missing"].toInt() > 0);
        const Output nothing = onNetwork("graph-tune", {});
        QVERIFY(nothing.code != 0);
        QCOMPARE(nothing.err.count('\n'), 1);
    }

    void exportedLinesComeBackBitForBit()
    {
        const Output written = cli({"records", "export", "t.lathe", "--format", "template", "-o", "all.log"});
        QVERIFY2(written.code == 0, written.err);
        const Output made = onNetwork("tune", {"--project", "u.lathe", "--trials", "1"});
        QVERIFY2(made.code == 0, made.err);
        const Output imported = cli({"records", "import", "u.lathe", "all.log"});
        QVERIFY2(imported.code == 0, imported.err);
        QVERIFY2(cli({"records", "export", "u.lathe", "--format", "template", "-o", "back.log"}).code == 0, "");
        QVERIFY(!contents("all.log").isEmpty());
        QCOMPARE(contents("back.log"), contents("all.log"));
    }

    void packagesAreMadeFoundAndRefused()
    {
        const Output made = cli({"package", "make", "t.lathe", "--target", "sim", "-o", "s.lathepackage", "--json"});
        QVERIFY2(made.code == 0, made.err);
        const auto count = static_cast<int>(object(made)["records"].toArray().size());
        QVERIFY(count > 0);
        QCOMPARE(dryRun({"--package", "s.lathepackage"})["records"].toInt(), count);
        QCOMPARE(dryRun({})["records"].toInt(-1), 0);
        QVERIFY(QDir().mkpath(m_dir.filePath("data/lathe/packages")));
        QVERIFY(QFile::copy(m_dir.filePath("s.lathepackage"), m_dir.filePath("data/lathe/packages/s.lathepackage")));
        QCOMPARE(dryRun({})["records"].toInt(), count); // unasked
        QCOMPARE(dryRun({"--package", "none"})["records"].toInt(-1), 0);
        const Output installed = cli({"package", "show"});
        QVERIFY2(installed.out.contains("s.lathepackage"), installed.out);
        QVERIFY(QFile::remove(m_dir.filePath("data/lathe/packages/s.lathepackage")));

        const Output added = cli({"package", "add", "s.lathepackage", "--project", "u.lathe"});
        QVERIFY2(added.code == 0 && added.out.contains("added from s.lathepackage"), added.err);
        const Output other = cli({"compile", "zoo:squeezenet-1.1", "--layout", "NCHW", "--target", "sim -like=cuda",
                                  "--package", "s.lathepackage", "--dry-run"});
        QVERIFY(other.code != 0);
        QVERIFY2(other.err.contains("is for sim, not for sim -like=cuda"), other.err);
        QFile damaged(m_dir.filePath("s.lathepackage"));
        QVERIFY(damaged.open(QIODevice::ReadWrite) && damaged.resize(damaged.size() - 20));
        damaged.close();
        const Output refused = onNetwork("compile", {"--package", "s.lathepackage", "--dry-run"});
        QVERIFY(refused.code != 0);
        QVERIFY2(refused.err.contains("s.lathepackage is damaged") && refused.err.count('\n') == 1, refused.err);
    }

    /// A policy brings its own: what an earlier run had with another is not taken over, and what is typed stands.
    void anotherPolicyOrPresetTakesBackWhatCameWithTheOld()
    {
        const Output first = tuneMore(
            "p.lathe", {"--policy", "template", "--tuner", "ga", "--tuner-set", "pop_size=8", "--trials", "4"});
        QVERIFY2(first.code == 0, first.err);
        const Output goesOn = tuneMore("p.lathe", {"--trials", "4"}); // with its tuner
        QVERIFY2(goesOn.code == 0, goesOn.err);
        const Output other = tuneMore("p.lathe", {"--policy", "random", "--trials", "4"});
        QVERIFY2(other.code == 0, other.err);
        const Output preset = tuneMore(
            "p.lathe", {"--preset", "x86", "--tuner", "random", "--tasks", "0", "--budget", "1 h, 6 trials"});
        QVERIFY2(preset.code == 0, preset.err);
        const Output wrong = tuneMore(
            "p.lathe", {"--policy", "template", "--tuner", "random", "--tuner-set", "pop_size=8", "--trials", "4"});
        QVERIFY(wrong.code != 0);
        QVERIFY2(wrong.err.contains("pop_size") && wrong.err.count('\n') == 1, wrong.err);
    }

    void ownTemplatesAreTuned()
    {
        const QString file = QStringLiteral(LATHE_SOURCE_DIR "/tests/data/templates/blocked_conv.json");
        const Output listed = onNetwork("tasks", {"--templates", "--template-file", file});
        QVERIFY2(listed.code == 0 && listed.out.contains("blocked_conv.mine"), listed.out + listed.err);
        const Output none = onNetwork("tasks", {"--templates", "--template-file", "nothing.json"});
        QVERIFY(none.code != 0);
        QCOMPARE(none.err.count('\n'), 1);
    }
};

LATHE_TEST_GUILESS(TestCliTemplates)

} // namespace tst_cli_templates
#include "tst_cli_templates.moc"
