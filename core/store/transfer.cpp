#include "core/store/transfer.h"

#include "core/record/record_json.h"
#include "core/schedule/step.h"
#include "core/store/line_file.h"
#include "core/store/log_line.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::store {

using nlohmann::json;

namespace {

std::string firstOwnStep(const std::vector<schedule::Step>& steps)
{
    for (const schedule::Step& step : steps)
        if (!schedule::isReferenceStep(step))
            return toJson(step).at(0).get<std::string>();
    return {};
}

} // namespace

Result<TransferCount> copyRecords(const Project& from, Project& to, bool bestOnly)
{
    TransferCount count;
    LATHE_TRY_ASSIGN(const auto models, from.models());
    for (const ModelRow& model : models) {
        LATHE_TRY_ASSIGN(const std::int64_t id, to.addModel(model));
        LATHE_TRY_ASSIGN(const auto tasks, from.tasks(model.id));
        LATHE_TRY(to.addTasks(id, tasks));
    }
    std::vector<Record> batch;
    LATHE_TRY_ASSIGN(const std::int64_t before, to.recordCount());
    std::int64_t met = 0;
    Result<> added;
    const auto flush = [&] {
        if (added && !batch.empty())
            added = to.addRecords(batch);
        batch.clear();
    };
    const auto take = [&](Record record) {
        record.session = 0; // runs stay in the project that made them
        batch.push_back(std::move(record));
        ++met;
        if (batch.size() >= 1000)
            flush();
    };
    if (bestOnly) {
        LATHE_TRY_ASSIGN(const auto best, from.best());
        // Those that finals left behind first, as they came.
        std::for_each(best.rbegin(), best.rend(), [&take](const BestRow& row) { take(row.record); });
    } else {
        LATHE_TRY(from.forEachRecord({}, take));
    }
    flush();
    LATHE_TRY(std::move(added));
    LATHE_TRY_ASSIGN(const std::int64_t after, to.recordCount());
    count.written = after - before;
    if (met > count.written)
        count.skipped["already there"] = met - count.written;
    return count;
}

Result<TransferCount> exportJsonLines(const Project& project, const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(LineFile out, LineFile::create(file));
    TransferCount count;
    LATHE_TRY(project.forEachRecord({}, [&](const Record& record) {
        out.line(toJson(record).dump(-1, ' ', false, json::error_handler_t::replace));
        ++count.written;
    }));
    LATHE_TRY(out.close());
    return count;
}

Result<TransferCount> exportReferenceLog(const Project& project, const std::filesystem::path& file,
                                         std::string_view target, const ReferenceTarget& describe)
{
    struct Workload
    {
        std::string key, alternative;
    };
    std::map<std::string, Workload> workloads;
    LATHE_TRY_ASSIGN(const auto models, project.models());
    for (const ModelRow& model : models) {
        LATHE_TRY_ASSIGN(const auto tasks, project.tasks(model.id));
        for (const TaskRow& task : tasks) {
            const json keys = json::parse(task.compatibleKeys, nullptr, false);
            if (keys.is_object() && keys.contains("nested"))
                workloads[task.key] = {textIn(keys, "nested"), textIn(keys, "reference")};
        }
    }
    LATHE_TRY_ASSIGN(LineFile out, LineFile::create(file));
    TransferCount count;
    std::string lastLine; // a line is the record of each task that has its key
    LATHE_TRY(project.forEachRecord({}, [&](const Record& record) {
        if (std::string line = importedLine(record, kAutoSchedulerLine); !line.empty()) {
            if (line != lastLine) {
                out.line(line);
                ++count.written;
            }
            lastLine = std::move(line);
            return;
        }
        if (record.target != target) {
            ++count.skipped[record.target.empty() ? std::string("made for a target that is not known")
                                                  : fmt::format("made for {}", record.target)];
            return;
        }
        const auto workload = workloads.find(record.candidate.task);
        if (workload == workloads.end()) {
            ++count.skipped["the task has no workload key of the reference"];
            return;
        }
        if (workload->second.alternative != record.candidate.alternative) {
            ++count.skipped[fmt::format("computed as {}, which the reference would not pick",
                                        record.candidate.alternative)];
            return;
        }
        const json steps = json::parse(record.candidate.steps, nullptr, false);
        const auto list = schedule::stepsFromJson(steps);
        if (!list) {
            ++count.skipped["its steps cannot be read"];
            return;
        }
        if (const std::string own = firstOwnStep(*list); !own.empty()) {
            ++count.skipped[fmt::format("uses step {}, which the reference does not have", own)];
            return;
        }
        if (!record.result.ok()) {
            ++count.skipped["failed"];
            return;
        }
        json costs = json::array();
        for (const double ns : record.result.costsNs)
            costs.push_back(ns * 1e-9);
        const double allMs = std::accumulate(record.result.durationsMs.begin(), record.result.durationsMs.end(), 0.0,
                                             [](double sum, const auto& activity) { return sum + activity.second; });
        const auto [name, hardware] = describe(record.result.device.fingerprint);
        const json task = {workload->second.key, name, hardware, "", 0, json::array()};
        const json line = {{"i", {task, {json::array(), steps}}},
                           {"r", {costs, 0, allMs * 1e-3, record.timeMs / 1000}},
                           {"v", "v0.6"}};
        out.line(line.dump());
        ++count.written;
    }));
    LATHE_TRY(out.close());
    return count;
}

} // namespace lathe::store
