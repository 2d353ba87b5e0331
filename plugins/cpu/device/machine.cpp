#include "plugins/cpu/device/machine.h"

#include "core/runtime/clock.h"
#include "core/runtime/control_kernel.h"
#include "core/runtime/processors.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace lathe::cpu {

namespace {

using nlohmann::json;

std::string processorName()
{
    std::ifstream info("/proc/cpuinfo");
    std::string line;
    while (std::getline(info, line))
        if (line.starts_with("model name")) {
            const auto colon = line.find(": ");
            return colon == std::string::npos ? std::string("processor") : line.substr(colon + 2);
        }
    return "processor";
}

int vectorBytes()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return 64;
    return __builtin_cpu_supports("avx2") ? 32 : 16;
#else
    return 16;
#endif
}

/// Of the control kernel, ns: the least of three.
std::uint64_t calibrate()
{
    std::uint64_t best = UINT64_MAX;
    for (int round = 0; round < 3; ++round) {
        const std::uint64_t start = runtime::nowNanoseconds();
        runtime::controlKernel();
        best = std::min(best, runtime::nowNanoseconds() - start);
    }
    return best;
}

bool readNumber(const char* path, double& value)
{
    std::ifstream file(path);
    return static_cast<bool>(file >> value);
}

} // namespace

std::int64_t cacheBytes(int level)
{
    // The kernel's figure is of one cache. That of sysconf comes from the processor and may be of all packages'
    // together: 384 MiB on a guest whose cores share 32.
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
    for (int index = 0; index < 8; ++index) {
        std::string type;
        double found = 0, kib = 0;
        std::ifstream(folder + std::to_string(index) + "/type") >> type;
        if (type != "Instruction" && readNumber((folder + std::to_string(index) + "/level").c_str(), found)
            && static_cast<int>(found) == level && readNumber((folder + std::to_string(index) + "/size").c_str(), kib)
            && kib > 0)
            return static_cast<std::int64_t>(kib) * 1024; // "32768K"
    }
    const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    return std::max<std::int64_t>(0, ::sysconf(names[level - 1]));
}

const char* describeMachine()
{
    static const std::string text = [] {
        const auto limit = [](std::int64_t value) { return json{{"value", value}, {"origin", "detected"}}; };
        json hardware;
        hardware["num_cores"] = limit(runtime::processorCount());
        hardware["vector_unit_bytes"] = limit(vectorBytes());
        const auto detected = [&](const char* name, std::int64_t value) {
            if (value > 0)
                hardware[name] = limit(value);
        };
        detected("cache_line_bytes", ::sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
        detected("l1d_bytes", cacheBytes(1));
        detected("l2_bytes", cacheBytes(2));
        detected("l3_bytes", cacheBytes(3));
        return json::array({{{"key", "cpu"}, {"name", processorName()}, {"hardware", std::move(hardware)}}}).dump();
    }();
    return text.c_str();
}

std::string machineHealth(std::uint32_t threads)
{
    json health = {{"clock", "wall"}, {"threads", threads}, {"calibration_ns", calibrate()}};
    double value = 0;
    if (double load[1]; ::getloadavg(load, 1) == 1)
        health["load"] = load[0];
    if (readNumber("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", value))
        health["mhz"] = value / 1000;
    if (readNumber("/sys/class/thermal/thermal_zone0/temp", value))
        health["celsius"] = value / 1000;
    return health.dump();
}

} // namespace lathe::cpu
