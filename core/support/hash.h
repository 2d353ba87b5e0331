#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lathe {

/// 128-bit content hash (XXH3-128) of blobs, candidates and artifacts. Not cryptographic: integrity against accidents.
struct Hash128
{
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    auto operator<=>(const Hash128&) const = default;
    std::string hex() const; ///< 32 lower-case digits, high first
    static std::optional<Hash128> fromHex(std::string_view text);
};

Hash128 contentHash(std::span<const std::byte> bytes);
Hash128 contentHash(std::string_view text);

} // namespace lathe

template<>
struct std::hash<lathe::Hash128>
{
    std::size_t operator()(const lathe::Hash128& h) const noexcept { return h.low ^ (h.high * 0x9e3779b97f4a7c15ULL); }
};
