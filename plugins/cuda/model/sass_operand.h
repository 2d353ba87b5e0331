#pragma once

#include "plugins/cuda/model/sass.h"

#include <string_view>
#include <vector>

namespace lathe::cuda {

/// Pieces between commas; those inside brackets do not separate.
std::vector<std::string_view> splitSassOperands(std::string_view text);

/// "R3.reuse", "-R4", "!P0", "0x1000", "1.5", "c[0x0][0x160]", "desc[UR4][R2.64+0x10]", "`(.L_x_3)". What is none of
/// the known forms is of kind Other, which is no error: new processors have operands that do not matter for times.
SassOperand readSassOperand(std::string_view text);

} // namespace lathe::cuda
