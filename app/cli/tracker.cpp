#include "core/broker/tracker.h"

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "core/broker/certificates.h"
#include "core/broker/subjects.h"
#include "core/broker/token.h"
#include "core/support/files.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace lathe::cli {

namespace {

namespace fs = std::filesystem;
using broker::Member, broker::Role, broker::TrackerFolder;

struct TrackerArguments
{
    std::string listen = "127.0.0.1:4222";
    std::string folder; ///< empty: the usual one
    std::pair<std::string, std::string> tls; ///< certificate, key; empty: none
    std::string compat; ///< PORT or HOST:PORT; empty: TVM's tracker is not spoken
    bool compatAnybody = false;
    std::string runner, user, observer; ///< the runner's is its key
    std::string name, output, authority;
    bool json = false;
};

Result<TrackerFolder> openFolder(const TrackerArguments& a)
{
    return TrackerFolder::open(a.folder.empty() ? TrackerFolder::usualPlace() : fs::path(a.folder));
}

bool isTaken(const fs::path& file)
{
    std::error_code code;
    return fs::symlink_status(file, code).type() != fs::file_type::not_found;
}

fs::path fromRoot(const fs::path& file)
{
    std::error_code code;
    return fs::absolute(file, code);
}

/// What a member runs. @param tokenFile  empty: he needs none
std::string lineFor(const Member& member, const std::string& url, const std::string& tokenFile)
{
    const std::string creds = tokenFile.empty() ? std::string() : " --creds " + tokenFile;
    switch (member.role) {
    case Role::Runner: return fmt::format("lathe-runner --broker {} --key {}{}", url, member.key, creds);
    case Role::User: return fmt::format("lathe-cli tune MODEL --broker {} --device KEY{}", url, creds);
    case Role::Observer: break;
    }
    return fmt::format("lathe-cli devices --broker {}{}", url, creds);
}

Result<> runTracker(const TrackerArguments& a)
{
    broker::TrackerOptions options;
    LATHE_TRY_ASSIGN(options.listen, broker::parseAddress(a.listen));
    if (!a.tls.first.empty()) {
        options.certificate = fromRoot(a.tls.first);
        options.privateKey = fromRoot(a.tls.second);
    }
    if (!a.compat.empty()) {
        const bool isPort = a.compat.find_first_not_of("0123456789") == std::string::npos;
        LATHE_TRY_ASSIGN(options.compat, broker::parseAddress(isPort ? "127.0.0.1:" + a.compat : a.compat));
        if (options.compat->tls)
            return makeError(Errc::InvalidArgument, "--compat takes PORT or HOST:PORT: it has no TLS");
        options.compatForAnybody = a.compatAnybody;
    }
    LATHE_TRY_ASSIGN(const TrackerFolder folder, openFolder(a));
    const bool open = broker::isLoopback(options.listen.host) && a.tls.first.empty();
    broker::TrackerEvents events;
    events.ready = [open](const std::string& url) {
        const std::string file = open ? "" : "FILE";
        print("The tracker listens at {}\n", url);
        print("Where a device is:   {}\n", lineFor({Role::Runner, {}, "KEY", {}}, url, file));
        print("To tune on devices:  {}\n", lineFor({Role::User, {}, {}, {}}, url, file));
        if (!open)
            print("To make a FILE:      lathe-cli tracker token\n");
        (void)flushOutput(); // it goes on without a reader, too
    };
    events.compatReady = [](const std::string& address) {
        print("INFO:RPCTracker:bind to {}\n", address); // in these words, for which people's scripts wait
        (void)flushOutput();
    };
    events.notice = [](const Message& message) { printNotices({message}); };
    const StopOnInterrupt interrupt;
    return broker::runTracker(folder, options, events, interrupt.token());
}

/// Who --runner, --user or --observer names.
Result<Member> memberOf(const TrackerArguments& a)
{
    const int given = (a.runner.empty() ? 0 : 1) + (a.user.empty() ? 0 : 1) + (a.observer.empty() ? 0 : 1);
    if (given != 1)
        return makeError(Errc::InvalidArgument, "give one of --runner KEY, --user NAME and --observer NAME");
    if (!a.name.empty() && a.runner.empty())
        return makeError(Errc::InvalidArgument, "--name is the name of a runner: give its key with --runner KEY");
    if (!a.runner.empty())
        return Member{Role::Runner, a.name, a.runner, {}};
    return a.user.empty() ? Member{Role::Observer, a.observer, {}, {}} : Member{Role::User, a.user, {}, {}};
}

Error isThere(const fs::path& file)
{
    return makeError(Errc::InvalidArgument,
                     fmt::format("{} is there already: name another file with --output", file.string()));
}

Result<> makeToken(const TrackerArguments& a)
{
    LATHE_TRY_ASSIGN(const Member wanted, memberOf(a));
    if (!a.output.empty() && isTaken(a.output))
        return isThere(a.output);
    std::string authority;
    if (!a.authority.empty()) {
        LATHE_TRY_ASSIGN(authority, readFile(a.authority, 64u << 10));
        if (const auto valid = broker::fingerprintOf(authority); !valid)
            return valid.error();
    }
    LATHE_TRY_ASSIGN(const TrackerFolder folder, openFolder(a));
    LATHE_TRY_ASSIGN(broker::Token token, folder.add(wanted.role, wanted.name, wanted.key));
    if (!authority.empty())
        token.authority = authority;
    const fs::path file = a.output.empty() ? fs::path(token.member.name + ".token") : fs::path(a.output);
    if (auto written = folder.handOut(token, file); !written)
        return isTaken(file) ? isThere(file) : std::move(written);
    LATHE_TRY_ASSIGN(const std::string fingerprint, broker::fingerprintOf(token.authority));
    const std::string url = folder.url().empty() ? "tls://HOST:4222" : folder.url();
    print("{}\n", fromRoot(file).string());
    print("The tracker's authority has the fingerprint {}\n", fingerprint);
    print("Give the file to nobody else than {}, who uses it so:\n    {}\n", token.member.name,
          lineFor(token.member, url, file.filename().string()));
    return {};
}

Result<> revokeToken(const TrackerArguments& a)
{
    LATHE_TRY_ASSIGN(const TrackerFolder folder, openFolder(a));
    return folder.revoke(a.name);
}

Result<> listMembers(const TrackerArguments& a)
{
    LATHE_TRY_ASSIGN(const TrackerFolder folder, openFolder(a));
    LATHE_TRY_ASSIGN(const auto members, folder.members());
    nlohmann::json rows = nlohmann::json::array();
    for (const Member& member : members) {
        const std::string role(broker::wordOf(member.role));
        if (a.json)
            rows.push_back({{"role", role},
                            {"name", member.name},
                            {"key", member.role == Role::Runner ? nlohmann::json(member.key) : nlohmann::json()},
                            {"public_key", member.publicKey}});
        else
            print("{:<9} {:<24} {:<24} {}\n", role, member.name, member.key.empty() ? "-" : member.key,
                  member.publicKey);
    }
    if (a.json)
        print("{}\n", rows.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

Result<> printPermissions(const TrackerArguments& a)
{
    LATHE_TRY_ASSIGN(Member member, memberOf(a));
    if (member.role == Role::Runner && member.name.empty())
        member.name = member.key + "-1";
    for (const std::string& word : {member.name, member.role == Role::Runner ? member.key : member.name})
        if (!broker::isWord(word))
            return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, word));
    print("# {} {}: among \"users\" of nats-server's configuration, beside nkey, or user and password\n",
          broker::wordOf(member.role), member.name);
    print("permissions: {}\n", broker::toText(broker::permissionsOf(member)));
    return {};
}

void addMember(CLI::App& command, const std::shared_ptr<TrackerArguments>& arguments)
{
    command.add_option("--runner", arguments->runner, "For a device: the key under which it is to be found")
        ->type_name("KEY");
    command.add_option("--name", arguments->name, "The runner's own name (default: KEY-1, KEY-2, ...)")
        ->type_name("NAME");
    command.add_option("--user", arguments->user, "For somebody who tunes on devices: his name")->type_name("NAME");
    command.add_option("--observer", arguments->observer, "For somebody who only sees devices and queues: his name")
        ->type_name("NAME");
}

} // namespace

void addTracker(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<TrackerArguments>();
    CLI::App* tracker = app.add_subcommand("tracker", "Run the broker behind which devices measure for several people, "
                                                      "and say who may use it");
    const auto addFolder = [&](CLI::App* command) {
        command
            ->add_option("--folder", arguments->folder,
                         "Where the tracker keeps its members and certificates (default: "
                         "lathe/tracker in $XDG_DATA_HOME or ~/.local/share)")
            ->type_name("DIR");
    };
    tracker->require_subcommand(0, 1);
    tracker
        ->add_option("--listen", arguments->listen,
                     "Where it listens; on other addresses than this machine's own with TLS, and for members alone")
        ->type_name("HOST:PORT")
        ->capture_default_str();
    tracker
        ->add_option("--tls", arguments->tls,
                     "Certificate and private key (PEM) to use instead of those that it makes for itself")
        ->type_name("CERT KEY");
    CLI::Option* const compat =
        tracker
            ->add_option("--compat", arguments->compat,
                         "Speak TVM's tracker, too, for scripts and servers that people have: without keys, on this "
                         "machine's own addresses. Lathe's devices are shown there, but not handed out")
            ->type_name("PORT|HOST:PORT");
    tracker
        ->add_flag("--compat-anybody", arguments->compatAnybody,
                   "--compat may be an address that other machines reach: whoever reaches it can offer devices and "
                   "take them")
        ->needs(compat);
    addFolder(tracker);
    tracker->callback([arguments, tracker, &run] {
        if (tracker->get_subcommands().empty())
            run = [arguments] { return runTracker(*arguments); };
    });
    const auto sub = [&](const char* name, const char* text, auto body) {
        CLI::App* command = tracker->add_subcommand(name, text);
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    CLI::App* token = sub("token", "Let somebody in: write a file with the secret by which the tracker knows him",
                          makeToken);
    addMember(*token, arguments);
    token->add_option("-o,--output", arguments->output, "File to write (default: NAME.token)")->type_name("FILE");
    token
        ->add_option("--authority", arguments->authority,
                     "Certificates (PEM) of whom signed the tracker's, where it is started with --tls and the "
                     "members' systems do not know him")
        ->type_name("FILE");
    addFolder(token);
    CLI::App* revoke = sub("revoke", "Let somebody in no longer, and end his connections", revokeToken);
    revoke->add_option("NAME", arguments->name, "Of a runner, user or observer")->required();
    addFolder(revoke);
    CLI::App* members = sub("members", "List who has a token", listMembers);
    addFolder(members);
    members->add_flag("--json", arguments->json, "Print one JSON array");
    addMember(*sub("permissions",
                   "Print what a NATS cluster that somebody else runs must grant, as its configuration has it",
                   printPermissions),
              arguments);
}

} // namespace lathe::cli
