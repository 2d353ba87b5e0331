// Parts of tensors: joining, splitting, padding, slicing, looking up.

#include "core/compute/definitions/transform.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

Result<std::size_t> axisOf(const Node& node, const TensorType& data, std::int64_t fallback)
{
    LATHE_TRY_ASSIGN(const std::int64_t given, intAttr(node, "axis", fallback));
    LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(given, data.shape.size()));
    return static_cast<std::size_t>(axis);
}

Result<Types> inferConcatenate(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needSameType(inputs));
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0], 0));
    Shape shape = inputs[0].shape;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        Shape other = inputs[i].shape;
        bool fits = other.size() == shape.size();
        for (std::size_t d = 0; fits && d < shape.size(); ++d)
            fits = d == axis || other[d] == shape[d];
        if (!fits) {
            return brokenRule(fmt::format("input {} of shape {} does not join input 0 of shape {} along axis {}", i,
                                          shapeText(other), shapeText(inputs[0].shape), axis));
        }
        shape[axis] += other[axis];
    }
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateConcatenate(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0]->type, 0));
    const auto strides = denseStrides(outputs[0].type.shape);
    std::int64_t offset = 0;
    for (const HostTensor* input : inputs) {
        scatterStrided(*input, offset * strides[axis], strides, outputs[0]);
        offset += input->type.shape[axis];
    }
    return {};
}

/// Where the parts of a split begin, and at the end the extent of the axis.
Result<Shape> splitPoints(const Node& node, const TensorType& data, std::size_t axis)
{
    const std::int64_t extent = data.shape[axis];
    Shape points{0};
    if (node.attrs.contains("indices")) {
        LATHE_TRY_ASSIGN(const Shape indices, intsAttr(node, "indices", {}));
        for (const std::int64_t index : indices) {
            if (index < points.back() || index > extent)
                return brokenRule(fmt::format("indices {} must rise from 0 to the {} entries of the axis",
                                              shapeText(indices), extent));
            points.push_back(index);
        }
    } else {
        LATHE_TRY_ASSIGN(const std::int64_t sections, intAttr(node, "sections", 1));
        if (sections < 1 || sections > std::max<std::int64_t>(extent, 1) || extent % sections != 0)
            return brokenRule(fmt::format("{} sections do not divide the {} entries of the axis", sections, extent));
        for (std::int64_t i = 1; i < sections; ++i)
            points.push_back(extent / sections * i);
    }
    points.push_back(extent);
    return points;
}

Result<Types> inferSplit(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0], 0));
    LATHE_TRY_ASSIGN(const Shape points, splitPoints(node, inputs[0], axis));
    Types types;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        types.push_back(inputs[0]);
        types.back().shape[axis] = points[i + 1] - points[i];
    }
    return types;
}

Result<> evaluateSplit(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0]->type, 0));
    const auto strides = denseStrides(inputs[0]->type.shape);
    std::int64_t offset = 0;
    for (HostTensor& output : outputs) {
        gatherStrided(*inputs[0], offset * strides[axis], strides, output);
        offset += output.type.shape[axis];
    }
    return {};
}

enum class PadMode
{
    Constant,
    Edge,
    Reflect
};

Result<PadMode> padMode(const Node& node)
{
    LATHE_TRY_ASSIGN(const std::string mode, stringAttr(node, "mode", "constant"));
    if (mode == "constant")
        return PadMode::Constant;
    if (mode == "edge")
        return PadMode::Edge;
    if (mode == "reflect")
        return PadMode::Reflect;
    return brokenRule(fmt::format("mode must be constant, edge or reflect, it is \"{}\"", mode));
}

/// pad_width: before and after, for each dimension in turn; negative amounts crop.
Result<Types> inferPad(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const PadMode mode, padMode(node));
    LATHE_TRY(floatAttr(node, "value", 0));
    const Shape& in = inputs[0].shape;
    LATHE_TRY_ASSIGN(const Shape width, sizedAttr(node, "pad_width", 2 * in.size(), -(std::int64_t{1} << 20), {}));
    Shape shape = in;
    for (std::size_t d = 0; d < in.size(); ++d) {
        const std::int64_t before = width[2 * d], after = width[2 * d + 1];
        shape[d] += before + after;
        const std::int64_t reach = std::max(before, after);
        if (shape[d] < 0)
            return brokenRule(
                fmt::format("pad_width {} crops more than the {} entries of dimension {}", shapeText(width), in[d], d));
        if (mode == PadMode::Reflect && (reach >= in[d] && reach > 0))
            return brokenRule(fmt::format("pad_width {} reflects more than dimension {} of {} has", shapeText(width), d,
                                          shapeText(in)));
        if (mode == PadMode::Reflect && std::min(before, after) < 0)
            return brokenRule("reflecting pads must not be negative");
        if (mode == PadMode::Edge && in[d] == 0 && shape[d] > 0)
            return brokenRule("an empty dimension has no edge to repeat");
    }
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluatePad(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const PadMode mode, padMode(node));
    LATHE_TRY_ASSIGN(const double value, floatAttr(node, "value", 0));
    LATHE_TRY_ASSIGN(const Shape width, intsAttr(node, "pad_width", {}));
    const HostTensor& in = *inputs[0];
    HostTensor& out = outputs[0];
    const auto size = static_cast<std::size_t>(sizeOf(in.type.dtype));
    const std::size_t rank = in.type.shape.size();
    const auto inStrides = denseStrides(in.type.shape);

    // Per dimension: the input's offset that each output index reads, or -1 for the constant.
    std::vector<std::vector<std::int64_t>> sources(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t extent = in.type.shape[d];
        for (std::int64_t i = 0; i < out.type.shape[d]; ++i) {
            std::int64_t at = i - width[2 * d];
            if (at < 0 || at >= extent) {
                switch (mode) {
                case PadMode::Constant: at = -1; break;
                case PadMode::Edge: at = std::clamp<std::int64_t>(at, 0, extent - 1); break;
                case PadMode::Reflect: at = at < 0 ? -at : 2 * (extent - 1) - at; break;
                }
            }
            sources[d].push_back(at < 0 ? -1 : at * inStrides[d]);
        }
    }
    HostTensor fill = HostTensor::zeros({in.type.dtype, {1}});
    writeFloats(fill, std::array{value});
    const std::int64_t count = static_cast<std::int64_t>(out.bytes.size() / size);
    const auto outStrides = denseStrides(out.type.shape);
    for (std::int64_t position = 0; position < count; ++position) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < rank && offset >= 0; ++d) {
            const std::int64_t part =
                sources[d][static_cast<std::size_t>(position / outStrides[d] % out.type.shape[d])];
            offset = part < 0 ? -1 : offset + part;
        }
        const std::byte* source = offset < 0 ? fill.bytes.data()
                                             : in.bytes.data() + static_cast<std::size_t>(offset) * size;
        std::memcpy(out.bytes.data() + static_cast<std::size_t>(position) * size, source, size);
    }
    return {};
}

/// begin, extent and stride of every dimension.
struct SliceRange
{
    Shape begin, extent, stride;
};

Result<SliceRange> sliceOf(const Node& node, const TensorType& data)
{
    const std::size_t rank = data.shape.size();
    LATHE_TRY_ASSIGN(const Shape begin, intsAttr(node, "begin", {}));
    LATHE_TRY_ASSIGN(const Shape end, intsAttr(node, "end", {}));
    Shape all;
    for (std::size_t i = 0; i < begin.size(); ++i)
        all.push_back(static_cast<std::int64_t>(i));
    LATHE_TRY_ASSIGN(const Shape axes, intsAttr(node, "axes", all));
    LATHE_TRY_ASSIGN(const Shape strides, intsAttr(node, "strides", Shape(begin.size(), 1)));
    if (end.size() != begin.size() || axes.size() != begin.size() || strides.size() != begin.size()) {
        return brokenRule(fmt::format("begin, end, axes and strides must have one length, they have {}, {}, {} and {}",
                                      begin.size(), end.size(), axes.size(), strides.size()));
    }
    LATHE_TRY(normalAxes(axes, rank));
    SliceRange slice{Shape(rank, 0), data.shape, Shape(rank, 1)};
    for (std::size_t i = 0; i < begin.size(); ++i) {
        LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(axes[i], rank));
        const auto d = static_cast<std::size_t>(axis);
        const std::int64_t extent = data.shape[d];
        const std::int64_t stride = std::clamp<std::int64_t>(strides[i], -0x7fffffff, 0x7fffffff);
        if (stride == 0)
            return brokenRule("a stride must not be 0");
        // Ends outside of the data are cut, as numpy does; a downward slice may end before the first entry.
        const auto place = [extent](std::int64_t index, std::int64_t low, std::int64_t high) {
            if (index < 0)
                index = index < -extent ? low : index + extent;
            return std::clamp(index, low, high);
        };
        const std::int64_t from = stride > 0 ? place(begin[i], 0, extent) : place(begin[i], -1, extent - 1);
        const std::int64_t to = stride > 0 ? place(end[i], 0, extent) : place(end[i], -1, extent - 1);
        slice.begin[d] = from;
        slice.stride[d] = stride;
        slice.extent[d] = stride > 0 ? std::max<std::int64_t>((to - from + stride - 1) / stride, 0)
                                     : std::max<std::int64_t>((from - to - stride - 1) / -stride, 0);
    }
    return slice;
}

Result<Types> inferSlice(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(SliceRange slice, sliceOf(node, inputs[0]));
    return Types{{inputs[0].dtype, std::move(slice.extent)}};
}

Result<> evaluateSlice(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const SliceRange slice, sliceOf(node, inputs[0]->type));
    std::vector<std::int64_t> strides = denseStrides(inputs[0]->type.shape);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        offset += slice.begin[d] * strides[d];
        strides[d] *= slice.stride[d];
    }
    gatherStrided(*inputs[0], offset, strides, outputs[0]);
    return {};
}

Result<Types> inferTake(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, inputs[0], 0));
    if (!isInteger(inputs[1].dtype))
        return brokenRule(fmt::format("the indices must be integers, they are {}", toString(inputs[1].dtype)));
    LATHE_TRY(needPlaces(constants[1], inputs[1].dtype, std::span(inputs[0].shape).subspan(axis, 1)));
    Shape shape(inputs[0].shape.begin(), inputs[0].shape.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), inputs[1].shape.begin(), inputs[1].shape.end());
    shape.insert(shape.end(), inputs[0].shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inputs[0].shape.end());
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateTake(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& data = *inputs[0];
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, data.type, 0));
    const std::vector<std::int64_t> indices = readInts(*inputs[1]);
    const std::int64_t extent = data.type.shape[axis];
    LATHE_TRY_ASSIGN(const std::int64_t outer, needElementCount(std::span(data.type.shape).first(axis)));
    const std::int64_t inner = denseStrides(data.type.shape)[axis] * sizeOf(data.type.dtype);
    std::byte* out = outputs[0].bytes.data();
    for (std::int64_t o = 0; o < outer; ++o) {
        for (const std::int64_t given : indices) {
            const std::int64_t index = given < 0 ? given + extent : given;
            if (index < 0 || index >= extent)
                return brokenRule(fmt::format("index {} is outside of the {} entries of axis {}", given, extent, axis));
            std::memcpy(out, data.bytes.data() + (o * extent + index) * inner, static_cast<std::size_t>(inner));
            out += inner;
        }
    }
    return {};
}

using Tensors = std::span<const compute::Tensor>;

TensorType typeOf(compute::Tensor tensor, const ComputeContext& context)
{
    return {context.builder.dtype(tensor), context.builder.shape(tensor)};
}

Result<compute::Tensor> computeConcatenate(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, typeOf(inputs[0], context), 0));
    return compute::concatenate(context.builder, inputs, static_cast<std::int64_t>(axis));
}

Result<compute::Tensor> computePad(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const PadMode mode, padMode(node));
    LATHE_TRY_ASSIGN(const double value, floatAttr(node, "value", 0));
    LATHE_TRY_ASSIGN(const Shape width, intsAttr(node, "pad_width", {}));
    Shape before, after;
    for (std::size_t i = 0; i + 1 < width.size(); i += 2) {
        before.push_back(width[i]);
        after.push_back(width[i + 1]);
    }
    const auto definition = mode == PadMode::Constant ? compute::PadMode::Constant
                            : mode == PadMode::Edge   ? compute::PadMode::Edge
                                                      : compute::PadMode::Reflect;
    return compute::pad(context.builder, inputs[0], before, after, definition, value);
}

Result<compute::Tensor> computeSlice(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const SliceRange slice, sliceOf(node, typeOf(inputs[0], context)));
    return compute::stridedSlice(context.builder, inputs[0], slice.begin, slice.stride, slice.extent);
}

Result<compute::Tensor> computeTake(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisOf(node, typeOf(inputs[0], context), 0));
    return compute::take(context.builder, inputs[0], inputs[1], static_cast<std::int64_t>(axis));
}

/// Each part of a split is a slice; what a consumer does not read is then not computed.
void splitToSlices(Graph& graph, NodeId id)
{
    const Node node = graph.node(id);
    const Value data = graph.value(node.inputs[0]);
    const std::int64_t given = attrInt(node, "axis", 0);
    const std::int64_t axis = given < 0 ? given + static_cast<std::int64_t>(data.shape.size()) : given;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const Value part = graph.value(node.outputs[i]);
        const std::int64_t end = begin + part.shape[static_cast<std::size_t>(axis)];
        Attrs attrs{{"begin", Shape{begin}}, {"end", Shape{end}}, {"strides", Shape{1}}, {"axes", Shape{axis}}};
        const ValueId slice = append(graph, fmt::format("{}_part{}", node.name, i), "strided_slice", {node.inputs[0]},
                                     std::move(attrs), part.dtype, part.shape, node.origin);
        graph.value(slice).name = part.name;
        replaceUses(graph, node.outputs[i], slice);
        begin = end;
    }
}

std::optional<Shape> zeroPaddingOf(const Node& node)
{
    const Shape width = attrInts(node, "pad_width");
    const bool adds = std::ranges::all_of(width, [](std::int64_t amount) { return amount >= 0; });
    if (attrString(node, "mode", "constant") != "constant" || attrFloat(node, "value", 0) != 0 || !adds)
        return std::nullopt;
    return width;
}

} // namespace

std::span<const OpDef> sliceOperators()
{
    static const std::vector<OpDef> table = {
        {"concatenate",
         Pattern::Injective,
         1,
         -1,
         inferConcatenate,
         computeConcatenate,
         evaluateConcatenate,
         {.layout = LayoutRule::Join, .takesTuple = true, .lateFolding = LateFolding::Always}},
        // Has several outputs, so no definition of its own: each part becomes a strided_slice.
        {"split",
         Pattern::Injective,
         1,
         1,
         inferSplit,
         nullptr,
         evaluateSplit,
         {.layout = LayoutRule::AlongAxis, .canonicalize = splitToSlices}},
        {"pad",
         Pattern::Injective,
         1,
         1,
         inferPad,
         computePad,
         evaluatePad,
         {.layout = LayoutRule::Pad, .nnName = true, .zeroPadding = zeroPaddingOf}},
        {"strided_slice",
         Pattern::Injective,
         1,
         1,
         inferSlice,
         computeSlice,
         evaluateSlice,
         {.layout = LayoutRule::Slice, .slices = true, .lateFolding = LateFolding::Always}},
        {"take",
         Pattern::Injective,
         2,
         2,
         inferTake,
         computeTake,
         evaluateTake,
         {.slices = true, .picksFrom = placesAlongAxis}},
    };
    return table;
}

} // namespace lathe::graph::operators
