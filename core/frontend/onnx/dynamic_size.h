#pragma once

#include "core/frontend/onnx/composer.h"

#include <optional>
#include <string_view>

namespace lathe::frontend::onnx_detail {

// Values whose size depends on data (importer.h, DynamicAxis): which operators may read them, and what is then known of
// their results. An operator without a rule is refused by name.

/// Converts a node as `convert` does, where sizes that depend on data allow it. Errors: those of `convert`; Unsupported
/// where they do not; BadFile where an input is absent that the rule reads.
Result<std::vector<ValueId>> convertSized(Builder& b, NodeReader& node, Converter convert);

/// Takes the place of a converter where an input's size depends on data, or shapes are made of such a size.
using SizeRule = Result<std::vector<ValueId>> (*)(Builder&, NodeReader&, Converter);
struct SizeRuleEntry
{
    std::string_view op;
    SizeRule rule;
    std::int64_t inputs =
        1; ///< that each such node has, counted from the first: convertSized() looks whether they are there
};
std::span<const SizeRuleEntry> sizeRules(); ///< dynamic_rules.cpp: elements, rows, products, reductions
std::span<const SizeRuleEntry> shapeRules(); ///< dynamic_shapes.cpp: shapes, parts, picking

// ---- what rules share

/// The value of each input; invalid where it is absent.
std::vector<ValueId> inputValues(Builder& b, const NodeReader& node);
/// One integer of any form as a count: I64 scalar.
ValueId asCount(Composer& c, ValueId number);
/// Bool, of a shape that broadcasts to that of x: true up to the count.
ValueId maskAlong(Composer& c, ValueId x, const DynamicAxis& dynamic);
/// x with `fill` (saturated to its type) wherever it means nothing.
ValueId filled(Builder& b, Composer& c, ValueId x, double fill);
/// The elements of a short vector of integers as far as they are known; nothing: not at all.
std::optional<std::vector<ShapeNumber>> numbersOf(const Builder& b, ValueId id);
Ints mostOf(const std::vector<ShapeNumber>& numbers);
/// Of what is computed element by element from values that broadcast into one shape. Errors: Unsupported unless all
/// that meet along an axis have the same count there, or an extent of 1.
Result<std::vector<DynamicAxis>> joinedAxes(const Builder& b, std::span<const ValueId> values);
/// Attribute "axis" or what stands for it, from the front. Errors: BadFile outside of `rank`.
Result<std::int64_t> frontAxis(std::int64_t axis, std::int64_t rank);
Error sizedAxis(); ///< Unsupported: the size depends on data along the operator's axis
Error sizedInput(const NodeReader& node, std::size_t input); ///< Unsupported, naming it

} // namespace lathe::frontend::onnx_detail
