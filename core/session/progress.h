#pragma once

#include <functional>
#include <string_view>

namespace lathe::session {

/// Told by a call that blocks, on the thread that calls: what it does now, and how far it has come, 0 to 1.
using Progress = std::function<void(std::string_view step, double fraction)>;

} // namespace lathe::session
