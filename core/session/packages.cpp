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
#include <map>
#include <optional>
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
    // Costs compare among those that were measured alike: on one class of devices, with caches in one state.
    using Place = std::pair<std::string, std::int64_t>; // device key, cold bytes
    Package package;
    std::map<Place, std::map<std::string, Found>> byPlace; // of these by task key
    for (const fs::path& file : projects) {
        LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
        LATHE_TRY_ASSIGN(const auto conditions, project.conditions(target));
        LATHE_TRY_ASSIGN(const auto models, project.models());
        std::set<std::string> seen;
        for (const store::ModelRow& model : models) {
            LATHE_TRY_ASSIGN(const auto rows, project.tasks(model.id));
            for (const store::TaskRow& task : rows) {
                if (!seen.insert(task.key).second)
                    continue;
                for (const store::Conditions& condition : conditions) {
                    std::optional<Record> fastest;
                    LATHE_TRY(project.forEachContender(task.key, target, condition, [&](const Record& record) {
                        if (record.result.verified && !store::isImported(record))
                            fastest = record;
                        return !fastest;
                    }));
                    if (!fastest)
                        continue;
                    auto& ofPlace = byPlace[{condition.deviceKey, condition.coldBytes}];
                    const auto known = ofPlace.find(task.key);
                    if (known == ofPlace.end() || fastest->result.meanNs() < known->second.record.result.meanNs())
                        ofPlace[task.key] = {*std::move(fastest), task.name, package.sources.size()};
                }
            }
            package.sources.push_back({model.name, model.hash, file.filename().string(), 0});
        }
    }
    if (!deviceKey.empty())
        std::erase_if(byPlace, [&](const auto& place) { return place.first.first != deviceKey; });
    const auto chosen = std::max_element(
        byPlace.begin(), byPlace.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (chosen == byPlace.end())
        return makeError(Errc::NotFound, say(Msg::PackageEmpty));
    package.target = target;
    package.deviceKey = chosen->first.first;
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
    return packageOf(text, file);
}

Result<Package> packageOf(std::string_view text, const fs::path& file)
{
    const std::size_t end = text.find('\n');
    if (end == std::string::npos || !store::nestsShallow(text.substr(0, end)))
        return damaged(file, "its first line is not that of a package");
    const json head = json::parse(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!head.is_object() || !head.contains("lathe_package"))
        return damaged(file, "its first line is not that of a package");
    if (const std::int64_t version = wholeIn(head, "lathe_package"); version != kPackageVersion)
        return makeError(Errc::Unsupported, say(Msg::PackageVersion, file.string(), version, kPackageVersion));
    const std::string_view lines = text.substr(end + 1);
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
        record.session = record.round = record.index = 0; // they are numbers of another project
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
    const fs::path data = userDataFolder();
    return data.empty() ? data : data / "packages";
}

std::vector<std::pair<fs::path, Result<Package>>> installedPackages()
{
    std::vector<std::pair<fs::path, Result<Package>>> found;
    for (const fs::path& folder : {packageFolder(), installPrefix() / "share" / "lathe" / "packages"}) {
        if (folder.empty())
            continue;
        for (const fs::path& file : filesEndingWith(folder, kPackageEnding))
            found.emplace_back(file, readPackage(file));
    }
    return found;
}

std::vector<std::pair<fs::path, Package>> packagesFor(const std::string& target)
{
    std::vector<std::pair<fs::path, Package>> found;
    for (auto& [file, package] : installedPackages())
        if (package && package->target == target)
            found.emplace_back(std::move(file), *std::move(package));
    return found;
}

} // namespace lathe::session
