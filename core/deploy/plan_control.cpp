#include "core/deploy/planner.h"
#include "core/graph/flatten.h"
#include "core/graph/op_traits.h"
#include "core/graph/rewrite.h"

namespace lathe::deploy {

const graph::Node& Planner::nodeOf(std::size_t subgraph) const
{
    return m_graph.node(m_partition.subgraphs[subgraph].nodes[0]);
}

bool Planner::isBranch(std::size_t subgraph) const
{
    return graph::traitsOf(nodeOf(subgraph)).control == graph::Control::BranchBegin;
}

std::int32_t Planner::regionAt(std::size_t subgraph, bool second) const
{
    for (std::size_t r = 0; r < m_graph.regions.size(); ++r)
        if (m_graph.regions[r].begin == m_partition.subgraphs[subgraph].nodes[0]
            && (m_graph.regions[r].kind == graph::Region::Kind::WhenFalse) == second)
            return static_cast<std::int32_t>(r);
    return -1;
}

std::size_t Planner::endOf(std::size_t subgraph) const
{
    const std::int32_t region = regionAt(subgraph, false);
    if (region < 0)
        return SIZE_MAX;
    const graph::NodeId end = m_graph.regions[static_cast<std::size_t>(region)].end;
    for (std::size_t i = subgraph + 1; i < m_partition.subgraphs.size(); ++i)
        if (m_partition.subgraphs[i].nodes[0] == end)
            return i;
    return SIZE_MAX;
}

void Planner::forgetVariants(std::size_t kept)
{
    for (; m_madeVariants.size() > kept; m_madeVariants.pop_back())
        m_variants[static_cast<std::size_t>(m_madeVariants.back().value)].pop_back();
}

Result<> Planner::addBranch(std::size_t first, std::size_t last)
{
    const graph::Node& begin = nodeOf(first);
    const graph::Node& end = nodeOf(last);
    LATHE_TRY_ASSIGN(const std::size_t condition, plainTensor(begin.inputs[0]));
    home(begin.outputs[0]) = condition;
    std::vector<std::size_t> results;
    for (const graph::ValueId id : end.outputs) {
        LATHE_TRY_ASSIGN(const std::size_t result, newPlainTensor(m_graph.value(id)));
        results.push_back(result);
    }
    const std::int32_t no = regionAt(first, true);
    std::size_t middle = first + 1;
    while (middle < last && !graph::isInside(m_graph, m_partition.subgraphs[middle].region, no))
        ++middle;
    const std::size_t place = m_instructions.size();
    add({InstructionKind::Branch, begin.name, {condition}, 0});
    const std::int64_t runs = m_runs;
    for (std::size_t k = 0; k < 2; ++k) {
        const std::size_t before = m_instructions.size(), variants = m_madeVariants.size(), buffers = m_buffers.size();
        LATHE_TRY(k == 0 ? addSubgraphs(first + 1, middle) : addSubgraphs(middle, last));
        m_runs = runs;
        for (std::size_t j = 0; j < results.size(); ++j) {
            LATHE_TRY_ASSIGN(const std::size_t from, plainTensor(end.inputs[1 + k * results.size() + j]));
            if (!writeThere(from, results[j], buffers))
                addCopy(m_graph.value(end.outputs[j]).name, from, results[j]);
        }
        forgetVariants(variants);
        (k == 0 ? m_instructions[place].whenTrue : m_instructions[place].whenFalse) = m_instructions.size() - before;
    }
    for (std::size_t j = 0; j < results.size(); ++j)
        home(end.outputs[j]) = results[j];
    return {};
}

bool Planner::writeThere(std::size_t from, std::size_t to, std::size_t oldest)
{
    const std::size_t old = m_tensors[from].buffer, wanted = m_tensors[to].buffer;
    if (old < oldest || old == wanted || m_buffers[old].storage != Storage::Arena
        || m_buffers[old].bytes != m_buffers[wanted].bytes)
        return false;
    for (Tensor& tensor : m_tensors)
        if (tensor.buffer == old)
            tensor.buffer = wanted;
    return true;
}

Result<> Planner::addLoop(std::size_t first, std::size_t last)
{
    const graph::Node& begin = nodeOf(first);
    const graph::Node& end = nodeOf(last);
    // Numbered as the results of `begin`: the iteration, the condition, what is carried.
    const std::size_t carried = begin.outputs.size();
    LATHE_TRY_ASSIGN(const std::size_t trips, plainTensor(begin.inputs[0]));
    LATHE_TRY_ASSIGN(home(begin.outputs[0]), newPlainTensor(m_graph.value(begin.outputs[0])));
    const std::size_t iteration = home(begin.outputs[0]);
    for (std::size_t i = 1; i < carried; ++i) {
        LATHE_TRY_ASSIGN(const std::size_t initial, plainTensor(begin.inputs[i]));
        if (i == 1 && isAlways(begin, end)) {
            home(begin.outputs[1]) = initial;
            continue;
        }
        LATHE_TRY_ASSIGN(home(begin.outputs[i]), newPlainTensor(m_graph.value(begin.outputs[i])));
        addCopy("initial " + m_graph.value(begin.outputs[i]).name, initial, home(begin.outputs[i]));
    }
    std::vector<std::size_t> rows;
    for (std::size_t k = carried; k < end.inputs.size(); ++k) {
        LATHE_TRY_ASSIGN(const std::size_t tensor, newPlainTensor(m_graph.value(end.outputs[k - 2])));
        rows.push_back(tensor);
    }
    const std::size_t place = m_instructions.size(), variants = m_madeVariants.size();
    const std::int64_t runs = m_runs;
    add({InstructionKind::Loop, begin.name, {trips, home(begin.outputs[1]), iteration}});
    LATHE_TRY(addSubgraphs(first + 1, last));
    m_runs = m_graph.regions[static_cast<std::size_t>(regionAt(first, false))].trips * runs;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        LATHE_TRY_ASSIGN(const std::size_t row, plainTensor(end.inputs[carried + k]));
        add({InstructionKind::Row, m_tensors[rows[k]].name, {row, iteration, rows[k]}});
    }
    LATHE_TRY(addBackEdge(begin, end));
    m_runs = runs;
    forgetVariants(variants);
    m_instructions[place].body = m_instructions.size() - place - 1;
    for (std::size_t i = 2; i < carried; ++i)
        home(end.outputs[i - 2]) = home(begin.outputs[i]);
    for (std::size_t k = 0; k < rows.size(); ++k)
        home(end.outputs[carried - 2 + k]) = rows[k];
    home(end.outputs.back()) = iteration;
    return {};
}

bool Planner::isAlways(const graph::Node& begin, const graph::Node& end) const
{
    const graph::Value& initial = m_graph.value(begin.inputs[1]);
    const graph::Value& next = m_graph.value(end.inputs[1]);
    return initial.constant && (end.inputs[1] == begin.outputs[1] || (graph::isTrue(initial) && graph::isTrue(next)));
}

Result<> Planner::addBackEdge(const graph::Node& begin, const graph::Node& end)
{
    std::vector<std::size_t> next;
    for (std::size_t i = 1; i < begin.outputs.size(); ++i) {
        LATHE_TRY_ASSIGN(const std::size_t from, plainTensor(end.inputs[i]));
        next.push_back(from);
    }
    const auto bufferOf = [this](std::size_t tensor) { return m_tensors[tensor].buffer; };
    for (std::size_t i = 0; i < next.size(); ++i) {
        bool isOverwritten = false;
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            isOverwritten = isOverwritten || bufferOf(home(begin.outputs[1 + earlier])) == bufferOf(next[i]);
        if (!isOverwritten || bufferOf(home(begin.outputs[1 + i])) == bufferOf(next[i]))
            continue;
        const Tensor& from = m_tensors[next[i]];
        const std::size_t kept = addTensor(addBuffer(bytesOf(from.map, from.dtype)), from.map, from.dtype, from.name);
        addCopy("kept " + m_tensors[kept].name, next[i], kept);
        next[i] = kept;
    }
    for (std::size_t i = 0; i < next.size(); ++i)
        if (m_buffers[bufferOf(home(begin.outputs[1 + i]))].storage == Storage::Arena)
            addCopy("next " + m_graph.value(begin.outputs[1 + i]).name, next[i], home(begin.outputs[1 + i]));
    return {};
}

} // namespace lathe::deploy
