#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string_view>
#include <vector>

namespace lathe::cpu {

/// Emits a mathematical function of f32 or f64, scalar or vector, as arithmetic: nothing calls a library.
///
/// Largest errors, in units of the last place of a correctly rounded result, tested by
/// tests/plugins/cpu/tst_vector_math:
///   f32: exp 1.1, exp2 1.1, log 1, tanh 2, sigmoid 2.5, erf 2.5, rsqrt 1.5, pow 1 (through f64), sqrt exact
///   f64: exp 1.1, exp2 1.1, log 1, tanh 2, sigmoid 2.5, erf 3, rsqrt 1.5, pow 2 (4 without fused multiply-add)
/// Subnormal results of exp are kept; exp overflows to infinity, log of 0 is -infinity, of a negative number NaN.
///
/// round goes to the nearest, ties to even.
///
/// sin, cos 2 and tan 4 of all finite numbers. expm1 2.5, log1p 2.5, atan 2.5. fmod exact; of f64 on a processor
/// without fused multiply-add only while the quotient fits the mantissa.
///
/// Known: abs atan ceil cos erf exp exp2 expm1 fabs floor fma fmod log log1p log2 max min pow round rsqrt sigmoid sin
/// sqrt tan tanh trunc.
/// @return null if `name` is unknown or takes another number of operands.
llvm::Value* emitMathCall(llvm::IRBuilder<>& builder, std::string_view name, const std::vector<llvm::Value*>& operands,
                          bool hasFma);

/// Minimum or maximum of floats: not-a-number if one of them is; which zero of two, is not said.
llvm::Value* emitExtremum(llvm::IRBuilder<>& builder, bool isMin, llvm::Value* a, llvm::Value* b);

} // namespace lathe::cpu
