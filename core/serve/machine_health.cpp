#include "core/serve/machine_health.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace lathe::serve {

namespace {

namespace fs = std::filesystem;

std::optional<double> numberIn(const fs::path& file)
{
    std::ifstream stream(file);
    double value = 0;
    return stream >> value ? std::optional(value) : std::nullopt;
}

/// The largest of the numbers in `name` of all folders of `folder` whose names begin with `prefix`.
std::optional<double> largestIn(const fs::path& folder, const std::string& prefix, const fs::path& name)
{
    std::optional<double> largest;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (!entry.path().filename().string().starts_with(prefix))
            continue;
        if (const auto value = numberIn(entry.path() / name))
            largest = std::max(largest.value_or(*value), *value);
    }
    return largest;
}

} // namespace

nlohmann::json machineHealth(const fs::path& root)
{
    nlohmann::json health = {{"processors", std::thread::hardware_concurrency()}};
    const auto put = [&](const char* name, std::optional<double> value, double unit) {
        if (value)
            health[name] = *value / unit;
    };
    put("load", numberIn(root / "proc/loadavg"), 1);
    std::ifstream memory(root / "proc/meminfo");
    for (std::string name, rest; memory >> name; std::getline(memory, rest))
        if (double kilobytes = 0; name == "MemAvailable:" && memory >> kilobytes)
            put("memory_free_mb", kilobytes, 1024);
    put("temperature_c", largestIn(root / "sys/class/thermal", "thermal_zone", "temp"), 1e3);
    const fs::path cores = root / "sys/devices/system/cpu/cpufreq"; // a policy for cores that go together
    put("clock_mhz", largestIn(cores, "policy", "scaling_cur_freq"), 1e3);
    put("clock_most_mhz", largestIn(cores, "policy", "cpuinfo_max_freq"), 1e3);
    return health;
}

} // namespace lathe::serve
