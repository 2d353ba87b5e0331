#include "core/graph/graph.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace lathe::graph {
namespace {

Error bad(std::string text)
{
    return makeError(Errc::BadFile, std::move(text));
}

bool inRange(ValueId id, const Graph& graph)
{
    return id.value >= 0 && static_cast<std::size_t>(id.value) < graph.values.size();
}

Result<> verifyValue(const Value& value)
{
    for (const std::int64_t extent : value.shape)
        if (extent < 0)
            return bad(fmt::format("tensor '{}' has the negative extent {}", value.name, extent));
    const auto count = checkedElementCount(value.shape);
    if (!count)
        return bad(fmt::format("tensor '{}' is larger than any memory", value.name));
    const std::int64_t bytes = *count * sizeOf(value.dtype);
    if (!value.constant)
        return {};
    if (value.producer.valid())
        return bad(fmt::format("constant '{}' has a producer", value.name));
    if (value.constant->bytes != static_cast<std::size_t>(bytes))
        return bad(fmt::format("constant '{}' has {} bytes where its shape needs {}", value.name, value.constant->bytes,
                               bytes));
    if (bytes != 0 && !value.constant->data && !value.constant->make)
        return bad(fmt::format("constant '{}' has no contents", value.name));
    return {};
}

Result<> verifyAt(const Graph& graph, int depth);

Result<> verifyBodies(const Node& node, int depth)
{
    for (const auto& body : node.bodies) {
        if (depth == kDeepestBodies)
            return bad(fmt::format("node '{}' has bodies in bodies, more than {} deep", node.name, kDeepestBodies));
        if (!body->regions.empty())
            return bad(fmt::format("a body of node '{}' is in the flat form", node.name));
        if (auto sound = verifyAt(*body, depth + 1); !sound)
            return std::move(sound).error().note(fmt::format("a body of node '{}'", node.name));
    }
    return {};
}

Result<> verifyAt(const Graph& graph, int depth)
{
    for (const Value& value : graph.values)
        LATHE_TRY(verifyValue(value));

    std::vector<bool> defined(graph.values.size(), false);
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        if (graph.values[i].constant)
            defined[i] = true;
    }
    for (const ValueId input : graph.inputs) {
        if (!inRange(input, graph))
            return bad(fmt::format("graph '{}' has an input that does not exist", graph.name));
        const Value& value = graph.value(input);
        if (value.constant || value.producer.valid())
            return bad(fmt::format("graph input '{}' is computed or constant", value.name));
        if (defined[static_cast<std::size_t>(input.value)])
            return bad(fmt::format("graph input '{}' is listed twice", value.name));
        defined[static_cast<std::size_t>(input.value)] = true;
    }

    std::unordered_set<std::string_view> names;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (!names.insert(node.name).second)
            return bad(fmt::format("two nodes are named '{}'", node.name));
        if (node.op.empty())
            return bad(fmt::format("node '{}' has no operator", node.name));
        if (node.region < -1 || node.region >= static_cast<std::int64_t>(graph.regions.size()))
            return bad(fmt::format("node '{}' is in a region that does not exist", node.name));
        LATHE_TRY(verifyBodies(node, depth));
        for (std::size_t k = 0; k < node.inputs.size(); ++k) {
            if (!node.inputs[k].valid())
                continue; // an absent optional input
            if (!inRange(node.inputs[k], graph))
                return bad(fmt::format("input {} of node '{}' does not exist", k, node.name));
            // Also what catches cycles: in one, some node reads a value of a later one.
            if (!defined[static_cast<std::size_t>(node.inputs[k].value)])
                return bad(fmt::format("node '{}' reads '{}' before it is computed", node.name,
                                       graph.value(node.inputs[k]).name));
        }
        if (node.outputs.empty())
            return bad(fmt::format("node '{}' has no output", node.name));
        for (const ValueId output : node.outputs) {
            if (!inRange(output, graph))
                return bad(fmt::format("an output of node '{}' does not exist", node.name));
            const Value& value = graph.value(output);
            if (defined[static_cast<std::size_t>(output.value)])
                return bad(fmt::format("'{}' is computed twice, the second time by node '{}'", value.name, node.name));
            if (value.producer != NodeId(static_cast<std::int64_t>(i)))
                return bad(fmt::format("'{}' does not know its producer '{}'", value.name, node.name));
            defined[static_cast<std::size_t>(output.value)] = true;
        }
    }

    for (const ValueId output : graph.outputs) {
        if (!inRange(output, graph))
            return bad(fmt::format("graph '{}' has an output that does not exist", graph.name));
        if (!defined[static_cast<std::size_t>(output.value)])
            return bad(fmt::format("graph output '{}' is computed by no node", graph.value(output).name));
    }
    for (const OutputExtent& extent : graph.outputExtents) {
        if (extent.output < 0 || static_cast<std::size_t>(extent.output) >= graph.outputs.size())
            return bad(fmt::format("graph '{}' counts an output that does not exist", graph.name));
        const Value& output = graph.value(graph.outputs[static_cast<std::size_t>(extent.output)]);
        if (extent.axis < 0 || static_cast<std::size_t>(extent.axis) >= output.shape.size())
            return bad(fmt::format("graph output '{}' has no dimension {} to count", output.name, extent.axis));
        if (!inRange(extent.count, graph) || !defined[static_cast<std::size_t>(extent.count.value)])
            return bad(fmt::format("the extent of graph output '{}' is computed by no node", output.name));
        const Value& count = graph.value(extent.count);
        if (count.dtype != DType::I64
            || std::any_of(count.shape.begin(), count.shape.end(), [](std::int64_t n) { return n != 1; }))
            return bad(fmt::format("the extent of graph output '{}' must be one int64 number", output.name));
    }
    return {};
}

} // namespace

Result<> verify(const Graph& graph)
{
    return verifyAt(graph, 0);
}

} // namespace lathe::graph
