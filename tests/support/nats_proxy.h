#pragma once

#include "core/support/open_file.h"
#include "core/support/stop_bell.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace lathe::test {

/// What a bad line does to a message.
enum class LineFault : std::uint8_t
{
    Drop,
    Delay, ///< and all that is behind it
    Duplicate,
    Reorder, ///< the next one goes first
    Cut ///< half of it arrives, then the connection is closed
};
inline constexpr std::array kAllLineFaults = {LineFault::Drop, LineFault::Delay, LineFault::Duplicate,
                                              LineFault::Reorder, LineFault::Cut};

/// Which messages go wrong, and how often.
struct LinePlan
{
    std::vector<LineFault> faults; ///< each as often as the others; none: the line is good
    std::string prefix = "lathe."; ///< of the subjects of messages that may go wrong
    std::uint32_t every = 8; ///< one of so many goes wrong, on average
    std::uint32_t seed = 1;
};

/// The line between programs and a NATS server, which a test makes as bad as it wants: programs connect to url(). It
/// reads as much of the protocol as tells messages (PUB, HPUB, MSG, HMSG) from the rest, which goes through untouched.
/// Threads: the functions are the test's, the work is done on a thread of its own.
class NatsProxy
{
public:
    explicit NatsProxy(int serverPort)
        : m_serverPort(serverPort)
        , m_listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
    {
        sockaddr_in place = address(0);
        socklen_t size = sizeof place;
        ::bind(m_listener.get(), reinterpret_cast<sockaddr*>(&place), size);
        ::listen(m_listener.get(), 64);
        ::getsockname(m_listener.get(), reinterpret_cast<sockaddr*>(&place), &size);
        m_port = ntohs(place.sin_port);
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    NatsProxy(const NatsProxy&) = delete;
    NatsProxy& operator=(const NatsProxy&) = delete;

    std::string url() const { return "nats://127.0.0.1:" + std::to_string(m_port); }

    /// From now on; what was counted is forgotten.
    void setPlan(LinePlan plan)
    {
        const std::scoped_lock lock(m_mutex);
        m_plan = std::move(plan);
        m_random.seed(m_plan.seed);
        m_bag.clear();
        m_untilNext = 1;
        m_done = {};
    }
    /// Messages to which it was done since the plan was made.
    int done(LineFault fault) const
    {
        const std::scoped_lock lock(m_mutex);
        return m_done[static_cast<std::size_t>(fault)];
    }

private:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    /// A control line, or a message whole; or its first half, and then the end.
    struct Unit
    {
        std::string bytes;
        Time due;
        bool last = false;
    };
    struct Direction
    {
        std::string in; ///< not yet a whole unit
        std::deque<Unit> out;
        std::size_t sent = 0; ///< of the first one
        std::optional<Unit> held; ///< until the next message has gone, or it is due
        Time notBefore = {};
        bool ended = false; ///< nothing more is taken
    };
    struct Pair
    {
        OpenFile client, server;
        Direction up, down; ///< to the server, to the client
    };

    static sockaddr_in address(int port)
    {
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        return address;
    }

    void run(const std::stop_token& stop)
    {
        const StopBell bell(stop);
        std::vector<std::unique_ptr<Pair>> pairs;
        while (!stop.stop_requested()) {
            std::vector<pollfd> fds = {bell.watched(), {m_listener.get(), POLLIN, 0}};
            Time wake = Clock::now() + std::chrono::seconds(1);
            for (const auto& pair : pairs) {
                const Time now = Clock::now();
                fds.push_back({pair->client.get(), eventsOf(pair->down, now, wake), 0});
                fds.push_back({pair->server.get(), eventsOf(pair->up, now, wake), 0});
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()).count();
            ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
            std::erase_if(pairs, [&](const auto& pair) {
                return !carry(pair->client, pair->server, pair->up) || !carry(pair->server, pair->client, pair->down);
            });
            accept(pairs);
        }
    }

    void accept(std::vector<std::unique_ptr<Pair>>& pairs)
    {
        OpenFile client(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (client.get() < 0)
            return;
        OpenFile server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_in there = address(m_serverPort);
        if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0)
            return; // the server is away, and so is the line to it
        ::fcntl(server.get(), F_SETFL, O_NONBLOCK);
        const int yes = 1;
        for (const int end : {client.get(), server.get()})
            ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        pairs.push_back(std::make_unique<Pair>(Pair{std::move(client), std::move(server), {}, {}}));
    }

    /// What is waited for at the end that `direction` goes to; what it comes from is always read.
    static short eventsOf(const Direction& direction, Time now, Time& wake)
    {
        if (direction.held)
            wake = std::min(wake, direction.held->due);
        if (direction.out.empty())
            return POLLIN;
        if (direction.out.front().due <= now)
            return POLLIN | POLLOUT;
        wake = std::min(wake, direction.out.front().due);
        return POLLIN;
    }

    /// False: the connection has ended.
    bool carry(const OpenFile& from, const OpenFile& to, Direction& direction)
    {
        std::array<char, 1 << 16> buffer;
        while (true) {
            const ssize_t count = ::recv(from.get(), buffer.data(), buffer.size(), 0);
            if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
                return false;
            if (count < 0)
                break;
            direction.in.append(buffer.data(), static_cast<std::size_t>(count));
            takeUnits(direction);
        }
        const Time now = Clock::now();
        if (direction.held && direction.held->due <= now)
            put(direction, *std::exchange(direction.held, std::nullopt));
        while (!direction.out.empty() && direction.out.front().due <= now) {
            const Unit& unit = direction.out.front();
            const ssize_t count = ::send(to.get(), unit.bytes.data() + direction.sent,
                                         unit.bytes.size() - direction.sent, MSG_NOSIGNAL);
            if (count < 0)
                return errno == EAGAIN || errno == EINTR;
            direction.sent += static_cast<std::size_t>(count);
            if (direction.sent < unit.bytes.size())
                break;
            if (unit.last)
                return false;
            direction.out.pop_front();
            direction.sent = 0;
        }
        return true;
    }

    void takeUnits(Direction& direction)
    {
        std::size_t at = 0;
        for (std::size_t end; (end = direction.in.find("\r\n", at)) != std::string::npos;) {
            const std::string_view line = std::string_view(direction.in).substr(at, end - at);
            std::size_t size = end + 2 - at;
            const std::string_view subject = subjectOf(line);
            if (!subject.empty())
                size += payloadOf(line) + 2;
            if (direction.in.size() - at < size)
                break;
            take(direction, direction.in.substr(at, size), subject);
            at += size;
        }
        direction.in.erase(0, at);
    }

    /// Of a message; empty: the line is none.
    static std::string_view subjectOf(std::string_view line)
    {
        const std::size_t blank = line.find(' ');
        const std::string_view word = line.substr(0, blank);
        if (blank == std::string_view::npos || (word != "PUB" && word != "HPUB" && word != "MSG" && word != "HMSG"))
            return {};
        line.remove_prefix(blank + 1);
        return line.substr(0, line.find(' '));
    }
    /// The last word of its line.
    static std::size_t payloadOf(std::string_view line)
    {
        const std::string_view word = line.substr(line.rfind(' ') + 1);
        std::size_t bytes = 0;
        std::from_chars(word.data(), word.data() + word.size(), bytes);
        return bytes;
    }

    static void put(Direction& direction, Unit unit)
    {
        unit.due = std::max(unit.due, direction.notBefore);
        direction.notBefore = unit.due;
        direction.out.push_back(std::move(unit));
    }

    void take(Direction& direction, std::string bytes, std::string_view subject)
    {
        if (direction.ended)
            return;
        const Time now = Clock::now();
        Unit unit = {std::move(bytes), now};
        if (subject.empty()) {
            put(direction, std::move(unit));
            return;
        }
        const std::optional<LineFault> fault = draw(subject);
        if (fault == LineFault::Drop)
            return;
        if (fault == LineFault::Delay)
            direction.notBefore = std::max(direction.notBefore, now + std::chrono::milliseconds(number(20, 400)));
        if (fault == LineFault::Cut) {
            unit.bytes.resize(unit.bytes.size() / 2);
            unit.last = direction.ended = true;
        }
        if (fault == LineFault::Reorder && !direction.held) {
            unit.due = now + std::chrono::milliseconds(150);
            direction.held = std::move(unit);
            return;
        }
        const Unit again = unit;
        put(direction, std::move(unit));
        if (fault == LineFault::Duplicate)
            put(direction, again);
        if (direction.held)
            put(direction, *std::exchange(direction.held, std::nullopt));
    }

    /// What is done to the next message. All kinds come equally often, and the first fault soon, so that a test can
    /// rely on each of them.
    std::optional<LineFault> draw(std::string_view subject)
    {
        const std::scoped_lock lock(m_mutex);
        if (m_plan.faults.empty() || !subject.starts_with(m_plan.prefix) || --m_untilNext > 0)
            return std::nullopt;
        m_untilNext = std::uniform_int_distribution<std::uint32_t>(1, 2 * m_plan.every - 1)(m_random);
        if (m_bag.empty()) {
            m_bag = m_plan.faults;
            std::ranges::shuffle(m_bag, m_random);
        }
        const LineFault fault = m_bag.back();
        m_bag.pop_back();
        ++m_done[static_cast<std::size_t>(fault)];
        return fault;
    }
    int number(int least, int most)
    {
        const std::scoped_lock lock(m_mutex);
        return std::uniform_int_distribution<int>(least, most)(m_random);
    }

    int m_serverPort;
    int m_port = 0;
    OpenFile m_listener;
    mutable std::mutex m_mutex; ///< of what follows
    LinePlan m_plan;
    std::mt19937 m_random;
    std::vector<LineFault> m_bag; ///< yet to be drawn
    std::uint32_t m_untilNext = 1;
    std::array<int, kAllLineFaults.size()> m_done = {};
    std::jthread m_thread; ///< ends first
};

} // namespace lathe::test
