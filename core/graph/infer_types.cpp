#include "core/graph/node_types.h"
#include "core/graph/operators/rules.h"
#include "core/graph/passes.h"
#include "core/support/message.h"

#include <fmt/format.h>

namespace lathe::graph {
namespace {

std::string describe(const Node& node, std::span<const TensorType> inputs)
{
    std::string text = fmt::format("{} \"{}\" of ", node.op, node.name);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", typeText(inputs[i]));
    return inputs.empty() ? fmt::format("{} \"{}\"", node.op, node.name) : text;
}

} // namespace

std::string typeText(const TensorType& type)
{
    return fmt::format("{} {}", toString(type.dtype), operators::shapeText(type.shape));
}

Result<std::vector<TensorType>> nodeTypes(const Node& node, std::span<const TensorType> inputs,
                                          std::span<const ConstData* const> constants)
{
    const OpDef* entry = findOperator(node.op);
    if (!entry)
        return makeError(Errc::Unsupported, say(Msg::OperatorUnknown, node.name, node.op));
    const auto count = static_cast<std::int64_t>(inputs.size());
    if (count < entry->minInputs || (entry->maxInputs >= 0 && count > entry->maxInputs)) {
        const std::string wanted = entry->maxInputs == entry->minInputs ? fmt::format("{}", entry->minInputs)
                                   : entry->maxInputs < 0               ? fmt::format("at least {}", entry->minInputs)
                                                          : fmt::format("{} to {}", entry->minInputs, entry->maxInputs);
        return makeError(Errc::InvalidArgument, say(Msg::NodeInputCount, describe(node, inputs), wanted, count));
    }
    auto types = entry->inferTypes(node, inputs, constants);
    if (!types)
        return std::move(types).error().note(describe(node, inputs));
    if (types->size() != node.outputs.size()) {
        return makeError(Errc::InvalidArgument,
                         say(Msg::NodeOutputCount, describe(node, inputs), types->size(), node.outputs.size()));
    }
    for (const TensorType& type : *types) {
        if (auto elements = operators::needElementCount(type.shape); !elements)
            return std::move(elements).error().note(describe(node, inputs));
    }
    return types;
}

Result<Graph> inferTypes(Graph graph)
{
    for (Node& node : graph.nodes) {
        for (auto& body : node.bodies) {
            LATHE_TRY_ASSIGN(Graph inferred, inferTypes(*body));
            body = std::make_shared<const Graph>(std::move(inferred));
        }
        std::vector<TensorType> inputs;
        std::vector<const ConstData*> constants;
        for (const ValueId id : node.inputs) {
            if (!id.valid() || static_cast<std::size_t>(id.value) >= graph.values.size())
                return makeError(Errc::InvalidArgument, say(Msg::NodeInputAbsent, node.op, node.name));
            const Value& value = graph.value(id);
            inputs.push_back({value.dtype, value.shape});
            constants.push_back(value.constant.get());
        }
        LATHE_TRY_ASSIGN(std::vector<TensorType> types, nodeTypes(node, inputs, constants));
        for (std::size_t i = 0; i < types.size(); ++i) {
            Value& output = graph.value(node.outputs[i]);
            output.dtype = types[i].dtype;
            output.shape = std::move(types[i].shape);
        }
    }
    return graph;
}

} // namespace lathe::graph
