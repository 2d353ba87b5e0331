#include "tests/support/command_line.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_cli_kinds {

/// Models of the kinds that people bring (tests/data/kinds), on the command line: with branches, with loops, quantized,
/// in half floats, with weights in a large file of their own, and broken.
class TestCliKinds : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    using Output = lathe::test::CliOutput;
    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words); }
    static QString reference(const char* name)
    {
        return QStringLiteral(LATHE_SOURCE_DIR "/tests/data/kinds/%1").arg(QLatin1String(name));
    }
    static QString model(const char* name) { return reference(name) + ".onnx"; }
    static QString input(const char* name) { return "x=" + reference(name) + "/x.npy"; }

private slots:
    void compiledTheyComputeWhatOnnxRuntimeComputes_data()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"branch", "loop", "conv_integer", "qdq", "half"})
            QTest::addRow("%s", name) << QByteArray(name);
    }
    void compiledTheyComputeWhatOnnxRuntimeComputes()
    {
#ifdef LATHE_TEST_CPU
        QFETCH(QByteArray, name);
        const Output verified = cli({"verify", model(name), "--target", "cpu", "--reference", reference(name)});
        QVERIFY2(verified.code == 0, verified.err + verified.out);
        QVERIFY2(verified.out.contains("with the reference"), verified.out);
#else
        QSKIP("built without the CPU's back end");
#endif
    }

    void branchesAndLoopsAreTunedAndExported_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QString>("target");
        for (const char* name : {"branch", "loop"})
            for (const char* target : {"cpu", "sim"})
                QTest::addRow("%s, %s", name, target) << QByteArray(name) << QString(target);
    }
    void branchesAndLoopsAreTunedAndExported()
    {
        QFETCH(QByteArray, name);
        QFETCH(QString, target);
#ifndef LATHE_TEST_CPU
        if (target == "cpu")
            QSKIP("built without the CPU's back end");
#endif
        const QString project = QString("%1-%2.lathe").arg(QString::fromLatin1(name), target);
        const Output tuned = cli({"tune", model(name), "--target", target, "--project", project, "--trials", "12",
                                  "--trials-per-round", "4"});
        QVERIFY2(tuned.code == 0, tuned.err);
        const Output dry = cli({"compile", "--project", project, "--dry-run", "--json"});
        if (target == "sim") { // no library is made for simulators; the records stand all the same
            QVERIFY2(dry.out.contains("record"), dry.out + dry.err);
            return;
        }
        const QJsonObject covered = QJsonDocument::fromJson(dry.out).object();
        QCOMPARE(covered["records"].toInt(), 3); // tasks; in the branches it is one and the same
        const QString library = QString("lib%1.so").arg(QString::fromLatin1(name));
        const Output compiled = cli({"compile", "--project", project, "-o", library, "--no-bench"});
        QVERIFY2(compiled.code == 0, compiled.err);
        QVERIFY2(compiled.out.contains("verified"), compiled.out);
        const Output verified = cli({"verify", library, "--reference", reference(name)});
        QVERIFY2(verified.code == 0, verified.err + verified.out);
        const Output run = cli({"run", library, "--input", input(name), "--output", QString::fromLatin1(name)});
        QVERIFY2(run.code == 0, run.err);
        QVERIFY(QFile::exists(m_dir.filePath(QString::fromLatin1(name) + "/y.npy")));
    }

    void weightsInALargeFileAreMappedOrMissed()
    {
        QVERIFY(QFile::copy(model("external"), m_dir.filePath("external.onnx")));
        const Output missing = cli({"tasks", "external.onnx"});
        QVERIFY2(missing.code != 0 && missing.err.contains("\"external.weights\" is missing"), missing.err);
        QVERIFY2(missing.err.contains("put it beside"), missing.err);
        QFile weights(m_dir.filePath("external.weights"));
        QVERIFY(weights.open(QFile::WriteOnly) && weights.resize(600000000)); // sparse: takes no room on disk
        weights.close();
        const Output found = cli({"tasks", "external.onnx"});
        QVERIFY2(found.code == 0 && found.out.contains("12000->12500"), found.err + found.out);
    }

    void helpIsAskedForInEitherWay()
    {
        const Output help = cli({"help", "tune"});
        QCOMPARE(help.code, 0);
        QCOMPARE(help.out, cli({"tune", "--help"}).out);
        QCOMPARE(cli({"help"}).out, cli({"--help"}).out);
    }

    void aFileThatWasCutOffSaysWhatToDo()
    {
        const Output broken = cli({"tasks", model("broken")});
        QVERIFY(broken.code != 0 && broken.out.isEmpty());
        QVERIFY2(broken.err.contains("not a valid ONNX file") && broken.err.contains("again"), broken.err);
        QCOMPARE(broken.err.count('\n'), 1);
    }
};

LATHE_TEST_GUILESS(TestCliKinds)

} // namespace tst_cli_kinds

#include "tst_cli_kinds.moc"
