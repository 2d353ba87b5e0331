#pragma once

#include "core/support/result.h"

#include <string>
#include <string_view>

namespace lathe::broker {

/// A user's keys as NATS has them (Ed25519): the server knows the public one, and a program proves that it has the
/// other by signing what the server sends. As text: base32 (RFC 4648, without padding) of a prefix that says what it
/// is, the key, and a CRC-16 (XMODEM) of both, little endian.
struct NKey
{
    std::string publicKey; ///< "U...", 56 letters
    std::string seed; ///< "SU...", 58 letters: the secret
};

/// A new one. Errors: Internal (no random numbers).
Result<NKey> makeUserKey();
/// The one of a seed. Errors: InvalidArgument, without the seed in its text.
Result<NKey> userKeyOf(std::string_view seed);

} // namespace lathe::broker
