#include "core/session/roofline.h"

#include "core/graph/task.h"
#include "core/measure/measurer.h"
#include "core/session/back_ends.h"
#include "core/store/project.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/target.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

DeviceLimits limitsFromJson(const std::string& text)
{
    DeviceLimits limits;
    const nlohmann::json fields = nlohmann::json::parse(text, nullptr, false);
    if (!fields.is_object() || !fields.contains("gflops") || !fields["gflops"].is_number() || !fields.contains("levels")
        || !fields["levels"].is_array())
        return limits;
    for (const auto& level : fields["levels"]) {
        DeviceLimits::Level l;
        l.name = textIn(level, "name");
        l.bytes = numberIn(level, "bytes", 0);
        l.gbytesPerS = numberIn(level, "gbytes_per_s", 0);
        if (!(l.gbytesPerS > 0))
            return {};
        limits.levels.push_back(std::move(l));
    }
    limits.gflops = fields["gflops"].get<double>();
    return limits;
}

DeviceLimits latestLimits(const store::Project& project, std::string_view target)
{
    DeviceLimits limits;
    const auto sessions = project.sessions();
    for (std::size_t i = sessions ? sessions->size() : 0; i-- > 0 && !limits.known();)
        if ((*sessions)[i].target == target)
            (void)project.forEachEvent((*sessions)[i].id,
                                       [&limits](std::string_view kind, double, std::string_view text) {
                                           if (kind == "limits")
                                               limits = limitsFromJson(std::string(text));
                                       });
    return limits;
}

Result<DeviceLimits> measureLimits(const std::string& text)
{
    LATHE_TRY_ASSIGN(const Target target, parseTarget(text));
    measure::MeasurerOptions options;
    options.target = target.text();
    LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(options));
    LATHE_TRY_ASSIGN(const std::string limitsText, measurer->limits());
    DeviceLimits limits = limitsFromJson(limitsText);
    if (!limits.known())
        return makeError(Errc::Unsupported, say(Msg::NoRoofline, text));
    return limits;
}

namespace {

const DeviceLimits::Level& fastestThatHolds(double bytes, const DeviceLimits& limits)
{
    const auto holds = [bytes](const DeviceLimits::Level& l) { return l.bytes <= 0 || bytes <= l.bytes; };
    return *std::find_if(limits.levels.begin(), limits.levels.end() - 1, holds);
}

double msOf(double bytes, const DeviceLimits::Level& level)
{
    return bytes / level.gbytesPerS * 1e-6;
}

struct Traffic
{
    double ms = 0;
    const DeviceLimits::Level* most = nullptr; ///< that most of the bytes come from
};

/// As quick as caches can serve so many bytes: as much as the fastest holds comes from there, and so on. A cache that
/// holds half of them may well serve that half.
Traffic leastTraffic(double bytes, const DeviceLimits& limits)
{
    Traffic traffic;
    double most = -1;
    for (const DeviceLimits::Level& level : limits.levels) {
        const bool last = &level == &limits.levels.back();
        const double part = last || level.bytes <= 0 ? bytes : std::min(bytes, level.bytes);
        traffic.ms += msOf(part, level);
        bytes -= part;
        if (part > most) {
            most = part;
            traffic.most = &level;
        }
    }
    return traffic;
}

} // namespace

std::vector<RooflineRow> roofline(std::span<const TaskView> tasks, const DeviceLimits& limits)
{
    std::vector<RooflineRow> rows;
    double allWeights = 0;
    for (const TaskView& task : tasks)
        allWeights += task.weightBytes * task.weight;
    for (const TaskView& task : tasks) {
        RooflineRow row;
        row.task = task.id;
        row.bytes = task.bytes;
        if (limits.known()) {
            const double activations = task.bytes - task.weightBytes;
            const Traffic near = leastTraffic(activations, limits);
            const DeviceLimits::Level& far = fastestThatHolds(allWeights, limits);
            row.memoryMs = near.ms + msOf(task.weightBytes, far);
            row.level = (msOf(task.weightBytes, far) > near.ms ? far : *near.most).name;
            row.computeMs = task.flop / limits.gflops * 1e-6;
            row.lowerBoundMs = std::max(row.memoryMs, row.computeMs);
            row.shareOfLimit = row.lowerBoundMs / task.bestMs;
        }
        row.effective = isEffective(task);
        row.gflops = task.flop / task.bestMs * 1e-6;
        row.gbytesPerS = row.bytes / task.bestMs * 1e-6;
        rows.push_back(std::move(row));
    }
    return rows;
}

bool isEffective(const TaskView& task)
{
    return graph::tradesAccuracy(task.bestAlternative);
}

void setLeastMs(std::span<TaskView> tasks, const DeviceLimits& limits)
{
    const std::vector<RooflineRow> rows = roofline(tasks, limits);
    for (std::size_t i = 0; i < rows.size(); ++i)
        tasks[i].lowerBoundMs = rows[i].lowerBoundMs;
}

} // namespace lathe::session
