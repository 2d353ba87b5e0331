#include "tests/app/device_network.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

namespace tst_cuda_network {

using namespace lathe;

namespace {

const QString kTarget = QStringLiteral("cuda -arch=sm_80");

} // namespace

/// Networks on an NVIDIA GPU, from the command line to the library that is left: on the driver on the processor, where
/// no other is.
class TestCudaNetwork : public QObject
{
    Q_OBJECT

    test::DeviceNetwork m_network;
    int m_capability = 0; ///< of the first device
    using Output = test::CliOutput;
    Output cli(const QStringList& words) const { return m_network.cli(words); }
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
    static QJsonObject object(const QByteArray& json) { return test::DeviceNetwork::object(json); }

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

    void networksComputeWhatOnnxRuntimeComputes_data() { test::DeviceNetwork::addReferences(); }
    void networksComputeWhatOnnxRuntimeComputes()
    {
        QFETCH(QByteArray, name);
        const Output verified = m_network.verifyWithReference(name, kTarget);
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

    /// The architecture is that of the device that is here, named or not.
    void aLibraryForTheDeviceHereNeedsNoArchitecture()
    {
        for (const QStringList& device : {QStringList(), QStringList{"--device", "cuda0"}}) {
            const Output compiled = cli(QStringList{"compile", "zoo:mlp", "--allow-default", "--target", "cuda", "-o",
                                                    "plain.so", "--overwrite", "--json"}
                                        + device);
            QVERIFY2(compiled.code == 0, compiled.err);
            const QJsonObject variant = object(compiled.out)["variants"].toArray()[0].toObject();
            QVERIFY2(variant["max_rel_error"].toDouble(1) < 1e-4, compiled.out);
        }
    }

    void theLibraryNeedsTheCLibraryAlone() { m_network.theLibraryNeedsTheCLibraryAlone(); }

    void aProgramRunsItOnTheDeviceItNames()
    {
        QVERIFY(m_network.makeProgram());
        const Output usual = m_network.runProgram({});
        QVERIFY2(usual.code == 0, usual.err);
        QVERIFY2(usual.out.startsWith(kTarget.toUtf8() + '\n'), usual.out);
        const Output named = m_network.runProgram({"cuda0"});
        QVERIFY2(named.code == 0, named.err);
        QCOMPARE(named.out.split('\n')[2], usual.out.split('\n')[2]);
        const Output none = m_network.runProgram({"cuda99"});
        QCOMPARE(none.code, 1);
        QVERIFY2(words(none).contains("no NVIDIA GPU has the key cuda99; there are cuda0 (")
                     && words(none).count('\n') == 1,
                 none.err);
    }

    void withoutADeviceOneSentenceSaysSo()
    {
        const Output without = m_network.runProgram({}, {"LATHE_CUDA_DRIVER=/nowhere/libcuda.so.1"});
        QCOMPARE(without.code, 1);
        QVERIFY2(words(without).startsWith("no device for \"cuda -arch=sm_80\" is here: the driver that "
                                           "LATHE_CUDA_DRIVER names cannot be loaded: ")
                     && words(without).count('\n') == 1,
                 without.err);
    }

    void nothingIsBegunWithoutADevice()
    {
        const QByteArray usual = qgetenv("LATHE_CUDA_DRIVER");
        qputenv("LATHE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
        const auto restore = qScopeGuard([&] {
            if (usual.isEmpty())
                qunsetenv("LATHE_CUDA_DRIVER");
            else
                qputenv("LATHE_CUDA_DRIVER", usual);
        });
        m_network.nothingIsBegunWithoutADevice(kTarget, "the driver that LATHE_CUDA_DRIVER names cannot be loaded: ");
    }

    /// A GPU runs nothing that was made for a later one.
    void nothingIsBegunForALaterDevice()
    {
        m_network.nothingIsBegunWithoutADevice("cuda -arch=sm_121",
                                               "does not run code for cuda -arch=sm_121: its compute_capability is "
                                                   + QByteArray::number(m_capability) + ", and 121 is needed");
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
        QVERIFY(m_network.makeProgram());
        const Output device = m_network.runProgram({});
        QVERIFY2(device.code == 0 && device.out.startsWith(kTarget.toUtf8() + '\n'), device.err + device.out);
        const Output processor = m_network.runProgram({}, {"LATHE_CUDA_DRIVER=/nowhere/libcuda.so.1"});
        QVERIFY2(processor.code == 0 && processor.out.startsWith("cpu\n\n"), processor.err + processor.out);
        QCOMPARE(processor.out.split('\n')[2], device.out.split('\n')[2]);
        if (m_capability >= 90)
            QSKIP("this GPU runs that code");
        const Output other = cli({"compile", "zoo:mlp", "--allow-default", "--target", "cpu", "--target", later, "-o",
                                  "net.so", "--no-bench", "--no-verify"});
        QVERIFY2(other.code == 0, other.err);
        QVERIFY(m_network.makeProgram());
        const Output taken = m_network.runProgram({});
        QVERIFY2(taken.code == 0 && taken.out.startsWith("cpu\n\n"), taken.err + taken.out);
        QCOMPARE(taken.out.split('\n')[2], device.out.split('\n')[2]);
    }

    /// The same code, for the GPU of another machine.
    void aLibraryForAnotherMachineIsLinked() { m_network.aLibraryForAnotherMachineIsLinked(kTarget); }
};

LATHE_TEST_GUILESS(TestCudaNetwork)

} // namespace tst_cuda_network

#include "tst_cuda_network.moc"
