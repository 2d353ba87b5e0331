#include "core/session/packages.h"

#include "core/backend/codegen.h"
#include "core/record/record_json.h"
#include "core/session/condition_texts.h"
#include "core/store/log_line.h"
#include "core/support/files.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>

namespace lathe::session {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMaxPackage = std::uintmax_t{1} << 30;

Error damaged(const fs::path& file, std::string why)
{
    return makeError(Errc::BadFile, say(Msg::PackageDamaged, file.string(), std::move(why)));
}

std::string dumped(const json& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

Result<Package> collectPackage(std::span<const fs::path> projects, const std::string& target,
                               const std::string& deviceKey)
{
    struct Found
    {
        Record record;
        std::string name;
        std::size_t source;
    };
    Package package;
    std::map<std::string, std::map<std::string, Found>> byDevice; ///< device key, task key
    for (const fs::path& file : projects) {
        LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
        std::map<std::string, std::pair<std::string, std::size_t>> tasks; ///< key: name, source
        LATHE_TRY_ASSIGN(const auto models, project.models());
        for (const store::ModelRow& model : models) {
            LATHE_TRY_ASSIGN(const auto rows, project.tasks(model.id));
            for (const store::TaskRow& task : rows)
                tasks.try_emplace(task.key, task.name, package.sources.size());
            package.sources.push_back({model.name, model.hash, file.filename().string(), 0});
        }
        LATHE_TRY_ASSIGN(const auto best, project.best({{}, target, {}}));
        for (const store::BestRow& row : best) {
            const auto task = tasks.find(row.task);
            if (task == tasks.end() || !row.record.result.verified || store::isImported(row.record))
                continue;
            auto& ofDevice = byDevice[row.conditions.deviceKey];
            const auto [known, isNew] = ofDevice.try_emplace(
                row.task, Found{row.record, task->second.first, task->second.second});
            if (!isNew && row.costNs < known->second.record.result.meanNs())
                known->second = {row.record, task->second.first, task->second.second};
        }
    }
    auto chosen = deviceKey.empty()
                      ? std::max_element(byDevice.begin(), byDevice.end(),
                                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); })
                      : byDevice.find(deviceKey);
    if (chosen == byDevice.end())
        return makeError(Errc::NotFound, say(Msg::PackageEmpty));
    package.target = target;
    package.deviceKey = chosen->first;
    package.build = backend::buildId();
    package.madeMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    for (auto& [key, found] : chosen->second) {
        package.deviceName = deviceNameOf(found.record.result.device.fingerprint);
        ++package.sources[found.source].tasks;
        package.taskNames.push_back(found.name);
        found.record.session = 0;
        package.records.push_back(std::move(found.record));
    }
    std::erase_if(package.sources, [](const PackageSource& source) { return source.tasks == 0; });
    return package;
}

Result<> writePackage(const Package& package, const fs::path& file)
{
    std::string lines;
    for (std::size_t i = 0; i < package.records.size(); ++i) {
        json line = toJson(package.records[i]);
        line["task_name"] = package.taskNames[i];
        lines += dumped(line) + '\n';
    }
    json sources = json::array();
    for (const PackageSource& source : package.sources)
        sources.push_back(
            {{"model", source.model}, {"hash", source.hash}, {"project", source.project}, {"tasks", source.tasks}});
    const json head = {{"lathe_package", kPackageVersion},  {"target", package.target},
                       {"device_key", package.deviceKey},   {"device", package.deviceName},
                       {"made_ms", package.madeMs},         {"build", package.build},
                       {"records", package.records.size()}, {"content", contentHash(lines).hex()},
                       {"sources", std::move(sources)}};
    return writeFileAtomically(file, dumped(head) + '\n' + lines);
}

Result<Package> readPackage(const fs::path& file)
{
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, kMaxPackage));
    const std::size_t end = text.find('\n');
    if (end == std::string::npos || !store::nestsShallow(std::string_view(text).substr(0, end)))
        return damaged(file, "its first line is not that of a package");
    const json head = json::parse(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!head.is_object() || !head.contains("lathe_package"))
        return damaged(file, "its first line is not that of a package");
    if (const std::int64_t version = wholeIn(head, "lathe_package"); version != kPackageVersion)
        return makeError(Errc::Unsupported, say(Msg::PackageVersion, file.string(), version, kPackageVersion));
    const std::string_view lines = std::string_view(text).substr(end + 1);
    if (contentHash(lines).hex() != textIn(head, "content"))
        return damaged(file, "its records are not those that it was made with");
    Package package;
    package.target = textIn(head, "target");
    package.deviceKey = textIn(head, "device_key");
    package.deviceName = textIn(head, "device");
    package.madeMs = wholeIn(head, "made_ms");
    package.build = textIn(head, "build");
    if (head.contains("sources") && head["sources"].is_array())
        for (const json& source : head["sources"])
            package.sources.push_back(
                {textIn(source, "model"), textIn(source, "hash"), textIn(source, "project"), wholeIn(source, "tasks")});
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t stop = std::min(lines.find('\n', at), lines.size());
        const std::string_view line = lines.substr(at, stop - at);
        at = stop + 1;
        if (!store::nestsShallow(line))
            return damaged(file, "a record nests deeper than any does");
        const json parsed = json::parse(line, nullptr, false);
        auto record = recordFromJson(parsed);
        if (!record)
            return damaged(file, record.error().message);
        if (record->trial.empty() || record->candidate.task.empty() || !record->result.ok())
            return damaged(file, "a record has no trial, no task or no cost");
        package.taskNames.push_back(textIn(parsed, "task_name"));
        package.records.push_back(*std::move(record));
    }
    if (package.records.size() != static_cast<std::size_t>(wholeIn(head, "records")))
        return damaged(file, "records are missing");
    return package;
}

Result<std::int64_t> addPackage(const Package& package, store::Project& to)
{
    std::set<std::string> known;
    LATHE_TRY_ASSIGN(const auto models, to.models());
    for (const store::ModelRow& model : models) {
        LATHE_TRY_ASSIGN(const auto tasks, to.tasks(model.id));
        for (const store::TaskRow& task : tasks)
            known.insert(task.key);
    }
    std::vector<Record> wanted;
    for (Record record : package.records) {
        if (!known.contains(record.candidate.task))
            continue;
        // As lines of logs: measured elsewhere, and no candidate for an export before it was measured here.
        record.target = std::string(store::kImportedTarget) + record.target;
        wanted.push_back(std::move(record));
    }
    LATHE_TRY_ASSIGN(const std::int64_t before, to.recordCount());
    if (!wanted.empty())
        LATHE_TRY(to.addRecords(wanted));
    LATHE_TRY_ASSIGN(const std::int64_t after, to.recordCount());
    return after - before;
}

fs::path packageFolder()
{
    if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != 0)
        return fs::path(data) / "lathe" / "packages";
    const char* home = std::getenv("HOME");
    return home != nullptr && *home != 0 ? fs::path(home) / ".local/share/lathe/packages" : fs::path();
}

std::vector<fs::path> packagesFor(const std::string& target)
{
    std::vector<fs::path> found;
    for (const fs::path& folder : {packageFolder(), installPrefix() / "share" / "lathe" / "packages"}) {
        if (folder.empty())
            continue;
        for (const fs::path& file : filesEndingWith(folder, kPackageEnding))
            if (const auto package = readPackage(file); package && package->target == target)
                found.push_back(file);
    }
    return found;
}

void applyPackage(const Package& package, const fs::path& file, AppliedLogs& logs)
{
    for (const Record& record : package.records) {
        AppliedLogs::OfTask& ofTask = logs.tasks[record.candidate.task];
        if (!ofTask.records.empty())
            continue;
        Record taken = record;
        taken.trial = file.filename().string() + ':' + record.trial;
        ofTask.records.push_back(std::move(taken));
        ++logs.applied;
    }
}

} // namespace lathe::session
