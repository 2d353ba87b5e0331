#pragma once

#include <string_view>

namespace lathe::cuda {

/// What a text of PTX says of itself, where a function of the driver would have to be newer than the drivers that are
/// in use.

/// "9.5" of ".version 9.5"; empty: it says none.
std::string_view ptxVersion(std::string_view ptx);

/// How many parameters the kernel of that name has; -1: the text has no such kernel.
int ptxParameters(std::string_view ptx, std::string_view kernel);

} // namespace lathe::cuda
