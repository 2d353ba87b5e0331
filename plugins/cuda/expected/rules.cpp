#include "core/backend/rules.h"

#include "core/backend/codegen.h"
#include "core/runtime/nvidia_core.h"
#include "core/target/presets.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/expected/gpu_choice.h"

namespace lathe::cuda {
namespace {

/// A GPU that nobody asks: what runs on it would be made as for "cuda -arch=...", and libraries are.
BackendTraits traitsOf(const Target& target)
{
    BackendTraits traits;
    traits.family = "gpu";
    traits.form = KernelForm::Launches;
    traits.clock = CostClock::Model;
    traits.libraries = true;
    traits.standsFor = "cuda -arch=" + architectureName(gpuOf(target).capability);
    return traits;
}

/// What the driver of such a GPU would tell (device/device_facts.cpp), and the same names.
Hardware presetsOf(const Target& target)
{
    const GpuFacts& gpu = gpuOf(target);
    Hardware hardware = gpuPresets("cuda");
    const auto put = [&](const char* name, double value) {
        hardware.limits[name] = {static_cast<std::int64_t>(value), "preset " + std::string(gpu.name)};
    };
    constexpr double kMostThreads = 1024, kWarp = 32;
    put("num_cores", gpu.sms);
    put("clock_mhz", gpu.boostHz / 1e6);
    put("l2_bytes", static_cast<double>(gpu.cacheBytes));
    put("max_shared_memory_per_block", static_cast<double>(gpu.maxBlockSharedBytes));
    put("max_threads_per_block", kMostThreads);
    put("warp_size", kWarp);
    put("shuffle_width", kWarp);
    put("max_vthread_extent", kWarp / 4); // what the reference takes of a warp
    put("compute_capability", gpu.capability);
    put("threads_per_core", gpu.maxThreads);
    put("blocks_per_core", gpu.maxBlocks);
    put("registers_per_core", gpu.registers);
    put("registers_per_thread", static_cast<double>(runtime::kNvidiaThreadRegisters));
    put("shared_memory_per_core", static_cast<double>(gpu.sharedBytes));
    put("lanes_per_core", gpu.floatLanes);
    put("memory_bytes_per_cycle", gpu.memoryBytesPerSecond / gpu.boostHz);
    put("cache_bytes_per_cycle", gpu.cacheBytesPerCycle);
    for (const Feature& feature : kFeatures)
        put(feature.name, gpu.capability >= feature.since ? 1 : 0);
    return hardware;
}

void describe(backend::BackendRules& rules)
{
    rules.kind.name = "expected";
    std::vector<std::string> keys;
    for (const GpuFacts& gpu : knownGpus()) {
        keys.emplace_back(gpu.key);
        rules.kind.offered.push_back(
            {"expected -gpu=" + std::string(gpu.key), std::string(gpu.name) + ", expected", {}});
    }
    rules.kind.words = {choiceWord("gpu", keys)};
    rules.kind.traits = traitsOf;
    rules.kind.presets = presetsOf;
    rules.kind.listings = {
        {"source", "CUDA C++", "c"}, {"sass", "SASS", "text"}, {"expected", "Expected times", "text"}};
}

} // namespace
} // namespace lathe::cuda

extern "C" __attribute__((visibility("default"))) const lathe::backend::RulesPlugin* lathe_backend_rules()
{
    static const lathe::backend::RulesPlugin plugin{lathe::backend::buildId(), "expected", lathe::cuda::describe};
    return &plugin;
}
