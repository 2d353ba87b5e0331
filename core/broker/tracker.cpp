#include "core/broker/tracker.h"

#include "core/broker/connection.h"
#include "core/broker/nats_process.h"
#include "core/broker/nkey.h"
#include "core/broker/reference_tracker_server.h"
#include "core/support/deadline.h"
#include "core/support/stop_bell.h"
#include "core/support/this_machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace lathe::broker {

namespace {

constexpr int kLookMs = 500; ///< for members that others added
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{10000}; ///< between two starts
constexpr std::chrono::milliseconds kHearPause{5000}; ///< between two attempts to hear what devices tell

std::string ownName()
{
    const std::string name = hostName();
    return name.empty() ? "localhost" : name;
}

bool isEveryAddress(const std::string& host)
{
    return host == "0.0.0.0" || host == "::";
}

/// The numbers of this machine's network cards, but those that hold for one cable alone.
std::vector<std::string> ownAddresses()
{
    std::vector<std::string> addresses;
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0)
        return addresses;
    for (const ifaddrs* card = all; card != nullptr; card = card->ifa_next) {
        if (card->ifa_addr == nullptr || (card->ifa_flags & IFF_UP) == 0)
            continue;
        char text[INET6_ADDRSTRLEN] = "";
        const void* bytes = nullptr;
        if (card->ifa_addr->sa_family == AF_INET)
            bytes = &reinterpret_cast<const sockaddr_in*>(card->ifa_addr)->sin_addr;
        else if (card->ifa_addr->sa_family == AF_INET6
                 && !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(card->ifa_addr)->sin6_addr))
            bytes = &reinterpret_cast<const sockaddr_in6*>(card->ifa_addr)->sin6_addr;
        if (bytes != nullptr && ::inet_ntop(card->ifa_addr->sa_family, bytes, text, sizeof text) != nullptr)
            addresses.emplace_back(text);
    }
    ::freeifaddrs(all);
    return addresses;
}

/// The names by which members may reach what listens there.
std::vector<std::string> hostsOf(const std::string& host)
{
    std::vector<std::string> hosts = {isEveryAddress(host) ? ownName() : host, ownName(), "localhost", "127.0.0.1",
                                      "::1"};
    if (isEveryAddress(host))
        for (std::string& address : ownAddresses())
            hosts.push_back(std::move(address));
    std::vector<std::string> once;
    for (std::string& each : hosts)
        if (std::ranges::find(once, each) == once.end())
            once.push_back(std::move(each));
    return once;
}

/// Which version of a file is there: a file that is replaced is another one.
struct FileState
{
    ino_t number = 0;
    off_t bytes = -1;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const FileState&) const = default;
};

FileState stateOf(const fs::path& file)
{
    struct stat info = {};
    if (::stat(file.c_str(), &info) != 0)
        return {};
    return {info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

/// What the tracker hears of its own server, as a member that is made for it at each start: its secret is in memory
/// only. Without it the server's rules would have to have an exception for this machine.
class OwnEars
{
public:
    Result<> prepare(const TrackerFolder& folder, ServerOptions& config)
    {
        LATHE_TRY_ASSIGN(NKey key, makeUserKey());
        config.members.push_back({Role::Observer, "tracker", {}, std::move(key.publicKey)});
        const std::string host = config.host == "0.0.0.0" ? "127.0.0.1" : config.host == "::" ? "::1" : config.host;
        m_address = {urlOf({host, config.port, !config.certificate.empty()}), std::move(key.seed), {}, "lathe tracker"};
        if (config.certificate.parent_path() == folder.path()) {
            LATHE_TRY_ASSIGN(m_address.authority, folder.authority());
        } else if (!config.certificate.empty()) {
            // It may be for another name than ours here, by somebody whom this machine does not know.
            m_address.isUnchecked = true;
        }
        return {};
    }

    /// Waits up to two seconds. Afterwards `inbox` gets all notices, after a restart of the server, too.
    Result<> open(const std::shared_ptr<Inbox>& inbox)
    {
        LATHE_TRY_ASSIGN(const auto connection, Connection::open(m_address));
        const auto put = [inbox](std::string_view subject, std::string_view bytes) { inbox->put(subject, bytes); };
        LATHE_TRY_ASSIGN(m_devices, connection->subscribe("lathe.here.>", put));
        LATHE_TRY_ASSIGN(m_claims, connection->subscribe("lathe.claim.>", put));
        return {};
    }
    bool isOpen() const { return m_claims != nullptr; }

private:
    BrokerAddress m_address;
    std::unique_ptr<Subscription> m_devices, m_claims; ///< they keep the connection
};

/// One run of a tracker.
class Run
{
public:
    Run(const TrackerFolder& folder, const TrackerEvents& events, std::stop_token stop)
        : m_folder(folder)
        , m_events(events)
        , m_stop(std::move(stop))
        , m_bell(m_stop)
    {
    }

    ~Run() { m_folder.forgetProcess(); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    Result<> prepare(const TrackerOptions& options)
    {
        LATHE_TRY_ASSIGN(m_server, NatsProcess::findServer());
        m_config.host = options.listen.host;
        m_config.port = options.listen.port;
        m_config.certificate = options.certificate;
        m_config.privateKey = options.privateKey;
        const bool here = isLoopback(m_config.host);
        m_config.isOpenHere = here && m_config.certificate.empty();
        if (!here) {
            LATHE_TRY_ASSIGN(const auto members, m_folder.members());
            if (members.empty())
                return makeError(Errc::InvalidArgument, say(Msg::TrackerNeedsMembers, m_config.host));
        }
        if (!here && m_config.certificate.empty()) {
            LATHE_TRY_ASSIGN(auto files, m_folder.serverCertificate(hostsOf(m_config.host)));
            m_config.certificate = std::move(files.certificate);
            m_config.privateKey = std::move(files.privateKey);
        }
        Address shown = options.listen;
        if (isEveryAddress(shown.host))
            shown.host = ownName();
        shown.tls = !m_config.certificate.empty();
        m_url = urlOf(shown);
        if (options.compat) {
            LATHE_TRY_ASSIGN(m_compat, ReferenceTrackerServer::listen(*options.compat, options.compatForAnybody));
            LATHE_TRY(m_ears.prepare(m_folder, m_config));
        }
        return {};
    }

    Result<> start()
    {
        m_members = stateOf(m_folder.membersFile()); // before they are read: a change after that is seen
        LATHE_TRY_ASSIGN(const fs::path config, m_folder.writeConfig(m_config));
        LATHE_TRY_ASSIGN(NatsProcess started, NatsProcess::start(m_server, config, m_url, m_stop));
        m_process.emplace(std::move(started));
        m_started = std::chrono::steady_clock::now();
        return m_folder.writeProcess(m_process->pid(), m_url);
    }

    void untilStopped()
    {
        m_events.ready(m_url);
        std::jthread compat;
        if (m_compat) {
            compat = std::jthread([this](const std::stop_token& stop) { m_compat->run(stop); });
            if (m_events.compatReady)
                m_events.compatReady(m_compat->where());
        }
        while (!m_stop.stop_requested()) {
            if (!m_process) {
                wait(Deadline::in(m_pause));
                m_pause = std::min(2 * m_pause, kLongestPause);
                if (const auto started = start(); !started && started.error().code != Errc::Cancelled)
                    m_events.notice(messageOf(started.error()));
                continue;
            }
            std::array<pollfd, 2> watched = {m_bell.watched(), m_process->watched()};
            ::poll(watched.data(), watched.size(), kLookMs);
            if (const auto ended = m_process->turn()) {
                m_events.notice(*ended);
                if (std::chrono::steady_clock::now() - m_started > kLongestPause)
                    m_pause = kFirstPause; // it does not end at once each time
                m_process.reset();
                continue;
            }
            hearOwn();
            if (m_process->refusedReload()) {
                m_process->kill(); // so that who has no token any more is not let in
                continue;
            }
            if (const FileState now = stateOf(m_folder.membersFile()); now != m_members) {
                m_members = now;
                if (const auto written = m_folder.writeConfig(m_config))
                    m_process->reload();
                else
                    m_events.notice(messageOf(written.error()));
            }
        }
    }

private:
    /// Devices that are not heard are not shown by the reference's summary, which is no reason to end.
    void hearOwn()
    {
        if (!m_compat || m_ears.isOpen() || !m_nextHearing.passed())
            return;
        if (const auto opened = m_ears.open(m_compat->farm()); !opened && !std::exchange(m_toldOfEars, true))
            m_events.notice(messageOf(opened.error()));
        m_nextHearing = Deadline::in(kHearPause);
    }
    void wait(Deadline end) const
    {
        pollfd watched = m_bell.watched();
        ::poll(&watched, 1, end.pollMs());
    }

    const TrackerFolder& m_folder;
    const TrackerEvents& m_events;
    std::stop_token m_stop;
    StopBell m_bell;
    ServerOptions m_config;
    std::unique_ptr<ReferenceTrackerServer> m_compat; ///< null: nobody wants it
    OwnEars m_ears;
    Deadline m_nextHearing = Deadline::in(std::chrono::nanoseconds(0));
    bool m_toldOfEars = false;
    std::string m_url;
    fs::path m_server;
    FileState m_members; ///< as the server knows them
    std::optional<NatsProcess> m_process;
    std::chrono::steady_clock::time_point m_started;
    std::chrono::milliseconds m_pause = kFirstPause; ///< before the next start
};

} // namespace

Result<> runTracker(const TrackerFolder& folder, const TrackerOptions& options, const TrackerEvents& events,
                    std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const OpenFile held, folder.holdForRun());
    Run run(folder, events, std::move(stop));
    LATHE_TRY(run.prepare(options));
    if (auto started = run.start(); !started)
        return started.error().code == Errc::Cancelled ? Result<>() : std::move(started);
    run.untilStopped();
    return {};
}

} // namespace lathe::broker
