#include "tests/app/device_network.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

namespace tst_opencl_network {

using namespace lathe;

/// Networks on an OpenCL device, from the command line to the library that is left: on PoCL, where nothing else is.
class TestOpenClNetwork : public QObject
{
    Q_OBJECT

    test::DeviceNetwork m_network;
    QList<QJsonObject> m_devices; ///< in the order of their keys
    using Output = test::CliOutput;
    Output cli(const QStringList& words) const { return m_network.cli(words); }
    static QJsonObject object(const QByteArray& json) { return test::DeviceNetwork::object(json); }

private slots:
    void initTestCase()
    {
        qputenv("POCL_DEVICES", "pthread basic"); // two unequal devices
        qputenv("XDG_CACHE_HOME", m_network.path("cache").toUtf8()); // where libraries keep what they compile
        const Output devices = cli({"devices", "--json"});
        QVERIFY2(devices.code == 0, devices.err);
        for (const QJsonValue& device : QJsonDocument::fromJson(devices.out).array())
            if (device.toObject()["kind"].toString() == "opencl" && device.toObject()["state"].toString() == "ready")
                m_devices.append(device.toObject());
        if (m_devices.isEmpty())
            QSKIP("no OpenCL device is here");
    }

    void networksComputeWhatOnnxRuntimeComputes_data() { test::DeviceNetwork::addReferences(); }
    void networksComputeWhatOnnxRuntimeComputes()
    {
        QFETCH(QByteArray, name);
        const Output verified = m_network.verifyWithReference(name, "opencl");
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

    void theLibraryNeedsTheCLibraryAlone() { m_network.theLibraryNeedsTheCLibraryAlone(); }

    void aProgramRunsItOnTheDeviceItNames()
    {
        QVERIFY(m_network.makeProgram());
        const Output usual = m_network.runProgram({});
        QVERIFY2(usual.code == 0, usual.err);
        QVERIFY2(usual.out.startsWith("opencl\n"), usual.out);
        const Output named = m_network.runProgram({"cl0"});
        QVERIFY2(named.code == 0, named.err);
        QCOMPARE(named.out.split('\n')[2], usual.out.split('\n')[2]);
        const Output none = m_network.runProgram({"cl99"});
        QCOMPARE(none.code, 1);
        QVERIFY2(none.err.contains("cl99") && none.err.count('\n') == 1, none.err);
    }

    void withoutADeviceOneSentenceSaysSo()
    {
        const Output without = m_network.runProgram({}, {"OCL_ICD_VENDORS=/nowhere"});
        QCOMPARE(without.code, 1);
        QVERIFY2(without.err.startsWith("no device for \"opencl\" is here: ") && without.err.count('\n') == 1,
                 without.err);
    }

    void nothingIsBegunWithoutADevice()
    {
        const QByteArray usual = qgetenv("OCL_ICD_VENDORS");
        qputenv("OCL_ICD_VENDORS", "/nowhere");
        const auto restore = qScopeGuard([&] {
            if (usual.isEmpty())
                qunsetenv("OCL_ICD_VENDORS");
            else
                qputenv("OCL_ICD_VENDORS", usual);
        });
        m_network.nothingIsBegunWithoutADevice("opencl", "no OpenCL device was found: ");
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
        QVERIFY(m_network.makeProgram());
        const Output device = m_network.runProgram({});
        QVERIFY2(device.code == 0 && device.out.startsWith("opencl\n"), device.err + device.out);
        const Output processor = m_network.runProgram({}, {"OCL_ICD_VENDORS=/nowhere"});
        QVERIFY2(processor.code == 0 && processor.out.startsWith("cpu\n\n"), processor.err + processor.out);
        QCOMPARE(processor.out.split('\n')[2], device.out.split('\n')[2]);
        const Output asked = cli({"bench", "net.so", "--repeat", "3", "--json", "--device", "cpu"});
        QVERIFY2(asked.code == 0, asked.err);
        QCOMPARE(object(asked.out)["variant"].toString(), QStringLiteral("cpu"));
    }

    /// Source alone: nothing here runs on that machine's device.
    void aLibraryForAnotherMachineIsLinked() { m_network.aLibraryForAnotherMachineIsLinked("opencl -device=mali"); }
};

LATHE_TEST_GUILESS(TestOpenClNetwork)

} // namespace tst_opencl_network

#include "tst_opencl_network.moc"
