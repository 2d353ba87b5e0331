#include "core/support/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lathe {

std::string Hash128::hex() const
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text(32, '0');
    for (int i = 0; i < 16; ++i) {
        text[static_cast<std::size_t>(15 - i)] = kDigits[(high >> (4 * i)) & 15];
        text[static_cast<std::size_t>(31 - i)] = kDigits[(low >> (4 * i)) & 15];
    }
    return text;
}

std::optional<Hash128> Hash128::fromHex(std::string_view text)
{
    if (text.size() != 32)
        return std::nullopt;
    Hash128 h;
    for (std::size_t i = 0; i < 32; ++i) {
        const char c = text[i];
        std::uint64_t digit = 0;
        if (c >= '0' && c <= '9')
            digit = static_cast<std::uint64_t>(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = static_cast<std::uint64_t>(c - 'a' + 10);
        else
            return std::nullopt;
        auto& word = i < 16 ? h.high : h.low;
        word = word << 4 | digit;
    }
    return h;
}

Hash128 contentHash(std::span<const std::byte> bytes)
{
    const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
    return {h.high64, h.low64};
}

Hash128 contentHash(std::string_view text)
{
    return contentHash(std::as_bytes(std::span(text.data(), text.size())));
}

} // namespace lathe
