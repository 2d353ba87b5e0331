#include "core/target/detect.h"

#include "core/runtime/processors.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

namespace lathe {
namespace {

constexpr std::int64_t kKiB = 1024;

std::string firstLine(const std::filesystem::path& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// "48K", "2048K", "1M", "64"; -1 if it is none of these.
std::int64_t sizeValue(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0)
        return -1;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (unit.empty())
        return value;
    if (unit == "K")
        return value * kKiB;
    if (unit == "M")
        return value * kKiB * kKiB;
    return -1;
}

/// The first processor's entries of /proc/cpuinfo, "flags" -> "fpu vme ...", and how many processors it lists.
struct CpuInfo
{
    std::map<std::string, std::string, std::less<>> first;
    std::set<std::pair<std::string, std::string>> physicalCores;

    bool has(std::string_view flag) const
    {
        for (const char* key : {"flags", "Features"}) {
            const auto found = first.find(key);
            if (found == first.end())
                continue;
            std::istringstream words(found->second);
            for (std::string word; words >> word;)
                if (word == flag)
                    return true;
        }
        return false;
    }
};

CpuInfo readCpuInfo(const std::filesystem::path& root)
{
    CpuInfo info;
    std::ifstream file(root / "proc/cpuinfo");
    std::string package, core;
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos)
            continue;
        std::string key = line.substr(0, colon);
        key.erase(key.find_last_not_of(" \t") + 1);
        std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
        if (key == "physical id")
            package = value;
        if (key == "core id") {
            core = value;
            info.physicalCores.emplace(package, core);
        }
        info.first.emplace(std::move(key), std::move(value));
    }
    return info;
}

class Detection
{
public:
    explicit Detection(const std::filesystem::path& root)
        : m_root(root)
        , m_info(readCpuInfo(root))
    {
    }

    Hardware run()
    {
        vectors();
        caches();
        cores();
        return std::move(m_hardware);
    }

private:
    void detected(const char* name, std::int64_t value) { m_hardware.limits[name] = {value, "detected"}; }
    void preset(const char* name, std::int64_t value)
    {
        m_hardware.limits.emplace(name, Hardware::Limit{value, "preset cpu"});
    }

    void vectors()
    {
        if (m_info.has("avx512f") && m_info.has("avx512vl") && m_info.has("avx512dq")) {
            detected("vector_unit_bytes", 64);
            detected("vector_registers", 32);
        } else if (m_info.has("avx2") && m_info.has("fma")) {
            detected("vector_unit_bytes", 32);
            detected("vector_registers", 16);
        } else if (m_info.has("asimd")) {
            detected("vector_unit_bytes", 16);
            detected("vector_registers", 32);
        } else if (m_info.has("sse2") || m_info.has("neon")) {
            detected("vector_unit_bytes", 16);
            detected("vector_registers", 16);
        }
        preset("vector_unit_bytes", 16);
        preset("vector_registers", 16);
        // Two is what all server and desktop cores of this decade start in a cycle; the kernel does not tell.
        preset("fma_per_cycle", m_info.has("fma") || m_info.has("asimd") ? 2 : 1);
    }

    void caches()
    {
        for (int index = 0; index < 8; ++index) {
            const std::filesystem::path entry = m_root / "sys/devices/system/cpu/cpu0/cache"
                                                / ("index" + std::to_string(index));
            const std::string level = firstLine(entry / "level"), type = firstLine(entry / "type");
            const std::int64_t bytes = sizeValue(firstLine(entry / "size"));
            if (bytes <= 0 || type == "Instruction")
                continue;
            if (level == "1") {
                detected("l1d_bytes", bytes);
                if (const std::int64_t line = sizeValue(firstLine(entry / "coherency_line_size")); line > 0)
                    detected("cache_line_bytes", line);
            } else if (level == "2") {
                detected("l2_bytes", bytes);
            } else if (level == "3") {
                detected("l3_bytes", bytes);
            }
        }
        preset("cache_line_bytes", 64);
        preset("l1d_bytes", 32 * kKiB);
        preset("l2_bytes", 512 * kKiB);
        preset("l3_bytes", 0);
    }

    void cores()
    {
        if (!m_info.physicalCores.empty())
            detected("physical_cores", static_cast<std::int64_t>(m_info.physicalCores.size()));
        const auto clock = m_info.first.find("cpu MHz");
        if (clock != m_info.first.end())
            if (const std::int64_t mhz = std::atoll(clock->second.c_str()); mhz > 0)
                detected("clock_mhz", mhz);
        preset("clock_mhz", 2500);
    }

    std::filesystem::path m_root;
    CpuInfo m_info;
    Hardware m_hardware;
};

} // namespace

Hardware detectHardware(const std::filesystem::path& root)
{
    return Detection(root).run();
}

unsigned availableThreads(const std::filesystem::path& root)
{
    return runtime::processorCount(root == "/" ? "" : root.c_str());
}

} // namespace lathe
