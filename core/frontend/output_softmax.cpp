#include "core/frontend/output_softmax.h"

#include "core/graph/operator.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

namespace lathe::frontend {
namespace {

using graph::Attrs;
using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueId;

/// Looks through what only gives the elements another shape, as importers of old opsets write it around a softmax, or
/// rounds them.
bool isSoftmax(const Graph& network, ValueId id)
{
    while (network.value(id).producer.valid()) {
        const Node& node = network.node(network.value(id).producer);
        if (node.op == "softmax")
            return true;
        const bool rounds = node.op == "cast" && isFloat(network.value(node.inputs[0]).dtype);
        if (graph::traitsOf(node).layout != graph::LayoutRule::Reshape && !rounds)
            return false;
        id = node.inputs[0];
    }
    return false;
}

bool fits(const Value& value, bool single)
{
    return isFloat(value.dtype) && (single ? !value.shape.empty() : value.shape.size() == 2);
}

} // namespace

Result<graph::Graph> appendSoftmax(graph::Graph network, std::vector<Message>& notes)
{
    if (network.outputNames.empty()) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < network.outputs.size(); ++i)
            names.push_back(network.outputName(i));
        network.outputNames = std::move(names);
    }
    bool any = false;
    for (std::size_t i = 0; i < network.outputs.size(); ++i) {
        const ValueId old = network.outputs[i];
        const Value value = network.value(old); // a copy: values move when some are appended
        if (!fits(value, network.outputs.size() == 1))
            continue;
        any = true;
        const std::string& name = network.outputNames[i];
        if (isSoftmax(network, old)) {
            notes.push_back(say(
                Msg::Plain, fmt::format("the output \"{}\" is a softmax already: no second one was appended", name)));
            continue;
        }
        const auto step = [&](std::string op, ValueId from, Attrs attrs, DType dtype) {
            return graph::append(network, fmt::format("{}_{}", name, op), std::move(op), {from}, std::move(attrs),
                                 dtype, value.shape);
        };
        const auto castTo = [&](ValueId from, DType dtype) {
            return step("cast", from, {{"dtype", std::string(toString(dtype))}}, dtype);
        };
        const bool narrow = sizeOf(value.dtype) < sizeOf(DType::F32); // half floats would lose digits in the sum
        const DType wide = narrow ? DType::F32 : value.dtype;
        ValueId result = step("softmax", narrow ? castTo(old, wide) : old, {{"axis", std::int64_t{-1}}}, wide);
        network.outputs[i] = narrow ? castTo(result, value.dtype) : result;
    }
    if (!any)
        return makeError(Errc::InvalidArgument,
                         "--softmax needs one float output, or float outputs of two dimensions: the network has none");
    return network;
}

} // namespace lathe::frontend
