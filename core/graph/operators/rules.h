#pragma once

#include "core/graph/operator.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::graph::operators {

/// OpTraits::picksFrom of a node that picks along attribute "axis" (0 if missing).
std::int64_t placesAlongAxis(const Node& node, std::span<const std::int64_t> data, std::span<const std::int64_t>);
/// Of one whose places are vectors along the last dimension, behind "batch_dims" dimensions that both have.
std::int64_t placesOfVectors(const Node& node, std::span<const std::int64_t> data,
                             std::span<const std::int64_t> places);

// Words and checks that the shape rules share. Every failure is InvalidArgument and names the rule that is broken with
// the values involved; inferTypes (passes.h) adds node and inputs.

using Shape = std::vector<std::int64_t>;
using Types = std::vector<TensorType>;
using InputTypes = std::span<const TensorType>;
using Constants = std::span<const ConstData* const>;

/// One spatial dimension of a convolution or pool; the defaults are those of a dimension that is not there.
struct WindowSide
{
    std::int64_t in = 1, out = 1;
    std::int64_t size = 1, stride = 1, dilation = 1;
    std::int64_t before = 0, after = 0; ///< padding

    std::int64_t reach() const { return (size - 1) * dilation + 1; }
};

/// Depth, height and width. An image has the depth of a dimension that is not there.
using WindowSides = std::array<WindowSide, 3>;

Error brokenRule(std::string text, std::source_location where = std::source_location::current());
std::string shapeText(std::span<const std::int64_t> shape); ///< "[1, 3, 224, 224]"

Result<std::int64_t> intAttr(const Node& node, std::string_view key, std::int64_t fallback);
Result<bool> boolAttr(const Node& node, std::string_view key, bool fallback);
Result<double> floatAttr(const Node& node, std::string_view key, double fallback);
Result<std::string> stringAttr(const Node& node, std::string_view key, std::string_view fallback);
Result<Shape> intsAttr(const Node& node, std::string_view key, Shape fallback);
/// Exactly `count` entries, each in [lowest, 2^20].
Result<Shape> sizedAttr(const Node& node, std::string_view key, std::size_t count, std::int64_t lowest, Shape fallback);
Result<DType> dtypeAttr(const Node& node, std::string_view key, DType fallback);

/// Negative axes count from the back.
Result<std::int64_t> normalAxis(std::int64_t axis, std::size_t rank);
/// Sorted, without duplicates.
Result<Shape> normalAxes(std::span<const std::int64_t> axes, std::size_t rank);

Result<Shape> broadcastShape(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
/// Number of elements; negative dimensions and more than 2^40 elements are refused.
Result<std::int64_t> needElementCount(std::span<const std::int64_t> shape);

Result<> needRank(const TensorType& type, std::size_t rank, std::string_view what);
Result<> needFloat(const TensorType& type);
Result<> needSameType(InputTypes inputs);
/// Indices that are known must lie inside of what they pick from, counted from the back if negative: index i in
/// extents[i % extents.size()] entries. Null: not known.
Result<> needPlaces(const ConstData* indices, DType dtype, std::span<const std::int64_t> extents);

/// Positions of batch, channel and the 2 or 3 spatial dimensions (outermost first) of images and volumes.
struct ImageAxes
{
    std::size_t dims = 2;
    std::size_t n = 0, c = 1;
    std::size_t firstSpatial = 2;

    bool channelsLast() const { return c != 1; }
    /// Elements between neighbours in depth, height and width; 0 for a depth that is not there.
    std::array<std::int64_t, 3> steps(std::span<const std::int64_t> strides) const;
    /// A shape with these extents.
    Shape shape(std::int64_t batch, std::int64_t channels, const WindowSides& sides) const;
};

/// The layout of a node: "NCHW" (the default) or "NHWC" for two dimensions, "NCDHW" or "NDHWC" for three.
Result<ImageAxes> imageAxes(const Node& node, std::size_t dims);

/// Strides, padding and dilations of the node for a kernel of `size`, and the extents of `data`; `out` is left to the
/// caller.
Result<WindowSides> windowSides(const Node& node, const ImageAxes& axes, std::span<const std::int64_t> data,
                                std::span<const std::int64_t> size);

/// Depth, height or width: "slices", "rows", "columns".
std::string_view sideWord(std::size_t side);

DType dtypeFromString(std::string_view name, bool& known);

} // namespace lathe::graph::operators
