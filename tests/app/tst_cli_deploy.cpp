#include "tests/support/command_line.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_cli_deploy {

/// compile --dry-run, compare, gate and report from outside, on projects that the simulated device tunes.
class TestCliDeploy : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    using Output = lathe::test::CliOutput;
    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words); }
    static const QJsonObject object(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }
    void tune(const QString& project, const QString& seed, const QString& target = QStringLiteral("sim")) const
    {
        const Output run = cli({"tune", "zoo:mlp", "--target", target, "--project", project, "--trials", "12",
                                "--trials-per-round", "3", "--policy", "random", "--seed", seed});
        QVERIFY2(run.code == 0, run.err);
    }

private slots:
    void initTestCase()
    {
        tune("a.lathe", "1");
        tune("a.lathe", "2");
        tune("b.lathe", "3");
        tune("other.lathe", "1", "sim -seed=5");
    }

    void aDryRunShowsTheCoverageAndWritesNothing()
    {
        const Output refused = cli({"compile", "zoo:mlp", "--target", "cpu", "--dry-run", "--json"});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("--allow-default"), refused.err);
        const QJsonObject coverage = object(refused.out);
        QCOMPARE(coverage["defaults"].toInt(), coverage["tasks"].toInt());
        QVERIFY(coverage["refused"].isString());
        QVERIFY(!coverage["subgraphs"][0]["reason"].toString().isEmpty());
        const Output allowed = cli({"compile", "zoo:mlp", "--target", "cpu", "--dry-run", "--allow-default"});
        QVERIFY2(allowed.code == 0, allowed.err);
        QVERIFY2(allowed.out.contains("0 with a record") && allowed.out.contains("default"), allowed.out);
        QVERIFY(!QFile::exists(m_dir.filePath("model.so")));
        const Output simulated = cli({"compile", "zoo:mlp", "--project", "a.lathe", "--dry-run", "--json"});
        QCOMPARE(simulated.code, 1);
        QVERIFY2(simulated.err.contains("for the target sim"), simulated.err);
        QVERIFY(object(simulated.out)["records"].toInt() > 0);
        const Output nowhere = cli({"compile", "zoo:mlp", "--allow-default"});
        QCOMPARE(nowhere.code, 1);
        QVERIFY2(nowhere.err.contains("-o FILE.so"), nowhere.err);
    }

    void projectsAndRunsAreCompared()
    {
        const Output two = cli({"compare", "a.lathe", "b.lathe", "--json"});
        QVERIFY2(two.code == 0, two.err);
        const QJsonObject out = object(two.out);
        QVERIFY(out["before_ms"].toDouble() > 0 && out["after_ms"].toDouble() > 0);
        QCOMPARE(out["tasks"][0]["ms"].toArray().size(), 2);
        const Output runs = cli({"compare", "a.lathe", "--runs", "--json"});
        QVERIFY2(runs.code == 0, runs.err);
        QCOMPARE(object(runs.out)["compared"].toArray().size(), 2);
        bool seed = false;
        for (const QJsonValue& row : object(runs.out)["conditions"].toArray())
            seed = seed || (row["name"] == "seed" && row["differs"].toBool());
        QVERIFY(seed);
        const Output three = cli({"compare", "a.lathe,run=1", "a.lathe,run=2", "b.lathe"});
        QVERIFY2(three.code == 0, three.err);
        QVERIFY2(three.out.contains("[C] b.lathe") && three.out.contains("seed"), three.out);
    }

    void programsOfATaskAreCompared()
    {
        const QString task =
            object(cli({"compare", "a.lathe", "b.lathe", "--json"}).out)["tasks"][0]["name"].toString();
        const Output nest = cli({"compare", "a.lathe", "b.lathe", "--task", task, "--program", "steps"});
        QVERIFY2(nest.code == 0, nest.err);
        QVERIFY2(nest.out.startsWith("--- a.lathe\n+++ b.lathe\n"), nest.out);
        QCOMPARE(cli({"compare", "a.lathe", "b.lathe", "--task", "none"}).code, 1);
        QVERIFY(
            cli({"compare", "a.lathe", "b.lathe", "--task", task, "--program", "poem"}).err.contains("steps, loops"));
    }

    void oneThingAloneIsNotCompared()
    {
        const Output run = cli({"compare", "b.lathe", "--runs"});
        QCOMPARE(run.code, 1);
        QCOMPARE(run.err.count('\n'), 1);
        QVERIFY(cli({"compare", "a.lathe,run=9", "b.lathe"}).err.contains("no run 9"));
    }

    void theGateTakesPercentAndFractionsAlike_data()
    {
        QTest::addColumn<QString>("limit");
        QTest::addColumn<double>("percent"); // below zero: refused
        QTest::newRow("percent") << "3%" << 3.0;
        QTest::newRow("spaced") << "0.5 %" << 0.5;
        QTest::newRow("fraction") << "0.03" << 3.0;
        QTest::newRow("none") << "0" << 0.0;
        QTest::newRow("unclear") << "3" << -1.0;
        QTest::newRow("negative") << "-3%" << -1.0;
        QTest::newRow("words") << "three" << -1.0;
        QTest::newRow("nothing") << "%" << -1.0;
    }
    void theGateTakesPercentAndFractionsAlike()
    {
        QFETCH(QString, limit);
        QFETCH(double, percent);
        const Output run = cli({"gate", "a.lathe", "--against", "a.lathe", "--max-regression=" + limit, "--json"});
        if (percent < 0) {
            QCOMPARE(run.code, 1);
            QVERIFY2(run.err.contains("write 3% or 0.03"), run.err);
            return;
        }
        QVERIFY2(run.code == 0, run.err);
        QCOMPARE(object(run.out)["allowed_percent"].toDouble(), percent);
        QCOMPARE(object(run.out)["verdict"].toString(), QStringLiteral("passed"));
    }

    void theGateFailsWhatGotSlowerAndWhatDoesNotCompare()
    {
        const double ratio = object(cli({"compare", "a.lathe", "b.lathe", "--json"}).out)["after_ms"].toDouble()
                             / object(cli({"compare", "a.lathe", "b.lathe", "--json"}).out)["before_ms"].toDouble();
        QVERIFY(ratio != 1);
        // The slower of both against the faster.
        const QStringList order = ratio > 1 ? QStringList{"b.lathe", "a.lathe"} : QStringList{"a.lathe", "b.lathe"};
        const Output slower = cli({"gate", order[0], "--against", order[1], "--max-regression", "0%", "--json"});
        QCOMPARE(slower.code, 1);
        QCOMPARE(object(slower.out)["verdict"].toString(), QStringLiteral("slower"));
        QVERIFY2(slower.err.contains("slower") && slower.err.contains("most of it in"), slower.err);
        QCOMPARE(cli({"gate", order[1], "--against", order[0], "--max-regression", "0%"}).code, 0);
        const Output other = cli({"gate", "other.lathe", "--against", "a.lathe", "--json"});
        QCOMPARE(other.code, 1);
        QCOMPARE(object(other.out)["verdict"].toString(), QStringLiteral("incomparable"));
        QVERIFY2(other.err.contains("cannot be compared"), other.err);
        QVERIFY(cli({"gate", "a.lathe", "--against", "nowhere.lathe"}).err.contains("nowhere.lathe"));
    }

    void theReportIsOneFile()
    {
        const Output run = cli({"report", "a.lathe", "-o", "a.html"});
        QVERIFY2(run.code == 0, run.err);
        QFile file(m_dir.filePath("a.html"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("Settings of run 2"));
        QCOMPARE(cli({"report", "nowhere.lathe", "-o", "a.html"}).code, 1);
    }
};

LATHE_TEST_GUILESS(TestCliDeploy)

} // namespace tst_cli_deploy

#include "tst_cli_deploy.moc"
