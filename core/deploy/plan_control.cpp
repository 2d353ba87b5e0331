#include "core/deploy/planner.h"
#include "core/graph/flatten.h"
#include "core/graph/op_traits.h"
#include "core/graph/rewrite.h"

#include <algorithm>

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

std::size_t Planner::hoistedTo(graph::ValueId id) const
{
    const graph::NodeId producer = m_graph.value(id).producer;
    std::size_t found = m_open.size();
    for (std::size_t i = m_open.size(); i-- > 0;) {
        const Open& open = m_open[i];
        if (open.begin == nullptr)
            continue; // to make it where a branch might not need it costs less than to make it again and again
        if (producer.valid()
            && (&m_graph.node(producer) == open.begin
                || graph::isInside(m_graph, m_graph.node(producer).region, open.region)))
            break;
        found = i;
    }
    return found;
}

void Planner::forgetVariants()
{
    for (; m_madeVariants.size() > m_open.back().variants; m_madeVariants.pop_back())
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
    m_open.push_back({m_instructions.size(), 0, 0, m_madeVariants.size(), m_runs});
    add({InstructionKind::Branch, begin.name, {condition}, 0});
    for (std::size_t k = 0; k < 2; ++k) {
        m_open.back().stretch = m_instructions.size();
        m_open.back().buffers = m_buffers.size();
        LATHE_TRY(k == 0 ? addSubgraphs(first + 1, middle) : addSubgraphs(middle, last));
        m_runs = m_open.back().runs;
        for (std::size_t j = 0; j < results.size(); ++j) {
            LATHE_TRY_ASSIGN(const std::size_t from, plainTensor(end.inputs[1 + k * results.size() + j]));
            if (!writeThere(from, results[j]))
                addCopy(m_graph.value(end.outputs[j]).name, from, results[j]);
        }
        forgetVariants();
        Instruction& branch = m_instructions[m_open.back().place];
        (k == 0 ? branch.whenTrue : branch.whenFalse) = m_instructions.size() - m_open.back().stretch;
    }
    m_open.pop_back();
    for (std::size_t j = 0; j < results.size(); ++j)
        home(end.outputs[j]) = results[j];
    return {};
}

std::size_t Planner::firstUseOf(std::size_t buffer) const
{
    for (std::size_t i = 0; i < m_instructions.size(); ++i)
        for (const std::size_t tensor : m_instructions[i].arguments)
            if (m_tensors[tensor].buffer == buffer)
                return i;
    return SIZE_MAX;
}

bool Planner::isOfStretch(std::size_t tensor, std::size_t to) const
{
    const std::size_t buffer = m_tensors[tensor].buffer, wanted = m_tensors[to].buffer;
    return buffer >= m_open.back().buffers && buffer != wanted && m_buffers[buffer].storage == Storage::Arena
           && !m_buffers[buffer].swapped && m_buffers[buffer].bytes == m_buffers[wanted].bytes
           && firstUseOf(buffer) != SIZE_MAX && firstUseOf(buffer) >= m_open.back().stretch;
}

bool Planner::writeThere(std::size_t from, std::size_t to)
{
    const std::size_t old = m_tensors[from].buffer, wanted = m_tensors[to].buffer;
    if (!isOfStretch(from, to))
        return false;
    m_buffers[wanted].carried = m_buffers[wanted].carried || m_buffers[old].carried;
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
    const std::int32_t region = regionAt(first, false);
    m_open.push_back({m_instructions.size(), m_instructions.size() + 1, m_buffers.size(), m_madeVariants.size(), m_runs,
                      &begin, region});
    add({InstructionKind::Loop, begin.name, {trips, home(begin.outputs[1]), iteration}});
    LATHE_TRY(addSubgraphs(first + 1, last));
    m_runs = m_graph.regions[static_cast<std::size_t>(region)].trips * m_open.back().runs;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        LATHE_TRY_ASSIGN(const std::size_t row, plainTensor(end.inputs[carried + k]));
        add({InstructionKind::Row, m_tensors[rows[k]].name, {row, iteration, rows[k]}});
    }
    LATHE_TRY(addBackEdge(begin, end));
    forgetVariants();
    const Open loop = m_open.back();
    m_open.pop_back();
    m_runs = loop.runs;
    m_instructions[loop.place].body = m_instructions.size() - loop.place - 1;
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

bool Planner::mayOverwrite(const Instruction& in, std::size_t buffer) const
{
    if (in.kind != InstructionKind::Kernel || in.outputCount != 1)
        return false;
    const std::vector<bool> allowed = overwritable(in);
    const Tensor& out = m_tensors[in.arguments.back()];
    std::size_t readers = 0;
    bool isAllowed = true;
    for (std::size_t k = 0; k + 1 < in.arguments.size(); ++k) {
        const Tensor& tensor = m_tensors[in.arguments[k]];
        if (tensor.buffer != buffer)
            continue;
        ++readers;
        isAllowed = isAllowed && allowed[k] && tensor.dtype == out.dtype && tensor.map == out.map;
    }
    return isAllowed && readers == 1;
}

bool Planner::isOldDead(std::size_t from, std::size_t to) const
{
    const std::size_t buffer = m_tensors[to].buffer;
    std::size_t made = firstUseOf(m_tensors[from].buffer);
    bool isWithin = false; // a loop inside of this one, whose next iteration reads again what stands in front
    for (std::size_t i = m_open.back().stretch; i < made && !isWithin; ++i)
        if (m_instructions[i].kind == InstructionKind::Loop && i + m_instructions[i].body >= made) {
            made = i;
            isWithin = true;
        }
    for (std::size_t i = made; i < m_instructions.size(); ++i) {
        const Instruction& in = m_instructions[i];
        const bool isUsed = std::ranges::any_of(in.arguments,
                                                [&](std::size_t tensor) { return m_tensors[tensor].buffer == buffer; });
        if (isUsed && (i != made || isWithin || !mayOverwrite(in, buffer)))
            return false;
    }
    return true;
}

Result<> Planner::addBackEdge(const graph::Node& begin, const graph::Node& end)
{
    /// Below that a copy costs no more than the barrier behind it.
    constexpr std::uint64_t kLeastSwapped = 1024;
    const auto bufferOf = [this](std::size_t tensor) { return m_tensors[tensor].buffer; };
    std::vector<std::size_t> next, homes;
    for (std::size_t i = 1; i < begin.outputs.size(); ++i) {
        LATHE_TRY_ASSIGN(const std::size_t from, plainTensor(end.inputs[i]));
        next.push_back(from);
        homes.push_back(home(begin.outputs[i]));
    }
    const auto isNextOfOthers = [&](std::size_t buffer, std::size_t i) {
        for (std::size_t other = 0; other < next.size(); ++other)
            if (other != i && bufferOf(next[other]) == buffer)
                return true;
        return false;
    };
    for (std::size_t i = 0; i < next.size(); ++i) {
        const std::size_t to = bufferOf(homes[i]);
        if (m_buffers[to].storage == Storage::Arena && isOfStretch(next[i], homes[i])
            && !isNextOfOthers(bufferOf(next[i]), i) && !isNextOfOthers(to, i) && isOldDead(next[i], homes[i])
            && writeThere(next[i], homes[i]))
            m_buffers[to].carried = true;
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
        bool isOverwritten = false;
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            isOverwritten = isOverwritten || bufferOf(homes[earlier]) == bufferOf(next[i]);
        if (!isOverwritten || bufferOf(homes[i]) == bufferOf(next[i]))
            continue;
        const Tensor& from = m_tensors[next[i]];
        const std::size_t kept = addTensor(addBuffer(bytesOf(from.map, from.dtype)), from.map, from.dtype, from.name);
        addCopy("kept " + m_tensors[kept].name, next[i], kept);
        next[i] = kept;
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
        const std::size_t from = bufferOf(next[i]), to = bufferOf(homes[i]);
        if (m_buffers[to].storage != Storage::Arena)
            continue;
        const std::string name = "next " + m_graph.value(begin.outputs[1 + i]).name;
        if (m_buffers[to].bytes < kLeastSwapped || m_buffers[to].carried || m_buffers[from].carried
            || !isOfStretch(next[i], homes[i]) || isNextOfOthers(from, i)) {
            addCopy(name, next[i], homes[i]);
            continue;
        }
        m_buffers[from].swapped = m_buffers[to].swapped = true;
        add({InstructionKind::Swap, name, {homes[i], next[i]}, 2});
    }
    return {};
}

} // namespace lathe::deploy
