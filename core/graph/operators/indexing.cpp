// Elements picked by indices that are tensors themselves.

#include "core/graph/operators/indexing.h"

#include "core/compute/definitions/indexing.h"
#include "core/compute/definitions/transform.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe::graph::operators {

Result<std::size_t> axisAttr(const Node& node, std::size_t rank)
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

namespace {

Result<Types> inferGatherElements(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
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
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, data.size()));
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
    const std::int64_t inner = elementCount(std::span(data).subspan(from + depth));
    const Shape places(picks.begin(), picks.end() - 1);
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::int64_t q = 0; q < elementCount(places); ++q) {
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

Result<compute::Tensor> computeGatherElements(const Node& node, std::span<const compute::Tensor> inputs,
                                              ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, context.builder.shape(inputs[0]).size()));
    return compute::gatherElements(context.builder, inputs[0], inputs[1], static_cast<std::int64_t>(axis));
}

Result<compute::Tensor> computeGatherNd(const Node& node, std::span<const compute::Tensor> inputs,
                                        ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::int64_t batch, intAttr(node, "batch_dims", 0));
    return compute::gatherNd(context.builder, inputs[0], inputs[1], batch);
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
    };
    return table;
}

} // namespace lathe::graph::operators
