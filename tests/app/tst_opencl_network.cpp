#include "core/deploy/shared_object.h"
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

namespace tst_opencl_network {

using namespace lathe;

namespace {

/// Runs the network twice, with its input in the processor's memory, and prints device and sum of outputs. [DEVICE]
const char* const kProgram = R"(
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv)
{
    char error[512];
    lathe_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.device = argc > 1 ? argv[1] : NULL;
    lathe_instance* network = lathe_net_create(&options, error, sizeof error);
    if (network == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    lathe_tensor_info in, out;
    lathe_net_input_info(0, &in);
    lathe_net_output_info(0, &out);
    float* x = lathe_net_input_buffer(network, 0);
    for (size_t i = 0; i < in.bytes / 4; ++i)
        x[i] = (float)(i % 7) / 7;
    if (lathe_net_run(network) != LATHE_OK || lathe_net_run(network) != LATHE_OK) {
        fprintf(stderr, "%s\n", lathe_net_last_error(network));
        return 2;
    }
    const float* y = lathe_net_output_buffer(network, 0);
    double sum = 0;
    for (size_t i = 0; i < out.bytes / 4; ++i)
        sum += (double)y[i] * (double)(i + 1);
    printf("%s\n%s\n%.5g\n", lathe_net_variant(network), lathe_net_device(network), sum);
    lathe_net_destroy(network);
    return 0;
}
)";

} // namespace

/// Networks on an OpenCL device, from the command line to the library that is left: on PoCL, where nothing else is.
class TestOpenClNetwork : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QList<QJsonObject> m_devices; ///< in the order of their keys
    using Output = test::CliOutput;
    /// PoCL takes a second to compile a kernel, and many when the machine is busy.
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
        qputenv("POCL_DEVICES", "pthread basic"); // two unequal devices
        qputenv("XDG_CACHE_HOME", m_dir.filePath("cache").toUtf8()); // where libraries keep what they compile
        const Output devices = cli({"devices", "--json"});
        QVERIFY2(devices.code == 0, devices.err);
        for (const QJsonValue& device : QJsonDocument::fromJson(devices.out).array())
            if (device.toObject()["kind"].toString() == "opencl" && device.toObject()["state"].toString() == "ready")
                m_devices.append(device.toObject());
        if (m_devices.isEmpty())
            QSKIP("no OpenCL device is here");
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
            {"verify", reference(name) + ".onnx", "--target", "opencl", "--reference", reference(name)});
        if (verified.code != 0 && verified.err.contains("this device has no half-precision floats (cl_khr_fp16)")) {
            QCOMPARE(verified.err.count('\n'), 1);
            QSKIP("this OpenCL device has no half-precision floats");
        }
        QVERIFY2(verified.code == 0, verified.err + verified.out);
        QVERIFY2(verified.out.contains("with the reference"), verified.out);
    }

    void aTunedNetworkIsExportedVerifiedAndTimed()
    {
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "opencl", "--project", "mlp.lathe", "--trials", "4",
                                  "--trials-per-round", "2", "--json"});
        QVERIFY2(tuned.code == 0, tuned.err);
        const QJsonObject done = object(tuned.out.trimmed().split('\n').last());
        QVERIFY2(done["measured_ms"].toDouble() > 0, tuned.out.right(2000)); // the whole network ran on the device
        const Output compiled = cli({"compile", "--project", "mlp.lathe", "--allow-default", "-o", "net.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const QJsonObject report = object(compiled.out);
        QVERIFY2(report["max_rel_error"].toDouble(1) < 1e-4, compiled.out);
        bool hasRecord = false;
        for (const QJsonValue& subgraph : report["subgraphs"].toArray())
            hasRecord = hasRecord || subgraph.toObject().contains("record");
        QVERIFY2(hasRecord, compiled.out);
        const Output verified = cli({"verify", "net.so"});
        QVERIFY2(verified.code == 0, verified.err);
        const Output timed = cli({"bench", "net.so", "--repeat", "3", "--json"});
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
        QVERIFY2(usual.out.startsWith("opencl\n"), usual.out);
        const Output named = run(m_dir.filePath("run"), {"cl0"});
        QVERIFY2(named.code == 0, named.err);
        QCOMPARE(named.out.split('\n')[2], usual.out.split('\n')[2]);
        const Output none = run(m_dir.filePath("run"), {"cl99"});
        QCOMPARE(none.code, 1);
        QVERIFY2(none.err.contains("cl99") && none.err.count('\n') == 1, none.err);
    }

    void withoutADeviceOneSentenceSaysSo()
    {
        const Output without = run(m_dir.filePath("run"), {}, {"OCL_ICD_VENDORS=/nowhere"});
        QCOMPARE(without.code, 1);
        QVERIFY2(without.err.startsWith("no device for \"opencl\" is here: ") && without.err.count('\n') == 1,
                 without.err);
    }

    /// By its own name and by that of its class, of a library and of a network.
    void aNetworkRunsOnTheDeviceThatIsNamed()
    {
        for (const QJsonObject& device : m_devices) {
            const Output timed = cli(
                {"bench", "net.so", "--repeat", "3", "--json", "--device", device["key"].toString()});
            QVERIFY2(timed.code == 0, timed.err);
            QCOMPARE(object(timed.out)["device"], device["name"]);
        }
        const QString last = m_devices.last()["device_key"].toString();
        const Output network = cli({"bench", "zoo:mlp", "--target", "opencl", "--repeat", "3", "--device", last});
        QVERIFY2(network.code == 0, network.err);
        QVERIFY2(network.out.contains("measured on " + m_devices.last()["name"].toString().toUtf8() + ": "),
                 network.out);
        const Output verified = cli({"verify", "net.so", "--device", last});
        QVERIFY2(verified.code == 0, verified.err);
    }

    void aDeviceThatIsNotThereIsNamedBesideThoseThatAre()
    {
        for (const QStringList& words : {QStringList{"bench", "net.so"},
                                         {"verify", "net.so"},
                                         {"run", "net.so", "--output", "out"},
                                         {"bench", "zoo:mlp", "--target", "opencl"}}) {
            const Output refused = cli(words + QStringList{"--device", "cl99"});
            QVERIFY(refused.code != 0);
            QVERIFY2(refused.err.contains("there is no device \"cl99\"") && refused.err.contains("available: ")
                         && refused.err.contains("cl0") && refused.err.count('\n') == 1,
                     refused.err);
        }
        const Output processor = cli({"bench", "net.so", "--device", "cpu"});
        QVERIFY2(processor.err.contains("has no code for devices of kind \"cpu\"") && processor.err.count('\n') == 1,
                 processor.err);
    }

    /// The processor's code in the same library takes over where no device is.
    void aSecondVariantIsForTheProcessor()
    {
        const Output compiled = cli({"compile", "zoo:mlp", "--allow-default", "--target", "cpu", "--target", "opencl",
                                     "-o", "net.so", "--no-bench", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        QVERIFY(makeProgram());
        const Output device = run(m_dir.filePath("run"), {});
        QVERIFY2(device.code == 0 && device.out.startsWith("opencl\n"), device.err + device.out);
        const Output processor = run(m_dir.filePath("run"), {}, {"OCL_ICD_VENDORS=/nowhere"});
        QVERIFY2(processor.code == 0 && processor.out.startsWith("cpu\n\n"), processor.err + processor.out);
        QCOMPARE(processor.out.split('\n')[2], device.out.split('\n')[2]);
        const Output asked = cli({"bench", "net.so", "--repeat", "3", "--json", "--device", "cpu"});
        QVERIFY2(asked.code == 0, asked.err);
        QCOMPARE(object(asked.out)["variant"].toString(), QStringLiteral("cpu"));
    }

    /// Source alone: nothing here runs on that machine's device.
    void aLibraryForAnotherMachineIsLinked()
    {
        const Output compiled = cli({"compile", "zoo:mlp", "--allow-default", "--target",
                                     "opencl -device=mali -host=aarch64-linux-gnu", "-o", "arm.so", "--no-verify",
                                     "--no-bench"});
        if (compiled.code != 0 && compiled.err.contains("install the package"))
            QSKIP("this build cannot link for aarch64");
        QVERIFY2(compiled.code == 0, compiled.err);
        const auto facts = deploy::readSharedObject(m_dir.filePath("arm.so").toStdString());
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QCOMPARE(facts->machine, std::string("aarch64"));
    }
};

LATHE_TEST_GUILESS(TestOpenClNetwork)

} // namespace tst_opencl_network

#include "tst_opencl_network.moc"
