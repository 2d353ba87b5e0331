#include "core/backend/rules.h"

#include "core/backend/codegen.h"
#include "core/target/presets.h"

namespace lathe::opencl {
namespace {

/// Without -device a device's own limits hold as soon as it is opened. With it those of the named kind do, so that what
/// runs within them is found on any device.
BackendTraits traitsOf(const Target& target)
{
    const std::string device = target.attribute("device").value_or("");
    BackendTraits traits;
    traits.family = device == "mali" ? "mali" : "gpu";
    traits.form = KernelForm::Launches;
    traits.clock = CostClock::Device;
    const std::string host = target.attribute("host").value_or("");
    traits.machine = host.empty() ? thisMachine() : host.substr(0, host.find('-'));
    traits.runsHere = traits.machine == thisMachine();
    traits.libraries = true;
    traits.linker = host.empty() ? "cpu" : "cpu -mtriple=" + host;
    traits.takesDeviceFigures = device.empty();
    return traits;
}

/// The reference's limits where it has some; of Intel's and AMD's GPUs those that all have which OpenCL's drivers still
/// serve: 64 KiB of local memory, work-groups of 256.
Hardware presetsOf(const Target& target)
{
    const std::string device = target.attribute("device").value_or("opencl");
    Hardware hardware = gpuPresets(device);
    if (device != "intel" && device != "amd")
        return hardware;
    for (auto& [name, limit] : hardware.limits)
        limit.origin = "preset " + device;
    hardware.limits["max_shared_memory_per_block"].value = 65536;
    hardware.limits["warp_size"].value = device == "intel" ? 16 : 32;
    return hardware;
}

void describe(backend::BackendRules& rules)
{
    rules.kind.name = "opencl";
    rules.kind.devices = "OpenCL devices";
    rules.kind.words = {choiceWord("device", {"adreno", "amd", "intel", "mali"}), {"host", {}}};
    rules.kind.offered = {{"opencl", "OpenCL device", "OpenCL device: {device}"}};
    rules.kind.traits = traitsOf;
    rules.kind.presets = presetsOf;
    rules.kind.listings = {{"source", "OpenCL C", "c"}};
}

} // namespace
} // namespace lathe::opencl

extern "C" __attribute__((visibility("default"))) const lathe::backend::RulesPlugin* lathe_backend_rules()
{
    static const lathe::backend::RulesPlugin plugin{lathe::backend::buildId(), "opencl", lathe::opencl::describe};
    return &plugin;
}
