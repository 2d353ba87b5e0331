#pragma once

#include <array>
#include <cstdint>

namespace lathe::store {

inline constexpr std::int64_t kSchemaVersion = 9;
inline constexpr std::int64_t kApplicationId = 0x4c746865; // "Lthe"

/// Step i brings a project of version i to version i + 1; a new file goes through all of them. Readable with `sqlite3`:
/// names in full, times in the unit that the column ends in. Steps may call device_key_of(fingerprint), which Project
/// gives them.
extern const std::array<const char*, static_cast<std::size_t>(kSchemaVersion)> kSchemaSteps;

} // namespace lathe::store
