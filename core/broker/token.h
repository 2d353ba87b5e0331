#pragma once

#include "core/broker/connection.h"
#include "core/broker/server_config.h"
#include "core/support/result.h"

#include <filesystem>
#include <optional>
#include <string>

namespace lathe::broker {

/// What somebody needs to connect to a broker that lets in only whom it knows: `lathe-cli tracker token` writes it to a
/// file, which is given to him and to nobody else.
struct Token
{
    Member member; ///< its public key is the seed's
    std::string seed; ///< nkey.h: the secret
    std::string authority; ///< certificate (PEM) of whom the broker's is signed by; empty: the system knows him
};

/// As it stands in the file: JSON, members `lathe` ("token"), `role` ("runner", "user", "observer"), `name`, `key` (of
/// a runner), `seed`, `authority`.
std::string toText(const Token& token);
/// Errors: those of reading; BadFile, without the secret in the text.
Result<Token> readToken(const std::filesystem::path& file);
/// One for that role. Errors: as above; Incompatible.
Result<Token> readToken(const std::filesystem::path& file, Role role);

/// Where a broker is, and who we are there. @param where  "HOST:PORT", "nats://HOST:PORT", "tls://HOST:PORT"; without a
/// scheme it is TLS where the token has an authority. @param program  for who looks at the server's connections
Result<BrokerAddress> brokerAddress(const std::string& where, const std::optional<Token>& token, std::string program);

} // namespace lathe::broker
