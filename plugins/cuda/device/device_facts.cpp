#include "plugins/cuda/device/device_facts.h"

#include "core/runtime/nvidia_core.h"
#include "plugins/cuda/device/architecture.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>

namespace lathe::cuda {
namespace {

using nlohmann::json;

std::string uuidText(const Uuid& uuid)
{
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += digits;
    }
    return text;
}

DeviceFacts readFacts(const Driver& driver, DeviceNumber device)
{
    DeviceFacts facts;
    static_cast<LaunchLimits&>(facts) = readLaunchLimits(driver, device);
    facts.device = device;
    char name[256] = "";
    if (driver.deviceGetName(name, sizeof name - 1, device) == kSuccess)
        facts.name = name;
    Uuid uuid = {};
    if (driver.deviceGetUuid != nullptr && driver.deviceGetUuid(&uuid, device) == kSuccess)
        facts.uuid = uuidText(uuid);
    std::size_t bytes = 0;
    if (driver.deviceTotalMem(&bytes, device) == kSuccess)
        facts.memoryBytes = bytes;
    const auto get = [&](int attribute) { return attributeOf(driver, device, attribute); };
    facts.capability = static_cast<int>(10 * get(kCapabilityMajor) + get(kCapabilityMinor));
    facts.processors = get(kProcessors);
    facts.clockKhz = get(kClockKhz);
    facts.memoryClockKhz = get(kMemoryClockKhz);
    facts.memoryBusBits = get(kMemoryBusBits);
    facts.cacheBytes = get(kCacheBytes);
    facts.warp = get(kWarp);
    facts.threadsOfProcessor = get(kThreadsOfProcessor);
    facts.blocksOfProcessor = get(kBlocksOfProcessor);
    facts.registersOfProcessor = get(kRegistersOfProcessor);
    facts.sharedOfProcessor = get(kSharedOfProcessor);
    facts.hasRunLimit = get(kHasRunLimit) != 0;
    return facts;
}

/// What the driver tells, and what is known of a core of this capability beside it.
json hardwareOf(const DeviceFacts& facts)
{
    constexpr double kCacheBeforeMemory = 3; // as fast, as a rule
    json hardware = json::object();
    const auto put = [&hardware](const char* name, std::uint64_t value, const std::string& origin) {
        if (value > 0)
            hardware[name] = {{"value", value}, {"origin", origin}};
    };
    const std::string driver = "CUDA driver";
    put("num_cores", facts.processors, driver);
    put("clock_mhz", facts.clockKhz / 1000, driver);
    put("global_memory_bytes", facts.memoryBytes, driver);
    put("l2_bytes", facts.cacheBytes, driver);
    put("max_shared_memory_per_block", facts.sharedBytes, driver);
    put("max_threads_per_block", facts.mostThreads, driver);
    put("warp_size", facts.warp, driver);
    put("shuffle_width", facts.warp, driver);
    put("max_vthread_extent", facts.warp / 4, driver); // what the reference takes of a warp
    put("compute_capability", static_cast<std::uint64_t>(facts.capability), driver);
    put("threads_per_core", facts.threadsOfProcessor, driver);
    put("blocks_per_core", facts.blocksOfProcessor, driver);
    put("registers_per_core", facts.registersOfProcessor, driver);
    put("shared_memory_per_core", facts.sharedOfProcessor, driver);
    const std::string capability = "compute capability " + capabilityText(facts.capability);
    for (const Feature& feature : kFeatures)
        hardware[feature.name] = {{"value", facts.capability >= feature.since ? 1 : 0}, {"origin", capability}};
    put("registers_per_thread", runtime::kNvidiaThreadRegisters, capability);
    const runtime::NvidiaCore* const core = runtime::findNvidiaCore(static_cast<std::uint64_t>(facts.capability));
    if (core != nullptr)
        put("lanes_per_core", core->lanes, capability);
    // Memory answers twice in a cycle of its own clock.
    double memory = facts.clockKhz == 0
                        ? 0
                        : 2.0 * static_cast<double>(facts.memoryClockKhz) * static_cast<double>(facts.memoryBusBits) / 8
                              / static_cast<double>(facts.clockKhz);
    const bool isTold = memory > 0;
    if (!isTold && core != nullptr)
        memory = core->memoryBytesPerCycle * static_cast<double>(facts.processors);
    put("memory_bytes_per_cycle", static_cast<std::uint64_t>(memory), isTold ? driver : capability);
    put("cache_bytes_per_cycle", static_cast<std::uint64_t>(memory * kCacheBeforeMemory), capability);
    return hardware;
}

} // namespace

std::vector<DeviceFacts> listDevices(const Driver& driver, std::string& problem)
{
    std::vector<DeviceFacts> devices;
    int count = 0;
    const int code = driver.deviceGetCount(&count);
    for (int ordinal = 0; code == kSuccess && ordinal < count; ++ordinal) {
        DeviceNumber device = 0;
        if (driver.deviceGet(&device, ordinal) != kSuccess)
            continue;
        devices.push_back(readFacts(driver, device));
        devices.back().key = "cuda" + std::to_string(ordinal);
    }
    problem.clear();
    if (code != kSuccess)
        problem = "the NVIDIA driver lists no devices: " + errorText(driver, code);
    else if (devices.empty())
        problem = "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those that it does not name)";
    return devices;
}

std::string devicesText()
{
    std::string problem;
    json list = json::array();
    if (const Driver* const driver = openDriver(problem))
        for (const DeviceFacts& facts : listDevices(*driver, problem)) {
            list.push_back({{"key", facts.key},
                            {"name", facts.name},
                            {"driver", "CUDA " + versionText(driver->version)},
                            {"architecture", architectureName(facts.capability)},
                            {"shares_cores", driver->isOnProcessor},
                            {"hardware", hardwareOf(facts)}});
            if (driver->isOnProcessor)
                list.back()["clock"] = "model";
        }
    if (!problem.empty())
        list.push_back({{"name", "NVIDIA GPUs (CUDA)"}, {"error", problem}});
    return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string whyNotStarted(const DeviceFacts& device, const std::string& kernel, const std::uint64_t (&grid)[3],
                          const std::uint64_t (&block)[3], std::uint64_t sharedBytes)
{
    runtime::ErrorText why;
    return canStart(device, kernel.c_str(), grid, block, sharedBytes, why) ? std::string() : why.text;
}

} // namespace lathe::cuda
