#include "core/graph/operators/rules.h"

#include "core/graph/operators/element.h"
#include "core/support/element_count.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

constexpr std::int64_t kMaxAttribute = std::int64_t{1} << 20;

template<typename T>
Result<T> typedAttr(const Node& node, std::string_view key, T fallback, std::string_view kind)
{
    const auto found = node.attrs.find(key);
    if (found == node.attrs.end())
        return fallback;
    if (const T* value = std::get_if<T>(&found->second))
        return *value;
    return brokenRule(fmt::format("attribute {} must be {}", key, kind));
}

} // namespace

std::int64_t placesAlongAxis(const Node& node, std::span<const std::int64_t> data, std::span<const std::int64_t>)
{
    const std::int64_t axis = attrInt(node, "axis", 0), rank = static_cast<std::int64_t>(data.size());
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    return at >= 0 && at < rank ? data[static_cast<std::size_t>(at)] : 0;
}

std::int64_t placesOfVectors(const Node& node, std::span<const std::int64_t> data, std::span<const std::int64_t> places)
{
    const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(0, attrInt(node, "batch_dims", 0)));
    if (batch >= data.size() || places.empty() || places.back() < 1)
        return 0;
    const auto picked = data.subspan(batch, std::min(data.size() - batch, static_cast<std::size_t>(places.back())));
    return *std::ranges::min_element(picked);
}

Error brokenRule(std::string text, std::source_location where)
{
    return makeError(Errc::InvalidArgument, std::move(text), where);
}

std::string shapeText(std::span<const std::int64_t> shape)
{
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<std::int64_t> intAttr(const Node& node, std::string_view key, std::int64_t fallback)
{
    return typedAttr<std::int64_t>(node, key, fallback, "an integer");
}

Result<bool> boolAttr(const Node& node, std::string_view key, bool fallback)
{
    LATHE_TRY_ASSIGN(const std::int64_t value, intAttr(node, key, fallback ? 1 : 0));
    return value != 0;
}

Result<double> floatAttr(const Node& node, std::string_view key, double fallback)
{
    const auto found = node.attrs.find(key);
    if (found != node.attrs.end()) {
        if (const auto* value = std::get_if<std::int64_t>(&found->second))
            return static_cast<double>(*value);
    }
    return typedAttr<double>(node, key, fallback, "a number");
}

Result<std::string> stringAttr(const Node& node, std::string_view key, std::string_view fallback)
{
    return typedAttr<std::string>(node, key, std::string(fallback), "a string");
}

Result<Shape> intsAttr(const Node& node, std::string_view key, Shape fallback)
{
    return typedAttr<Shape>(node, key, std::move(fallback), "a list of integers");
}

Result<Shape> sizedAttr(const Node& node, std::string_view key, std::size_t count, std::int64_t lowest, Shape fallback)
{
    LATHE_TRY_ASSIGN(Shape values, intsAttr(node, key, std::move(fallback)));
    if (values.size() != count)
        return brokenRule(fmt::format("attribute {} must have {} entries, it has {}", key, count, values.size()));
    for (const std::int64_t value : values) {
        // The upper end keeps products with extents (at most 2^40) inside of 64 bits.
        if (value < lowest || value > kMaxAttribute)
            return brokenRule(fmt::format("attribute {} must hold values of at least {} and at most {}, it holds {}",
                                          key, lowest, kMaxAttribute, value));
    }
    return values;
}

DType dtypeFromString(std::string_view name, bool& known)
{
    for (int i = 0; i <= static_cast<int>(DType::F64); ++i) {
        if (name == toString(static_cast<DType>(i))) {
            known = true;
            return static_cast<DType>(i);
        }
    }
    known = false;
    return DType::F32;
}

Result<DType> dtypeAttr(const Node& node, std::string_view key, DType fallback)
{
    LATHE_TRY_ASSIGN(const std::string name, stringAttr(node, key, toString(fallback)));
    bool known = false;
    const DType dtype = dtypeFromString(name, known);
    if (!known)
        return brokenRule(fmt::format("attribute {} must name an element type, it is \"{}\"", key, name));
    return dtype;
}

Result<std::int64_t> normalAxis(std::int64_t axis, std::size_t rank)
{
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count)
        return brokenRule(fmt::format("axis {} is outside of a tensor with {} dimensions", axis, rank));
    return axis < 0 ? axis + count : axis;
}

Result<Shape> normalAxes(std::span<const std::int64_t> axes, std::size_t rank)
{
    Shape result;
    for (const std::int64_t axis : axes) {
        LATHE_TRY_ASSIGN(const std::int64_t normal, normalAxis(axis, rank));
        result.push_back(normal);
    }
    std::ranges::sort(result);
    if (std::ranges::adjacent_find(result) != result.end())
        return brokenRule(fmt::format("axes {} name one dimension twice", shapeText(axes)));
    return result;
}

Result<Shape> broadcastShape(std::span<const std::int64_t> a, std::span<const std::int64_t> b)
{
    Shape result(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (da != db && da != 1 && db != 1)
            return brokenRule(
                fmt::format("shapes {} and {} do not broadcast: {} meets {}", shapeText(a), shapeText(b), da, db));
        result[result.size() - 1 - i] = da == 1 ? db : da;
    }
    return result;
}

Result<std::int64_t> needElementCount(std::span<const std::int64_t> shape)
{
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }))
        return brokenRule(fmt::format("shape {} has a negative dimension", shapeText(shape)));
    const auto count = checkedElementCount(shape);
    if (!count)
        return brokenRule(fmt::format("shape {} has more than 2^40 elements", shapeText(shape)));
    return *count;
}

Result<> needRank(const TensorType& type, std::size_t rank, std::string_view what)
{
    if (type.shape.size() != rank)
        return brokenRule(
            fmt::format("{} must have {} dimensions, its shape is {}", what, rank, shapeText(type.shape)));
    return {};
}

Result<> needFloat(const TensorType& type)
{
    if (!isFloat(type.dtype))
        return brokenRule(fmt::format("the input must be floating point, it is {}", toString(type.dtype)));
    return {};
}

Result<> needSameType(InputTypes inputs)
{
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i].dtype != inputs[0].dtype) {
            return brokenRule(fmt::format("all inputs must have one element type, input 0 is {} and input {} is {}",
                                          toString(inputs[0].dtype), i, toString(inputs[i].dtype)));
        }
    }
    return {};
}

Result<> needPlaces(const ConstData* indices, DType dtype, std::span<const std::int64_t> extents)
{
    if (indices == nullptr || extents.empty())
        return {};
    LATHE_TRY_ASSIGN(const ConstBytes held, contentsOf(*indices));
    const auto size = static_cast<std::size_t>(sizeOf(dtype));
    const std::size_t count = held.bytes.size() / size;
    constexpr std::size_t kAtOnce = 4096;
    for (std::size_t first = 0; first < count; first += kAtOnce) {
        const std::vector<std::int64_t> values = readInts(held.bytes.data() + first * size, dtype,
                                                          std::min(kAtOnce, count - first));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t extent = extents[(first + i) % extents.size()];
            if (values[i] < -extent || values[i] >= extent)
                return brokenRule(fmt::format("index {} is outside of {} entries", values[i], extent));
        }
    }
    return {};
}

std::array<std::int64_t, 3> ImageAxes::steps(std::span<const std::int64_t> strides) const
{
    std::array<std::int64_t, 3> result{};
    for (std::size_t d = 0; d < dims; ++d)
        result[3 - dims + d] = strides[firstSpatial + d];
    return result;
}

Shape ImageAxes::shape(std::int64_t batch, std::int64_t channels, const WindowSides& sides) const
{
    Shape result(dims + 2);
    result[n] = batch;
    result[c] = channels;
    for (std::size_t d = 0; d < dims; ++d)
        result[firstSpatial + d] = sides[3 - dims + d].out;
    return result;
}

Result<ImageAxes> imageAxes(const Node& node, std::size_t dims)
{
    const std::string_view first = dims == 2 ? "NCHW" : "NCDHW";
    const std::string_view last = dims == 2 ? "NHWC" : "NDHWC";
    LATHE_TRY_ASSIGN(const std::string layout, stringAttr(node, "layout", first));
    if (layout == first)
        return ImageAxes{dims, 0, 1, 2};
    if (layout == last)
        return ImageAxes{dims, 0, dims + 1, 1};
    return brokenRule(fmt::format("layout must be {} or {}, it is \"{}\"", first, last, layout));
}

Result<WindowSides> windowSides(const Node& node, const ImageAxes& axes, std::span<const std::int64_t> data,
                                std::span<const std::int64_t> size)
{
    const std::size_t dims = axes.dims;
    LATHE_TRY_ASSIGN(const Shape strides, sizedAttr(node, "strides", dims, 1, Shape(dims, 1)));
    LATHE_TRY_ASSIGN(const Shape padding, sizedAttr(node, "padding", 2 * dims, 0, Shape(2 * dims, 0)));
    LATHE_TRY_ASSIGN(const Shape dilations, sizedAttr(node, "dilations", dims, 1, Shape(dims, 1)));
    WindowSides sides;
    for (std::size_t d = 0; d < dims; ++d)
        sides[3 - dims + d] = {
            data[axes.firstSpatial + d], 1, size[d], strides[d], dilations[d], padding[d], padding[d + dims]};
    return sides;
}

std::string_view sideWord(std::size_t side)
{
    constexpr std::array<std::string_view, 3> kWords{"slices", "rows", "columns"};
    return kWords[side];
}

} // namespace lathe::graph::operators
