#include "tests/app/device_network.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

namespace tst_without_llvm {

using namespace lathe;

namespace {

const QString kTarget = QStringLiteral("cuda -arch=sm_80");

} // namespace

/// What packaging/bundle carries to a machine with an NVIDIA GPU: the processor's back end, which links libraries
/// elsewhere, is not there.
class TestWithoutLlvm : public QObject
{
    Q_OBJECT

    test::DeviceNetwork m_network;
    using Output = test::CliOutput;
    Output cli(const QStringList& words) const { return m_network.cli(words); }

private slots:
    void initTestCase()
    {
        const QString plugins = QCoreApplication::applicationDirPath() + "/../lib/lathe/plugins/";
        QVERIFY(QFile::exists(plugins + "cuda_codegen.so") && !QFile::exists(plugins + "cpu_codegen.so"));
        test::findCudaDriver();
        qunsetenv("LATHE_CUDA_DEVICE");
        qunsetenv("LATHE_LINKER");
        std::string missing = test::whyNoCompiler();
        const Output devices = cli({"devices", "--json"});
        QVERIFY2(devices.code == 0, devices.err);
        bool isThere = false;
        for (const QJsonValue& device : QJsonDocument::fromJson(devices.out).array())
            isThere = isThere
                      || (device.toObject()["key"].toString() == "cuda0"
                          && device.toObject()["state"].toString() == "ready");
        if (missing.empty() && !isThere)
            missing = "no NVIDIA GPU is here";
        if (!missing.empty()) {
            QVERIFY2(!test::isCudaDemanded(), missing.c_str());
            QSKIP(missing.c_str());
        }
    }

    void aNetworkIsExportedAndCompared()
    {
        const Output compiled = cli(
            {"compile", "zoo:mlp", "--allow-default", "--target", kTarget, "-o", "net.so", "--no-bench", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const QJsonObject report = test::DeviceNetwork::object(compiled.out);
        QVERIFY2(report["max_rel_error"].toDouble(1) < 1e-4, compiled.out);
        const Output verified = cli({"verify", "net.so"});
        QVERIFY2(verified.code == 0, verified.err);
    }

    void theLibraryNeedsTheCLibraryAlone() { m_network.theLibraryNeedsTheCLibraryAlone(); }

    void aProgramRunsIt()
    {
        QVERIFY(m_network.makeProgram());
        const Output ran = m_network.runProgram({"cuda0"});
        QVERIFY2(ran.code == 0 && ran.out.startsWith(kTarget.toUtf8() + '\n'), ran.err + ran.out);
    }

    void aLibraryForAnotherMachineIsLinked() { m_network.aLibraryForAnotherMachineIsLinked(kTarget); }

    void withoutALinkerOneSentenceSaysWhatToInstall()
    {
        qputenv("LATHE_LINKER", "no-linker-of-this-name");
        const Output refused = cli({"compile", "zoo:mlp", "--allow-default", "--target", kTarget, "-o", "none.so"});
        qunsetenv("LATHE_LINKER");
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("no linker was found: install the package binutils or lld-19, or set "
                                      "LATHE_LINKER to the file of a linker"),
                 refused.err);
        QVERIFY(!QFile::exists(m_network.path("none.so")));
    }
};

LATHE_TEST_GUILESS(TestWithoutLlvm)

} // namespace tst_without_llvm

#include "tst_without_llvm.moc"
