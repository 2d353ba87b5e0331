#pragma once

namespace lathe::policy {

/// The policy that is used if none is named.
inline constexpr const char* kDefaultPolicy = "sketch";

} // namespace lathe::policy
