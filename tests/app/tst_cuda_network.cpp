#include "core/deploy/shared_object.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/command_line.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_cuda_network {

using namespace lathe;

namespace {

/// Runs the network with four inputs, each in an instance of all four and in a new one, whose first run is no graph
/// yet, and prints variant, device and the sum of the last outputs. [DEVICE]
const char* const kProgram = R"(
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

const QString kTarget = QStringLiteral("cuda -arch=sm_80");

} // namespace

/// Networks on an NVIDIA GPU, from the command line to the library that is left: on the driver on the processor, where
/// no other is.
class TestCudaNetwork : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    int m_capability = 0; ///< of the first device
    using Output = test::CliOutput;
    Output cli(const QStringList& words) const { return test::runCli(m_dir.path(), words, 400); }
    Output run(const QString& program, const QStringList& words, const QStringList& environment = {}) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.setEnvironment(QProcess::systemEnvironment() + environment);
        process.start(program, words);
        if (!process.waitForFinished(120000))
            qFatal("%s did not end", qPrintable(program));
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    /// What the library's program printed on standard error, but for what the driver on the processor says of code that
    /// it does not run.
    static QByteArray words(const Output& output)
    {
        QByteArray said;
        for (const QByteArray& line : output.err.split('\n'))
            if (!line.isEmpty() && !line.startsWith("lathe cuda driver: "))
                said += line + '\n';
        return said;
    }
    static QString reference(const QByteArray& name)
    {
        return QStringLiteral(LATHE_SOURCE_DIR "/tests/data/kinds/%1").arg(QString::fromLatin1(name));
    }
    static QJsonObject object(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }
    /// A program that runs net.so; false with a warning if it does not compile.
    bool makeProgram() const
    {
        QFile source(m_dir.filePath("run.c"));
        if (!source.open(QIODevice::WriteOnly) || source.write(kProgram) < 0)
            return false;
        source.close();
        const Output made = run(C_COMPILER, {"-std=c99", "-Wall", "-Werror", "-include", "net.h", "run.c", "./net.so",
                                             "-Wl,-rpath,$ORIGIN", "-o", "run"});
        if (made.code != 0)
            qWarning("%s", made.err.constData());
        return made.code == 0;
    }

private slots:
    void initTestCase()
    {
        test::findCudaDriver();
        qunsetenv("LATHE_CUDA_DEVICE");
        std::string missing = test::whyNoCompiler();
        const Output devices = cli({"devices", "--json"});
        QVERIFY2(devices.code == 0, devices.err);
        for (const QJsonValue& device : QJsonDocument::fromJson(devices.out).array())
            if (device.toObject()["key"].toString() == "cuda0" && device.toObject()["state"].toString() == "ready")
                m_capability =
                    device.toObject()["hardware"].toObject()["compute_capability"].toObject()["value"].toInt();
        if (missing.empty() && m_capability < 80)
            missing = "no NVIDIA GPU of sm_80 or later is here";
        if (!missing.empty()) {
            QVERIFY2(!test::isCudaDemanded(), missing.c_str());
            QSKIP(missing.c_str());
        }
    }

    /// Convolutions, control flow (the processor's), functions of the runtime, quantized and half floats.
    void networksComputeWhatOnnxRuntimeComputes_data()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"branch", "loop", "conv_integer", "qdq", "half"})
            QTest::addRow("%s", name) << QByteArray(name);
    }
    void networksComputeWhatOnnxRuntimeComputes()
    {
        QFETCH(QByteArray, name);
        const Output verified = cli(
            {"verify", reference(name) + ".onnx", "--target", kTarget, "--reference", reference(name)});
        QVERIFY2(verified.code == 0, verified.err + verified.out);
        QVERIFY2(verified.out.contains("with the reference"), verified.out);
    }

    void aNetworkIsExportedVerifiedAndTimed()
    {
        const Output compiled = cli(
            {"compile", "zoo:mlp", "--allow-default", "--target", kTarget, "-o", "net.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const QJsonObject variant = object(compiled.out)["variants"].toArray()[0].toObject();
        QVERIFY2(variant["max_rel_error"].toDouble(1) < 1e-4, compiled.out);
        QCOMPARE(variant["target"].toString(), kTarget);
        const Output verified = cli({"verify", "net.so"});
        QVERIFY2(verified.code == 0, verified.err);
        const Output timed = cli({"bench", "net.so", "--repeat", "3", "--json", "--device", "cuda0"});
        QVERIFY2(timed.code == 0, timed.err);
        QVERIFY(object(timed.out)["latency_ms"].toObject()["median"].toDouble() > 0);
    }

    void theLibraryNeedsTheCLibraryAlone()
    {
        const auto facts = deploy::readSharedObject(m_dir.filePath("net.so").toStdString());
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

    void aProgramRunsItOnTheDeviceItNames()
    {
        QVERIFY(makeProgram());
        const Output usual = run(m_dir.filePath("run"), {});
        QVERIFY2(usual.code == 0, usual.err);
        QVERIFY2(usual.out.startsWith(kTarget.toUtf8() + '\n'), usual.out);
        const Output named = run(m_dir.filePath("run"), {"cuda0"});
        QVERIFY2(named.code == 0, named.err);
        QCOMPARE(named.out.split('\n')[2], usual.out.split('\n')[2]);
        const Output none = run(m_dir.filePath("run"), {"cuda99"});
        QCOMPARE(none.code, 1);
        QVERIFY2(words(none).contains("no NVIDIA GPU has the key cuda99; there are cuda0 (")
                     && words(none).count('\n') == 1,
                 none.err);
    }

    void withoutADeviceOneSentenceSaysSo()
    {
        const Output without = run(m_dir.filePath("run"), {}, {"LATHE_CUDA_DRIVER=/nowhere/libcuda.so.1"});
        QCOMPARE(without.code, 1);
        QVERIFY2(words(without).startsWith("no device for \"cuda -arch=sm_80\" is here: the driver that "
                                           "LATHE_CUDA_DRIVER names cannot be loaded: ")
                     && words(without).count('\n') == 1,
                 without.err);
    }

    void aDeviceThatIsNotThereIsNamedBesideThoseThatAre()
    {
        const Output refused = cli({"bench", "net.so", "--device", "cuda99"});
        QVERIFY(refused.code != 0);
        QVERIFY2(words(refused).contains("there is no device \"cuda99\"") && words(refused).contains("cuda0"),
                 refused.err);
    }

    /// The first of a library's variants that something here runs: of code for a later GPU than there is nothing does.
    void otherVariantsTakeOver()
    {
        const QString later = QStringLiteral("cuda -arch=sm_90");
        const Output compiled = cli({"compile", "zoo:mlp", "--allow-default", "--target", "cpu", "--target", kTarget,
                                     "-o", "net.so", "--no-bench", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        QVERIFY(makeProgram());
        const Output device = run(m_dir.filePath("run"), {});
        QVERIFY2(device.code == 0 && device.out.startsWith(kTarget.toUtf8() + '\n'), device.err + device.out);
        const Output processor = run(m_dir.filePath("run"), {}, {"LATHE_CUDA_DRIVER=/nowhere/libcuda.so.1"});
        QVERIFY2(processor.code == 0 && processor.out.startsWith("cpu\n\n"), processor.err + processor.out);
        QCOMPARE(processor.out.split('\n')[2], device.out.split('\n')[2]);
        if (m_capability >= 90)
            QSKIP("this GPU runs that code");
        const Output other = cli({"compile", "zoo:mlp", "--allow-default", "--target", "cpu", "--target", later, "-o",
                                  "net.so", "--no-bench", "--no-verify"});
        QVERIFY2(other.code == 0, other.err);
        QVERIFY(makeProgram());
        const Output taken = run(m_dir.filePath("run"), {});
        QVERIFY2(taken.code == 0 && taken.out.startsWith("cpu\n\n"), taken.err + taken.out);
        QCOMPARE(taken.out.split('\n')[2], device.out.split('\n')[2]);
    }

    /// The same code, for the GPU of another machine.
    void aLibraryForAnotherMachineIsLinked()
    {
        const Output compiled = cli({"compile", "zoo:mlp", "--allow-default", "--target",
                                     kTarget + " -host=aarch64-linux-gnu", "-o", "arm.so", "--no-verify",
                                     "--no-bench"});
        if (compiled.code != 0 && compiled.err.contains("install the package"))
            QSKIP("this build cannot link for aarch64");
        QVERIFY2(compiled.code == 0, compiled.err);
        const auto facts = deploy::readSharedObject(m_dir.filePath("arm.so").toStdString());
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QCOMPARE(facts->machine, std::string("aarch64"));
    }
};

LATHE_TEST_GUILESS(TestCudaNetwork)

} // namespace tst_cuda_network

#include "tst_cuda_network.moc"
