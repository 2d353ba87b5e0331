#include "core/deploy/shared_object.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <vector>

namespace tst_aarch64 {

using namespace lathe;

namespace {

const QString kTarget = QStringLiteral("cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
constexpr qint64 kInputs = 784; // of the network that is exported here

struct Output
{
    int code;
    QByteArray out, err;
};

} // namespace

/// A library that is exported here for aarch64, run by an emulator: what packaging/test installs. LATHE_TEST_AARCH64=1
/// makes a failure of what else is left out.
class TestAarch64 : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString m_emulator;

    Output run(const QString& program, const QStringList& words) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.start(program, words);
        if (!process.waitForFinished(120000))
            qFatal("%s did not end: %s", qPrintable(program), qPrintable(process.errorString()));
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
                process.readAllStandardError()};
    }
    Output cli(const QStringList& words) const
    {
        return run(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli", words);
    }
    Output compile(const QStringList& words) const
    {
        return cli(QStringList{"compile", "zoo:mlp", "--allow-default"} + words);
    }

    /// A program that runs NAME.so, made by `compiler`; empty on failure, which is printed.
    QString program(const QString& compiler, const QString& name) const
    {
        const Output made = run(compiler, {"-std=c99", "-Wall", "-Werror", "-include", name + ".h", "-DNETWORK=" + name,
                                           RUN_NETWORK, "./" + name + ".so", "-Wl,-rpath,$ORIGIN", "-o", name});
        if (made.code != 0)
            qWarning("%s", made.err.constData());
        return made.code == 0 ? m_dir.filePath(name) : QString();
    }
    std::vector<float> values(const QString& name) const
    {
        QFile file(m_dir.filePath(name));
        const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        std::vector<float> out(static_cast<std::size_t>(bytes.size()) / sizeof(float));
        std::memcpy(out.data(), bytes.constData(), out.size() * sizeof(float));
        return out;
    }

private slots:
    void initTestCase()
    {
        m_emulator = QStandardPaths::findExecutable("qemu-aarch64");
        if (m_emulator.isEmpty())
            m_emulator = QStandardPaths::findExecutable("qemu-aarch64-static");
        QString missing;
        if (m_emulator.isEmpty())
            missing = QStringLiteral("no qemu-aarch64 (the package qemu-user) to run libraries for aarch64");
        if (QByteArray(CROSS_PREFIX).isEmpty())
            missing = QStringLiteral("no compiler for aarch64 (the package g++-aarch64-linux-gnu) when this was built");
        if (missing.isEmpty())
            return;
        if (qEnvironmentVariableIntValue("LATHE_TEST_AARCH64") != 0)
            QFAIL(qPrintable(missing));
        QSKIP(qPrintable(missing));
    }

    void aLibraryIsExportedWithAllThatGoesWithIt()
    {
        const Output compiled = compile(
            {"--target", kTarget, "--no-verify", "--no-bench", "--strict", "-o", "arm.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        for (const char* file : {"arm.so", "arm.h", "arm.json", "arm_example.c", "arm_example.cpp", "arm_example.py"})
            QVERIFY2(QFile::exists(m_dir.filePath(file)), file);
        QFile description(m_dir.filePath("arm.json"));
        QVERIFY(description.open(QIODevice::ReadOnly));
        QVERIFY(QJsonDocument::fromJson(description.readAll())["target"].toString().contains("aarch64"));
    }

    void itNeedsOnlyAnOldCLibraryAndExportsItsInterfaceAlone()
    {
        const auto facts = deploy::readSharedObject(m_dir.filePath("arm.so").toStdString());
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QCOMPARE(facts->machine, std::string("aarch64"));
        for (const std::string& symbol : facts->exported)
            QVERIFY2(symbol.starts_with("lathe_arm_"), symbol.c_str());
        const QStringList allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0"};
        for (const std::string& needed : facts->needed)
            QVERIFY2(allowed.contains(QString::fromStdString(needed)), needed.c_str());
        QVERIFY(!facts->imported.empty());
        for (const auto& import : facts->imported) {
            const QStringList numbers = QString::fromStdString(import.version).mid(6).split('.');
            QVERIFY2(import.version.starts_with("GLIBC_") && numbers[0].toInt() == 2 && numbers.value(1).toInt() <= 28,
                     (import.symbol + "@" + import.version).c_str());
        }
    }

    void itsCodeComputesOnVectors()
    {
        const Output listing = run(CROSS_PREFIX "objdump", {"-d", "--no-show-raw-insn", "arm.so"});
        QVERIFY2(listing.code == 0, listing.err);
        QVERIFY(QString::fromUtf8(listing.out).contains(QRegularExpression(R"(\sfmla\s+v\d+\.4s, v\d+\.4s, v\d+\.)")));
    }

    void itComputesWhatThisMachinesLibraryComputes()
    {
        const Output compiled = compile(
            {"--no-bench", "--strict", "-o", "here.so"}); // compared with the reference executor
        QVERIFY2(compiled.code == 0, compiled.err);
        std::vector<float> input(kInputs);
        for (std::size_t i = 0; i < input.size(); ++i)
            input[i] = static_cast<float>(std::sin(static_cast<double>(i * i)));
        QFile file(m_dir.filePath("input.bin"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(reinterpret_cast<const char*>(input.data()), kInputs * 4), kInputs * 4);
        file.close();

        const QString here = program(C_COMPILER, "here"), arm = program(CROSS_PREFIX "gcc", "arm");
        QVERIFY(!here.isEmpty() && !arm.isEmpty());
        const Output expected = run(here, {"2", "here.out", "input.bin"});
        QVERIFY2(expected.code == 0, expected.err);
        const std::vector<float> wanted = values("here.out.0");
        QCOMPARE(wanted.size(), 10U);
        for (const char* threads : {"1", "2", "3"}) {
            const Output emulated = run(m_emulator, {"-L", CROSS_ROOT, arm, threads, "arm.out", "input.bin"});
            QVERIFY2(emulated.code == 0, emulated.err);
            const std::vector<float> got = values("arm.out.0");
            QCOMPARE(got.size(), wanted.size());
            float largest = 0, difference = 0;
            for (std::size_t i = 0; i < got.size(); ++i) {
                largest = std::max(largest, std::abs(wanted[i]));
                difference = std::max(difference, std::isnan(got[i]) ? INFINITY : std::abs(got[i] - wanted[i]));
            }
            QVERIFY(largest > 0);
            QVERIFY2(difference <= 1e-4F * largest,
                     qPrintable(QString("%1 of %2 with %3 threads").arg(difference).arg(largest).arg(threads)));
            QVERIFY(QFile::remove(m_dir.filePath("arm.out.0")));
        }
    }

    void whatRunsElsewhereIsNotRunHere_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QByteArray>("says");
        QTest::newRow("verified export") << QStringList{"compile",         "zoo:mlp",    "--target", kTarget,
                                                        "--allow-default", "--no-bench", "-o",       "x.so"}
                                         << QByteArray("--no-verify --no-bench");
        QTest::newRow("the library") << QStringList{"verify", "arm.so"} << QByteArray("was exported for aarch64");
        QTest::newRow("the model") << QStringList{"bench", "zoo:mlp", "--target", kTarget} << QByteArray("aarch64");
        QTest::newRow("tuning") << QStringList{"tune",     "zoo:mlp", "--target",  kTarget,
                                               "--trials", "4",       "--project", "arm.lathe"}
                                << QByteArray("code for aarch64 cannot be measured on this machine");
    }
    void whatRunsElsewhereIsNotRunHere()
    {
        QFETCH(QStringList, words);
        QFETCH(QByteArray, says);
        const Output refused = cli(words);
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains(says), refused.err);
        QCOMPARE(refused.err.trimmed().count('\n'), 0);
        QVERIFY(!QFile::exists(m_dir.filePath("arm.lathe")));
    }

    void otherSystemsAndProcessorsAreRefused()
    {
        const Output android = compile(
            {"--target", "cpu -mtriple=aarch64-linux-android", "--no-verify", "--no-bench", "-o", "x.so"});
        QCOMPARE(android.code, 1);
        QVERIFY2(android.err.contains("not for 'aarch64-linux-android'"), android.err);
        const Output other = compile({"--target", "cpu -mtriple=riscv64-linux-gnu", "--dry-run"});
        QCOMPARE(other.code, 1);
        QVERIFY2(other.err.contains("not for 'riscv64'"), other.err);
        QVERIFY(!QFile::exists(m_dir.filePath("x.so")));
    }
};

LATHE_TEST_GUILESS(TestAarch64)

} // namespace tst_aarch64

#include "tst_aarch64.moc"
