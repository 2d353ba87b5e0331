#include "core/compute/flop.h"
#include "core/compute/key.h"
#include "core/compute/print.h"
#include "core/graph/flatten.h"
#include "core/graph/fuse.h"
#include "core/graph/fuse_inputs.h"
#include "core/graph/fuse_rows.h"
#include "core/graph/group.h"
#include "core/graph/pass_runner.h"
#include "core/graph/reference_rules.h"
#include "core/graph/task.h"
#include "core/support/hash.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace lathe::graph {
namespace {

bool isReshapeOnly(const Graph& graph, const Group& group)
{
    return group.inputs.size() == 1 && !graph.value(group.inputs[0]).constant
           && std::all_of(group.nodes.begin(), group.nodes.end(),
                          [&](NodeId id) { return costOf(graph.node(id)) == Cost::Free; });
}

bool hasReduction(const compute::Dag& dag)
{
    return std::any_of(dag.ops.begin(), dag.ops.end(), [](const compute::Op& op) { return !op.reduceAxes.empty(); });
}

/// All operators that nobody knows, at once.
Result<> checkOperators(const Graph& graph)
{
    std::vector<std::string> unknown;
    for (const Node& node : graph.nodes) {
        if (!findOperator(node.op))
            unknown.push_back(fmt::format("{} (node '{}')", node.op, node.name));
    }
    if (unknown.empty())
        return {};
    return makeError(Errc::Unsupported, say(Msg::OperatorsUnsupported, unknown));
}

class Partitioner
{
public:
    Partitioner(const Graph& graph, const Target& target, std::string_view kind, PassRunner& passes)
        : m_graph(graph)
        , m_target(target)
        , m_passes(passes)
        , m_reference(kind == "reference")
    {
        m_result.name = kind;
    }

    Result<Partition> run()
    {
        const auto consumers = m_graph.consumers();
        Groups groups = m_passes.run("fuse", fuse(m_graph, {.maxNodes = 1}),
                                     [&](const Groups&) { return fuse(m_graph); });
        if (!m_reference) {
            groups = m_passes.run("fuse-rows", std::move(groups),
                                  [&](Groups old) { return fuseRows(m_graph, std::move(old)); });
            groups = m_passes.run("fuse-inputs", std::move(groups),
                                  [&](Groups old) { return fuseInputs(m_graph, std::move(old)); });
        }
        for (const std::vector<NodeId>& nodes : groups) {
            m_groups.push_back(makeGroup(m_graph, nodes, consumers));
            LATHE_TRY(addSubgraph(m_groups.back()));
        }
        LATHE_TRY(cutTasks());
        makeNamesUnique();
        return std::move(m_result);
    }

private:
    /// What is known of one distinct structure.
    struct Kernel
    {
        std::optional<Alternative> direct; ///< none: an operator without compute definition
        std::int32_t task = -1;
    };

    Result<> addSubgraph(const Group& group)
    {
        Subgraph s;
        s.nodes = group.nodes;
        s.inputs = group.inputs;
        s.outputs = group.outputs;
        const Node& anchor = m_graph.node(group.anchor);
        s.name = anchor.name;
        s.region = anchor.region;
        s.runs = runsOf(m_graph, anchor.region);
        s.control = traitsOf(anchor).control != Control::None;
        for (const NodeId id : group.nodes) {
            if (id != group.anchor)
                s.name += "+" + m_graph.node(id).op;
        }
        const std::string key =
            contentHash(fmt::format("{}\n{}", m_target.kind(), structureText(m_graph, group))).hex();
        m_keys.push_back(key);
        const auto [it, isNew] = m_kernels.try_emplace(key);
        if (isNew && std::all_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
                return findOperator(m_graph.node(id).op)->compute != nullptr;
            })) {
            LATHE_TRY_ASSIGN(it->second.direct, buildAlternative(m_graph, group, "direct", compute::NameEra::Nested));
        }
        const std::optional<Alternative>& direct = it->second.direct;
        if (s.control) {
            s.about = about(say(Msg::NoTaskControl));
        } else if (isReshapeOnly(m_graph, group)) {
            s.noop = true;
            s.about = about(say(Msg::NoTaskReshape));
        } else if (const Node& node = m_graph.node(group.anchor); findOperator(node.op)->function) {
            LATHE_TRY_ASSIGN(s.function, functionOf(node));
            s.about = about(say(Msg::NoTaskLibrary, node.op));
        } else if (!direct) {
            s.about = about(say(Msg::NoTaskLibrary, node.op));
        } else if (!hasReduction(*direct->dag)) {
            s.about = about(say(Msg::NoTaskElementwise));
            s.untuned = direct;
        }
        if (s.about)
            s.reason = textOf(*s.about);
        m_result.subgraphs.push_back(std::move(s));
        return {};
    }

    Result<FunctionCall> functionOf(const Node& node) const
    {
        std::vector<TensorType> inputs, outputs;
        for (const ValueId id : node.inputs)
            inputs.push_back({m_graph.value(id).dtype, m_graph.value(id).shape});
        for (const ValueId id : node.outputs)
            outputs.push_back({m_graph.value(id).dtype, m_graph.value(id).shape});
        auto call = findOperator(node.op)->function(node, inputs, outputs);
        if (!call)
            return std::move(call).error().note(fmt::format("{} \"{}\"", node.op, node.name));
        return call;
    }

    /// Depth first from the network's outputs, arguments left to right: the main path down to the input, then the
    /// shortcuts.
    Result<> cutTasks()
    {
        std::unordered_map<ValueId, std::size_t> producerOf;
        for (std::size_t i = 0; i < m_groups.size(); ++i) {
            for (const NodeId id : m_groups[i].nodes) {
                for (const ValueId output : m_graph.node(id).outputs)
                    producerOf[output] = i;
            }
        }
        const std::vector<ValueId> results = m_graph.results();
        std::vector<ValueId> stack(results.rbegin(), results.rend());
        std::vector<bool> visited(m_groups.size(), false);
        while (!stack.empty()) {
            const ValueId value = stack.back();
            stack.pop_back();
            const auto it = producerOf.find(value);
            if (it == producerOf.end() || visited[it->second])
                continue;
            visited[it->second] = true;
            if (const Subgraph& s = m_result.subgraphs[it->second]; s.reason.empty())
                LATHE_TRY(countTask(it->second));
            const std::vector<ValueId>& inputs = m_groups[it->second].inputs;
            stack.insert(stack.end(), inputs.rbegin(), inputs.rend());
        }
        describeOccurrences();
        return {};
    }

    Result<> countTask(std::size_t index)
    {
        Kernel& kernel = m_kernels.at(m_keys[index]);
        if (kernel.task < 0) {
            LATHE_TRY_ASSIGN(Task task, makeTask(index, *kernel.direct));
            kernel.task = static_cast<std::int32_t>(m_result.tasks.size());
            m_result.tasks.push_back(std::move(task));
        }
        m_result.subgraphs[index].task = kernel.task;
        return {};
    }

    Result<Task> makeTask(std::size_t index, const Alternative& direct)
    {
        const Group& group = m_groups[index];
        const Node& anchor = m_graph.node(group.anchor);
        const auto& offered = traitsOf(anchor).algorithms;
        const std::string picked = offered ? referenceAlgorithm(m_graph, anchor, m_target) : "direct";
        const auto algorithms = offered && !m_reference ? offered(m_graph, anchor) : std::vector<std::string>{picked};

        Task task;
        task.key = m_keys[index];
        for (const std::string& algorithm : algorithms) {
            if (algorithm == "direct") {
                task.alternatives.push_back(direct);
            } else {
                auto alternative = buildAlternative(m_graph, group, algorithm, compute::NameEra::Nested, !m_reference);
                if (!alternative && (alternative.error().code != Errc::Unsupported || m_reference))
                    return std::move(alternative).error();
                if (alternative)
                    task.alternatives.push_back(*std::move(alternative));
            }
        }
        for (Alternative& alternative : task.alternatives)
            alternative.isReference = alternative.name == picked;
        LATHE_TRY_ASSIGN(const Alternative reference,
                         buildAlternative(m_graph, group, picked, compute::NameEra::Nested));
        task.flop = compute::flop(*reference.dag);
        task.name = readableName(m_graph, group);
        task.description = "vm_mod_" + functionName(m_graph, group, picked);
        LATHE_TRY_ASSIGN(task.hash, workload(group, picked, compute::NameEra::Hash));
        LATHE_TRY_ASSIGN(task.flat, workload(group, picked, compute::NameEra::Flat));
        LATHE_TRY_ASSIGN(task.nested, workload(group, picked, compute::NameEra::Nested));
        return task;
    }

    Result<std::optional<WorkloadText>> workload(const Group& group, const std::string& algorithm,
                                                 compute::NameEra era) const
    {
        LATHE_TRY_ASSIGN(const Alternative alternative, buildAlternative(m_graph, group, algorithm, era));
        return std::optional(WorkloadText{compute::workloadKey(*alternative.dag, era),
                                          compute::print(*alternative.dag, compute::PrintMode::Display),
                                          compute::workloadText(*alternative.dag, era)});
    }

    /// Occurrences stand in the order of the network, and a task's inputs are those of the first.
    void describeOccurrences()
    {
        std::vector<std::int64_t> runs(m_result.tasks.size(), 0);
        for (std::size_t i = 0; i < m_result.subgraphs.size(); ++i) {
            const Subgraph& s = m_result.subgraphs[i];
            if (s.task < 0)
                continue;
            Task& task = m_result.tasks[static_cast<std::size_t>(s.task)];
            if (task.occurrences.empty()) {
                for (const ValueId id : s.inputs) {
                    const Value& value = m_graph.value(id);
                    task.inputs.push_back({id, {value.dtype, value.shape}, value.constant != nullptr});
                }
                for (const ValueId id : s.outputs)
                    task.outputs.push_back({m_graph.value(id).dtype, m_graph.value(id).shape});
            }
            task.occurrences.push_back(s.nodes);
            runs[static_cast<std::size_t>(s.task)] += s.runs;
            for (std::int32_t r = s.region; r >= 0; r = m_graph.regions[static_cast<std::size_t>(r)].parent) {
                const bool isLoop = m_graph.regions[static_cast<std::size_t>(r)].kind == Region::Kind::Loop;
                (isLoop ? task.inLoop : task.inBranch) = true;
            }
        }
        constexpr std::int64_t kMostRuns = std::numeric_limits<std::int32_t>::max();
        for (std::size_t t = 0; t < runs.size(); ++t)
            m_result.tasks[t].weight = static_cast<std::int32_t>(std::min(runs[t], kMostRuns));
    }

    void makeNamesUnique()
    {
        std::map<std::string, int> seen;
        for (Task& task : m_result.tasks) {
            if (const int count = ++seen[task.name]; count > 1)
                task.name += fmt::format(" #{}", count);
        }
    }

    const Graph& m_graph;
    const Target& m_target;
    PassRunner& m_passes;
    bool m_reference = false;
    Partition m_result;
    std::vector<Group> m_groups; ///< parallel to the subgraphs
    std::vector<std::string> m_keys;
    std::unordered_map<std::string, Kernel> m_kernels;
};

} // namespace

bool tradesAccuracy(std::string_view alternative)
{
    return alternative.starts_with("winograd");
}

Result<Partition> partition(const Graph& graph, const Target& target, std::string_view kind)
{
    PassRunner passes;
    return partition(graph, target, kind, passes);
}

Result<Partition> partition(const Graph& graph, const Target& target, std::string_view kind, PassRunner& passes)
{
    if (kind != "reference" && kind != "lathe")
        return makeError(Errc::InvalidArgument, fmt::format("unknown partition '{}': use reference or lathe", kind));
    LATHE_TRY(verify(graph));
    LATHE_TRY(checkOperators(graph));
    return Partitioner(graph, target, kind, passes).run();
}

} // namespace lathe::graph
