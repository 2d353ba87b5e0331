#include "core/graph/node_types.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"

#include <algorithm>

namespace lathe::graph {
namespace {

/// Results larger than this and than what they are made from stay computed: a broadcast constant is cheaper as it was.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

std::int64_t bytesOf(const Value& value)
{
    return elementCount(value.shape) * sizeOf(value.dtype);
}

bool isFoldable(const Graph& graph, const Node& node)
{
    if (!node.bodies.empty()) // a loop need not end
        return false;
    std::int64_t in = 0;
    for (const ValueId id : node.inputs) {
        if (!id.valid() || !graph.value(id).constant)
            return false;
        in += bytesOf(graph.value(id));
    }
    std::int64_t out = 0;
    for (const ValueId id : node.outputs)
        out += bytesOf(graph.value(id));
    return traitsOf(node).foldsLarge || out <= std::max(in, kMostBytes);
}

void makeConstant(Value& value, std::shared_ptr<const ConstData> contents, std::shared_ptr<const Provenance> provenance)
{
    value.constant = std::move(contents);
    value.provenance = std::move(provenance);
    value.producer = NodeId(); // compact() drops the node
}

/// Operands from `first` on that are constants become constants of the bodies, which take that much less.
void sinkConstants(const Graph& graph, Node& node, std::size_t first)
{
    for (std::size_t i = node.inputs.size(); i-- > first;) {
        const Value& value = graph.value(node.inputs[i]);
        if (!value.constant)
            continue;
        for (auto& body : node.bodies) {
            auto changed = std::make_shared<Graph>(*body);
            const auto place = changed->inputs.end() - static_cast<std::ptrdiff_t>(node.inputs.size() - i);
            changed->value(*place).constant = value.constant;
            changed->value(*place).provenance = value.provenance;
            changed->inputs.erase(place);
            body = std::move(changed);
        }
        node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

} // namespace

Result<Graph> foldConstants(Graph graph)
{
    for (const Node& node : graph.nodes) {
        if (!isFoldable(graph, node))
            continue;
        std::vector<const Value*> operands;
        for (const ValueId id : node.inputs)
            operands.push_back(&graph.value(id));
        const auto provenance = derivedFrom(operands, node.op);
        if (node.outputs.size() == 1) {
            Value& value = graph.value(node.outputs[0]);
            if (auto later = foldLater(node, operands, {value.dtype, value.shape})) {
                makeConstant(value, std::move(later), provenance);
                continue;
            }
        }
        std::vector<HostTensor> inputs;
        for (const ValueId id : node.inputs) {
            LATHE_TRY_ASSIGN(HostTensor tensor, tensorOf(graph.value(id)));
            inputs.push_back(std::move(tensor));
        }
        std::vector<const HostTensor*> views;
        for (const HostTensor& tensor : inputs)
            views.push_back(&tensor);
        LATHE_TRY_ASSIGN(std::vector<HostTensor> outputs, evaluateNode(node, views));
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            Value& value = graph.value(node.outputs[i]);
            value.dtype = outputs[i].type.dtype;
            value.shape = outputs[i].type.shape;
            makeConstant(value, ownedConst(std::move(outputs[i].bytes)), provenance);
        }
    }
    for (Node& node : graph.nodes) {
        const Control control = traitsOf(node).control;
        if (control == Control::If)
            sinkConstants(graph, node, 1);
        else if (control == Control::Loop)
            sinkConstants(graph, node, 2 + static_cast<std::size_t>(attrInt(node, "carried", 0)));
    }
    return compact(graph);
}

} // namespace lathe::graph
