#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::broker {

enum class Role : std::uint8_t
{
    Runner, ///< a device of one key
    User, ///< tunes on devices of any key
    Observer ///< sees devices and queues
};

/// "runner", "user", "observer": as files and programs have it.
std::string_view wordOf(Role role);
std::optional<Role> roleOfWord(std::string_view word);

/// One who may connect.
struct Member
{
    Role role = Role::User;
    std::string name; ///< a word (subjects.h): of the device or the user
    std::string key; ///< a runner's; else empty
    std::string publicKey; ///< nkey.h
};

/// What a member may send and hear, as subjects of NATS. A user hears nothing of what another one sends to a device or
/// gets from it; a runner hears only what is sent to itself.
struct Permissions
{
    std::vector<std::string> publish, subscribe;
};
Permissions permissionsOf(const Member& member);
/// As they stand in a file of nats-server's, behind `permissions:`.
std::string toText(const Permissions& permissions);

struct ServerOptions
{
    std::string host = "127.0.0.1";
    std::uint16_t port = 4222;
    /// Both empty: without TLS, which is for this machine alone.
    std::filesystem::path certificate, privateKey;
    std::vector<Member> members; ///< none: nobody gets in
    bool isOpenHere = false; ///< whoever connects from this machine without a key may do everything
};

/// The file that nats-server reads. Errors: InvalidArgument (a name that is no word, a public key that is none, two
/// members of one key), Unsupported (another address than this machine's, without TLS or open to everybody).
Result<std::string> serverConfig(const ServerOptions& options);

/// Whether nobody but this machine reaches what listens there.
bool isLoopback(std::string_view host);

} // namespace lathe::broker
