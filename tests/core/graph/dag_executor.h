#pragma once

#include "core/compute/interpret.h"
#include "core/graph/task.h"
#include "graph_fixture.h"

#include <map>

namespace lathe::test {

using Bytes = std::vector<std::byte>;

inline Bytes runDag(const compute::DagPtr& dag, const std::vector<Bytes>& inputs)
{
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    return take(take(compute::Interpreter::compile(dag)).run(views)).front();
}

/// Runs the network by the compute DAGs of its partition; tasks by the alternative of that name where they have it.
class DagExecutor
{
public:
    DagExecutor(const graph::Graph& g, const graph::Partition& p, std::string alternative)
        : m_graph(g)
        , m_partition(p)
        , m_alternative(std::move(alternative))
    {
    }

    std::vector<graph::HostTensor> run(std::uint64_t seed = 7)
    {
        std::vector<graph::HostTensor> inputs = inputsOf(m_graph, seed);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            m_values[m_graph.inputs[i].value] = std::move(inputs[i].bytes);
        for (const graph::Subgraph& s : m_partition.subgraphs)
            runSubgraph(s);
        std::vector<graph::HostTensor> outputs;
        for (const graph::ValueId id : m_graph.outputs)
            outputs.push_back({{m_graph.value(id).dtype, m_graph.value(id).shape}, bytes(id)});
        return outputs;
    }

    int winogradRuns = 0;

private:
    Bytes bytes(graph::ValueId id)
    {
        if (const auto& constant = m_graph.value(id).constant)
            return {constant->data, constant->data + constant->bytes};
        return m_values.at(id.value);
    }

    void runSubgraph(const graph::Subgraph& s)
    {
        if (s.noop) {
            m_values[s.outputs.at(0).value] = bytes(s.inputs.at(0));
            return;
        }
        const graph::Alternative& a = s.task < 0 ? s.untuned.value()
                                                 : pick(m_partition.tasks[static_cast<std::size_t>(s.task)]);
        std::vector<Bytes> inputs;
        for (const graph::InputBinding& binding : a.bindings) {
            Bytes given = bytes(s.inputs[static_cast<std::size_t>(binding.taskInput)]);
            inputs.push_back(binding.recipe ? runDag(binding.recipe, {given}) : given);
        }
        m_values[s.outputs.at(0).value] = runDag(a.dag, inputs);
    }

    const graph::Alternative& pick(const graph::Task& task)
    {
        for (const graph::Alternative& a : task.alternatives) {
            if (a.name == m_alternative) {
                winogradRuns += a.name.starts_with("winograd");
                return a;
            }
        }
        return task.alternatives.front();
    }

    const graph::Graph& m_graph;
    const graph::Partition& m_partition;
    std::string m_alternative;
    std::map<std::int32_t, Bytes> m_values;
};

} // namespace lathe::test
