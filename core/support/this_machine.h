#pragma once

#include <string>

namespace lathe {

/// Names this machine until it is started anew: the same for all programs on it, in whatever container, as those take
/// each other's processors. Empty: the system does not tell.
std::string bootId();
/// As it calls itself; empty: it has no name.
std::string hostName();

} // namespace lathe
