#include "core/deploy/plan.h"

#include "core/compute/json.h"
#include "core/deploy/names.h"
#include "core/deploy/planner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

namespace lathe::deploy {

Result<KernelSet> collectKernels(const graph::Graph& graph, const graph::Partition& partition,
                                 std::span<const KernelChoice> choices, std::string_view prefix)
{
    if (choices.size() != partition.subgraphs.size())
        return makeError(Errc::InvalidArgument, fmt::format("{} schedules were chosen for {} subgraphs", choices.size(),
                                                            partition.subgraphs.size()));
    KernelSet set;
    std::map<const compute::Dag*, std::string> texts; // equal DAGs of two subgraphs may be two objects
    std::map<std::pair<std::string, std::string>, std::int32_t> known;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const graph::Subgraph& subgraph = partition.subgraphs[i];
        if (subgraph.noop || subgraph.function || subgraph.control) {
            set.ofSubgraph.push_back(-1);
            continue;
        }
        const graph::Alternative* const alternative = choices[i].alternative;
        if (alternative == nullptr || !alternative->dag)
            return makeError(Errc::InvalidArgument, fmt::format("no program was chosen for '{}'", subgraph.name));
        KernelSource source{{}, alternative->dag, choices[i].steps, {}};
        for (const graph::InputBinding& binding : alternative->bindings) {
            if (binding.taskInput < 0 || static_cast<std::size_t>(binding.taskInput) >= subgraph.inputs.size())
                return makeError(Errc::Internal, fmt::format("'{}' binds input {} of {}", subgraph.name,
                                                             binding.taskInput, subgraph.inputs.size()));
            source.constantInputs.push_back(
                graph.value(subgraph.inputs[static_cast<std::size_t>(binding.taskInput)]).constant != nullptr);
        }
        std::string& text = texts[alternative->dag.get()];
        if (text.empty())
            text = compute::toJson(*alternative->dag).dump();
        std::string schedule = source.steps + '|';
        for (const bool constant : source.constantInputs)
            schedule += constant ? '1' : '0';
        const auto [place, isNew] = known.try_emplace({text, schedule}, static_cast<std::int32_t>(set.sources.size()));
        if (isNew) {
            source.name = fmt::format("{}k{}_{}", prefix, set.sources.size(), cIdentifier(subgraph.name).substr(0, 48));
            set.sources.push_back(std::move(source));
        }
        set.ofSubgraph.push_back(place->second);
    }
    return set;
}

Result<ModelImage> planModel(const graph::Graph& graph, const graph::Partition& partition,
                             std::span<const KernelChoice> choices, const KernelSet& set,
                             std::span<const KernelInfo> kernels, const PlanOptions& options)
{
    if (set.ofSubgraph.size() != partition.subgraphs.size() || choices.size() != partition.subgraphs.size()
        || kernels.size() != set.sources.size())
        return makeError(Errc::InvalidArgument, "kernels, schedules and subgraphs do not belong together");
    return Planner(graph, partition, choices, set, kernels, options).run();
}

} // namespace lathe::deploy
