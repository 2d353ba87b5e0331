#include "core/frontend/output_softmax.h"

#include "core/graph/operator.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

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
        if (graph::traitsOf(node).hidesDifferences)
            return true;
        const bool rounds = node.op == "cast" && isFloat(network.value(node.inputs[0]).dtype);
        if (graph::traitsOf(node).layout != graph::LayoutRule::Reshape && !rounds)
            return false;
        id = node.inputs[0];
    }
    return false;
}

/// The input of a softmax over `rows`, which stand for an output: where the length of a row depends on data, what lies
/// behind its end takes no part.
ValueId endsWithItsRow(Graph& network, std::size_t output, ValueId rows)
{
    const Value value = network.value(rows); // a copy: values move when some are appended
    const auto last = static_cast<std::int64_t>(value.shape.size()) - 1;
    const auto extent = std::ranges::find_if(network.outputExtents, [&](const graph::OutputExtent& e) {
        return static_cast<std::size_t>(e.output) == output && e.axis == last;
    });
    if (extent == network.outputExtents.end())
        return rows;
    const ValueId count = extent->count;
    std::vector<std::int64_t> places(static_cast<std::size_t>(value.shape.back()));
    std::iota(places.begin(), places.end(), 0);
    const std::string& name = network.outputNames[output];
    const auto length = static_cast<std::int64_t>(places.size());
    const ValueId range = network.addConstant(name + "_places", DType::I64, {length},
                                              graph::makeConst(places.data(), places.size() * sizeof(std::int64_t)));
    const ValueId exists = graph::append(network, name + "_exists", "less", {range, count}, {}, DType::Bool, {length});
    const std::vector<double> none{-std::numeric_limits<double>::infinity()};
    const ValueId nothing = graph::addNumbers(network, name + "_nothing", value.dtype, {}, none);
    return graph::append(network, name + "_row", "where", {exists, rows, nothing}, {}, value.dtype, value.shape);
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
            notes.push_back(say(Msg::SoftmaxThere, name));
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
        const ValueId seen = endsWithItsRow(network, i, narrow ? castTo(old, wide) : old);
        const ValueId result = step("softmax", seen, {{"axis", std::int64_t{-1}}}, wide);
        network.outputs[i] = narrow ? castTo(result, value.dtype) : result;
    }
    if (!any)
        return makeError(Errc::InvalidArgument, say(Msg::SoftmaxNeedsFloats));
    return network;
}

} // namespace lathe::frontend
