#include "core/session/roofline.h"

#include "core/measure/measurer.h"
#include "core/target/target.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

DeviceLimits limitsFromJson(const std::string& text)
{
    DeviceLimits limits;
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("gflops") || !json["gflops"].is_number() || !json.contains("levels") || !json["levels"].is_array())
        return limits;
    for (const auto& level : json["levels"]) {
        DeviceLimits::Level l;
        if (!level.is_object())
            return {};
        l.name = level.value("name", std::string());
        l.bytes = level.value("bytes", 0.0);
        l.gbytesPerS = level.value("gbytes_per_s", 0.0);
        if (!(l.gbytesPerS > 0))
            return {};
        limits.levels.push_back(std::move(l));
    }
    limits.gflops = json["gflops"].get<double>();
    return limits;
}

Result<DeviceLimits> measureLimits(const std::string& text)
{
    LATHE_TRY_ASSIGN(const Target target, Target::parse(text));
    measure::MeasurerOptions options;
    options.target = target.text();
    LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(options));
    LATHE_TRY_ASSIGN(const std::string json, measurer->limits(0));
    DeviceLimits limits = limitsFromJson(json);
    if (!limits.known())
        return makeError(Errc::Unsupported, "the device of target '" + text + "' has no measured limits to hold tasks against");
    return limits;
}

std::vector<RooflineRow> roofline(std::span<const TaskView> tasks, const DeviceLimits& limits)
{
    std::vector<RooflineRow> rows;
    for (const TaskView& task : tasks) {
        RooflineRow row;
        row.task = task.id;
        row.bytes = task.bytes;
        if (limits.known()) {
            const auto holds = [&row](const DeviceLimits::Level& l) { return l.bytes <= 0 || row.bytes <= l.bytes; };
            const auto level = std::find_if(limits.levels.begin(), limits.levels.end() - 1, holds);
            row.level = level->name;
            row.memoryMs = row.bytes / level->gbytesPerS * 1e-6;
            row.computeMs = task.flop / limits.gflops * 1e-6;
            row.leastMs = std::max(row.memoryMs, row.computeMs);
            row.ofLimit = row.leastMs / task.bestMs;
        }
        row.gflops = task.flop / task.bestMs * 1e-6;
        row.gbytesPerS = row.bytes / task.bestMs * 1e-6;
        rows.push_back(std::move(row));
    }
    return rows;
}

void setLeastMs(std::span<TaskView> tasks, const DeviceLimits& limits)
{
    const std::vector<RooflineRow> rows = roofline(tasks, limits);
    for (std::size_t i = 0; i < rows.size(); ++i)
        tasks[i].leastMs = rows[i].leastMs;
}

} // namespace lathe::session
