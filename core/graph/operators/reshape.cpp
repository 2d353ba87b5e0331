// The same elements in another shape or order.

#include "core/compute/definitions/transform.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

/// newshape: 0 keeps the input's dimension at that place, one -1 takes what is left.
Result<Types> inferReshape(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Shape wanted, intsAttr(node, "newshape", {-1}));
    LATHE_TRY_ASSIGN(const std::int64_t count, needElementCount(inputs[0].shape));
    Shape shape = wanted;
    std::int64_t open = -1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0) {
            if (i >= inputs[0].shape.size())
                return brokenRule(fmt::format("newshape {} keeps dimension {} of input {}, which has none",
                                              shapeText(wanted), i, shapeText(inputs[0].shape)));
            shape[i] = inputs[0].shape[i];
        } else if (shape[i] == -1 && open < 0) {
            open = static_cast<std::int64_t>(i);
            shape[i] = 1;
        } else if (shape[i] < 0) {
            return brokenRule(
                fmt::format("newshape {} may hold one -1 and no other negative number", shapeText(wanted)));
        }
    }
    LATHE_TRY_ASSIGN(const std::int64_t given, needElementCount(shape));
    if (open >= 0) {
        if (given == 0 || count % given != 0)
            return brokenRule(fmt::format("newshape {} does not divide the {} elements of input {}", shapeText(wanted),
                                          count, shapeText(inputs[0].shape)));
        shape[static_cast<std::size_t>(open)] = count / given;
    } else if (given != count) {
        return brokenRule(fmt::format("newshape {} has {} elements, input {} has {}", shapeText(wanted), given,
                                      shapeText(inputs[0].shape), count));
    }
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<Types> inferFlatten(const Node&, InputTypes inputs, Constants)
{
    const Shape& shape = inputs[0].shape;
    if (shape.empty())
        return brokenRule("the input must have at least one dimension");
    LATHE_TRY_ASSIGN(const std::int64_t rest, needElementCount(std::span(shape).subspan(1)));
    return Types{{inputs[0].dtype, {shape[0], rest}}};
}

Result<Types> inferSqueeze(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Shape given, intsAttr(node, "axes", {}));
    LATHE_TRY_ASSIGN(const Shape axes, normalAxes(given, inputs[0].shape.size()));
    Shape shape;
    for (std::size_t i = 0; i < inputs[0].shape.size(); ++i) {
        const std::int64_t extent = inputs[0].shape[i];
        const bool named = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end();
        if (named && extent != 1)
            return brokenRule(fmt::format("axis {} of input {} cannot be dropped, its extent is {}", i,
                                          shapeText(inputs[0].shape), extent));
        if (!named && (extent != 1 || !axes.empty()))
            shape.push_back(extent);
    }
    return Types{{inputs[0].dtype, std::move(shape)}};
}

/// axes are places in the output.
Result<Types> inferExpandDims(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Shape given, intsAttr(node, "axes", {}));
    LATHE_TRY_ASSIGN(const Shape axes, normalAxes(given, inputs[0].shape.size() + given.size()));
    Shape shape = inputs[0].shape;
    for (const std::int64_t axis : axes)
        shape.insert(shape.begin() + axis, 1);
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateSameBytes(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    outputs[0].bytes = inputs[0]->bytes;
    return {};
}

/// axes default to the reverse order.
Result<Shape> checkedPermutation(const Node& node, std::size_t rank)
{
    Shape reversed(rank);
    for (std::size_t i = 0; i < rank; ++i)
        reversed[i] = static_cast<std::int64_t>(rank - 1 - i);
    LATHE_TRY_ASSIGN(Shape axes, intsAttr(node, "axes", reversed));
    if (axes.size() != rank)
        return brokenRule(fmt::format("axes {} must name each of the {} dimensions once", shapeText(axes), rank));
    LATHE_TRY(normalAxes(axes, rank));
    for (std::int64_t& axis : axes)
        axis = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    return axes;
}

Result<Types> inferTranspose(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Shape axes, checkedPermutation(node, inputs[0].shape.size()));
    Shape shape;
    for (const std::int64_t axis : axes)
        shape.push_back(inputs[0].shape[static_cast<std::size_t>(axis)]);
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateTranspose(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Shape axes, checkedPermutation(node, inputs[0]->type.shape.size()));
    const auto dense = denseStrides(inputs[0]->type.shape);
    std::vector<std::int64_t> strides;
    for (const std::int64_t axis : axes)
        strides.push_back(dense[static_cast<std::size_t>(axis)]);
    gatherStrided(*inputs[0], 0, strides, outputs[0]);
    return {};
}

Result<Types> inferBroadcastTo(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Shape wanted, intsAttr(node, "shape", {}));
    LATHE_TRY(needElementCount(wanted));
    LATHE_TRY_ASSIGN(Shape shape, broadcastShape(inputs[0].shape, wanted));
    if (shape != wanted)
        return brokenRule(
            fmt::format("input {} does not broadcast to {}", shapeText(inputs[0].shape), shapeText(wanted)));
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateBroadcastTo(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    gatherStrided(*inputs[0], 0, broadcastStrides(inputs[0]->type.shape, outputs[0].type.shape), outputs[0]);
    return {};
}

using Tensors = std::span<const compute::Tensor>;

Result<compute::Tensor> computeReshape(const Node&, Tensors inputs, ComputeContext& context)
{
    return compute::reshape(context.builder, inputs[0], context.outputTypes[0].shape);
}

Result<compute::Tensor> computeFlatten(const Node&, Tensors inputs, ComputeContext& context)
{
    return compute::batchFlatten(context.builder, inputs[0]);
}

Result<compute::Tensor> computeTranspose(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const Shape axes, checkedPermutation(node, context.builder.shape(inputs[0]).size()));
    return compute::transpose(context.builder, inputs[0], axes);
}

Result<compute::Tensor> computeBroadcastTo(const Node&, Tensors inputs, ComputeContext& context)
{
    return compute::broadcastTo(context.builder, inputs[0], context.outputTypes[0].shape);
}

} // namespace

std::span<const OpDef> reshapeOperators()
{
    static const std::vector<OpDef> table = {
        {"reshape",
         Pattern::Injective,
         1,
         1,
         inferReshape,
         computeReshape,
         evaluateSameBytes,
         {.layout = LayoutRule::Reshape, .cost = Cost::Free}},
        {"batch_flatten",
         Pattern::Injective,
         1,
         1,
         inferFlatten,
         computeFlatten,
         evaluateSameBytes,
         {.layout = LayoutRule::Reshape, .cost = Cost::Free, .nnName = true}},
        {"squeeze",
         Pattern::Injective,
         1,
         1,
         inferSqueeze,
         computeReshape,
         evaluateSameBytes,
         {.layout = LayoutRule::Reshape, .cost = Cost::Free}},
        {"expand_dims",
         Pattern::Broadcast,
         1,
         1,
         inferExpandDims,
         computeReshape,
         evaluateSameBytes,
         {.cost = Cost::Free}},
        {"transpose",
         Pattern::Injective,
         1,
         1,
         inferTranspose,
         computeTranspose,
         evaluateTranspose,
         {.layout = LayoutRule::Transpose, .cost = Cost::Movement, .lateFolding = LateFolding::Always}},
        {"broadcast_to",
         Pattern::Broadcast,
         1,
         1,
         inferBroadcastTo,
         computeBroadcastTo,
         evaluateBroadcastTo,
         {.cost = Cost::Movement, .identityIfSameType = true}},
    };
    return table;
}

} // namespace lathe::graph::operators
