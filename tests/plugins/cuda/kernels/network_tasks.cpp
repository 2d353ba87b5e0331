#include "tests/plugins/cuda/kernels/network_tasks.h"

#include "core/frontend/zoo.h"
#include "core/graph/flatten.h"
#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"
#include "core/graph/task.h"
#include "core/session/back_ends.h"

#include <algorithm>

namespace lathe::cuda::kernels {
namespace {

search::SearchAlternative alternativeOf(const graph::Alternative& from, const std::vector<bool>& constant)
{
    search::SearchAlternative made;
    made.name = from.name;
    made.dag = from.dag;
    made.isReference = from.isReference;
    for (const graph::InputBinding& binding : from.bindings)
        made.constantInputs.push_back(constant[static_cast<std::size_t>(binding.taskInput)]);
    return made;
}

} // namespace

Result<NetworkTasks> tasksOf(std::string_view network, std::string_view layout, const std::string& target,
                             const std::string& limitsOf)
{
    LATHE_TRY_ASSIGN(const Target parsed, session::parseTarget(target));
    LATHE_TRY_ASSIGN(const Target limits, session::parseTarget(limitsOf.empty() ? target : limitsOf));
    const frontend::ZooEntry* const entry = frontend::findZoo(network);
    frontend::ZooOptions options;
    options.weights = false;
    if (entry != nullptr && std::ranges::find(entry->layouts, layout) != entry->layouts.end())
        options.layout = layout;
    LATHE_TRY_ASSIGN(graph::Graph imported, frontend::buildZoo(network, options));
    graph::PassRunner passes;
    LATHE_TRY_ASSIGN(graph::Graph prepared, graph::prepare(std::move(imported), parsed, layout, "lathe", passes));
    LATHE_TRY_ASSIGN(const graph::Graph flat, graph::flatten(std::move(prepared)));
    LATHE_TRY_ASSIGN(const graph::Partition partition, graph::partition(flat, parsed, "lathe", passes));
    NetworkTasks made;
    search::SearchTask task;
    task.target = parsed;
    task.hardware = defaultHardware(limits);
    for (const graph::Task& from : partition.tasks) {
        task.key = from.key;
        task.name = from.name;
        task.flop = from.flop;
        task.alternatives.clear();
        std::vector<bool> constant;
        for (const graph::TaskInput& input : from.inputs)
            constant.push_back(input.constant);
        for (const graph::Alternative& alternative : from.alternatives)
            task.alternatives.push_back(alternativeOf(alternative, constant));
        made.tasks.push_back(task);
    }
    for (const graph::Subgraph& from : partition.subgraphs) {
        if (!from.untuned)
            continue;
        task.key = task.name = from.name;
        std::vector<bool> constant;
        for (const graph::ValueId id : from.inputs)
            constant.push_back(flat.value(id).constant != nullptr);
        task.alternatives = {alternativeOf(*from.untuned, constant)};
        made.untuned.push_back(task);
    }
    return made;
}

} // namespace lathe::cuda::kernels
