#include "core/backend/c_source.h"
#include "core/backend/kernel_info.h"
#include "core/session/back_ends.h"
#include "tests/net/expectation.h"
#include "tests/net/findings.h"
#include "tests/net/kernel_run.h"
#include "tests/net/operator_table.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tst_every_opencl {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

/// Prints a kernel, has the device's driver compile it, and runs it there.
Result<> runOnDevice(serve::Device& device, const schedule::LoweredKernel& kernel,
                     const std::vector<std::span<std::byte>>& parameters)
{
    LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest));
    KernelInfo info = backend::kernelInfo(kernel);
    for (std::size_t i = 0; i < source.launches.size(); ++i)
        info.launches[i].symbol = source.launches[i].symbol;
    LATHE_TRY_ASSIGN(const serve::DeviceModule module, lathe::test::load(device, info, {source.text(), {}, {}}));
    std::vector<serve::DeviceBuffer> buffers;
    std::vector<void*> pointers;
    for (const std::span<std::byte> parameter : parameters) {
        LATHE_TRY_ASSIGN(serve::DeviceBuffer buffer, device.allocate(std::max<std::size_t>(1, parameter.size())));
        LATHE_TRY(device.copyIn(buffer, parameter));
        pointers.push_back(buffer.get());
        buffers.push_back(std::move(buffer));
    }
    const LatheLaunch launch = {module.get(), 0, pointers.data(), static_cast<std::uint32_t>(pointers.size()), 1};
    LATHE_TRY(device.run({&launch, 1}, 1, 0));
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (kernel.parameters[p].role == ArgRole::Output)
            LATHE_TRY(device.copyOut(parameters[p], buffers[p]));
    return {};
}

/// What OpenCL C has no type for, and the extension that a device need not have. Anything else is wrong.
const char* lackingType(const Error& error)
{
    for (const char* what : {"cl_khr_fp16", "cannot express bfloat16"})
        if (error.message.find(what) != std::string::npos)
            return what;
    return nullptr;
}

/// By hand, LATHE_TEST_EVERY_CASE=1: six minutes on two cores. Else the first case of each operator in each type.
bool everyCase()
{
    return qEnvironmentVariableIntValue("LATHE_TEST_EVERY_CASE") != 0;
}

Findings findingsOf(const graph::OpDef& entry, const Target& target)
{
    Findings findings;
    if (entry.function || entry.traits.control != graph::Control::None) {
        findings.byFunction = true;
        return findings;
    }
    const auto device = must(lathe::test::openDevice()); // one for each thread at least
    const KernelRun::LaunchRunner runner = [&](const schedule::LoweredKernel& kernel,
                                               const std::vector<std::span<std::byte>>& parameters) {
        return runOnDevice(*device, kernel, parameters);
    };
    std::set<DType> types;
    for (const OperatorCase& of : casesOf(entry)) {
        if (std::ranges::find(of.schedules, Schedule::Default) == of.schedules.end())
            continue;
        if (!types.insert(of.dtype).second && !everyCase())
            continue;
        const auto run = KernelRun::ofOperator(of.graph, target);
        if (!run) {
            findings.add(fmt::format("{}: {}", of.name, run.error().message));
            continue;
        }
        const std::vector<graph::HostTensor> inputs = of.inputs(Values::Hostile, 7);
        const auto expected = expect(of.graph, inputs);
        if (!expected) {
            findings.add(fmt::format("{}: {}", of.name, expected.error().message));
            continue;
        }
        schedule::LaunchScheduleOptions options;
        options.wantedThreads = 1; // as for a large tensor, with vectors and tiles
        options.simdWidth = 2;
        const auto got = run->runLaunches(inputs, options, runner);
        if (const char* const type = got ? nullptr : lackingType(got.error())) {
            ++findings.refused;
            findings.refusals.insert(type);
            continue;
        }
        ++findings.kernels;
        if (!got) {
            findings.add(fmt::format("{}: {}", of.name, got.error().message));
            continue;
        }
        for (std::size_t i = 0; i < got->size(); ++i)
            if (const std::string text = compare((*got)[i], (*expected)[i]); !text.empty())
                findings.add(fmt::format("{}: {}", of.name, text));
    }
    return findings;
}

} // namespace

/// Each entry of the operator registry as printed OpenCL C of its default schedule, in every element type that the
/// device has, on hostile values.
class TestEveryOpenCl : public QObject
{
    Q_OBJECT

private slots:
    void isRightInEveryType_data()
    {
        if (const auto device = lathe::test::openDevice(); !device) {
            QVERIFY2(!lathe::test::isDeviceDemanded(), device.error().message.c_str());
            QSKIP(device.error().message.c_str());
        }
        const Target target = must(session::parseTarget("cpu"));
        m_findings = findingsOfOperators([&](const graph::OpDef& entry) { return findingsOf(entry, target); });
    }
    void isRightInEveryType()
    {
        QFETCH(int, index);
        const Findings& findings = m_findings[static_cast<std::size_t>(index)];
        QVERIFY2(findings.wrong == 0,
                 qPrintable(QString("%1 wrong:%2").arg(findings.wrong).arg(findings.text.c_str())));
        QVERIFY2(findings.kernels > 0 || findings.byFunction || findings.refused > 0, "nothing was run");
    }

    void cleanupTestCase()
    {
        std::size_t runs = 0, refused = 0;
        std::set<std::string> why;
        for (const Findings& findings : m_findings) {
            runs += findings.kernels;
            refused += findings.refused;
            why.insert(findings.refusals.begin(), findings.refusals.end());
        }
        std::string reasons;
        for (const std::string& reason : why)
            reasons += (reasons.empty() ? "" : ", ") + reason;
        qInfo("%zu runs; %zu in types that the device does not have (%s)", runs, refused, reasons.c_str());
    }

private:
    std::vector<Findings> m_findings;
};

LATHE_TEST(TestEveryOpenCl)

} // namespace tst_every_opencl

#include "tst_every_opencl.moc"
