#include "core/broker/token.h"

#include "core/broker/nkey.h"
#include "core/support/files.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

namespace lathe::broker {

// The least that reading a token needs, until the commands that make tokens are there.

std::string toText(const Token& token)
{
    const char* const roles[] = {"runner", "user", "observer"};
    return nlohmann::json({{"lathe", "token"},
                           {"role", roles[static_cast<int>(token.member.role)]},
                           {"name", token.member.name},
                           {"key", token.member.key},
                           {"seed", token.seed},
                           {"authority", token.authority}})
        .dump(2);
}

Result<Token> readToken(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string text, readFile(file));
    const auto object = nlohmann::json::parse(text, nullptr, false);
    const auto lacks = [&](const char* member) {
        return makeError(Errc::BadFile, say(Msg::TokenUnreadable, file.string(), say(Msg::TokenLacks, member)));
    };
    if (lathe::textIn(object, "lathe") != "token")
        return lacks("lathe");
    Token token;
    const std::string role = lathe::textIn(object, "role");
    if (role != "runner" && role != "user" && role != "observer")
        return lacks("role");
    token.member.role = role == "runner" ? Role::Runner : role == "user" ? Role::User : Role::Observer;
    token.member.name = lathe::textIn(object, "name");
    token.member.key = lathe::textIn(object, "key");
    token.seed = lathe::textIn(object, "seed");
    token.authority = lathe::textIn(object, "authority");
    LATHE_TRY_ASSIGN(const NKey key, userKeyOf(token.seed));
    token.member.publicKey = key.publicKey;
    return token;
}

Result<BrokerAddress> brokerAddress(const std::string& where, const std::optional<Token>& token, std::string program)
{
    const bool isTls = token && !token->authority.empty();
    const std::string url = where.find("://") != std::string::npos ? where : (isTls ? "tls://" : "nats://") + where;
    if (!url.starts_with("nats://") && !url.starts_with("tls://"))
        return makeError(Errc::InvalidArgument, say(Msg::AddressWrong, where));
    BrokerAddress address = {url};
    if (token) {
        address.seed = token->seed;
        address.authority = token->authority;
    }
    address.name = std::move(program);
    return address;
}

} // namespace lathe::broker
