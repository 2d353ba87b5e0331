// Elements placed by indices that are tensors themselves. They run as functions of the runtime: in a loop nest each
// place of the result would have to look at all updates.

#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/functions.h"
#include "core/graph/operators/indexing.h"
#include "core/runtime/functions/functions.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lathe::graph::operators {
namespace {

using runtime::Joining;

Result<Joining> joiningOf(const Node& node, DType dtype)
{
    LATHE_TRY_ASSIGN(const std::string mode, stringAttr(node, "reduction", "none"));
    constexpr std::pair<std::string_view, Joining> kModes[] = {{"none", Joining::Replace},
                                                               {"add", Joining::Add},
                                                               {"mul", Joining::Multiply},
                                                               {"max", Joining::Maximum},
                                                               {"min", Joining::Minimum}};
    for (const auto& [name, value] : kModes) {
        if (name != mode)
            continue;
        if (dtype == DType::Bool && value != Joining::Replace)
            return brokenRule("updates of bool can only replace");
        return value;
    }
    return brokenRule(fmt::format("reduction must be none, add, mul, max or min, it is \"{}\"", mode));
}

/// Not-a-number wherever one takes part; of equal ones what is there stays.
double joinFloats(double a, double b, Joining joining)
{
    switch (joining) {
    case Joining::Add: return a + b;
    case Joining::Multiply: return a * b;
    case Joining::Maximum: return std::isnan(a) || b <= a ? a : b;
    case Joining::Minimum: return std::isnan(a) || b >= a ? a : b;
    default: return b;
    }
}

/// Sums and products wrap around at the ends of 64 bits, and are cut to the type's when they are written.
std::int64_t joinInts(std::int64_t a, std::int64_t b, Joining joining, bool isUnsigned)
{
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    const bool less = isUnsigned ? ua < ub : a < b;
    switch (joining) {
    case Joining::Add: return static_cast<std::int64_t>(ua + ub);
    case Joining::Multiply: return static_cast<std::int64_t>(ua * ub);
    case Joining::Maximum: return less ? b : a;
    case Joining::Minimum: return less ? a : b;
    default: return b;
    }
}

/// Joins update `from` into place `to`; each step is rounded to the type.
void joinElement(HostTensor& out, std::int64_t to, const HostTensor& updates, std::int64_t from, Joining joining)
{
    if (joining == Joining::Replace) {
        copyElement(out, to, updates, from);
        return;
    }
    const DType dtype = out.type.dtype;
    const auto size = static_cast<std::size_t>(sizeOf(dtype));
    HostTensor one = HostTensor::zeros({dtype, {1}});
    std::byte* const target = out.bytes.data() + static_cast<std::size_t>(to) * size;
    const std::byte* const update = updates.bytes.data() + static_cast<std::size_t>(from) * size;
    if (isFloat(dtype))
        writeFloats(one,
                    std::array{joinFloats(readFloats(target, dtype, 1)[0], readFloats(update, dtype, 1)[0], joining)});
    else
        writeInts(one, std::array{joinInts(readInts(target, dtype, 1)[0], readInts(update, dtype, 1)[0], joining,
                                           !isSigned(dtype))});
    std::memcpy(target, one.bytes.data(), size);
}

Result<Types> inferScatterElements(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY(joiningOf(node, inputs[0].dtype));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
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
    LATHE_TRY_ASSIGN(const Joining joining, joiningOf(node, inputs[0]->type.dtype));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, data.size()));
    outputs[0].bytes = inputs[0]->bytes;
    const Shape strides = denseStrides(data);
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        Shape at = unflatten(static_cast<std::int64_t>(i), inputs[1]->type.shape);
        LATHE_TRY_ASSIGN(at[axis], placeOf(indices[i], data[axis]));
        joinElement(outputs[0], flatten(at, strides), *inputs[2], static_cast<std::int64_t>(i), joining);
    }
    return {};
}

Result<Types> inferScatterNd(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY(needIndices(inputs[1]));
    LATHE_TRY(joiningOf(node, inputs[0].dtype));
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
    LATHE_TRY_ASSIGN(const Joining joining, joiningOf(node, inputs[0]->type.dtype));
    outputs[0].bytes = inputs[0]->bytes;
    const Shape strides = denseStrides(data);
    const auto depth = static_cast<std::size_t>(picks[1]);
    const std::int64_t inner = elementCount(std::span(data).subspan(depth));
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    for (std::int64_t q = 0; q < picks[0]; ++q) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < depth; ++d) {
            LATHE_TRY_ASSIGN(const std::int64_t place,
                             placeOf(indices[static_cast<std::size_t>(q) * depth + d], data[d]));
            offset += place * strides[d];
        }
        for (std::int64_t i = 0; i < inner; ++i)
            joinElement(outputs[0], offset + i, *inputs[2], q * inner + i, joining);
    }
    return {};
}

Result<FunctionCall> callScatterElements(const Node& node, InputTypes inputs, InputTypes)
{
    const Shape &data = inputs[0].shape, &indices = inputs[1].shape;
    runtime::ScatterElementsParameters p{};
    LATHE_TRY_ASSIGN(const Joining joining, joiningOf(node, inputs[0].dtype));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, data.size()));
    LATHE_TRY(needRunnable(data.size()));
    p.dtype = static_cast<std::int64_t>(inputs[0].dtype);
    p.indexDtype = static_cast<std::int64_t>(inputs[1].dtype);
    p.joining = static_cast<std::int64_t>(joining);
    p.rank = static_cast<std::int64_t>(data.size());
    p.axis = static_cast<std::int64_t>(axis);
    std::ranges::copy(data, p.data);
    std::ranges::copy(indices, p.indices);
    if (elementCount(data) == 0) // no place exists that could be the nearest
        p.indices[axis] = 0;
    FunctionCall call = functionCall({"lathe_0_scatter_elements_copy", "lathe_0_scatter_elements"}, p);
    call.overwrites = 0;
    return call;
}

Result<FunctionCall> callScatterNd(const Node& node, InputTypes inputs, InputTypes)
{
    const Shape &data = inputs[0].shape, &picks = inputs[1].shape;
    runtime::ScatterNdParameters p{};
    LATHE_TRY_ASSIGN(const Joining joining, joiningOf(node, inputs[0].dtype));
    LATHE_TRY(needRunnable(data.size()));
    p.dtype = static_cast<std::int64_t>(inputs[0].dtype);
    p.indexDtype = static_cast<std::int64_t>(inputs[1].dtype);
    p.joining = static_cast<std::int64_t>(joining);
    p.count = elementCount(data) == 0 ? 0 : picks[0]; // no place exists that could be the nearest
    p.depth = picks[1];
    p.inner = elementCount(std::span(data).subspan(static_cast<std::size_t>(p.depth)));
    std::copy_n(data.begin(), p.depth, p.extents);
    FunctionCall call = functionCall({"lathe_0_scatter_nd_copy", "lathe_0_scatter_nd"}, p);
    call.overwrites = 0;
    return call;
}

} // namespace

std::span<const OpDef> scatterOperators()
{
    static const std::vector<OpDef> table = {
        {"scatter_elements",
         Pattern::Opaque,
         3,
         3,
         inferScatterElements,
         nullptr,
         evaluateScatterElements,
         {.picksFrom = placesAlongAxis, .demands = scatterDemands()},
         callScatterElements},
        {"scatter_nd",
         Pattern::Opaque,
         3,
         3,
         inferScatterNd,
         nullptr,
         evaluateScatterNd,
         {.picksFrom = placesOfVectors, .demands = scatterDemands()},
         callScatterNd},
    };
    return table;
}

} // namespace lathe::graph::operators
