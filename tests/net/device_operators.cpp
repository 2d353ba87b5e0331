#include "tests/net/device_operators.h"

#include "core/backend/kernel_info.h"
#include "tests/net/expectation.h"
#include "tests/net/operator_table.h"
#include "tests/support/must.h"

#include <QtGlobal>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace lathe::net {
namespace {

/// Has the device take a kernel, and runs it there.
Result<> runOn(const DeviceOperators& on, serve::Device& device, const schedule::LoweredKernel& kernel,
               const std::vector<std::span<std::byte>>& parameters)
{
    KernelInfo info = backend::kernelInfo(kernel);
    LATHE_TRY_ASSIGN(const serve::DeviceModule module, on.load(device, kernel, info));
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

/// The cases that default schedules are asked for: all of them, or the first one in each type, in so many at most.
std::vector<OperatorCase> chosenCases(const graph::OpDef& entry, std::size_t mostTypes)
{
    std::vector<OperatorCase> cases = casesOf(entry);
    std::erase_if(cases, [](const OperatorCase& of) {
        return std::ranges::find(of.schedules, Schedule::Default) == of.schedules.end();
    });
    if (isEveryCaseAsked())
        return cases;
    std::set<DType> types;
    std::erase_if(cases, [&](const OperatorCase& of) { return !types.insert(of.dtype).second; });
    if (mostTypes == 0 || cases.size() <= mostTypes)
        return cases;
    // Float32, or the first one where an operator has no numbers; the others from one on that its name says, so that no
    // type is left out.
    const auto first = std::ranges::find(cases, DType::F32, &OperatorCase::dtype);
    if (first != cases.end())
        std::iter_swap(cases.begin(), first);
    const std::string_view name = entry.name;
    const std::size_t sum = std::accumulate(name.begin(), name.end(), std::size_t{0},
                                            [](std::size_t a, char c) { return a + static_cast<unsigned char>(c); });
    const auto others = static_cast<std::ptrdiff_t>(sum % (cases.size() - 1));
    std::rotate(cases.begin() + 1, cases.begin() + 1 + others, cases.end());
    cases.resize(mostTypes);
    return cases;
}

} // namespace

bool isEveryCaseAsked()
{
    return qEnvironmentVariableIntValue("LATHE_TEST_EVERY_CASE") != 0;
}

Findings findingsOnDevice(const graph::OpDef& entry, const DeviceOperators& on)
{
    Findings findings;
    if (entry.function || entry.traits.control != graph::Control::None) {
        findings.byFunction = true;
        return findings;
    }
    const auto device = test::must(on.open());
    const KernelRun::LaunchRunner runner = [&](const schedule::LoweredKernel& kernel,
                                               const std::vector<std::span<std::byte>>& parameters) {
        return runOn(on, *device, kernel, parameters);
    };
    for (const OperatorCase& of : chosenCases(entry, on.mostTypes)) {
        const auto kernels = KernelRun::ofOperator(of.graph, on.target);
        if (!kernels) {
            findings.add(fmt::format("{}: {}", of.name, kernels.error().message));
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
        const auto got = kernels->runLaunches(inputs, options, runner);
        if (!got) {
            const auto lacking = std::ranges::find_if(on.lackingTypes, [&](const std::string& part) {
                return got.error().message.find(part) != std::string::npos;
            });
            if (lacking != on.lackingTypes.end()) {
                ++findings.refused;
                findings.refusals.insert(*lacking);
                continue;
            }
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

std::string summary(const std::vector<Findings>& findings)
{
    std::size_t runs = 0, refused = 0;
    std::set<std::string> why;
    for (const Findings& each : findings) {
        runs += each.kernels;
        refused += each.refused;
        why.insert(each.refusals.begin(), each.refusals.end());
    }
    std::string text = fmt::format("{} runs", runs);
    if (refused > 0)
        text += fmt::format("; {} in types that the device does not have ({})", refused, fmt::join(why, ", "));
    return text;
}

} // namespace lathe::net
