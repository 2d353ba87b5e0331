#include "core/backend/c_source.h"
#include "core/session/back_ends.h"
#include "core/support/files.h"
#include "core/wire/artifact.h"
#include "plugins/cuda/device/artifact.h"
#include "tests/net/device_operators.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_every_cuda {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

constexpr int kCapability = 80; ///< the first that has all element types

Result<std::shared_ptr<serve::Device>> openDevice()
{
    LATHE_TRY_ASSIGN(const LatheDeviceApi* api, serve::loadDeviceApi(pluginDir(), "cuda"));
    return serve::Device::open(api, "", "");
}

/// Prints a kernel, and has NVRTC compile each of its launches by itself, as the back end does.
Result<serve::DeviceModule> load(serve::Device& device, const schedule::LoweredKernel& kernel, KernelInfo& info)
{
    LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printCuda(kernel.nest));
    LATHE_TRY_ASSIGN(const cuda::Nvrtc* const compiler, cuda::Nvrtc::find(kCapability));
    std::vector<runtime::PackedProgram> programs;
    std::set<std::string> packed; // symbols
    for (std::size_t i = 0; i < source.launches.size(); ++i) {
        const backend::SourceLaunch& launch = source.launches[i];
        info.launches[i].symbol = launch.symbol;
        if (!packed.insert(launch.symbol).second)
            continue;
        LATHE_TRY_ASSIGN(cuda::Compiled made, compiler->compile(source.head + launch.text, kCapability));
        programs.push_back({std::move(made.ptx), std::move(made.cubin), "sm_80", launch.symbol + '\n'});
    }
    ArtifactDescriptor descriptor;
    descriptor.format = cuda::kFormat;
    descriptor.target = "cuda -arch=sm_80";
    descriptor.kernels = {info};
    return device.load(runtime::pack(programs), toJson(descriptor).dump());
}

} // namespace

/// Each entry of the operator registry as printed CUDA C++ of its default schedule, on hostile values: on a GPU if
/// there is one, else on the driver that interprets PTX on the processor.
class TestEveryCuda : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        LATHE_NEEDS_NVRTC();
        lathe::test::findCudaDriver();
    }

    void isRightInEveryType_data()
    {
        if (const auto device = openDevice(); !device) {
            QVERIFY2(!lathe::test::isCudaDemanded(), device.error().message.c_str());
            QSKIP(device.error().message.c_str());
        }
        DeviceOperators on;
        on.open = openDevice;
        on.load = load;
        on.mostTypes = 2; // the compiler takes 0.05 to 0.3 s for each launch
        on.target = must(session::parseTarget("cpu")); // the same operators as for OpenCL
        m_findings = findingsOfOperators([&](const graph::OpDef& entry) { return findingsOnDevice(entry, on); });
    }
    void isRightInEveryType()
    {
        QFETCH(int, index);
        const Findings& findings = m_findings[static_cast<std::size_t>(index)];
        QVERIFY2(findings.wrong == 0,
                 qPrintable(QString("%1 wrong:%2").arg(findings.wrong).arg(findings.text.c_str())));
        QVERIFY2(findings.kernels > 0 || findings.byFunction, "nothing was run");
    }

    void cleanupTestCase() { qInfo("%s", summary(m_findings).c_str()); }

private:
    std::vector<Findings> m_findings;
};

LATHE_TEST(TestEveryCuda)

} // namespace tst_every_cuda

#include "tst_every_cuda.moc"
