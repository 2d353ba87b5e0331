#include "core/session/project/known_model.h"

#include "core/session/input_sizes.h"
#include "core/session/options/options_json.h"

#include <nlohmann/json.hpp>

#include <system_error>
#include <vector>

namespace lathe::session {

using nlohmann::json;

namespace {

std::string textOf(const json& options)
{
    return options.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The project knows its model by its contents: where the file is elsewhere than last time, that is noted.
Result<> followMovedFile(store::Project& project, std::int64_t model, const std::string& source)
{
    LATHE_TRY_ASSIGN(const auto models, project.models());
    for (const store::ModelRow& known : models) {
        json options = json::parse(known.options, nullptr, false);
        if (known.id != model || known.source == source || !options.is_object())
            continue;
        options["source"] = source;
        LATHE_TRY(project.moveModel(known.id, source, textOf(options)));
    }
    return {};
}

} // namespace

Result<std::int64_t> enterModel(const LoadedModel& model, store::Project& project)
{
    ModelSpec spec = model.spec;
    spec.hardware.clear(); // kept apart: the model is the same whatever the limits
    LATHE_TRY_ASSIGN(std::int64_t row, findModel(model, project));
    if (project.readOnly())
        return row;
    if (row == 0) {
        LATHE_TRY_ASSIGN(row, project.addModel({0, model.hash, spec.source, model.graph.name, textOf(toJson(spec))}));
    }
    LATHE_TRY(followMovedFile(project, row, spec.source));
    LATHE_TRY(project.useModel(row, model.target.text()));
    std::vector<store::TaskRow> tasks;
    for (const graph::Task& task : model.partition.tasks) {
        json keys = json::object();
        if (task.flat)
            keys["flat"] = task.flat->key;
        if (task.nested)
            keys["nested"] = task.nested->key;
        if (task.hash)
            keys["hash"] = task.hash->key;
        for (const graph::Alternative& alternative : task.alternatives)
            if (alternative.isReference)
                keys["reference"] = alternative.name;
        tasks.push_back({task.key, task.name, task.weight, task.flop, keys.dump()});
    }
    LATHE_TRY(project.addTasks(row, tasks));
    return row;
}

Result<std::string> latestTarget(const std::filesystem::path& file)
{
    if (file.empty())
        return std::string();
    const auto project = store::Project::open(file, store::Project::Access::Read);
    if (!project && project.error().code == Errc::NotFound) // or nothing was written to it
        return std::string();
    if (!project)
        return project.error();
    LATHE_TRY_ASSIGN(const auto models, project->models());
    if (!models.empty() && !models.back().target.empty())
        return models.back().target;
    LATHE_TRY_ASSIGN(const auto sessions, project->sessions());
    return sessions.empty() ? std::string() : sessions.back().target;
}

} // namespace lathe::session
