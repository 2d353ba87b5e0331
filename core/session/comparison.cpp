#include "core/session/comparison.h"

#include "core/store/project.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lathe::session {

using nlohmann::json;

Result<Standing> standing(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto models, project.models());
    if (models.empty())
        return makeError(Errc::NotFound, fmt::format("{} holds no model", file.string()));
    Standing s;
    s.project = file;
    store::ModelRow model = models.back();
    LATHE_TRY_ASSIGN(const auto sessions, project.sessions());
    if (!sessions.empty()) { // what was tuned last
        s.target = sessions.back().target;
        for (const store::ModelRow& row : models)
            if (row.id == sessions.back().model)
                model = row;
    }
    s.model = model.name;
    s.modelHash = model.hash;
    for (const store::SessionRow& row : sessions) {
        if (row.model != model.id || row.target != s.target)
            continue;
        s.activeSeconds += row.activeSeconds;
        LATHE_TRY(project.forEachEvent(row.id, [&s](std::string_view kind, double, std::string_view text) {
            const json event = json::parse(text, nullptr, false);
            if (!event.is_object() || !event.contains("ms") || !event["ms"].is_number())
                return;
            if (kind == "untuned")
                s.untunedMs = event["ms"].get<double>();
            else if (kind == "measured")
                s.measuredMs = event["ms"].get<double>();
        }));
    }
    // Costs compare where they were measured alike: on one device, with caches warm or cold. The latest such kind counts.
    std::map<std::int64_t, std::string> targets;
    for (const store::SessionRow& row : sessions)
        targets[row.id] = row.target;
    std::map<std::pair<std::string, std::int64_t>, std::vector<const store::BestRow*>> alike;
    LATHE_TRY_ASSIGN(const auto rows, project.best());
    const store::BestRow* latest = nullptr;
    for (const store::BestRow& row : rows) {
        const auto target = targets.find(row.record.session);
        if (target != targets.end() && target->second != s.target)
            continue;
        alike[{row.record.device, coldBytes(row.record)}].push_back(&row);
        if (latest == nullptr || row.record.timeMs > latest->record.timeMs)
            latest = &row;
    }
    std::map<std::string, const store::BestRow*> best;
    if (latest != nullptr) {
        s.device = latest->record.device;
        s.coldBytes = coldBytes(latest->record);
        const json device = json::parse(s.device, nullptr, false);
        if (device.is_object() && device.contains("name") && device["name"].is_string())
            s.deviceName = device["name"].get<std::string>();
        for (const store::BestRow* row : alike[{s.device, s.coldBytes}]) {
            const store::BestRow*& known = best[row->task];
            if (known == nullptr || row->costNs < known->costNs)
                known = row;
        }
    }
    LATHE_TRY_ASSIGN(const auto tasks, project.tasks(model.id));
    s.estimatedMs = 0;
    for (const store::TaskRow& row : tasks) {
        Standing::Task task;
        task.key = row.key;
        task.name = row.name;
        task.weight = row.weight;
        if (const auto found = best.find(row.key); found != best.end()) {
            task.bestMs = found->second->costNs * 1e-6;
            task.alternative = found->second->alternative;
            task.trial = found->second->record.trial;
        }
        LATHE_TRY_ASSIGN(const auto totals, project.totals(row.key));
        task.trials = totals.trials;
        task.errors = totals.errors;
        s.trials += totals.trials;
        s.errors += totals.errors;
        s.estimatedMs += task.bestMs * task.weight; // NaN stays
        s.tasks.push_back(std::move(task));
    }
    if (tasks.empty())
        s.estimatedMs = kUnknown;
    return s;
}

Comparison compare(const Standing& before, const Standing& after)
{
    Comparison c;
    std::map<std::string, TaskChange> changes;
    for (const Standing::Task& task : before.tasks)
        changes[task.key] = {task.name, task.weight, task.bestMs, kUnknown};
    for (const Standing::Task& task : after.tasks) {
        TaskChange& change = changes[task.key];
        change.name = task.name;
        change.weight = task.weight;
        change.afterMs = task.bestMs;
    }
    for (auto& [key, change] : changes) {
        if (std::isfinite(change.beforeMs) && std::isfinite(change.afterMs)) {
            c.beforeMs += change.beforeMs * change.weight;
            c.afterMs += change.afterMs * change.weight;
        } else if (std::isfinite(change.beforeMs) && std::any_of(after.tasks.begin(), after.tasks.end(), [&key = key](const auto& task) { return task.key == key; })) {
            c.lost.push_back(change.name);
        }
        c.tasks.push_back(std::move(change));
    }
    const auto harm = [](const TaskChange& change) {
        const double ms = (change.afterMs - change.beforeMs) * change.weight;
        return std::isfinite(ms) ? ms : -std::numeric_limits<double>::infinity();
    };
    std::stable_sort(c.tasks.begin(), c.tasks.end(), [&](const TaskChange& a, const TaskChange& b) { return harm(a) > harm(b); });
    const auto differ = [&c](const char* what, const std::string& a, const std::string& b) {
        if (a != b)
            c.unlike.push_back(fmt::format("the {} differ: {} before, {} now", what, a.empty() ? "none" : a, b.empty() ? "none" : b));
    };
    differ("models", before.model, after.model);
    differ("targets", before.target, after.target);
    if (before.device != after.device)
        differ("devices", before.deviceName, before.deviceName == after.deviceName ? after.deviceName + " with other hardware parameters" : after.deviceName);
    const auto caches = [](std::int64_t bytes) { return std::string(bytes > 0 ? "cold" : bytes < 0 ? "network" : "warm"); };
    differ("cache conditions", caches(before.coldBytes), caches(after.coldBytes));
    return c;
}

} // namespace lathe::session
