#pragma once

#include "core/graph/operator.h"

#include <optional>
#include <string>
#include <string_view>

namespace lathe::graph::operators {

// Words and checks that the shape rules share. Every failure is InvalidArgument and names the rule that is broken with the
// values involved; inferTypes (passes.h) adds node and inputs.

using Shape = std::vector<std::int64_t>;
using Types = std::vector<TensorType>;
using InputTypes = std::span<const TensorType>;
using Constants = std::span<const ConstData* const>;

/// Windows of a convolution or pool along height and width.
struct Window
{
    Shape size; ///< [2]
    Shape strides; ///< [2]
    Shape padding; ///< [4]: top, left, bottom, right
    Shape dilations; ///< [2]
};

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
Result<std::int64_t> elementCount(std::span<const std::int64_t> shape);

Result<> needRank(const TensorType& type, std::size_t rank, std::string_view what);
Result<> needFloat(const TensorType& type);
Result<> needSameType(InputTypes inputs);

/// Positions of batch, channel, height and width in "NCHW" or "NHWC".
struct ImageAxes
{
    std::size_t n = 0, c = 1, h = 2, w = 3;
};
Result<ImageAxes> imageAxes(std::string_view layout);

/// Strides, padding and dilations of the node for a kernel of `size`.
Result<Window> windowOf(const Node& node, Shape size);

DType dtypeFromString(std::string_view name, bool& known);

} // namespace lathe::graph::operators
