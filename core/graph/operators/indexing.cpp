// Elements picked and placed by indices that are tensors themselves, running sums, ranks.

#include "core/compute/definitions/indexing.h"

#include "core/compute/definitions/transform.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::graph::operators {
namespace {

using Arguments = std::span<const HostTensor* const>;
using Tensors = std::span<const compute::Tensor>;
using compute::ScatterMode;

Result<std::size_t> axisOf(const Node& node, std::size_t rank)
{
    LATHE_TRY_ASSIGN(const std::int64_t given, intAttr(node, "axis", 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(given, rank));
    return static_cast<std::size_t>(axis);
}

Result<> needIndices(const TensorType& type)
{
    if (type.dtype != DType::I32 && type.dtype != DType::I64)
        return brokenRule(fmt::format("the indices must be int32 or int64, they are {}", toString(type.dtype)));
    return {};
}

Result<std::int64_t> placeOf(std::int64_t given, std::int64_t extent)
{
    const std::int64_t index = given < 0 ? given + extent : given;
    if (index < 0 || index >= extent)
        return brokenRule(fmt::format("index {} is outside of {} entries", given, extent));
    return index;
}

std::int64_t countOf(std::span<const std::int64_t> shape)
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// The index along each dimension of a row-major position.
Shape unflatten(std::int64_t position, const Shape& shape)
{
    Shape index(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        index[d] = position % shape[d];
        position /= shape[d];
    }
    return index;
}

std::int64_t flatten(const Shape& index, const Shape& strides)
{
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
}

void copyElement(HostTensor& out, std::int64_t to, const HostTensor& in, std::int64_t from)
{
    const auto size = static_cast<std::size_t>(sizeOf(in.type.dtype));
    std::memcpy(out.bytes.data() + static_cast<std::size_t>(to) * size,
                in.bytes.data() + static_cast<std::size_t>(from) * size, size);
}

// ---- gathers
// ------------------------------------------------------------------------------------------------------------

Result<Types> inferGatherElements(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0].shape.size()));
    LATHE_TRY(needRank(inputs[1], inputs[0].shape.size(), "indices"));
    for (std::size_t d = 0; d < inputs[0].shape.size(); ++d) {
        if (d != axis && inputs[1].shape[d] > inputs[0].shape[d])
            return brokenRule(
                fmt::format("indices {} reach beyond data {}", shapeText(inputs[1].shape), shapeText(inputs[0].shape)));
    }
    LATHE_TRY(needPlaces(constants[1], inputs[1].dtype, std::span(inputs[0].shape).subspan(axis, 1)));
    return Types{{inputs[0].dtype, inputs[1].shape}};
}

Result<> evaluateGatherElements(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& data = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, data.size()));
    const Shape strides = denseStrides(data);
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        Shape at = unflatten(static_cast<std::int64_t>(i), inputs[1]->type.shape);
        LATHE_TRY_ASSIGN(at[axis], placeOf(indices[i], data[axis]));
        copyElement(outputs[0], static_cast<std::int64_t>(i), *inputs[0], flatten(at, strides));
    }
    return {};
}

Result<std::size_t> batchDimsOf(const Node& node, InputTypes inputs)
{
    LATHE_TRY_ASSIGN(const std::int64_t batch, intAttr(node, "batch_dims", 0));
    const auto ranks = static_cast<std::int64_t>(std::min(inputs[0].shape.size(), inputs[1].shape.size()));
    if (batch < 0 || batch >= ranks)
        return brokenRule(
            fmt::format("batch_dims {} must be smaller than the numbers of dimensions of data and indices", batch));
    return static_cast<std::size_t>(batch);
}

Result<Types> inferGatherNd(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY_ASSIGN(const std::size_t batch, batchDimsOf(node, inputs));
    const Shape &data = inputs[0].shape, &picks = inputs[1].shape;
    const auto room = static_cast<std::int64_t>(data.size() - batch);
    if (picks.back() < 1 || picks.back() > room)
        return brokenRule(fmt::format("the indices {} must name from 1 to {} dimensions each", shapeText(picks), room));
    if (!std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch), picks.begin()))
        return brokenRule(fmt::format("the first {} dimensions of data {} and indices {} must be equal", batch,
                                      shapeText(data), shapeText(picks)));
    LATHE_TRY(needPlaces(constants[1], inputs[1].dtype,
                         std::span(data).subspan(batch, static_cast<std::size_t>(picks.back()))));
    Shape shape(picks.begin(), picks.end() - 1);
    shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(batch) + picks.back(), data.end());
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateGatherNd(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape &data = inputs[0]->type.shape, &picks = inputs[1]->type.shape;
    LATHE_TRY_ASSIGN(const std::int64_t batch, intAttr(node, "batch_dims", 0));
    const Shape strides = denseStrides(data);
    const auto depth = static_cast<std::size_t>(picks.back());
    const auto from = static_cast<std::size_t>(batch);
    const std::int64_t inner = countOf(std::span(data).subspan(from + depth));
    const Shape places(picks.begin(), picks.end() - 1);
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::int64_t q = 0; q < countOf(places); ++q) {
        const Shape at = unflatten(q, places);
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < from; ++d)
            offset += at[d] * strides[d];
        for (std::size_t d = 0; d < depth; ++d) {
            LATHE_TRY_ASSIGN(const std::int64_t place,
                             placeOf(indices[static_cast<std::size_t>(q) * depth + d], data[from + d]));
            offset += place * strides[from + d];
        }
        for (std::int64_t i = 0; i < inner; ++i)
            copyElement(outputs[0], q * inner + i, *inputs[0], offset + i);
    }
    return {};
}

// ---- scatters
// -----------------------------------------------------------------------------------------------------------

Result<ScatterMode> modeOf(const Node& node, DType dtype)
{
    LATHE_TRY_ASSIGN(const std::string mode, stringAttr(node, "reduction", "none"));
    constexpr std::pair<std::string_view, ScatterMode> kModes[] = {{"none", ScatterMode::Replace},
                                                                   {"add", ScatterMode::Add},
                                                                   {"mul", ScatterMode::Multiply},
                                                                   {"max", ScatterMode::Maximum},
                                                                   {"min", ScatterMode::Minimum}};
    for (const auto& [name, value] : kModes) {
        if (name != mode)
            continue;
        if (dtype == DType::Bool && value != ScatterMode::Replace)
            return brokenRule("updates of bool can only replace");
        return value;
    }
    return brokenRule(fmt::format("reduction must be none, add, mul, max or min, it is \"{}\"", mode));
}

/// Joins update `from` into place `to`; floats as double, others as int64.
void joinElement(HostTensor& out, std::int64_t to, const HostTensor& updates, std::int64_t from, ScatterMode mode)
{
    if (mode == ScatterMode::Replace) {
        copyElement(out, to, updates, from);
        return;
    }
    const auto size = static_cast<std::size_t>(sizeOf(out.type.dtype));
    HostTensor one = HostTensor::zeros({out.type.dtype, {1}});
    const auto join = [mode](auto a, auto b) {
        switch (mode) {
        case ScatterMode::Add: return static_cast<decltype(a)>(a + b);
        case ScatterMode::Multiply: return static_cast<decltype(a)>(a * b);
        case ScatterMode::Maximum: return std::max(a, b);
        default: return std::min(a, b);
        }
    };
    std::byte* const target = out.bytes.data() + static_cast<std::size_t>(to) * size;
    const std::byte* const update = updates.bytes.data() + static_cast<std::size_t>(from) * size;
    if (isFloat(out.type.dtype))
        writeFloats(
            one, std::array{join(readFloats(target, out.type.dtype, 1)[0], readFloats(update, out.type.dtype, 1)[0])});
    else
        writeInts(one,
                  std::array{join(readInts(target, out.type.dtype, 1)[0], readInts(update, out.type.dtype, 1)[0])});
    std::memcpy(target, one.bytes.data(), size);
}

Result<Types> inferScatterElements(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY(modeOf(node, inputs[0].dtype));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0].shape.size()));
    if (inputs[2].dtype != inputs[0].dtype || inputs[2].shape != inputs[1].shape)
        return brokenRule("the updates must have the type of data and the shape of the indices");
    LATHE_TRY(needRank(inputs[1], inputs[0].shape.size(), "indices"));
    for (std::size_t d = 0; d < inputs[0].shape.size(); ++d) {
        if (d != axis && inputs[1].shape[d] > inputs[0].shape[d])
            return brokenRule(
                fmt::format("indices {} reach beyond data {}", shapeText(inputs[1].shape), shapeText(inputs[0].shape)));
    }
    LATHE_TRY(needPlaces(constants[1], inputs[1].dtype, std::span(inputs[0].shape).subspan(axis, 1)));
    return Types{inputs[0]};
}

Result<> evaluateScatterElements(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& data = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const ScatterMode mode, modeOf(node, inputs[0]->type.dtype));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, data.size()));
    outputs[0].bytes = inputs[0]->bytes;
    const Shape strides = denseStrides(data);
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        Shape at = unflatten(static_cast<std::int64_t>(i), inputs[1]->type.shape);
        LATHE_TRY_ASSIGN(at[axis], placeOf(indices[i], data[axis]));
        joinElement(outputs[0], flatten(at, strides), *inputs[2], static_cast<std::int64_t>(i), mode);
    }
    return {};
}

Result<Types> inferScatterNd(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY(modeOf(node, inputs[0].dtype));
    LATHE_TRY(needRank(inputs[1], 2, "indices"));
    const Shape &data = inputs[0].shape, &picks = inputs[1].shape;
    if (picks[1] < 1 || picks[1] > static_cast<std::int64_t>(data.size()))
        return brokenRule(
            fmt::format("the indices {} must name from 1 to {} dimensions each", shapeText(picks), data.size()));
    Shape wanted{picks[0]};
    wanted.insert(wanted.end(), data.begin() + picks[1], data.end());
    if (inputs[2].dtype != inputs[0].dtype || inputs[2].shape != wanted)
        return brokenRule(fmt::format("the updates must have the type of data and the shape {}", shapeText(wanted)));
    LATHE_TRY(needPlaces(constants[1], inputs[1].dtype, std::span(data).first(static_cast<std::size_t>(picks[1]))));
    return Types{inputs[0]};
}

Result<> evaluateScatterNd(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape &data = inputs[0]->type.shape, &picks = inputs[1]->type.shape;
    LATHE_TRY_ASSIGN(const ScatterMode mode, modeOf(node, inputs[0]->type.dtype));
    outputs[0].bytes = inputs[0]->bytes;
    const Shape strides = denseStrides(data);
    const auto depth = static_cast<std::size_t>(picks[1]);
    const std::int64_t inner = countOf(std::span(data).subspan(depth));
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::int64_t q = 0; q < picks[0]; ++q) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < depth; ++d) {
            LATHE_TRY_ASSIGN(const std::int64_t place,
                             placeOf(indices[static_cast<std::size_t>(q) * depth + d], data[d]));
            offset += place * strides[d];
        }
        for (std::int64_t i = 0; i < inner; ++i)
            joinElement(outputs[0], offset + i, *inputs[2], q * inner + i, mode);
    }
    return {};
}

// ---- along an axis
// ------------------------------------------------------------------------------------------------------

Result<Types> inferCumulativeSum(const Node& node, InputTypes inputs, Constants)
{
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("the input must be a number, it is bool");
    LATHE_TRY(axisOf(node, inputs[0].shape.size()));
    return Types{inputs[0]};
}

Result<> evaluateCumulativeSum(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& shape = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, shape.size()));
    LATHE_TRY_ASSIGN(const bool exclusive, boolAttr(node, "exclusive", false));
    LATHE_TRY_ASSIGN(const bool reverse, boolAttr(node, "reverse", false));
    const std::int64_t inner = denseStrides(shape)[axis], extent = shape[axis];
    const auto run = [&](auto values) {
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(values.size()) / std::max<std::int64_t>(extent, 1);
             ++row) {
            const std::int64_t first = row / inner * inner * extent + row % inner;
            typename decltype(values)::value_type sum = 0;
            for (std::int64_t k = 0; k < extent; ++k) {
                auto& value = values[static_cast<std::size_t>(first + (reverse ? extent - 1 - k : k) * inner)];
                const auto with = static_cast<decltype(sum)>(sum + value);
                value = exclusive ? sum : with;
                sum = with;
            }
        }
        return values;
    };
    if (isFloat(inputs[0]->type.dtype))
        writeFloats(outputs[0], run(readFloats(*inputs[0])));
    else
        writeInts(outputs[0], run(readInts(*inputs[0])));
    return {};
}

Result<Types> inferTopPositions(const Node& node, InputTypes inputs, Constants)
{
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("the input must be a number, it is bool");
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0].shape.size()));
    LATHE_TRY_ASSIGN(const std::int64_t count, intAttr(node, "k", 1));
    Shape shape = inputs[0].shape;
    if (count < 1 || count > shape[axis])
        return brokenRule(fmt::format("k is {}, the axis has {} entries", count, shape[axis]));
    shape[axis] = count;
    return Types{{DType::I64, std::move(shape)}};
}

Result<> evaluateTopPositions(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& shape = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, shape.size()));
    LATHE_TRY_ASSIGN(const bool largest, boolAttr(node, "largest", true));
    const std::int64_t inner = denseStrides(shape)[axis], extent = shape[axis], count = outputs[0].type.shape[axis];
    std::vector<std::int64_t> result(outputs[0].bytes.size() / sizeof(std::int64_t));
    const auto run = [&](const auto& values) {
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(result.size()) / count; ++row) {
            const std::int64_t outer = row / inner, rest = row % inner;
            std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
            std::iota(order.begin(), order.end(), 0);
            const auto value = [&](std::int64_t k) {
                return values[static_cast<std::size_t>((outer * extent + k) * inner + rest)];
            };
            std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
                return largest ? value(a) > value(b) : value(a) < value(b);
            });
            for (std::int64_t k = 0; k < count; ++k)
                result[static_cast<std::size_t>((outer * count + k) * inner + rest)] =
                    order[static_cast<std::size_t>(k)];
        }
    };
    if (isFloat(inputs[0]->type.dtype)) {
        run(readFloats(*inputs[0]));
    } else if (inputs[0]->type.dtype == DType::U64) {
        const std::vector<std::int64_t> bits = readInts(*inputs[0]);
        run(std::vector<std::uint64_t>(bits.begin(), bits.end()));
    } else {
        run(readInts(*inputs[0]));
    }
    writeInts(outputs[0], result);
    return {};
}

// ---- definitions
// --------------------------------------------------------------------------------------------------------

Result<compute::Tensor> computeGatherElements(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, context.builder.shape(inputs[0]).size()));
    return compute::gatherElements(context.builder, inputs[0], inputs[1], static_cast<std::int64_t>(axis));
}

Result<compute::Tensor> computeGatherNd(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::int64_t batch, intAttr(node, "batch_dims", 0));
    return compute::gatherNd(context.builder, inputs[0], inputs[1], batch);
}

Result<compute::Tensor> computeScatterElements(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const ScatterMode mode, modeOf(node, context.builder.dtype(inputs[0])));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, context.builder.shape(inputs[0]).size()));
    return compute::scatterElements(context.builder, inputs[0], inputs[1], inputs[2], static_cast<std::int64_t>(axis),
                                    mode);
}

Result<compute::Tensor> computeScatterNd(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const ScatterMode mode, modeOf(node, context.builder.dtype(inputs[0])));
    return compute::scatterNd(context.builder, inputs[0], inputs[1], inputs[2], mode);
}

Result<compute::Tensor> computeCumulativeSum(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, context.builder.shape(inputs[0]).size()));
    LATHE_TRY_ASSIGN(const bool exclusive, boolAttr(node, "exclusive", false));
    LATHE_TRY_ASSIGN(const bool reverse, boolAttr(node, "reverse", false));
    return compute::cumulativeSum(context.builder, inputs[0], static_cast<std::int64_t>(axis), exclusive, reverse);
}

Result<compute::Tensor> computeTopPositions(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, context.builder.shape(inputs[0]).size()));
    LATHE_TRY_ASSIGN(const bool largest, boolAttr(node, "largest", true));
    return compute::topPositions(context.builder, inputs[0], static_cast<std::int64_t>(axis),
                                 context.outputTypes[0].shape[axis], largest);
}

} // namespace

std::span<const OpDef> indexingOperators()
{
    static const std::vector<OpDef> table = {
        {"gather_elements",
         Pattern::Injective,
         2,
         2,
         inferGatherElements,
         computeGatherElements,
         evaluateGatherElements,
         {.picksFrom = placesAlongAxis}},
        {"gather_nd",
         Pattern::Injective,
         2,
         2,
         inferGatherNd,
         computeGatherNd,
         evaluateGatherNd,
         {.picksFrom = placesOfVectors}},
        // Each holds a reduction of its own: nothing is fused into them.
        {"scatter_elements",
         Pattern::Opaque,
         3,
         3,
         inferScatterElements,
         computeScatterElements,
         evaluateScatterElements,
         {.picksFrom = placesAlongAxis}},
        {"scatter_nd",
         Pattern::Opaque,
         3,
         3,
         inferScatterNd,
         computeScatterNd,
         evaluateScatterNd,
         {.picksFrom = placesOfVectors}},
        {"cumulative_sum",
         Pattern::Opaque,
         1,
         1,
         inferCumulativeSum,
         computeCumulativeSum,
         evaluateCumulativeSum,
         {.sums = true}},
        {"top_positions", Pattern::Opaque, 1, 1, inferTopPositions, computeTopPositions, evaluateTopPositions},
    };
    return table;
}

} // namespace lathe::graph::operators
