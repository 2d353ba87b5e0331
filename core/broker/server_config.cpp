#include "core/broker/server_config.h"

#include "core/broker/nkey.h"
#include "core/broker/subjects.h"
#include "core/support/message.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace lathe::broker {

namespace {

constexpr std::array<std::string_view, 3> kRoles = {"runner", "user", "observer"};

/// A text in quotes, as the server's files have it: like JSON's.
std::string quoted(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list(const std::vector<std::string>& subjects)
{
    std::string text;
    for (const std::string& subject : subjects)
        text += (text.empty() ? "" : ", ") + quoted(subject);
    return "[" + text + "]";
}

bool isPublicKey(const std::string& text)
{
    return text.size() == 56 && text.front() == 'U'
           && std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7'); });
}

Result<> check(const ServerOptions& options)
{
    const bool here = isLoopback(options.host);
    const bool tls = !options.certificate.empty() && !options.privateKey.empty();
    if (!here && !tls)
        return makeError(Errc::Unsupported, say(Msg::BrokerNeedsTls, options.host));
    if (!here && options.isOpenHere)
        return makeError(Errc::Unsupported, say(Msg::BrokerNeedsKeys, options.host));
    std::set<std::string> keys;
    for (const Member& member : options.members) {
        if (!isWord(member.name))
            return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, member.name));
        if (member.role == Role::Runner && !isWord(member.key))
            return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, member.key));
        if (!isPublicKey(member.publicKey) || !keys.insert(member.publicKey).second)
            return makeError(Errc::InvalidArgument, say(Msg::PublicKeyWrong, member.name));
    }
    return {};
}

} // namespace

std::string_view wordOf(Role role)
{
    return kRoles[static_cast<std::size_t>(role)];
}

std::optional<Role> roleOfWord(std::string_view word)
{
    const auto found = std::ranges::find(kRoles, word);
    if (found == kRoles.end())
        return std::nullopt;
    return static_cast<Role>(found - kRoles.begin());
}

std::string toText(const Permissions& permissions)
{
    // Where nothing is allowed the server would allow everything.
    const auto allowed = [](const std::vector<std::string>& subjects) {
        return subjects.empty() ? "[\"lathe.nothing\"]" : list(subjects);
    };
    return fmt::format("{{ publish: {{ allow: {} }}, subscribe: {{ allow: {} }} }}", allowed(permissions.publish),
                       allowed(permissions.subscribe));
}

Permissions permissionsOf(const Member& member)
{
    switch (member.role) {
    case Role::Runner:
        return {{hereSubject(member.key, member.name), "lathe.offer.*", fmt::format("lathe.from.{}.>", member.name)},
                {hereSubject(member.key, "*"), claimSubject(member.key, "*"),
                 orderSubject(member.key, member.name, "*"), fmt::format("lathe.to.{}.>", member.name)}};
    case Role::User:
        return {{claimSubject("*", member.name), orderSubject("*", "*", member.name),
                 fmt::format("lathe.to.*.{}.>", member.name)},
                {"lathe.here.>", "lathe.claim.>", offerSubject(member.name),
                 fmt::format("lathe.from.*.{}.>", member.name)}};
    case Role::Observer: return {{}, {"lathe.here.>", "lathe.claim.>"}};
    }
    return {};
}

bool isLoopback(std::string_view host)
{
    in_addr address = {};
    return host == "localhost" || host == "::1"
           || (::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1
               && ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

Result<std::string> serverConfig(const ServerOptions& options)
{
    LATHE_TRY(check(options));
    std::string text = fmt::format("host: {}\nport: {}\nserver_name: \"lathe\"\nmax_payload: 1048576\n",
                                   quoted(options.host), options.port);
    if (!options.certificate.empty())
        text += fmt::format("tls: {{ cert_file: {}, key_file: {} }}\n", quoted(options.certificate.string()),
                            quoted(options.privateKey.string()));
    text += "authorization: {\n  users: [\n";
    for (const Member& member : options.members)
        text += fmt::format("    {{ nkey: {}, permissions: {} }}\n", member.publicKey, toText(permissionsOf(member)));
    if (options.isOpenHere) {
        // Any program of this machine: its own devices and its own runs.
        text += "    { user: \"local\", password: \"\", permissions: { publish: { allow: [\"lathe.>\"] }, "
                "subscribe: { allow: [\"lathe.>\"] } } }\n";
    }
    if (options.members.empty() && !options.isOpenHere) {
        // A server whose list is empty lets everybody in. This one has a member whose secret nobody knows.
        LATHE_TRY_ASSIGN(const NKey nobody, makeUserKey());
        text += fmt::format("    {{ nkey: {}, permissions: {} }}\n", nobody.publicKey, toText(Permissions()));
    }
    text += "  ]\n}\n";
    if (options.isOpenHere)
        text += "no_auth_user: \"local\"\n";
    return text;
}

} // namespace lathe::broker
