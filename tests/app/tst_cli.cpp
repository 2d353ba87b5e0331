#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_cli {

/// lathe-cli from outside: what the README's lines do, and how it refuses.
class TestCli : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    struct Output
    {
        int code;
        QByteArray out, err;
    };

    static QString program() { return QCoreApplication::applicationDirPath() + "/../bin/lathe-cli"; }
    Output cli(const QStringList& words, const QString& folder = {}) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.filePath(folder));
        process.start(program(), words);
        if (!process.waitForFinished(120000))
            qFatal("lathe-cli did not end");
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    static const QJsonObject object(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }

private slots:
    void theReferencePartitionHasTheTutorialsTasks_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("tasks");
        QTest::addColumn<int>("weight");
        QTest::newRow("resnet-18 for cuda") << "zoo:resnet-18"
                                            << "cuda" << 24 << 25;
        QTest::newRow("mobilenet for mali") << "zoo:mobilenet"
                                            << "opencl -device=mali" << 22 << 30;
    }
    void theReferencePartitionHasTheTutorialsTasks()
    {
        QFETCH(QString, model);
        QFETCH(QString, target);
        QFETCH(int, tasks);
        QFETCH(int, weight);
        const Output run = cli(
            {"tasks", model, "--layout", "NHWC", "--target", target, "--partition", "reference", "--json"});
        QVERIFY2(run.code == 0, run.err);
        const QJsonArray list = object(run.out)["tasks"].toArray();
        QCOMPARE(list.size(), tasks);
        int sum = 0;
        for (const QJsonValue& task : list) {
            sum += task["weight"].toInt();
            QVERIFY(!task["nodes"].toArray().isEmpty());
            QVERIFY(task["workloads"]["nested"]["key"].toString().startsWith("[\""));
        }
        QCOMPARE(sum, weight);
    }

    void aHeadStartIsMadeShownAndTaken()
    {
        const Output tuned = cli({"tune", "zoo:mlp", "--batch", "2", "--project", "two.lathe", "--target", "sim",
                                  "--trials", "30", "--head-start", "none"});
        QVERIFY2(tuned.code == 0, tuned.err);
        const Output made = cli(
            {"head-start", "make", "two.lathe", "-o", "two.headstart", "--without", "zoo:squeezenet-1.1"});
        QVERIFY2(made.code == 0, made.err);
        const QJsonObject shown = object(cli({"head-start", "show", "two.headstart", "--json"}).out);
        QVERIFY(shown["usable"].toBool());
        QCOMPARE(shown["without"].toArray().at(0).toString(), QString("zoo:squeezenet-1.1"));
        QVERIFY(!shown["tasks"].toArray().isEmpty());
        for (const QJsonValue& task : shown["tasks"].toArray())
            QCOMPARE(task["network"].toString(), QString("zoo:mlp"));
        QVERIFY(cli({"head-start", "show", "two.headstart"}).out.contains("contains no task of zoo:squeezenet-1.1"));
        const Output taken = cli({"tune", "zoo:mlp", "--project", "taken.lathe", "--target", "sim", "--trials", "30",
                                  "--head-start", "two.headstart"});
        QVERIFY2(taken.code == 0, taken.err);
        QVERIFY2((taken.out + taken.err).contains("start with candidates of similar tasks"), taken.out + taken.err);
        const Output nothing = cli(
            {"head-start", "make", "two.lathe", "-o", "none.headstart", "--without", "two.lathe"});
        QVERIFY(nothing.code == 1 && nothing.err.contains("no task"));
        QVERIFY(!QFile::exists(m_dir.filePath("none.headstart")));
        for (const char* wrong : {"two.lathe", "nothing.headstart"}) {
            const Output refused = cli({"tune", "zoo:mlp", "--project", "wrong.lathe", "--target", "sim", "--trials",
                                        "30", "--head-start", wrong});
            QVERIFY2(refused.code == 1 && refused.err.contains(wrong), refused.err);
            QVERIFY2(!QFile::exists(m_dir.filePath("wrong.lathe")), "a project was begun for nothing");
        }
        const Output random = cli({"tune", "zoo:mlp", "--project", "wrong.lathe", "--target", "sim", "--trials", "30",
                                   "--policy", "random", "--head-start", "two.headstart"});
        QVERIFY2(random.code == 1 && random.err.contains("--head-start is for policy sketch"), random.err);
        QVERIFY2(!QFile::exists(m_dir.filePath("wrong.lathe")), "a project was begun for nothing");
    }

    /// The commonest name of all: the library's own symbols must not meet those inside it.
    void aModelNamedModelIsExportedVerifiedTimedAndRun()
    {
        QVERIFY2(cli({"zoo", "export", "mlp", "-o", "model.onnx"}).code == 0, "export");
        const Output compiled = cli({"compile", "model.onnx", "--allow-default", "-o", "libmodel.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        QVERIFY(object(compiled.out)["max_rel_error"].toDouble(1) < 1e-4);
        QVERIFY(QFile::exists(m_dir.filePath("model.h")));
        QFile description(m_dir.filePath("model.json"));
        QVERIFY(description.open(QIODevice::ReadOnly));
        const QJsonObject benchmark = object(description.readAll())["benchmark"].toObject();
        QVERIFY(!benchmark["device"].toString().isEmpty());
        // Nothing has a record: all that is estimated are functions in their place, and the call.
        const QJsonObject estimated = benchmark["estimated_ms"].toObject();
        QCOMPARE(estimated["tasks"].toDouble(-1), 0.0);
        QCOMPARE(estimated["chain"].toDouble(-1), 0.0);
        QVERIFY(estimated["untuned"].toDouble() > 0 && estimated["call"].toDouble() > 0);
        QCOMPARE(estimated["with_overheads"].toDouble(),
                 estimated["untuned"].toDouble() + estimated["call"].toDouble());

        const Output verified = cli({"verify", "libmodel.so"});
        QVERIFY2(verified.code == 0, verified.err);
        QVERIFY(cli({"bench", "libmodel.so", "--repeat", "1000", "--max-seconds", "0.000001"})
                    .out.contains("3 runs")); // no less
        const Output timed = cli({"bench", "libmodel.so", "--repeat", "3", "--json"});
        QVERIFY2(timed.code == 0, timed.err);
        QVERIFY(object(timed.out)["latency_ms"]["median"].toDouble() > 0);
        double sum = object(timed.out)["call_ms"].toDouble();
        for (const QJsonValue& function : object(timed.out)["functions"].toArray())
            sum += function["ms"].toDouble();
        QVERIFY(sum > 0 && std::abs(sum - object(timed.out)["sum_ms"].toDouble()) < 1e-9 * sum);

        QByteArray npy("\x93NUMPY\x01\x00\x76\x00", 10);
        npy += QByteArrayLiteral("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }")
                   .leftJustified(117, ' ')
               + '\n';
        npy += QByteArray(784 * 4, '\0');
        QFile file(m_dir.filePath("x.npy"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(npy);
        file.close();
        const Output ran = cli({"run", "libmodel.so", "--input", "data=x.npy", "--output", "results", "--json"});
        QVERIFY2(ran.code == 0, ran.err);
        const QJsonArray outputs = object(ran.out)["outputs"].toArray();
        QCOMPARE(outputs.size(), 1);
        QFile result(outputs[0]["file"].toString());
        if (!result.exists())
            result.setFileName(m_dir.filePath(outputs[0]["file"].toString()));
        QVERIFY(result.open(QIODevice::ReadOnly));
        QCOMPARE(result.readAll().size(), 128 + 10 * 4);
    }

    /// From another folder, with nothing said but the library: batch, seed and place of the model are in its
    /// description.
    void aLibraryKnowsWhatItWasMadeFrom()
    {
        QVERIFY2(cli({"zoo", "export", "mlp", "-o", "known.onnx"}).code == 0, "export");
        for (const QStringList& model :
             {QStringList{"zoo:mlp", "--batch", "4", "--weight-seed", "7"}, QStringList{"known.onnx"}}) {
            const Output compiled = cli(
                QStringList{"compile"} + model
                + QStringList{"--allow-default", "--no-verify", "--no-bench", "-o", "libknown.so", "--json"});
            QVERIFY2(compiled.code == 0, compiled.err);
            QVERIFY(QDir(m_dir.path()).mkpath("elsewhere"));
            const Output verified = cli({"verify", "../libknown.so", "--json"}, "elsewhere");
            QVERIFY2(verified.code == 0, verified.err);
            QCOMPARE(object(verified.out)["not_compared"].toArray().size(), 0);
        }
        QFile description(m_dir.filePath("known.json"));
        QVERIFY(description.open(QIODevice::ReadOnly));
        QVERIFY(QDir::isAbsolutePath(object(description.readAll())["model"]["source"].toString()));
    }

    void everyPolicyTunesASimulatedGpu()
    {
        const QStringList words = {"tune",       "zoo:mlp",  "--target", "sim -like=cuda",     "--project",
                                   "fits.lathe", "--trials", "4",        "--trials-per-round", "4"};
        const Output fits = cli(words);
        QVERIFY2(fits.code == 0, fits.err);
        for (const char* policy : {"sketch", "random", "evolution", "reference"}) {
            const Output chosen = cli(words + QStringList{"--policy", policy, "--start-over"});
            QVERIFY2(chosen.code == 0, chosen.err);
        }
    }

    void doneIsTheLastLine()
    {
        const Output run = cli({"tune", "zoo:mlp", "--target", "sim", "--project", "done.lathe", "--trials", "9",
                                "--trials-per-round", "8", "--policy", "random", "--json"});
        QVERIFY2(run.code == 0, run.err);
        const QList<QByteArray> lines = run.out.trimmed().split('\n');
        QCOMPARE(object(lines.back())["event"].toString(), QStringLiteral("done"));
        QCOMPARE(object(lines.back())["trials"].toInt(), 9);
        int trials = 0;
        for (const QByteArray& line : lines)
            trials += object(line)["event"] == "trial" ? 1 : 0;
        QCOMPARE(trials, 9);
    }

    void trialsAreNotedMeasuredAgainAndExported()
    {
        QFile script(m_dir.filePath("faults.json"));
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(R"({"rules": [{"fault": "build-failed", "ordinal": 2}]})");
        script.close();
        const Output run = cli({"tune", "zoo:mlp", "--target", "sim -script=" + m_dir.filePath("faults.json"),
                                "--project", "trials.lathe", "--trials", "6", "--policy", "random"});
        QVERIFY2(run.code == 0, run.err);
        const auto list = [this](const QStringList& more = {}) {
            return QJsonDocument::fromJson(cli(QStringList{"records", "list", "trials.lathe", "--json"} + more).out)
                .array();
        };
        const QString trial = list()[0].toObject()["trial"].toString();

        QVERIFY(cli({"records", "note", "trials.lathe", trial.left(10), "odd"}).code == 0);
        QVERIFY(cli({"records", "note", "trials.lathe", "project", "for the second board"}).code == 0);
        QCOMPARE(cli({"records", "note", "trials.lathe", trial}).out, QByteArray("odd\n"));
        QCOMPARE(object(cli({"records", "note", "trials.lathe", "--json"}).out).size(), 2);
        QCOMPARE(list()[0].toObject()["note"].toString(), QStringLiteral("odd"));
        QCOMPARE(cli({"records", "note", "trials.lathe", "", "x"}).code, 1); // several begin so

        const Output again = cli({"records", "remeasure", "trials.lathe", trial.left(12), "--json"});
        QVERIFY2(again.code == 0, again.err);
        const QJsonObject measured = QJsonDocument::fromJson(again.out).array()[0].toObject();
        QCOMPARE(measured["repeats"].toString(), trial);
        QVERIFY(measured["cost_ms"].toDouble() > 0);
        QCOMPARE(list().last().toObject()["repeats"].toString(), trial);

        QCOMPARE(list({"--failed"}).size(), 1);
        const Output refused = cli({"records", "retry", "trials.lathe", trial});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("did not fail"), refused.err);
        const Output retried = cli({"records", "retry", "trials.lathe", "--state", "BuildFailed"});
        QVERIFY2(retried.code == 0 && retried.out.contains("1 of 1 measured again, 0 failed"),
                 retried.out + retried.err);
        QCOMPARE(cli({"records", "retry", "trials.lathe", "--state", "WrongAnswer"}).code, 1); // there is none

        QVERIFY(cli({"records", "export", "trials.lathe", "--format", "csv", "--noted", "-o", "noted.csv"}).code == 0);
        QFile csv(m_dir.filePath("noted.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), 2);
        QVERIFY(cli({"records", "export", "trials.lathe", "--format", "jsonl", "--order", "latency", "-o", "all.jsonl"})
                    .code
                == 0);
        QFile lines(m_dir.filePath("all.jsonl"));
        QVERIFY(lines.open(QIODevice::ReadOnly));
        QCOMPARE(lines.readAll().count('\n'), list().size());
        // As the window filters by run and target.
        const auto exported = [this](const QStringList& words) {
            const Output written = cli(QStringList{"records", "export", "trials.lathe", "--format", "csv"} + words
                                       + QStringList{"-o", "some.csv"});
            return QString::fromUtf8(written.code == 0 ? written.out : written.err);
        };
        QVERIFY2(!exported({"--run", "1"}).startsWith("0 "), qPrintable(exported({"--run", "1"})));
        QCOMPARE(exported({"--run", "77"}), QString("0 records written\n"));
        QVERIFY(!exported({"--measured-for", "sim -script=" + m_dir.filePath("faults.json")}).startsWith("0 "));
        QCOMPARE(exported({"--measured-for", "cuda"}), QString("0 records written\n"));
        QVERIFY(cli({"records", "note", "trials.lathe", trial, "--clear"}).code == 0);
        QCOMPARE(cli({"records", "note", "trials.lathe", trial}).out, QByteArray());
    }

    void aReaderThatGoesAwayIsNoCrash()
    {
        QProcess shell;
        shell.setWorkingDirectory(m_dir.path());
        shell.start("/bin/bash",
                    {"-o", "pipefail", "-c", "'" + program() + "' tasks zoo:resnet-18 --print-dag | head -n 1"});
        QVERIFY(shell.waitForFinished(60000));
        QVERIFY(shell.exitCode() == 0 || shell.exitCode() == 141); // as any program of a pipe that had more to say
        QCOMPARE(shell.readAllStandardError(), QByteArray());
        QCOMPARE(shell.readAllStandardOutput().count('\n'), 1);
    }

    void aFullDiskIsSaid()
    {
        QProcess shell;
        shell.start("/bin/bash", {"-c", "'" + program() + "' zoo list > /dev/full"});
        QVERIFY(shell.waitForFinished(60000));
        QCOMPARE(shell.exitCode(), 1);
        QVERIFY(shell.readAllStandardError().contains("standard output"));
    }

    /// Of the file systems that are at hand, that of the processes has no room; elsewhere files are not allowed to be
    /// that long.
    void aLibraryThatThereIsNoRoomForIsRefused_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("limit"); // of a file, in KiB
        QTest::addColumn<QByteArray>("says");
        QTest::newRow("full disk") << "/proc"
                                   << "unlimited" << QByteArray("the disk is full");
        QTest::newRow("short files") << m_dir.path() << "64" << QByteArray("File too large");
    }
    void aLibraryThatThereIsNoRoomForIsRefused()
    {
        QFETCH(QString, folder);
        QFETCH(QString, limit);
        QFETCH(QByteArray, says);
        QProcess shell;
        shell.start("/bin/bash", {"-c", "ulimit -f " + limit + "; exec '" + program()
                                            + "' compile zoo:mlp --allow-default -o '" + folder + "/roomless.so'"});
        QVERIFY(shell.waitForFinished(120000));
        const QByteArray said = shell.readAllStandardError();
        QCOMPARE(shell.exitCode(), 1);
        QVERIFY2(said.contains(says), said);
        QCOMPARE(said.count('\n'), 1);
        QVERIFY(QDir(folder).entryList({"*roomless*"}, QDir::Files | QDir::Hidden).isEmpty());
    }

    void filesOfTheUserAreNotReplacedByAnExport()
    {
        QVERIFY(QDir(m_dir.path()).mkdir("mine"));
        QFile mine(m_dir.filePath("mine/net.json"));
        QVERIFY(mine.open(QIODevice::WriteOnly) && mine.write("{\"threshold\": 3}") > 0);
        mine.close();
        const QStringList words = {"compile",    "zoo:mlp", "--allow-default", "--no-verify",
                                   "--no-bench", "-o",      "mine/libnet.so"};
        const Output refused = cli(words);
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("mine/net.json") && refused.err.contains("--overwrite")
                     && refused.err.count('\n') == 1,
                 refused.err);
        QCOMPARE(QDir(m_dir.filePath("mine")).entryList(QDir::Files), QStringList("net.json"));
        QVERIFY(mine.open(QIODevice::ReadOnly));
        QCOMPARE(mine.readAll(), QByteArray("{\"threshold\": 3}"));
        mine.close();
        QCOMPARE(cli(words + QStringList{"--name", "other"}).code, 0);
        QCOMPARE(cli(words + QStringList{"--overwrite"}).code, 0);
        QVERIFY(mine.open(QIODevice::ReadOnly) && mine.readAll().contains("Lathe writes this file anew"));
    }

    void namesOfFilesNeedNotBeText()
    {
        QProcess shell;
        shell.setWorkingDirectory(m_dir.path());
        shell.start("/bin/bash", {"-e", "-c",
                                  "model=$'caf\\xe9.onnx'; cli='" + program()
                                      + "'; \"$cli\" zoo export mlp -o \"$model\"; \"$cli\" tasks \"$model\" --json; "
                                        "\"$cli\" tune \"$model\" --target sim --project bytes.lathe --trials 3 "
                                        "--policy random --json; \"$cli\" records list bytes.lathe --json"});
        QVERIFY(shell.waitForFinished(120000));
        QVERIFY2(shell.exitCode() == 0, shell.readAllStandardError());
    }

    void failuresHaveACodeForPrograms()
    {
        const Output run = cli({"tasks", "nowhere.onnx", "--json"});
        QCOMPARE(run.code, 1);
        QCOMPARE(object(run.out)["code"].toString(), QStringLiteral("NotFound"));
        QVERIFY(object(run.out)["text"].toString().contains("nowhere.onnx"));
    }

    void numbersOutOfRangeAreRefused_data()
    {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("value");
        for (const auto& [option, value] :
             {std::pair("--trials", "-5"), std::pair("--build-jobs", "-1"), std::pair("--timeout", "0"),
              std::pair("--min-repeat-ms", "-1"), std::pair("--cooldown-ms", "-1"), std::pair("--early-stop", "-2"),
              std::pair("--trials-per-task", "-3")})
            QTest::newRow(option) << QString(option) << QString(value);
    }
    void numbersOutOfRangeAreRefused()
    {
        QFETCH(QString, option);
        QFETCH(QString, value);
        const Output run = cli({"tune", "zoo:mlp", "--target", "sim", "--time", "1s", option + "=" + value});
        QVERIFY(run.code != 0);
        QVERIFY2(run.err.contains(option.toUtf8()), run.err);
    }

    void devicesOfATargetAreListedOrWhyThereIsNone()
    {
        const auto list = [this](const QStringList& words) {
            return QJsonDocument::fromJson(cli(QStringList{"devices", "--json"} + words).out).array();
        };
        const QJsonArray all = list({}), simulated = list({"--target", "sim -seed=3"}),
                         arm = list({"--target", "cpu -mtriple=aarch64-linux-gnu"}), none = list({"--target", "vta"});
        QVERIFY(all.size() > 2);
        QCOMPARE(simulated.size(), 1);
        QCOMPARE(simulated[0]["key"].toString(), QStringLiteral("sim"));
        QCOMPARE(simulated[0]["state"].toString(), QStringLiteral("ready"));
        QVERIFY(simulated[0]["device_key"].toString().startsWith("sim-"));
        QVERIFY(all.contains(simulated[0]));
        QCOMPARE(arm.size(), 1);
        QVERIFY(arm[0]["key"].toString().isEmpty());
        QVERIFY(arm[0]["state"].toString().contains("aarch64"));
        QVERIFY(none[0]["state"].toString().startsWith("absent: "));
    }

    void refusalsAreOneSentenceAndExitCodeOne_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QByteArray>("says");
        QTest::newRow("no file") << QStringList{"tasks", "nowhere.onnx"} << QByteArray("nowhere.onnx");
        QTest::newRow("no such network") << QStringList{"tasks", "zoo:resnet-17"} << QByteArray("resnet-17");
        QTest::newRow("not a budget") << QStringList{"tune", "zoo:mlp"} << QByteArray("--time");
        QTest::newRow("bad target") << QStringList{"tasks", "zoo:mlp", "--target", "abacus"} << QByteArray("abacus");
        QTest::newRow("silent fallback") << QStringList{"compile", "zoo:mlp", "-o", "x.so"}
                                         << QByteArray("--allow-default");
        QTest::newRow("no run to resume")
            << QStringList{"tune", "zoo:mlp", "--resume", "--target", "sim", "--project", "new.lathe"}
            << QByteArray("resume");
        QTest::newRow("no library") << QStringList{"bench", "nolib.so"} << QByteArray("nolib.so");
        QTest::newRow("no such trial") << QStringList{"records", "note", "none.lathe", "0123"}
                                       << QByteArray("none.lathe");
        QTest::newRow("nothing to measure")
            << QStringList{"records", "remeasure", "none.lathe"} << QByteArray("--best");
        QTest::newRow("no such device") << QStringList{"tune",     "zoo:mlp", "--target", "sim",
                                                       "--trials", "8",       "--device", "abacus"}
                                        << QByteArray("available: sim");
        QTest::newRow("bad shape") << QStringList{"tasks", "zoo:mlp", "--shape", "data"} << QByteArray("--shape");
    }
    void refusalsAreOneSentenceAndExitCodeOne()
    {
        QFETCH(QStringList, words);
        QFETCH(QByteArray, says);
        const Output run = cli(words);
        QCOMPARE(run.code, 1);
        QVERIFY2(run.err.contains(says), run.err);
        QCOMPARE(run.err.count('\n'), 1);
    }
};

LATHE_TEST_GUILESS(TestCli)

} // namespace tst_cli

#include "tst_cli.moc"
