#pragma once

namespace lathe::policy {

/// The policy of who names none.
inline constexpr const char* kDefaultPolicy = "sketch";

} // namespace lathe::policy
