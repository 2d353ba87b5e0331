#include "core/graph/node_types.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t positiveAxis(std::int64_t axis, std::size_t rank)
{
    return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

bool isBroadcasting(std::string_view op)
{
    constexpr std::array kOps = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "mod", "prelu", "where",
                                 "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
    for (const std::string_view known : kOps) {
        if (op == known)
            return true;
    }
    return false;
}

/// The value with another shape of as many elements: constants share their contents, others get a reshape.
ValueId reshaped(Graph& graph, ValueId id, const Ints& shape, const std::string& name, const std::string& origin)
{
    const Value value = graph.value(id);
    if (value.shape == shape)
        return id;
    if (value.constant)
        return graph.addConstant(value.name, value.dtype, shape, value.constant);
    return append(graph, name, "reshape", {id}, {{"newshape", shape}}, value.dtype, shape, origin);
}

void biasToAdd(Graph& graph, std::size_t index)
{
    const Node node = graph.nodes[index];
    const Ints shape = graph.value(node.inputs[0]).shape;
    Ints full(shape.size(), 1);
    const auto axis = static_cast<std::size_t>(positiveAxis(attrInt(node, "axis", 1), shape.size()));
    full[axis] = shape[axis];
    const ValueId bias = reshaped(graph, node.inputs[1], full, node.name + "_bias", node.origin);
    graph.nodes[index].op = "add";
    graph.nodes[index].attrs.clear();
    graph.nodes[index].inputs[1] = bias;
}

/// Constants of lower rank get leading ones, so that every broadcast is read by position.
void expandConstants(Graph& graph, std::size_t index)
{
    const Node node = graph.nodes[index];
    const std::size_t rank = graph.value(node.outputs[0]).shape.size();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const Value& value = graph.value(node.inputs[i]);
        // Scalars stay: they become literals of the kernel.
        if (value.constant && !value.shape.empty() && value.shape.size() < rank)
            graph.nodes[index].inputs[i] = reshaped(graph, node.inputs[i], padRank(value.shape, rank), {}, {});
    }
}

void constantToTheRight(const Graph& graph, Node& node)
{
    if (graph.value(node.inputs[0]).constant && !graph.value(node.inputs[1]).constant)
        std::swap(node.inputs[0], node.inputs[1]);
}

/// A product with a constant matrix is a dense layer, whose weight is stored by rows of outputs.
void matmulToDense(Graph& graph, std::size_t index)
{
    const Node node = graph.nodes[index];
    const Value weight = graph.value(node.inputs[1]);
    if (!weight.constant || weight.shape.size() != 2 || graph.value(node.inputs[0]).shape.size() != 2 || attrInt(node, "transpose_a", 0) != 0)
        return;
    ValueId stored = node.inputs[1];
    if (attrInt(node, "transpose_b", 0) == 0)
        stored = graph.addConstant(weight.name, weight.dtype, {weight.shape[1], weight.shape[0]}, permuteConst(*weight.constant, weight.dtype, weight.shape, {1, 0}));
    Node& dense = graph.nodes[index];
    dense.op = "dense";
    dense.attrs.erase("transpose_a");
    dense.attrs.erase("transpose_b");
    dense.inputs[1] = stored;
}

/// Each part of a split is a slice; what a consumer does not read is then not computed.
void splitToSlices(Graph& graph, std::size_t index)
{
    const Node node = graph.nodes[index];
    const Value data = graph.value(node.inputs[0]);
    const std::int64_t axis = positiveAxis(attrInt(node, "axis", 0), data.shape.size());
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const Value part = graph.value(node.outputs[i]);
        const std::int64_t end = begin + part.shape[static_cast<std::size_t>(axis)];
        const ValueId slice = append(graph, fmt::format("{}_part{}", node.name, i), "strided_slice", {node.inputs[0]},
                                     {{"begin", Ints{begin}}, {"end", Ints{end}}, {"strides", Ints{1}}, {"axes", Ints{axis}}}, part.dtype, part.shape, node.origin);
        graph.value(slice).name = part.name;
        replaceUses(graph, node.outputs[i], slice);
        begin = end;
    }
}

} // namespace

Result<Graph> canonicalizeOperators(Graph graph)
{
    const std::size_t count = graph.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::string op = graph.nodes[i].op;
        if (op == "bias_add")
            biasToAdd(graph, i);
        else if (op == "split")
            splitToSlices(graph, i);
        else if (op == "matmul")
            matmulToDense(graph, i);
        else if (op == "add" || op == "multiply")
            constantToTheRight(graph, graph.nodes[i]);
        if (isBroadcasting(op))
            expandConstants(graph, i);
    }
    return compact(graph);
}

} // namespace lathe::graph
