#include "core/backend/c_source.h"
#include "core/session/back_ends.h"
#include "tests/net/device_operators.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_every_opencl {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

/// Prints a kernel, and has the device's driver compile it.
Result<serve::DeviceModule> load(serve::Device& device, const schedule::LoweredKernel& kernel, KernelInfo& info)
{
    LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest));
    for (std::size_t i = 0; i < source.launches.size(); ++i)
        info.launches[i].symbol = source.launches[i].symbol;
    return lathe::test::load(device, info, {source.text(), {}, {}});
}

} // namespace

/// Each entry of the operator registry as printed OpenCL C of its default schedule, on hostile values, in three element
/// types (with LATHE_TEST_EVERY_CASE=1 in every one that the device has).
class TestEveryOpenCl : public QObject
{
    Q_OBJECT

private slots:
    /// By default PoCL 3.1 has LLVM 14 vectorize the loop over a group's work-items. On a processor with AVX2 and
    /// without AVX-512 `where` of int8 came out wrong in that way, and right by each of PoCL's other methods. Here the
    /// texts of operators are tested, not PoCL; the conformance suite runs by the default.
    void initTestCase()
    {
        if (qEnvironmentVariableIsEmpty("POCL_WORK_GROUP_METHOD"))
            qputenv("POCL_WORK_GROUP_METHOD", "cbs");
    }

    void isRightInEveryType_data()
    {
        if (const auto device = lathe::test::openDevice(); !device) {
            QVERIFY2(!lathe::test::isDeviceDemanded(), device.error().message.c_str());
            QSKIP(device.error().message.c_str());
        }
        DeviceOperators on;
        on.open = lathe::test::openDevice;
        on.load = load;
        // The extension that a device need not have, and what OpenCL C has no type for.
        on.lackingTypes = {"cl_khr_fp16", "cannot express bfloat16"};
        on.mostTypes = 3; // each is a run of the device's compiler
        on.target = must(session::parseTarget("cpu"));
        m_findings = findingsOfOperators([&](const graph::OpDef& entry) { return findingsOnDevice(entry, on); });
    }
    void isRightInEveryType()
    {
        QFETCH(int, index);
        const Findings& findings = m_findings[static_cast<std::size_t>(index)];
        QVERIFY2(findings.wrong == 0,
                 qPrintable(QString("%1 wrong:%2").arg(findings.wrong).arg(findings.text.c_str())));
        QVERIFY2(findings.kernels > 0 || findings.byFunction || findings.refused > 0, "nothing was run");
    }

    void cleanupTestCase() { qInfo("%s", summary(m_findings).c_str()); }

private:
    std::vector<Findings> m_findings;
};

LATHE_TEST(TestEveryOpenCl)

} // namespace tst_every_opencl

#include "tst_every_opencl.moc"
