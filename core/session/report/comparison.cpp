#include "core/session/report/comparison.h"

#include "core/session/condition_texts.h"
#include "core/session/head_start.h"
#include "core/session/options/option_table.h"
#include "core/session/project/stored_events.h"
#include "core/store/log_line.h"
#include "core/store/record_range.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lathe::session {

using nlohmann::json;

namespace {

/// A value of an options object as a word.
std::string word(const json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What a run's latencies depend on, of its settings; what only says how far it went is left out.
void addSettings(const std::string& options, std::vector<std::pair<std::string, std::string>>& conditions)
{
    const json settings = json::parse(options, nullptr, false);
    if (!settings.is_object())
        return;
    const auto add = [&](const std::string& key, const std::string& name) {
        if (settings.contains(key) && !settings[key].is_null())
            conditions.emplace_back(name, word(settings[key]));
    };
    add("build", "build of Lathe");
    for (const Option<TuneOptions>& option : optionTable<TuneOptions>())
        if (!option.key.empty() && !option.condition.empty())
            add(option.key, option.condition);
    if (const std::string hash = textIn(settings, kHeadStartHash); !hash.empty())
        conditions.emplace_back("head start",
                                fmt::format("{} ({})",
                                            std::filesystem::path(textIn(settings, "head_start")).filename().string(),
                                            hash.substr(0, 8)));
}

/// Whether latencies may not compare where this condition of a run or of its measurements differs.
bool isSerious(std::string_view condition)
{
    const auto& options = optionTable<TuneOptions>();
    return condition.starts_with("hardware: ") || condition == "threads" || condition == "clock"
           || std::any_of(options.begin(), options.end(), [condition](const OptionInfo& option) {
                  return option.serious && option.condition == condition;
              });
}

/// What a key of a model's options is called, and whether latencies compare where it differs. A later version may have
/// written keys that this one does not know.
std::pair<std::string, bool> modelCondition(const std::string& key)
{
    for (const Option<ModelSpec>& option : optionTable<ModelSpec>())
        if (option.key == key)
            return {option.condition, option.serious};
    return {"model: " + key, true};
}

/// The device that is asked for, and its runs alone.
Result<> takeDevice(const store::RecordReader& reader, std::vector<store::SessionRow>& sessions, Standing& s)
{
    if (s.what.device.empty())
        return {};
    LATHE_TRY_ASSIGN(const auto devices, devicesIn(reader));
    // Boards of one key may become others: those that were measured last are meant.
    auto device = devices.end();
    for (auto other = devices.begin(); other != devices.end(); ++other)
        if (other->isCalled(s.what.device) && (device == devices.end() || other->runs.back() > device->runs.back()))
            device = other;
    if (device == devices.end())
        return makeError(Errc::NotFound, say(Msg::NoTrialsOfDevice, s.project.string(), s.what.device));
    s.deviceKey = device->device;
    std::erase_if(sessions, [&](const store::SessionRow& row) {
        return std::ranges::find(device->runs, row.id) == device->runs.end();
    });
    return {};
}

Result<> takeModel(const store::Project& project, const std::vector<store::SessionRow>& sessions, Standing& s)
{
    LATHE_TRY_ASSIGN(const auto models, project.models());
    if (models.empty())
        return makeError(Errc::NotFound, say(Msg::NoModelIn, s.project.string()));
    const store::SessionRow* last = nullptr; // what was tuned last, of what is asked for
    for (const store::SessionRow& row : sessions)
        if ((s.what.run == 0 || row.id == s.what.run) && (s.what.model == 0 || row.model == s.what.model)
            && (s.what.untilMs == 0 || row.startedMs <= s.what.untilMs))
            last = &row;
    if (s.what.run > 0 && last == nullptr)
        return makeError(Errc::NotFound, say(Msg::NoRunIn, s.project.string(), s.what.run));
    const std::int64_t wanted = last != nullptr ? last->model : s.what.model > 0 ? s.what.model : models.back().id;
    const auto model = std::find_if(models.begin(), models.end(),
                                    [wanted](const store::ModelRow& row) { return row.id == wanted; });
    if (model == models.end())
        return makeError(Errc::NotFound, say(Msg::NoSuchModelIn, s.project.string(), wanted));
    s.modelRow = model->id;
    s.model = model->name;
    s.modelHash = model->hash;
    s.modelOptions = model->options;
    if (last != nullptr) {
        s.target = last->target;
        addSettings(last->options, s.conditions);
    }
    return {};
}

/// Whole-network figures of the runs, and how long they took.
Result<> takeRuns(const store::Project& project, const std::vector<store::SessionRow>& sessions, Standing& s)
{
    for (const store::SessionRow& row : sessions) {
        if (row.model != s.modelRow || row.target != s.target || (s.what.run > 0 && row.id != s.what.run)
            || (s.what.untilMs > 0 && row.startedMs > s.what.untilMs))
            continue;
        s.activeSeconds += row.activeSeconds;
        LATHE_TRY(project.forEachEvent(row.id, [&](std::string_view kind, double at, std::string_view text) {
            // Events know their run's active time alone: a run that was paused may have got there later than this.
            if (s.what.untilMs > 0
                && static_cast<double>(row.startedMs) + at * 1000 > static_cast<double>(s.what.untilMs))
                return;
            const json event = json::parse(text, nullptr, false);
            if (kind == "verdict")
                s.network.take(s.verdict = verdictIn(event));
            if ((kind != "untuned" && kind != "measured") || std::isnan(numberIn(event, "ms")))
                return;
            const MeasuredEvent measured = measuredIn(event, kind == "untuned");
            s.network.take(measured);
            if (std::isfinite(measured.beside()))
                s.besideTasksMs = measured.beside();
            if (!measured.untuned)
                s.parts = measured.estimated;
        }));
    }
    return {};
}

/// Costs compare where they were measured alike: on one device, with caches warm or cold. The latest such kind counts.
std::map<std::string, const store::BestRow*> takeBest(const std::vector<store::BestRow>& rows, Standing& s)
{
    std::map<std::pair<std::string, std::int64_t>, std::vector<const store::BestRow*>> alike;
    const store::BestRow* latest = nullptr;
    for (const store::BestRow& row : rows) {
        if (store::isImported(row.record)
            || (!s.target.empty() && !row.record.target.empty() && row.record.target != s.target))
            continue;
        alike[{row.conditions.deviceKey, row.conditions.coldBytes}].push_back(&row);
        if (latest == nullptr || row.record.timeMs > latest->record.timeMs)
            latest = &row;
    }
    std::map<std::string, const store::BestRow*> best;
    if (latest == nullptr)
        return best;
    s.device = latest->record.result.device.fingerprint;
    s.deviceKey = latest->conditions.deviceKey;
    s.coldBytes = latest->conditions.coldBytes;
    const json device = json::parse(s.device, nullptr, false);
    s.deviceName = textIn(device, "name", s.deviceName);
    if (device.is_object() && device.contains("hardware") && device["hardware"].is_object())
        for (const auto& [name, limit] : device["hardware"].items())
            if (limit.is_object() && limit.contains("value"))
                s.conditions.emplace_back("hardware: " + name, word(limit["value"]));
    const json measured = json::parse(latest->record.result.conditions, nullptr, false);
    for (const char* key : {"threads", "clock"})
        if (measured.is_object() && measured.contains(key))
            s.conditions.emplace_back(key, word(measured[key]));
    for (const store::BestRow* row : alike[{s.deviceKey, s.coldBytes}]) {
        best.try_emplace(row->task, row); // of a task, the one that stands best comes first
    }
    return best;
}

} // namespace

Result<Standing> standing(const std::filesystem::path& project)
{
    return standing(Baseline{.project = project});
}

Result<Standing> standing(const Baseline& baseline)
{
    LATHE_TRY_ASSIGN(const store::RecordReader reader, store::RecordReader::open(baseline.project));
    const store::Project& project = reader.project();
    Standing s;
    s.project = baseline.project;
    s.what = baseline;
    LATHE_TRY_ASSIGN(auto sessions, project.sessions());
    LATHE_TRY(takeDevice(reader, sessions, s));
    LATHE_TRY(takeModel(project, sessions, s));
    LATHE_TRY(takeRuns(project, sessions, s));
    const store::RecordRange range{baseline.run, baseline.untilMs, s.deviceKey};
    LATHE_TRY_ASSIGN(const auto rows, store::bestIn(reader, range));
    const auto best = takeBest(rows, s);
    LATHE_TRY_ASSIGN(const auto totals, store::totalsIn(reader, range));
    LATHE_TRY_ASSIGN(const auto tasks, project.tasks(s.modelRow));
    s.tasksMs = 0;
    for (const store::TaskRow& row : tasks) {
        Standing::Task task;
        task.key = row.key;
        task.name = row.name;
        task.weight = row.weight;
        if (const auto found = best.find(row.key); found != best.end()) {
            task.bestMs = found->second->costNs * 1e-6;
            task.alternative = found->second->alternative;
            task.trial = found->second->record.trial;
            task.verified = found->second->record.result.verified;
        }
        if (const auto found = totals.find(row.key); found != totals.end()) {
            task.trials = found->second.trials;
            task.errors = found->second.errors;
        }
        s.trials += task.trials;
        s.errors += task.errors;
        s.tasksMs += task.bestMs * task.weight; // NaN stays
        s.tasks.push_back(std::move(task));
    }
    if (tasks.empty())
        s.tasksMs = kUnknown;
    return s;
}

Grade gradeOf(double ratio)
{
    constexpr double kNoise = 0.02, kMuch = 0.2;
    if (!std::isfinite(ratio))
        return Grade::Unknown;
    if (std::abs(ratio - 1) <= kNoise)
        return Grade::Same;
    if (ratio > 1)
        return ratio > 1 + kMuch ? Grade::MuchSlower : Grade::Slower;
    return ratio < 1 - kMuch ? Grade::MuchFaster : Grade::Faster;
}

std::string_view toString(Grade grade)
{
    static constexpr std::string_view kNames[] = {"", "much faster", "faster", "same", "slower", "much slower"};
    return kNames[static_cast<std::size_t>(grade)];
}

std::vector<ConditionRow> conditionTable(std::span<const Standing> standings)
{
    std::vector<ConditionRow> rows;
    const auto at = [&](const std::string& name, bool serious) -> ConditionRow& {
        for (ConditionRow& row : rows)
            if (row.name == name)
                return row;
        rows.push_back({name, std::vector<std::string>(standings.size()), false, serious});
        return rows.back();
    };
    for (std::size_t i = 0; i < standings.size(); ++i) {
        const Standing& s = standings[i];
        at("network", true).values[i] = s.model;
        at("contents of the model", false).values[i] = s.modelHash.substr(0, 12);
        if (const json options = json::parse(s.modelOptions, nullptr, false); options.is_object())
            for (const auto& [key, value] : options.items())
                if (!value.is_null() && !(value.is_string() && value.get_ref<const std::string&>().empty())
                    && !(value.is_array() && value.empty()))
                    if (const auto [name, serious] = modelCondition(key); !name.empty())
                        at(name, serious).values[i] = word(value);
        at("target", true).values[i] = s.target;
        at("device", true).values[i] = s.deviceName;
        if (!s.device.empty())
            at("caches", true).values[i] = cacheWord(s.coldBytes);
        for (const auto& [name, value] : s.conditions)
            at(name, isSerious(name)).values[i] = value;
    }
    for (ConditionRow& row : rows)
        row.differs = std::any_of(row.values.begin(), row.values.end(),
                                  [&row](const std::string& value) { return value != row.values.front(); });
    return rows;
}

Comparison compare(const Standing& before, const Standing& after)
{
    Comparison c;
    std::map<std::string, TaskChange> changes;
    for (const Standing::Task& task : before.tasks)
        changes[task.key] = {task.name, task.weight, task.bestMs, kUnknown, task.key};
    for (const Standing::Task& task : after.tasks) {
        TaskChange& change = changes[task.key];
        change.key = task.key;
        change.name = task.name;
        change.weight = task.weight;
        change.afterMs = task.bestMs;
    }
    for (auto& [key, change] : changes) {
        if (std::isfinite(change.beforeMs) && std::isfinite(change.afterMs)) {
            c.beforeMs += change.beforeMs * change.weight;
            c.afterMs += change.afterMs * change.weight;
        } else if (std::isfinite(change.beforeMs)
                   && std::any_of(after.tasks.begin(), after.tasks.end(),
                                  [&key = key](const auto& task) { return task.key == key; })) {
            c.lost.push_back(change.name);
        }
        c.tasks.push_back(std::move(change));
    }
    const auto harm = [](const TaskChange& change) {
        const double ms = (change.afterMs - change.beforeMs) * change.weight;
        return std::isfinite(ms) ? ms : -std::numeric_limits<double>::infinity();
    };
    std::stable_sort(c.tasks.begin(), c.tasks.end(),
                     [&](const TaskChange& a, const TaskChange& b) { return harm(a) > harm(b); });
    const auto differ = [&c](const char* what, const std::string& a, const std::string& b) {
        if (a != b)
            c.unlike.push_back(
                fmt::format("the {} differ: {} before, {} now", what, a.empty() ? "none" : a, b.empty() ? "none" : b));
    };
    differ("models", before.model, after.model);
    differ("targets", before.target, after.target);
    if (before.deviceKey != after.deviceKey)
        differ("devices", before.deviceName,
               before.deviceName == after.deviceName ? after.deviceName + " with other hardware parameters"
                                                     : after.deviceName);
    differ("cache conditions", cacheWord(before.coldBytes), cacheWord(after.coldBytes));
    return c;
}

} // namespace lathe::session
