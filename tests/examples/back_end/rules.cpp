#include "core/backend/rules.h"

#include "core/backend/codegen.h"

using namespace lathe;

namespace {

/// What the engine asks of any target instead of its name.
BackendTraits traitsOf(const Target& target)
{
    BackendTraits traits;
    traits.family = "cpu"; // whose sketches and features of the reference apply
    traits.form = KernelForm::Phases;
    traits.clock = CostClock::Wall;
    traits.sharesCores = true;
    traits.libraries = true;
    traits.takesDeviceFigures = true;
    traits.tolerance.float32 = target.attribute("weave") == "coarse" ? 1e-2 : 1e-4;
    return traits;
}

/// Before a device is opened, which tells its own.
Hardware presetsOf(const Target& target)
{
    Hardware hardware;
    hardware.limits["num_cores"] = {target.threads(), "user"};
    hardware.limits["vector_unit_bytes"] = {16, "preset loom"};
    hardware.limits["vector_registers"] = {16, "preset loom"};
    hardware.limits["cache_line_bytes"] = {64, "preset loom"};
    hardware.limits["l1d_bytes"] = {16384, "preset loom"};
    hardware.limits["l2_bytes"] = {65536, "preset loom"};
    return hardware;
}

/// Loops as they stand: a pass of the shuttle for every element.
Result<std::vector<schedule::Step>> plainWeave(const compute::DagPtr&, const std::vector<bool>&, const Target&,
                                               const Hardware&)
{
    return std::vector<schedule::Step>();
}

void describe(backend::BackendRules& rules)
{
    rules.kind.name = "loom";
    rules.kind.devices = "Looms";
    rules.kind.words = {threadsWord(), choiceWord("weave", {"fine", "coarse"})};
    rules.kind.offered = {{"loom -threads=1", "a loom"}};
    rules.kind.traits = traitsOf;
    rules.kind.presets = presetsOf;
    rules.defaultSchedule = plainWeave;
    rules.policies = {"sketch", "random"};
}

} // namespace

extern "C" __attribute__((visibility("default"))) const backend::RulesPlugin* lathe_backend_rules()
{
    static const backend::RulesPlugin plugin{backend::buildId(), "loom", describe};
    return &plugin;
}
