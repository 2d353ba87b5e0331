#include "plugins/opencl/device/device_list.h"

#include "core/runtime/array.h"
#include "core/runtime/nvidia_core.h"
#include "plugins/opencl/device/private_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace lathe::opencl {
namespace {

using nlohmann::json;

/// What NVIDIA's driver does not tell of a core.
void putCore(const DeviceFacts& facts, json& hardware)
{
    constexpr double kCacheBeforeMemory = 3; // as fast, as a rule
    const runtime::NvidiaCore* const core = runtime::findNvidiaCore(facts.capability);
    if (core == nullptr)
        return;
    const std::string origin = "compute capability " + std::to_string(facts.capability / 10) + '.'
                               + std::to_string(facts.capability % 10);
    const auto put = [&](const char* name, std::uint64_t value) {
        hardware[name] = {{"value", value}, {"origin", origin}};
    };
    const double memory = core->memoryBytesPerCycle * static_cast<double>(facts.units);
    put("lanes_per_core", core->lanes);
    put("threads_per_core", core->threads);
    put("blocks_per_core", core->blocks);
    put("registers_per_core", runtime::kNvidiaRegisters);
    put("registers_per_thread", runtime::kNvidiaThreadRegisters);
    put("shared_memory_per_core", core->sharedBytes);
    put("memory_bytes_per_cycle", static_cast<std::uint64_t>(memory));
    put("cache_bytes_per_cycle", static_cast<std::uint64_t>(memory * kCacheBeforeMemory));
}

json hardwareOf(const DeviceFacts& facts)
{
    json hardware = json::object();
    const auto put = [&hardware](const char* name, std::uint64_t value) {
        if (value > 0)
            hardware[name] = {{"value", value}, {"origin", "OpenCL driver"}};
    };
    put("num_cores", facts.units);
    put("clock_mhz", facts.clockMhz);
    put("global_memory_bytes", facts.memoryBytes);
    put("max_buffer_bytes", facts.largestBuffer);
    put("max_shared_memory_per_block", facts.localBytes);
    put("max_threads_per_block", facts.mostThreads);
    put("cache_line_bytes", facts.cacheLineBytes);
    put("warp_size", facts.subgroup);
    put("shuffle_width", facts.shuffleWidth);
    put("simd_width", facts.simdWidth);
    // The language sets no limit. What the reference takes of a warp, and as many as leave a processor's vector
    // registers for sums along two axes.
    put("max_vthread_extent", std::max(facts.subgroup / 4, facts.simdWidth / 2));
    putCore(facts, hardware);
    return hardware;
}

/// PoCL's cache grows without end, and no kernel comes twice. But without it a program's folder is removed when the
/// program is released, and the folder's name is in the program's binary: two processes that use one binary would
/// remove each other's, which ends them. So each has a place of its own for all of that. Whoever says otherwise in the
/// environment is obeyed; what a parent process had for itself does not count.
bool prepareEnvironment()
{
    ::setenv("POCL_KERNEL_CACHE", "0", 0);
    const char* const given = std::getenv("POCL_CACHE_DIR");
    if (std::strcmp(std::getenv("POCL_KERNEL_CACHE"), "0") != 0 || (given != nullptr && !isPrivateFolder(given)))
        return true;
    if (const char* const folder = privateFolder(); folder[0] != '\0')
        ::setenv("POCL_CACHE_DIR", folder, 1);
    return true;
}

} // namespace

const Driver* findDriver(std::string& problem)
{
    static const bool isPrepared = prepareEnvironment();
    static_cast<void>(isPrepared);
    const char* missing = "";
    const Driver* const driver = openDriver(missing);
    problem = missing;
    return driver;
}

std::vector<DeviceFacts> listDevices(const Driver& driver, std::string& problem)
{
    std::size_t count = 0;
    DeviceFacts* const first = readDevices(driver, count);
    std::vector<DeviceFacts> devices(first, first + count);
    runtime::freeArray(first, count);
    problem = devices.empty() ? kNoDevices : "";
    return devices;
}

std::string devicesText()
{
    std::string problem;
    json list = json::array();
    if (const Driver* const driver = findDriver(problem))
        for (const DeviceFacts& facts : listDevices(*driver, problem))
            list.push_back({{"key", facts.key},
                            {"name", facts.name},
                            {"platform", facts.platformName},
                            {"version", facts.version},
                            {"driver", facts.driver},
                            {"shares_cores", facts.isProcessor},
                            {"hardware", hardwareOf(facts)}});
    if (!problem.empty())
        list.push_back({{"name", "OpenCL devices"}, {"error", problem}});
    return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace lathe::opencl
