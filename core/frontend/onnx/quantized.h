#pragma once

#include "core/frontend/onnx/composer.h"

#include <cstdint>

namespace lathe::frontend::onnx_detail {

// Integers with scales: what converters of both domains share. Scales and zero points stay operands of Lathe's
// operators quantize, dequantize and requantize (graph/operators/quantize.cpp), which say how they round.

/// A tensor of integers with what makes numbers of it. Scale and zero point have one value, or several.
struct Quantized
{
    ValueId values, scale;
    ValueId zero; ///< invalid: 0
};

/// An input that may be absent; a vector of one value becomes a scalar.
Result<ValueId> parameterInput(Builder& b, const NodeReader& node, std::int64_t index);
/// Values, scale and zero point from these inputs. Errors: BadFile if values or scale are absent.
Result<Quantized> quantizedInput(Builder& b, const NodeReader& node, std::int64_t values, std::int64_t scale,
                                 std::int64_t zero);

/// A vector of parameters as it broadcasts to dimension `axis` of a tensor of `rank`; others stay.
ValueId along(Composer& c, ValueId parameter, std::int64_t axis, std::int64_t rank);

// Scales, zero points and multipliers broadcast to what they are of.

/// As float32, or `dtype`.
ValueId dequantized(Composer& c, const Quantized& q, DType dtype = DType::F32);
/// Into the integers of `zero`, uint8 if there is none.
ValueId quantized(Composer& c, ValueId x, ValueId scale, ValueId zero);
/// In uint8, with scale and zero point from the range of all values, which always holds 0: DynamicQuantizeLinear.
Quantized quantizedByRange(Composer& c, ValueId x);
/// Sums of int32 times `multiplier`, into the integers of `zero`.
ValueId requantized(Composer& c, ValueId sums, ValueId multiplier, ValueId zero);
/// Integers less their zero point: in their own type where it is known to be 0, else in one
/// that holds every difference. Products of either are summed in int32.
ValueId centred(Composer& c, ValueId values, ValueId zero);

/// Sums of the integers' products. A vector of zero points is of the left operand's rows or the right one's columns.
Result<ValueId> integerProduct(Builder& b, Composer& c, const Quantized& left, const Quantized& right);
/// The product of both scales, as it broadcasts to those sums.
ValueId productScale(Composer& c, const Quantized& left, const Quantized& right);

} // namespace lathe::frontend::onnx_detail
