#include "core/broker/token.h"

#include "core/broker/address.h"
#include "core/broker/nkey.h"
#include "core/broker/subjects.h"
#include "core/support/files.h"
#include "core/support/json_values.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

namespace lathe::broker {

namespace {

constexpr std::uint64_t kMostTokenBytes = 256u << 10; // with certificates of several authorities

/// What is in the text, or why it is no token.
Result<Token> tokenIn(const std::string& text)
{
    const auto lacks = [](const char* member) { return makeError(Errc::BadFile, say(Msg::TokenLacks, member)); };
    const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object())
        return makeError(Errc::BadFile, say(Msg::LogNoJson));
    std::string what, role;
    if (!takeMember(object, "lathe", what) || what != "token")
        return lacks("lathe");
    Token token;
    takeMember(object, "role", role);
    const auto known = roleOfWord(role);
    if (!known)
        return lacks("role");
    token.member.role = *known;
    if (!takeMember(object, "name", token.member.name))
        return lacks("name");
    if (*known == Role::Runner && !takeMember(object, "key", token.member.key))
        return lacks("key");
    if (!takeMember(object, "seed", token.seed))
        return lacks("seed");
    takeMember(object, "authority", token.authority);
    for (const std::string* word : {&token.member.name, *known == Role::Runner ? &token.member.key : nullptr})
        if (word != nullptr && !isWord(*word))
            return makeError(Errc::BadFile, say(Msg::NameNoWord, *word));
    LATHE_TRY_ASSIGN(NKey key, userKeyOf(token.seed));
    token.member.publicKey = std::move(key.publicKey);
    return token;
}

} // namespace

std::string toText(const Token& token)
{
    nlohmann::ordered_json object = {
        {"lathe", "token"}, {"role", std::string(wordOf(token.member.role))}, {"name", token.member.name}};
    if (token.member.role == Role::Runner)
        object["key"] = token.member.key;
    object["seed"] = token.seed;
    if (!token.authority.empty())
        object["authority"] = token.authority;
    return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<Token> readToken(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, kMostTokenBytes));
    Result<Token> token = tokenIn(text);
    if (!token)
        return makeError(Errc::BadFile, say(Msg::TokenUnreadable, file.string(), token.error()));
    return token;
}

Result<Token> readToken(const std::filesystem::path& file, Role role)
{
    LATHE_TRY_ASSIGN(Token token, readToken(file));
    const auto nameOf = [](Role one) {
        return one == Role::Runner ? say(Msg::RoleRunner)
               : one == Role::User ? say(Msg::RoleUser)
                                   : say(Msg::RoleObserver);
    };
    if (token.member.role != role)
        return makeError(Errc::Incompatible,
                         say(Msg::TokenOfOtherRole, file.string(), nameOf(token.member.role), nameOf(role)));
    return token;
}

Result<BrokerAddress> brokerAddress(const std::string& where, const std::optional<Token>& token, std::string program)
{
    LATHE_TRY_ASSIGN(Address address, parseAddress(where));
    if (!address.tls)
        address.tls = token && !token->authority.empty();
    BrokerAddress broker{urlOf(address)};
    broker.name = std::move(program);
    if (token) {
        broker.seed = token->seed;
        broker.authority = token->authority;
    }
    return broker;
}

} // namespace lathe::broker
