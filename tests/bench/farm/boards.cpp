#include "tests/bench/farm/boards.h"

#include "core/broker/channel.h"
#include "core/broker/desk.h"
#include "core/broker/inbox.h"
#include "core/broker/subjects.h"
#include "core/broker/unguessable.h"
#include "core/record/record.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace lathe::bench {

namespace {

using broker::Desk;
using Time = Desk::Time;

std::size_t slotOf(double ns)
{
    return static_cast<std::size_t>(std::clamp(8 * std::log2(std::max(ns, 1.0)), 0.0, 319.0));
}

/// What a board is asked, and when the answer is due.
struct Asked
{
    std::uint64_t id = 0;
    Time due;
};

class Board
{
public:
    Board(const BoardsOptions& options, Shared& shared, std::shared_ptr<broker::Connection> connection, int key,
          int number)
        : m_options(options)
        , m_shared(shared)
        , m_connection(std::move(connection))
        , m_key(key)
        , m_number(number)
        , m_desk({.key = keyName(key), .device = boardName(key, number)}, broker::unguessable)
        , m_nextNotice(Desk::Clock::now() + std::chrono::milliseconds(std::rand() % 1000))
    {
    }

    /// The subscriptions of a board. What claims say the first of a key hands to the others, whose processors are not
    /// this machine's; what other boards say arrives at each, and is read by none: with one claim for a key it decides
    /// nothing.
    void subscribe(const std::shared_ptr<broker::Inbox>& inbox)
    {
        const bool isFirst = m_number == 0;
        keep(m_connection->subscribe(broker::hereSubject(keyName(m_key), "*"),
                                     [](std::string_view, std::string_view) {}));
        keep(m_connection->subscribe(broker::claimSubject(keyName(m_key), "*"),
                                     [inbox, isFirst](std::string_view to, std::string_view bytes) {
                                         if (isFirst)
                                             inbox->put(to, bytes);
                                     }));
        keep(m_connection->subscribe(bareTo(m_key, m_number), [inbox](std::string_view to, std::string_view bytes) {
            inbox->put(to, bytes.substr(0, 1)); // the boards of a key share one inbox, not their payloads
        }));
    }

    void hear(const broker::ClaimNotice& claim, Time now)
    {
        m_desk.hear(claim, now);
        m_nextDesk = std::min(m_nextDesk, now + std::chrono::milliseconds(20));
    }
    void askBare(Time now)
    {
        came(now, 1);
        m_bareDue = now + busy();
    }

    void turn(Time now)
    {
        if (now >= m_nextDesk) {
            const Desk::Step step = m_desk.turn(now);
            if (step.over && m_channel)
                end(now);
            if (step.offer)
                offer(*step.offer, now);
            m_nextDesk = m_desk.wake(now);
        }
        if (m_channel)
            serve(now);
        if (m_bareDue && now >= *m_bareDue) {
            m_bareDue.reset();
            gave(1);
            m_connection->publish(bareFrom(m_key, m_number), std::string(m_options.replyBytes, 'r'));
        }
        tell(now);
    }

    void watch(std::vector<pollfd>& fds) const
    {
        if (m_channel)
            m_channel->watch(fds);
    }
    Time wake() const
    {
        Time wake = std::min(m_nextDesk, m_nextNotice);
        if (m_channel)
            wake = std::min(wake, m_channel->wake().time());
        if (!m_asked.empty())
            wake = std::min(wake, m_asked.front().due);
        return m_bareDue ? std::min(wake, *m_bareDue) : wake;
    }

private:
    void keep(Result<std::unique_ptr<broker::Subscription>> subscription)
    {
        if (!subscription) {
            fmt::print(stderr, "{}\n", subscription.error().message);
            std::_Exit(1);
        }
        m_subscriptions.push_back(*std::move(subscription));
    }

    /// Not the same each time: boards do not go in step.
    std::chrono::microseconds busy() const
    {
        return std::chrono::duration_cast<std::chrono::microseconds>(m_options.busy
                                                                     * (0.9 + 0.2 * std::rand() / RAND_MAX));
    }

    /// Something is asked: since the last answer in this phase the board had nothing to do.
    void came(Time now, int parity)
    {
        const int phase = m_shared.phase;
        if (phase != 0 && phase % 2 == parity && m_gavePhase == phase)
            m_shared.gaps.add(std::chrono::duration<double, std::nano>(now - m_gave).count());
        m_gavePhase = 0;
    }
    void gave(int parity)
    {
        ++m_shared.answers;
        m_gave = Desk::Clock::now();
        m_gavePhase = m_shared.phase;
        if (m_gavePhase % 2 != parity)
            m_gavePhase = 0;
    }

    void offer(const broker::Offer& offer, Time now)
    {
        const std::string user = m_desk.notice(now).user;
        m_session = offer.session;
        m_greeted = false;
        auto channel = broker::Channel::open(m_connection, broker::fromDeviceSubject(offer.device, user, offer.session),
                                             broker::toDeviceSubject(offer.device, user, offer.session), offer.session);
        if (!channel)
            return;
        m_channel = *std::move(channel);
        m_connection->publish(broker::offerSubject(user), broker::toText(offer));
    }

    void serve(Time now)
    {
        (void)m_channel->pump();
        while (m_channel) {
            const auto message = m_channel->next();
            if (!message) {
                end(now);
                return;
            }
            if (!*message)
                break;
            take(**message, now);
        }
        while (!m_asked.empty() && now >= m_asked.front().due) {
            wire::Message answer;
            wire::RunResult& result = *answer.mutable_run_result();
            result.set_id(m_asked.front().id);
            result.set_stage(static_cast<std::uint32_t>(TrialStage::Done));
            result.add_costs_ns(1000);
            result.set_verified(true);
            m_channel->queue(answer);
            m_asked.erase(m_asked.begin());
            gave(0);
        }
        (void)m_channel->pump();
    }

    void take(const wire::Message& message, Time now)
    {
        m_desk.taken(m_session, now);
        if (!m_greeted) {
            m_greeted = true;
            m_channel->queue(wire::helloOf({"lathe-runner", {}}));
        } else if (message.has_open_device()) {
            wire::Message opened;
            opened.mutable_device_opened()->set_id(message.open_device().id());
            opened.mutable_device_opened()->set_json(R"({"kind": "sim", "key": "sim", "name": "a board"})");
            m_channel->queue(opened);
        } else if (message.has_run_job()) {
            came(now, 0);
            m_asked.push_back({message.run_job().id(), now + busy()});
        }
    }

    void end(Time now)
    {
        m_channel->end("the board was given back");
        (void)m_channel->pump();
        m_channel.reset();
        m_asked.clear();
        m_gavePhase = 0;
        m_desk.returned(m_session, now);
        m_nextNotice = now;
    }

    void tell(Time now)
    {
        broker::DeviceNotice notice = m_desk.notice(now);
        if (now < m_nextNotice && notice.state == m_told)
            return;
        notice.about = fmt::format(
            R"({{"host": "{}", "machine": "board-{}-{}", "slots": 1, "version": "1.0", "trials": {}, )"
            R"("devices": [{{"kind": "sim", "key": "sim", "name": "a board"}}], )"
            R"("health": {{"load": 0.5, "temperature_c": {}, "clock_mhz": 1500, "memory_free_mb": 900, "processors": 4}}}})",
            notice.device, m_key, m_number, m_tells, 40 + m_tells % 20);
        m_told = notice.state;
        m_nextNotice = now + broker::kNoticeEach;
        const std::string text = broker::toText(notice);
        const int times = m_shared.notices < m_shared.wantedNotices ? m_options.noticesAtOnce : 1;
        for (int i = 0; i < times; ++i)
            m_connection->publish(broker::hereSubject(notice.key, notice.device), text);
        m_shared.notices += static_cast<std::uint64_t>(times);
        ++m_tells;
    }

    const BoardsOptions& m_options;
    Shared& m_shared;
    std::shared_ptr<broker::Connection> m_connection;
    int m_key, m_number;
    Desk m_desk;
    std::vector<std::unique_ptr<broker::Subscription>> m_subscriptions;
    std::unique_ptr<broker::Channel> m_channel;
    Hash128 m_session;
    bool m_greeted = false;
    std::vector<Asked> m_asked;
    std::optional<Time> m_bareDue;
    Time m_gave;
    int m_gavePhase = 0; ///< 0: nothing that counts
    Time m_nextNotice, m_nextDesk = {};
    broker::DeviceState m_told = broker::DeviceState::Free;
    int m_tells = 0;
};

/// The boards of one key.
void runKey(const BoardsOptions& options, Shared& shared, int key)
{
    const auto opened = broker::Connection::open({options.url});
    if (!opened) {
        fmt::print(stderr, "{}\n", opened.error().message);
        std::_Exit(1);
    }
    const auto inbox = std::make_shared<broker::Inbox>();
    std::vector<std::unique_ptr<Board>> boards;
    for (int board = 0; board < options.boards; ++board) {
        boards.push_back(std::make_unique<Board>(options, shared, *opened, key, board));
        boards.back()->subscribe(inbox);
    }
    std::vector<std::string> bare;
    for (int board = 0; board < options.boards; ++board)
        bare.push_back(bareTo(key, board));
    std::vector<bool> called(boards.size());
    std::vector<std::size_t> begins(boards.size()); ///< where a board's descriptors begin
    while (true) {
        Time now = Desk::Clock::now();
        for (const broker::Inbox::Heard& heard : inbox->takeAll()) {
            if (const auto claim = broker::claimIn(heard.subject, heard.bytes)) {
                for (const auto& board : boards)
                    board->hear(*claim, now);
            } else if (const auto at = std::ranges::find(bare, heard.subject); at != bare.end()) {
                boards[static_cast<std::size_t>(at - bare.begin())]->askBare(now);
            }
        }
        Time wake = now + std::chrono::seconds(1);
        std::vector<pollfd> fds = {inbox->watched()};
        for (std::size_t board = 0; board < boards.size(); ++board) {
            now = Desk::Clock::now();
            if (called[board] || now >= boards[board]->wake())
                boards[board]->turn(now);
            begins[board] = fds.size();
            boards[board]->watch(fds);
            wake = std::min(wake, boards[board]->wake());
        }
        ::poll(fds.data(), fds.size(), Deadline::at(wake).pollMs());
        for (std::size_t board = 0; board < boards.size(); ++board) {
            const auto last = board + 1 < boards.size() ? begins[board + 1] : fds.size();
            called[board] = std::any_of(fds.begin() + static_cast<std::ptrdiff_t>(begins[board]),
                                        fds.begin() + static_cast<std::ptrdiff_t>(last),
                                        [](const pollfd& fd) { return fd.revents != 0; });
        }
    }
}

} // namespace

void Histogram::add(double ns)
{
    m_counts[slotOf(ns)].fetch_add(1, std::memory_order_relaxed);
}

void Histogram::clear()
{
    for (auto& count : m_counts)
        count = 0;
}

std::uint64_t Histogram::count() const
{
    std::uint64_t sum = 0;
    for (const auto& count : m_counts)
        sum += count;
    return sum;
}

double Histogram::at(double share) const
{
    const double wanted = share * static_cast<double>(count());
    double sum = 0;
    for (std::size_t slot = 0; slot < m_counts.size(); ++slot)
        if (sum += m_counts[slot]; sum >= wanted)
            return std::exp2((static_cast<double>(slot) + 0.5) / 8);
    return 0;
}

std::string keyName(int key)
{
    return fmt::format("key{}", key);
}

std::string boardName(int key, int board)
{
    return fmt::format("board-{}-{}", key, board);
}

std::string bareTo(int key, int board)
{
    return fmt::format("bare.to.{}.{}", key, board);
}

std::string bareFrom(int key, int board)
{
    return fmt::format("bare.from.{}.{}", key, board);
}

void runBoards(const BoardsOptions& options, Shared& shared)
{
    std::vector<std::jthread> threads;
    for (int key = 0; key < options.keys; ++key)
        threads.emplace_back([&options, &shared, key] { runKey(options, shared, key); });
    while (true)
        ::pause();
}

} // namespace lathe::bench
