#include "core/backend/rules.h"

#include "core/backend/codegen.h"
#include "core/target/presets.h"
#include "plugins/cuda/device/architecture.h"

namespace lathe::cuda {
namespace {

/// -arch says for what code is made; the limits are those of the device that is measured on, whatever it says.
BackendTraits traitsOf(const Target& target)
{
    BackendTraits traits;
    traits.family = "gpu";
    traits.form = KernelForm::Launches;
    traits.clock = CostClock::Device;
    const std::string host = target.attribute("host").value_or("");
    traits.machine = host.empty() ? thisMachine() : host.substr(0, host.find('-'));
    traits.runsHere = traits.machine == thisMachine();
    traits.libraries = true;
    traits.linker = host.empty() ? "cpu" : "cpu -mtriple=" + host;
    traits.takesDeviceFigures = true;
    return traits;
}

/// The reference's limits, and what the architecture has.
Hardware presetsOf(const Target& target)
{
    Hardware hardware = gpuPresets("cuda");
    const std::optional<int> capability = capabilityOf(target.attribute("arch").value_or(""));
    if (!capability)
        return hardware;
    hardware.limits["compute_capability"] = {*capability, "preset " + architectureName(*capability)};
    for (const Feature& feature : kFeatures)
        hardware.limits[feature.name] = {*capability >= feature.since ? 1 : 0,
                                         "preset " + architectureName(*capability)};
    return hardware;
}

TargetWord archWord()
{
    return {"arch", [](std::string_view value) -> std::string {
                return capabilityOf(value) ? std::string()
                                           : "an architecture from " + architectureName(kFirstCapability) + " to "
                                                 + architectureName(kLastCapability);
            }};
}

void describe(backend::BackendRules& rules)
{
    rules.kind.name = "cuda";
    rules.kind.devices = "NVIDIA GPUs (CUDA)";
    rules.kind.words = {archWord(), {"host", {}}};
    rules.kind.offered = {{"cuda", "NVIDIA GPU", "NVIDIA GPU: {device}"}};
    rules.kind.traits = traitsOf;
    rules.kind.presets = presetsOf;
    rules.kind.listings = {{"source", "CUDA C++", "c"}, {"ptx", "PTX", "text"}, {"sass", "SASS", "text"}};
    rules.needs = {"compute_capability"}; // code runs on its architecture and on later ones
}

} // namespace
} // namespace lathe::cuda

extern "C" __attribute__((visibility("default"))) const lathe::backend::RulesPlugin* lathe_backend_rules()
{
    static const lathe::backend::RulesPlugin plugin{lathe::backend::buildId(), "cuda", lathe::cuda::describe};
    return &plugin;
}
