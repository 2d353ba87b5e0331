#include "core/broker/reference_tracker_server.h"

#include "core/broker/server_config.h"
#include "core/support/message.h"
#include "core/support/stop_bell.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lathe::broker {

namespace {

constexpr int kPassMs = 1000; ///< so often silence is looked at
constexpr int kBacklog = 64;
/// A machine that does not answer is asked from the 30th second on, each 10 seconds, and is gone after the third time.
constexpr int kAliveAfterSeconds = 30, kAliveEachSeconds = 10, kAliveTimes = 3;
constexpr std::size_t kMostAtOnce = 16u << 10; ///< is read of one connection, before the others have their turn

/// As other programs write it; an IPv4 address in IPv6's clothes without them.
std::string numberOf(const sockaddr_storage& address)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET) {
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
    } else if (address.ss_family == AF_INET6) {
        const in6_addr& number = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(&number))
            ::inet_ntop(AF_INET, &number.s6_addr[12], text, sizeof text);
        else
            ::inet_ntop(AF_INET6, &number, text, sizeof text);
    }
    return text;
}

void setNumber(int socket, int level, int option, int value)
{
    (void)::setsockopt(socket, level, option, &value, sizeof value); // without it things are slower, not wrong
}

} // namespace

Result<std::unique_ptr<ReferenceTrackerServer>> ReferenceTrackerServer::listen(const Address& address, bool forAnybody)
{
    const bool isIpv6 = address.host.find(':') != std::string::npos;
    std::string where = fmt::format("{}{}{}:{}", isIpv6 ? "[" : "", address.host, isIpv6 ? "]" : "", address.port);
    const auto cannot = [&](const char* reason) {
        return makeError(Errc::InvalidArgument, say(Msg::CannotListen, where, reason));
    };
    addrinfo hints = {};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> places(found, ::freeaddrinfo);
    if (failed != 0)
        return cannot(::gai_strerror(failed));
    const addrinfo* first = found; // of IPv4 if there is one: scripts connect to 127.0.0.1, not to ::1
    for (const addrinfo* each = found; each != nullptr && first->ai_family != AF_INET; each = each->ai_next)
        if (each->ai_family == AF_INET)
            first = each;
    sockaddr_storage place = {};
    std::memcpy(&place, first->ai_addr, std::min<std::size_t>(first->ai_addrlen, sizeof place));
    // The number decides, not the name: a name may be that of any address.
    if (!forAnybody && !isLoopback(numberOf(place)))
        return makeError(Errc::Unsupported, say(Msg::CompatNeedsFlag, address.host));
    OpenFile listener(::socket(first->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (listener.get() < 0)
        return cannot(std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
    setNumber(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1); // right after the last tracker has ended
    if (::bind(listener.get(), first->ai_addr, first->ai_addrlen) != 0 || ::listen(listener.get(), kBacklog) != 0)
        return cannot(std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
    return std::unique_ptr<ReferenceTrackerServer>(new ReferenceTrackerServer(std::move(listener), std::move(where)));
}

void ReferenceTrackerServer::run(const std::stop_token& stop)
{
    const StopBell bell(stop);
    constexpr std::size_t kOthers = 3;
    std::vector<pollfd> watched;
    std::vector<Peer> peers; // of what is watched behind the others
    while (!stop.stop_requested()) {
        watched = {bell.watched(), m_farm->watched(), {m_isFull ? -1 : m_listener.get(), POLLIN, 0}};
        peers.clear();
        for (const auto& [peer, socket] : m_sockets) {
            const int events = (m_tracker.room(peer) > 0 ? POLLIN : 0) | (m_tracker.isWaiting(peer) ? POLLRDHUP : 0)
                               | (m_tracker.unsent(peer).empty() ? 0 : POLLOUT);
            watched.push_back({socket.get(), static_cast<short>(events), 0});
            peers.push_back(peer);
        }
        ::poll(watched.data(), watched.size(), kPassMs);
        const auto now = ReferenceTracker::Clock::now();
        m_isFull = false;
        for (const Inbox::Heard& heard : m_farm->takeAll())
            m_tracker.hearFarm(heard.subject, heard.bytes, now);
        // Who waits for a device and has gone is forgotten before anybody offers one.
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const short events = watched[i + kOthers].revents;
            if ((events & (POLLERR | POLLHUP | POLLRDHUP)) != 0)
                leave(peers[i], now);
        }
        for (std::size_t i = 0; i < peers.size(); ++i)
            if ((watched[i + kOthers].revents & POLLIN) != 0 && m_sockets.contains(peers[i]))
                receive(peers[i], watched[i + kOthers].fd, now);
        m_tracker.pass(now);
        transmit(now);
        if (watched[2].revents != 0)
            accept(now);
        for (const Peer dropped : m_tracker.takeDropped())
            m_sockets.erase(dropped);
    }
}

void ReferenceTrackerServer::accept(ReferenceTracker::Time now)
{
    for (int i = 0; i < kBacklog; ++i) {
        sockaddr_storage from = {};
        socklen_t size = sizeof from;
        OpenFile socket(
            ::accept4(m_listener.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket.get() < 0) {
            // One that went again is nothing; where there is no room for more, the listener would be ready for ever.
            m_isFull = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            return;
        }
        if (!m_tracker.join(++m_lastPeer, numberOf(from), now))
            continue;
        setNumber(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
        setNumber(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
        setNumber(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, kAliveAfterSeconds);
        setNumber(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, kAliveEachSeconds);
        setNumber(socket.get(), IPPROTO_TCP, TCP_KEEPCNT, kAliveTimes);
        m_sockets.emplace(m_lastPeer, std::move(socket));
    }
}

void ReferenceTrackerServer::receive(Peer peer, int socket, ReferenceTracker::Time now)
{
    std::array<char, kMostAtOnce> bytes;
    const std::size_t most = std::min(bytes.size(), m_tracker.room(peer));
    if (most == 0) // it was dropped in this round
        return;
    const ssize_t count = ::recv(socket, bytes.data(), most, 0);
    if (count > 0)
        m_tracker.hear(peer, {bytes.data(), static_cast<std::size_t>(count)}, now);
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        leave(peer, now);
}

/// Once to each, so that one who asks for much does not keep the others waiting.
void ReferenceTrackerServer::transmit(ReferenceTracker::Time now)
{
    std::vector<Peer> gone;
    for (const auto& [peer, socket] : m_sockets) {
        const std::string_view unsent = m_tracker.unsent(peer);
        if (unsent.empty())
            continue;
        const ssize_t count = ::send(socket.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
        if (count > 0)
            m_tracker.sent(peer, static_cast<std::size_t>(count), now);
        else if (count < 0 && errno != EAGAIN && errno != EINTR)
            gone.push_back(peer);
    }
    for (const Peer peer : gone)
        leave(peer, now);
}

void ReferenceTrackerServer::leave(Peer peer, ReferenceTracker::Time now)
{
    m_tracker.leave(peer, now);
    m_sockets.erase(peer);
}

} // namespace lathe::broker
