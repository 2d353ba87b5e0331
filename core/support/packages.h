#pragma once

#include "core/support/message.h"

#include <string>
#include <string_view>

namespace lathe {

/// Debian's package of the program or library that a system's or driver's words miss ("libnvrtc.so.12: cannot open
/// shared object file"); empty: they miss nothing, or something else.
std::string packageIn(std::string_view words);

/// What dlopen() says of a file, with the package that would help.
Message notLoaded(std::string_view file, std::string_view words);

} // namespace lathe
