#pragma once

#include "core/deploy/shared_object.h"
#include "tests/support/command_line.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>
#include <QtTest>

#include <string>

namespace lathe::test {

/// Runs the network with four inputs, each in an instance of all four and in a new one, whose first run is as no later
/// one, and prints variant, device and the sum of the last outputs. [DEVICE]
inline const char* const kNetworkProgram = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static lathe_instance* make(const char* device)
{
    char error[512];
    lathe_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.device = device;
    lathe_instance* network = lathe_net_create(&options, error, sizeof error);
    if (network == NULL) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return network;
}
static const float* run(lathe_instance* network, int number)
{
    lathe_tensor_info in;
    lathe_net_input_info(0, &in);
    float* x = lathe_net_input_buffer(network, 0);
    for (size_t i = 0; i < in.bytes / 4; ++i)
        x[i] = (float)((i + (size_t)number) % 7) / 7;
    if (lathe_net_run(network) != LATHE_OK) {
        fprintf(stderr, "%s\n", lathe_net_last_error(network));
        exit(2);
    }
    return lathe_net_output_buffer(network, 0);
}
int main(int argc, char** argv)
{
    const char* device = argc > 1 ? argv[1] : NULL;
    lathe_instance* network = make(device);
    lathe_tensor_info out;
    lathe_net_output_info(0, &out);
    double sum = 0;
    for (int number = 0; number < 4; ++number) {
        const float* y = run(network, number);
        lathe_instance* fresh = make(device);
        if (memcmp(y, run(fresh, number), out.bytes) != 0) {
            fprintf(stderr, "run %d is another one in a new instance\n", number);
            return 3;
        }
        lathe_net_destroy(fresh);
        sum = 0;
        for (size_t i = 0; i < out.bytes / 4; ++i)
            sum += (double)y[i] * (double)(i + 1);
    }
    printf("%s\n%s\n%.4g\n", lathe_net_variant(network), lathe_net_device(network), sum);
    lathe_net_destroy(network);
    return 0;
}
)";

/// A network in a folder of its own, from the command line to the library net.so and a program that runs that, on
/// devices of one kind.
class DeviceNetwork
{
public:
    QString path(const char* name) const { return m_dir.filePath(name); }

    CliOutput cli(const QStringList& words) const { return runCli(m_dir.path(), words, 400); }
    CliOutput run(const QString& program, const QStringList& words, const QStringList& environment = {}) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.setEnvironment(QProcess::systemEnvironment() + environment);
        process.start(program, words);
        if (!process.waitForFinished(120000))
            qFatal("%s did not end", qPrintable(program));
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    static QJsonObject object(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }

    /// A program `run` of kNetworkProgram with net.so; false with a warning if it does not compile.
    bool makeProgram() const
    {
        QFile source(path("run.c"));
        if (!source.open(QIODevice::WriteOnly) || source.write(kNetworkProgram) < 0)
            return false;
        source.close();
        const CliOutput made = run(C_COMPILER, {"-std=c99", "-Wall", "-Werror", "-include", "net.h", "run.c",
                                                "./net.so", "-Wl,-rpath,$ORIGIN", "-o", "run"});
        if (made.code != 0)
            qWarning("%s", made.err.constData());
        return made.code == 0;
    }
    /// What makeProgram() made.
    CliOutput runProgram(const QStringList& words, const QStringList& environment = {}) const
    {
        return run(path("run"), words, environment);
    }

    /// What ONNX Runtime computed is in tests/data/kinds.
    CliOutput verifyWithReference(const QByteArray& name, const QString& target) const
    {
        const QString reference = QStringLiteral(LATHE_SOURCE_DIR "/tests/data/kinds/%1").arg(QString(name));
        return cli({"verify", reference + ".onnx", "--target", target, "--reference", reference});
    }
    /// Convolutions, control flow (the processor's), functions of the runtime, quantized and half floats.
    static void addReferences()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"branch", "loop", "conv_integer", "qdq", "half"})
            QTest::addRow("%s", name) << QByteArray(name);
    }

    void theLibraryNeedsTheCLibraryAlone() const
    {
        const auto facts = deploy::readSharedObject(path("net.so").toStdString());
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        for (const std::string& symbol : facts->exported)
            QVERIFY2(symbol.starts_with("lathe_net_"), symbol.c_str());
        const QStringList allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"};
        for (const std::string& needed : facts->needed)
            QVERIFY2(allowed.contains(QString::fromStdString(needed)), needed.c_str());
        for (const auto& import : facts->imported) {
            const QStringList numbers = QString::fromStdString(import.version).mid(6).split('.');
            QVERIFY2(import.version.starts_with("GLIBC_") && numbers[0].toInt() == 2 && numbers.value(1).toInt() <= 28,
                     (import.symbol + "@" + import.version).c_str());
        }
    }

    /// Where nothing runs the target's code, a sentence says why before anything is searched or compiled; libraries are
    /// exported all the same, unless they are to be run.
    void nothingIsBegunWithoutADevice(const QString& target, const QByteArray& why) const
    {
        const QString test = QString::fromLatin1(QTest::currentTestFunction());
        const QString project = m_dir.filePath(test + ".lathe"), library = m_dir.filePath(test + ".so");
        for (const QStringList& words : {QStringList{"tune", "zoo:mlp", "--project", project, "--trials", "4"},
                                         {"verify", "zoo:mlp"},
                                         {"bench", "zoo:mlp"},
                                         {"compile", "zoo:mlp", "--allow-default", "-o", library}}) {
            const CliOutput refused = cli(words + QStringList{"--target", target});
            QVERIFY2(refused.code == 1 && refused.out.isEmpty() && refused.err.count('\n') == 1
                         && refused.err.contains(why),
                     refused.out + refused.err);
            QCOMPARE(refused.err.contains("(--no-verify --no-bench)"), words[0] == "compile");
        }
        QVERIFY(!QFile::exists(project) && !QFile::exists(library));
        const CliOutput made = cli(
            {"compile", "zoo:mlp", "--allow-default", "-o", library, "--target", target, "--no-verify", "--no-bench"});
        QVERIFY2(made.code == 0 && QFile::exists(library), made.err);
        // Beside a variant for the processor it is not compared, and says why.
        const CliOutput both = cli({"compile", "zoo:mlp", "--allow-default", "-o", library, "--target", "cpu",
                                    "--target", target, "--json", "--no-bench"});
        QVERIFY2(both.code == 0, both.err);
        for (const QJsonValue& variant : object(both.out)["variants"].toArray())
            if (variant["target"].toString() == target)
                QVERIFY2(variant["not_verified"].toString().toUtf8().contains(why), both.out);
            else
                QVERIFY2(variant["max_rel_error"].toDouble(1) < 1e-4, both.out);
    }

    /// For the device of another machine: nothing of it runs here.
    void aLibraryForAnotherMachineIsLinked(const QString& target) const
    {
        const CliOutput compiled = cli({"compile", "zoo:mlp", "--allow-default", "--target",
                                        target + " -host=aarch64-linux-gnu", "-o", "arm.so", "--no-verify",
                                        "--no-bench"});
        if (compiled.code != 0 && compiled.err.contains("install the package"))
            QSKIP("this build cannot link for aarch64");
        QVERIFY2(compiled.code == 0, compiled.err);
        const auto facts = deploy::readSharedObject(path("arm.so").toStdString());
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QCOMPARE(facts->machine, std::string("aarch64"));
    }

private:
    QTemporaryDir m_dir;
};

} // namespace lathe::test
