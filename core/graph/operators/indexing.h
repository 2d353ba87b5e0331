#pragma once

#include "core/graph/operators/rules.h"

namespace lathe::graph::operators {

// What operators with indices, or along one axis, share in their evaluation.

using Arguments = std::span<const HostTensor* const>;

/// Attribute "axis", 0 if missing, counted from the front. Errors: InvalidArgument outside of `rank` dimensions.
Result<std::size_t> axisAttr(const Node& node, std::size_t rank);
/// Errors: InvalidArgument if they are neither int32 nor int64.
Result<> needIndices(const TensorType& type);
/// Negative ones count from the end. Errors: InvalidArgument outside of `extent` entries.
Result<std::int64_t> placeOf(std::int64_t given, std::int64_t extent);
/// The index along each dimension of a row-major position.
Shape unflatten(std::int64_t position, const Shape& shape);
std::int64_t flatten(const Shape& index, const Shape& strides);
void copyElement(HostTensor& out, std::int64_t to, const HostTensor& in, std::int64_t from);

} // namespace lathe::graph::operators
