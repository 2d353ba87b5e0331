#include "core/broker/nkey.h"

#include "core/support/message.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lathe::broker {

namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::uint8_t kSeed = 18 << 3; // 'S'
constexpr std::uint8_t kUser = 20 << 3; // 'U'
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

using Bytes = std::vector<std::uint8_t>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string base32(const Bytes& bytes)
{
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (const std::uint8_t byte : bytes) {
        bits = bits << 8 | byte;
        for (count += 8; count >= 5; count -= 5)
            text.push_back(kLetters[bits >> (count - 5) & 31]);
    }
    if (count > 0)
        text.push_back(kLetters[bits << (5 - count) & 31]);
    return text;
}

std::optional<Bytes> fromBase32(std::string_view text)
{
    Bytes bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char letter : text) {
        const std::size_t value = kLetters.find(letter);
        if (value == std::string_view::npos)
            return std::nullopt;
        bits = bits << 5 | static_cast<std::uint32_t>(value);
        count += 5;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<std::uint8_t>(bits >> count));
        }
    }
    return bytes;
}

std::uint16_t crc16(const Bytes& bytes)
{
    std::uint16_t crc = 0;
    for (const std::uint8_t byte : bytes) {
        crc = static_cast<std::uint16_t>(crc ^ byte << 8);
        for (int bit = 0; bit < 8; ++bit)
            crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

std::string textOf(Bytes bytes)
{
    const std::uint16_t crc = crc16(bytes);
    bytes.push_back(static_cast<std::uint8_t>(crc));
    bytes.push_back(static_cast<std::uint8_t>(crc >> 8));
    std::string text = base32(bytes);
    OPENSSL_cleanse(bytes.data(), bytes.size());
    return text;
}

/// A seed's prefix holds that of the key which it is for: five bits of the first, then those of the second.
constexpr std::array<std::uint8_t, 2> kSeedPrefix = {kSeed | kUser >> 5, static_cast<std::uint8_t>((kUser & 31) << 3)};

Result<NKey> keyOf(PrivateKey key)
{
    std::array<std::uint8_t, kKeyBytes> secret{}, open{};
    std::size_t secretBytes = secret.size(), openBytes = open.size();
    if (!key || EVP_PKEY_get_raw_private_key(key.get(), secret.data(), &secretBytes) != 1
        || EVP_PKEY_get_raw_public_key(key.get(), open.data(), &openBytes) != 1)
        return makeError(Errc::Internal, say(Msg::KeysNotMade));
    Bytes seed(kSeedPrefix.begin(), kSeedPrefix.end());
    seed.insert(seed.end(), secret.begin(), secret.end());
    OPENSSL_cleanse(secret.data(), secret.size());
    Bytes publicKey = {kUser};
    publicKey.insert(publicKey.end(), open.begin(), open.end());
    return NKey{textOf(std::move(publicKey)), textOf(std::move(seed))};
}

} // namespace

Result<NKey> makeUserKey()
{
    return keyOf({EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free});
}

Result<NKey> userKeyOf(std::string_view seed)
{
    auto bytes = fromBase32(seed);
    constexpr std::size_t kBytes = kSeedPrefix.size() + kKeyBytes;
    bool right = bytes && bytes->size() == kBytes + 2 && (*bytes)[0] == kSeedPrefix[0] && (*bytes)[1] == kSeedPrefix[1];
    if (right) {
        const auto crc = static_cast<std::uint16_t>((*bytes)[kBytes] | (*bytes)[kBytes + 1] << 8);
        bytes->resize(kBytes);
        right = crc16(*bytes) == crc;
    }
    if (!right)
        return makeError(Errc::InvalidArgument, say(Msg::SeedIsNone));
    return keyOf(
        {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes->data() + kSeedPrefix.size(), kKeyBytes),
         EVP_PKEY_free});
}

} // namespace lathe::broker
