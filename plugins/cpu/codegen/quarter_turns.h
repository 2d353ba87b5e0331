#pragma once

#include <llvm/IR/IRBuilder.h>

namespace lathe::cpu {

/// |x| = (4 m + turns + angle / (pi/2)) pi/2 with |angle| <= pi/4.
struct QuarterTurns
{
    llvm::Value* turns = nullptr; ///< 0 to 4, in integers as wide as x
    llvm::Value* angle = nullptr; ///< of the type of x
};

/// Emits the reduction of |x|, f32 or f64, scalar or vector, for all finite numbers: half a unit of the last place of
/// the angle, however near |x| lies to a multiple of pi/2. Infinities and not-a-number give an angle that is
/// not-a-number.
///
/// Payne and Hanek, "Radian reduction for trigonometric functions" (1983): of the product with 2/pi, whose binary
/// digits are known, only those are computed that are neither a multiple of 4 nor too small to matter.
QuarterTurns emitQuarterTurns(llvm::IRBuilder<>& builder, llvm::Value* x);

} // namespace lathe::cpu
