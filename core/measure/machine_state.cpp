#include "core/measure/machine_state.h"

#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace lathe::measure {

namespace {

constexpr double kLeastProcessorSeconds = 0.2;

double known(double value, double otherwise)
{
    return std::isfinite(value) ? value : otherwise;
}

std::optional<double> numberFrom(const std::filesystem::path& file)
{
    std::ifstream in(file);
    double value = 0;
    return in >> value ? std::optional(value) : std::nullopt;
}

/// "0-3,8": the processors of a mask.
std::set<int> processorsIn(const std::string& list)
{
    std::set<int> found;
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');) {
        int first = 0, last = 0;
        const char* const end = word.data() + word.size();
        auto read = std::from_chars(word.data(), end, first);
        if (read.ec != std::errc())
            continue;
        last = first;
        if (read.ptr != end && *read.ptr == '-')
            read = std::from_chars(read.ptr + 1, end, last);
        for (int i = first; read.ec == std::errc() && i <= last && i - first < 4096; ++i)
            found.insert(i);
    }
    return found;
}

/// The value of a line "key value" or "key: value".
std::string lineOf(const std::filesystem::path& file, std::string_view key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key))
            return line.substr(key.size());
    return {};
}

struct ProcessTimes
{
    std::int64_t parent = 0;
    double ticks = 0; ///< of it and of the children that it has waited for
};

/// "pid (name) state ppid ...": the name may hold spaces and parentheses.
std::optional<ProcessTimes> processTimes(const std::filesystem::path& file)
{
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line))
        return {};
    const auto name = line.rfind(')');
    if (name == std::string::npos)
        return {};
    std::istringstream fields(line.substr(name + 1));
    std::string state, skipped;
    ProcessTimes times;
    fields >> state >> times.parent;
    for (int i = 0; i < 9; ++i) // pgrp to cmajflt
        fields >> skipped;
    for (int i = 0; i < 4; ++i) { // utime, stime, cutime, cstime
        double ticks = 0;
        fields >> ticks;
        times.ticks += ticks;
    }
    return fields ? std::optional(times) : std::nullopt;
}

double ticksPerSecond()
{
    return static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
}

} // namespace

double MachineState::taken() const
{
    return std::isfinite(others) || std::isfinite(stolen) ? known(others, 0) + known(stolen, 0) : kUnknown;
}

MachineReader::MachineReader(std::filesystem::path root, std::int64_t process, Clock clock)
    : m_root(std::move(root))
    , m_process(process > 0 ? process : ::getpid())
    , m_clock(clock ? std::move(clock) : [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    })
{
}

MachineCounters MachineReader::read() const
{
    MachineCounters counters;
    counters.atSeconds = m_clock();
    readProcessors(counters);
    readOwn(counters);
    readClocks(counters);
    counters.heldBackSeconds = heldBackSeconds();
    counters.load = numberFrom(m_root / "proc/loadavg").value_or(MachineCounters::kUnknown);
    return counters;
}

/// "cpuN user nice system idle iowait irq softirq steal ...", in ticks, of the processors in this process's mask: in a
/// container the file is of the whole machine.
void MachineReader::readProcessors(MachineCounters& counters) const
{
    const std::set<int> allowed = processorsIn(
        lineOf(m_root / "proc" / std::to_string(m_process) / "status", "Cpus_allowed_list:\t"));
    std::ifstream in(m_root / "proc/stat");
    double busy = 0, idle = 0, stolen = 0;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        int number = 0;
        if (!name.starts_with("cpu")
            || std::from_chars(name.data() + 3, name.data() + name.size(), number).ec != std::errc()
            || (!allowed.empty() && !allowed.contains(number)))
            continue;
        double ticks[8] = {};
        for (double& value : ticks)
            fields >> value;
        if (!fields)
            continue;
        ++counters.processors;
        busy += ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
        idle += ticks[3] + ticks[4];
        stolen += ticks[7];
    }
    if (counters.processors == 0)
        return;
    counters.busySeconds = busy / ticksPerSecond();
    counters.idleSeconds = idle / ticksPerSecond();
    counters.stolenSeconds = stolen / ticksPerSecond();
}

/// A process's own ticks and those of children that it has waited for; live descendants tell theirs themselves.
void MachineReader::readOwn(MachineCounters& counters) const
{
    std::map<std::int64_t, ProcessTimes> processes;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(m_root / "proc", problem)) {
        const std::string name = entry.path().filename().string();
        std::int64_t process = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc())
            continue;
        if (const auto times = processTimes(entry.path() / "stat")) // it may have ended since
            processes[process] = *times;
    }
    if (!processes.contains(m_process))
        return;
    double ticks = 0;
    for (const auto& [process, times] : processes) {
        std::int64_t at = process;
        for (int depth = 0; at != m_process && depth < 64; ++depth) {
            const auto parent = processes.find(at);
            at = parent == processes.end() ? 0 : parent->second.parent;
        }
        ticks += at == m_process ? times.ticks : 0;
    }
    counters.ownSeconds = ticks / ticksPerSecond();
}

void MachineReader::readClocks(MachineCounters& counters) const
{
    std::error_code problem;
    double mhz = 0, most = 0, slowdowns = 0;
    int clocks = 0, throttles = 0;
    for (const auto& entry : std::filesystem::directory_iterator(m_root / "sys/devices/system/cpu", problem)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("cpu") || name.size() < 4 || name[3] < '0' || name[3] > '9')
            continue;
        if (const auto now = numberFrom(entry.path() / "cpufreq/scaling_cur_freq")) {
            mhz += *now / 1000;
            ++clocks;
        }
        // The rate without a boost, where the driver tells it: a boost ends by design when all cores work.
        for (const char* file : {"cpufreq/base_frequency", "cpufreq/cpuinfo_max_freq"})
            if (const auto made = numberFrom(entry.path() / file)) {
                most = std::max(most, *made / 1000);
                break;
            }
        if (const auto count = numberFrom(entry.path() / "thermal_throttle/core_throttle_count")) {
            slowdowns += *count;
            ++throttles;
        }
    }
    if (clocks > 0)
        counters.mhz = mhz / clocks;
    if (most > 0)
        counters.mostMhz = most;
    if (throttles > 0)
        counters.heatSlowdowns = slowdowns;
    for (const auto& entry : std::filesystem::directory_iterator(m_root / "sys/class/thermal", problem))
        if (entry.path().filename().string().starts_with("thermal_zone"))
            if (const auto milli = numberFrom(entry.path() / "temp"))
                counters.celsius = std::max(known(counters.celsius, -1e9), *milli / 1000);
}

/// Of the process's own control group, version 2 or version 1; a container may see its own part alone, as the root.
double MachineReader::heldBackSeconds() const
{
    const std::filesystem::path groups = m_root / "sys/fs/cgroup";
    const auto read = [](const std::filesystem::path& folder, const char* key, double unit) -> std::optional<double> {
        const std::string value = lineOf(folder / "cpu.stat", key);
        return value.empty() ? std::nullopt : std::optional(std::strtod(value.c_str(), nullptr) * unit);
    };
    std::ifstream in(m_root / "proc" / std::to_string(m_process) / "cgroup");
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find(':'), second = line.find(":/", first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
        const std::string own = line.substr(second + 2);
        if (controllers != ",," && controllers.find(",cpu,") == std::string::npos)
            continue;
        for (const std::string& group : {own, std::string()}) {
            if (controllers == ",,")
                if (const auto seconds = read(groups / group, "throttled_usec ", 1e-6))
                    return *seconds;
            for (const char* mount : {"cpu", "cpu,cpuacct", "cpuacct,cpu"})
                if (const auto seconds = read(groups / mount / group, "throttled_time ", 1e-9);
                    seconds && controllers != ",,")
                    return *seconds;
        }
    }
    return MachineCounters::kUnknown;
}

MachineState machineBetween(const MachineCounters& before, const MachineCounters& after)
{
    MachineState state;
    state.seconds = after.atSeconds - before.atSeconds;
    state.processors = after.processors;
    const double busy = after.busySeconds - before.busySeconds, idle = after.idleSeconds - before.idleSeconds,
                 stolen = after.stolenSeconds - before.stolenSeconds, all = busy + idle + stolen;
    if (all >= kLeastProcessorSeconds) { // false for not-a-number, too
        state.stolen = std::clamp(stolen / all, 0.0, 1.0);
        if (const double own = after.ownSeconds - before.ownSeconds; std::isfinite(own))
            state.others = std::clamp((busy - own) / all, 0.0, 1.0);
    }
    state.heldBackSeconds = after.heldBackSeconds - before.heldBackSeconds;
    state.heatSlowdowns = after.heatSlowdowns - before.heatSlowdowns;
    state.mhz = after.mhz;
    state.mostMhz = after.mostMhz;
    state.celsius = after.celsius;
    state.load = after.load;
    return state;
}

void putControl(MachineState& state, std::span<const double> controlNs)
{
    std::vector<double> sorted;
    for (const double ns : controlNs)
        if (std::isfinite(ns) && ns > 0)
            sorted.push_back(ns);
    if (sorted.empty())
        return;
    std::sort(sorted.begin(), sorted.end());
    state.controlNs = sorted[sorted.size() / 2];
    state.controlSpread = sorted.back() / sorted.front();
}

namespace {

/// Each figure with its name in JSON.
template<typename State, typename Visit>
void eachFigure(State& state, const Visit& visit)
{
    visit("seconds", state.seconds);
    visit("others", state.others);
    visit("stolen", state.stolen);
    visit("held_back_s", state.heldBackSeconds);
    visit("heat_slowdowns", state.heatSlowdowns);
    visit("mhz", state.mhz);
    visit("most_mhz", state.mostMhz);
    visit("celsius", state.celsius);
    visit("load", state.load);
    visit("control_ns", state.controlNs);
    visit("control_spread", state.controlSpread);
}

} // namespace

nlohmann::json toJson(const MachineState& state)
{
    nlohmann::json object = {{"processors", state.processors}};
    eachFigure(state, [&object](const char* name, double value) {
        object[name] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
    });
    return object;
}

MachineState machineStateIn(const nlohmann::json& object)
{
    MachineState state;
    state.processors = static_cast<std::int32_t>(std::clamp<std::int64_t>(wholeIn(object, "processors"), 0, 1 << 20));
    eachFigure(state, [&object](const char* name, double& value) { value = numberIn(object, name); });
    return state;
}

} // namespace lathe::measure
