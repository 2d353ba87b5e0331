#pragma once

#include "core/broker/server_config.h"
#include "core/broker/token.h"
#include "core/support/open_file.h"
#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lathe::broker {

/// What a tracker keeps, in a folder that its owner alone may read:
///
///     authority.pem, authority.key    of our own authority (certificates.h); made when it is first needed
///     server.pem, server.key          signed by it
///     members.json                    who has a token: roles, names, keys and public keys, no secrets
///     nats.conf, nats.pid             of the server, as it was started last
///     url                             where it listens
///
/// Other programs may do the same at the same time: each change is made under a lock, and each file is replaced whole.
/// A value; threads: any.
class TrackerFolder
{
public:
    /// $XDG_DATA_HOME/lathe/tracker, or ~/.local/share/lathe/tracker.
    static std::filesystem::path usualPlace();
    /// Makes it where it is not there. Errors: InvalidArgument, StoreFailed.
    static Result<TrackerFolder> open(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return m_path; }
    std::filesystem::path membersFile() const { return m_path / "members.json"; }

    /// In the order in which they were added. Errors: BadFile: a damaged list is not an empty one.
    Result<std::vector<Member>> members() const;
    /// @param name  empty, of a runner: KEY-1, KEY-2, ..., the first that nobody has
    /// Errors: InvalidArgument (somebody has the name, or it is no word), those of members() and of writing.
    Result<Token> add(Role role, std::string name, const std::string& key = {}) const;
    /// Writes a token that was just added for its member. Where that fails nobody has it, and it is taken back. Errors:
    /// those of writeNewPrivateFile().
    Result<> handOut(const Token& token, const std::filesystem::path& file) const;
    /// Errors: NotFound, those of members() and of writing.
    Result<> revoke(const std::string& name) const;

    /// Its certificate. Errors: Internal, those of reading and writing.
    Result<std::string> authority() const;
    struct CertificateFiles
    {
        std::filesystem::path certificate, privateKey;
    };
    /// The ones that are there, where they are for these hosts, else new ones. Errors: as of authority().
    Result<CertificateFiles> serverCertificate(std::span<const std::string> hosts) const;

    /// nats.conf, with the members of now beside those in `options`. Errors: those of serverConfig() and members().
    Result<std::filesystem::path> writeConfig(ServerOptions options) const;
    Result<> writeProcess(std::int64_t pid, const std::string& url) const;
    void forgetProcess() const; ///< it is over
    /// Where the tracker listens, or listened last; empty: it never did.
    std::string url() const;

    /// For the one tracker that runs with the folder, as long as it holds this. Errors: InvalidArgument (TrackerRuns).
    Result<OpenFile> holdForRun() const;

private:
    explicit TrackerFolder(std::filesystem::path path)
        : m_path(std::move(path))
    {
    }
    Result<OpenFile> lock() const;
    Result<> writeMembers(std::span<const Member> members) const;
    std::filesystem::path m_path;
};

} // namespace lathe::broker
