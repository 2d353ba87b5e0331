#include "core/broker/tracker_folder.h"

#include "core/broker/certificates.h"
#include "core/broker/nkey.h"
#include "core/broker/private_file.h"
#include "core/broker/subjects.h"
#include "core/support/files.h"
#include "core/support/json_values.h"
#include "core/support/message.h"
#include "core/support/this_machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fs = std::filesystem;

namespace lathe::broker {

namespace {

constexpr std::uint64_t kMostStateBytes = 16u << 20;

/// An flock on a file in the folder, which ends when the file is closed, however that comes.
Result<OpenFile> lockedFile(const fs::path& file, int operation, const Message& taken)
{
    OpenFile opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (opened.get() < 0)
        return makeError(Errc::InvalidArgument, say(Msg::FileNotOpened, file.string(), std::strerror(errno)));
    int failed;
    do
        failed = ::flock(opened.get(), operation) == 0 ? 0 : errno;
    while (failed == EINTR);
    if (failed == EWOULDBLOCK)
        return makeError(Errc::InvalidArgument, taken);
    if (failed != 0)
        return makeError(Errc::StoreFailed, say(Msg::FileNotOpened, file.string(), std::strerror(failed)));
    return opened;
}

std::string textOfMembers(std::span<const Member> members)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Member& member : members) {
        nlohmann::ordered_json row = {{"role", std::string(wordOf(member.role))}, {"name", member.name}};
        if (member.role == Role::Runner)
            row["key"] = member.key;
        row["public_key"] = member.publicKey;
        list.push_back(std::move(row));
    }
    const nlohmann::ordered_json object = {{"lathe", "members"}, {"members", std::move(list)}};
    return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// One row of the list, or which part of it is missing.
Result<Member> memberIn(const nlohmann::json& row)
{
    const auto lacks = [](const char* part) { return makeError(Errc::BadFile, say(Msg::TokenLacks, part)); };
    Member member;
    std::string role;
    takeMember(row, "role", role);
    const auto known = roleOfWord(role);
    if (!known)
        return lacks("role");
    member.role = *known;
    if (!takeMember(row, "name", member.name) || !isWord(member.name))
        return lacks("name");
    if (member.role == Role::Runner && (!takeMember(row, "key", member.key) || !isWord(member.key)))
        return lacks("key");
    if (!takeMember(row, "public_key", member.publicKey))
        return lacks("public_key");
    return member;
}

Result<std::vector<Member>> membersIn(const std::string& text)
{
    const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object())
        return makeError(Errc::BadFile, say(Msg::LogNoJson));
    const auto rows = object.find("members");
    if (rows == object.end() || !rows->is_array())
        return makeError(Errc::BadFile, say(Msg::TokenLacks, "members"));
    std::vector<Member> members;
    for (const nlohmann::json& row : *rows) {
        LATHE_TRY_ASSIGN(Member member, memberIn(row));
        members.push_back(std::move(member));
    }
    return members;
}

bool isThere(const fs::path& file)
{
    std::error_code code;
    return fs::symlink_status(file, code).type() != fs::file_type::not_found;
}

const Member* memberNamed(std::span<const Member> members, const std::string& name)
{
    const auto found = std::ranges::find(members, name, &Member::name);
    return found == members.end() ? nullptr : &*found;
}

/// A runner's that nobody has; the key is cut where it would not leave room for the number.
std::string freeName(std::span<const Member> members, const std::string& key)
{
    for (int number = 1;; ++number) {
        const std::string ending = fmt::format("-{}", number);
        std::string name = key + ending;
        if (!isWord(name))
            name = key.substr(0, key.size() - ending.size()) + ending;
        if (memberNamed(members, name) == nullptr)
            return name;
    }
}

} // namespace

fs::path TrackerFolder::usualPlace()
{
    const fs::path data = userDataFolder();
    return (data.empty() ? fs::path(".local/share/lathe") : data) / "tracker";
}

Result<TrackerFolder> TrackerFolder::open(const fs::path& folder)
{
    std::error_code code;
    const fs::path path = fs::absolute(folder, code).lexically_normal();
    if (path.has_parent_path())
        fs::create_directories(path.parent_path(), code);
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return makeError(Errc::InvalidArgument,
                         say(Msg::FolderNotCreated, path.parent_path().string(), std::strerror(errno)));
    const OpenFile opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat info = {};
    // Whoever could write here would make himself a member.
    if (opened.get() < 0 || ::fstat(opened.get(), &info) != 0
        || ((info.st_mode & 077) != 0 && ::fchmod(opened.get(), 0700) != 0))
        return makeError(Errc::InvalidArgument, say(Msg::FileNotOpened, path.string(), std::strerror(errno)));
    return TrackerFolder(path);
}

Result<OpenFile> TrackerFolder::lock() const
{
    return lockedFile(m_path / "lock", LOCK_EX, {});
}

Result<OpenFile> TrackerFolder::holdForRun() const
{
    return lockedFile(m_path / "run.lock", LOCK_EX | LOCK_NB, say(Msg::TrackerRuns, m_path.string()));
}

Result<std::vector<Member>> TrackerFolder::members() const
{
    if (!isThere(membersFile()))
        return std::vector<Member>();
    LATHE_TRY_ASSIGN(const std::string text, readFile(membersFile(), kMostStateBytes));
    Result<std::vector<Member>> members = membersIn(text);
    if (!members)
        return makeError(Errc::BadFile, say(Msg::MembersUnreadable, membersFile().string(), members.error()));
    return members;
}

Result<> TrackerFolder::writeMembers(std::span<const Member> members) const
{
    return writePrivateFile(membersFile(), textOfMembers(members));
}

Result<Token> TrackerFolder::add(Role role, std::string name, const std::string& key) const
{
    if (role == Role::Runner && !isWord(key))
        return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, key));
    Token token;
    LATHE_TRY_ASSIGN(token.authority, authority());
    LATHE_TRY_ASSIGN(const OpenFile locked, lock());
    LATHE_TRY_ASSIGN(std::vector<Member> all, members());
    if (name.empty() && role == Role::Runner)
        name = freeName(all, key);
    if (!isWord(name))
        return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, name));
    if (memberNamed(all, name) != nullptr)
        return makeError(Errc::InvalidArgument, say(Msg::MemberThere, name));
    LATHE_TRY_ASSIGN(NKey made, makeUserKey());
    token.member = {role, std::move(name), role == Role::Runner ? key : std::string(), std::move(made.publicKey)};
    token.seed = std::move(made.seed);
    all.push_back(token.member);
    LATHE_TRY(writeMembers(all));
    return token;
}

Result<> TrackerFolder::handOut(const Token& token, const std::filesystem::path& file) const
{
    auto written = writeNewPrivateFile(file, toText(token));
    if (!written)
        (void)revoke(token.member.name);
    return written;
}

Result<> TrackerFolder::revoke(const std::string& name) const
{
    LATHE_TRY_ASSIGN(const OpenFile locked, lock());
    LATHE_TRY_ASSIGN(std::vector<Member> all, members());
    if (memberNamed(all, name) == nullptr)
        return makeError(Errc::NotFound, say(Msg::MemberUnknown, name));
    std::erase_if(all, [&](const Member& member) { return member.name == name; });
    return writeMembers(all);
}

Result<std::string> TrackerFolder::authority() const
{
    const fs::path text = m_path / "authority.pem";
    LATHE_TRY_ASSIGN(const OpenFile locked, lock());
    if (isThere(text))
        return readFile(text, kMostStateBytes);
    LATHE_TRY_ASSIGN(const Certificate made, makeAuthority(fmt::format("tracker of {}", hostName())));
    // The certificate last: where it is, its key is.
    LATHE_TRY(writePrivateFile(m_path / "authority.key", made.key));
    LATHE_TRY(writePrivateFile(text, made.text));
    return made.text;
}

Result<TrackerFolder::CertificateFiles> TrackerFolder::serverCertificate(std::span<const std::string> hosts) const
{
    Certificate own;
    LATHE_TRY_ASSIGN(own.text, authority());
    LATHE_TRY_ASSIGN(const OpenFile locked, lock());
    CertificateFiles files = {m_path / "server.pem", m_path / "server.key"};
    if (const auto there = readFile(files.certificate, kMostStateBytes);
        there && isThere(files.privateKey) && isServerCertificate(*there, own.text, hosts))
        return files;
    LATHE_TRY_ASSIGN(own.key, readFile(m_path / "authority.key", kMostStateBytes));
    LATHE_TRY_ASSIGN(const Certificate made, makeServerCertificate(own, hosts));
    std::error_code ignored;
    fs::remove(files.certificate, ignored); // never one with another's key
    LATHE_TRY(writePrivateFile(files.privateKey, made.key));
    LATHE_TRY(writePrivateFile(files.certificate, made.text));
    return files;
}

Result<fs::path> TrackerFolder::writeConfig(ServerOptions options) const
{
    LATHE_TRY_ASSIGN(const std::vector<Member> all, members());
    options.members.insert(options.members.end(), all.begin(), all.end());
    LATHE_TRY_ASSIGN(const std::string text, serverConfig(options));
    fs::path file = m_path / "nats.conf";
    LATHE_TRY(writePrivateFile(file, text));
    return file;
}

Result<> TrackerFolder::writeProcess(std::int64_t pid, const std::string& url) const
{
    LATHE_TRY(writePrivateFile(m_path / "nats.pid", fmt::format("{}\n", pid)));
    return writePrivateFile(m_path / "url", url + "\n");
}

void TrackerFolder::forgetProcess() const
{
    std::error_code ignored;
    fs::remove(m_path / "nats.pid", ignored);
}

std::string TrackerFolder::url() const
{
    const auto text = readFile(m_path / "url", 1024);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

} // namespace lathe::broker
