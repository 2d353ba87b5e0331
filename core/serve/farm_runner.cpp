#include "core/serve/farm_runner.h"

#include "core/broker/channel.h"
#include "core/broker/inbox.h"
#include "core/broker/subjects.h"
#include "core/broker/unguessable.h"
#include "core/serve/child_library.h"
#include "core/serve/machine_health.h"
#include "core/support/deadline.h"
#include "core/support/message.h"
#include "core/support/stop_bell.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"
#include "core/wire/known_blobs.h"
#include "core/wire/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace lathe::serve {

namespace {

using broker::Desk;

/// For how long one whose turn is over may go on with what he has in hand.
constexpr std::chrono::seconds kLastJob(60);
constexpr std::size_t kLastErrorBytes = 400; ///< what is uploaded may say anything

std::string sentenceOf(broker::LeaseEnd why)
{
    switch (why) {
    case broker::LeaseEnd::NotTaken: return textOf(say(Msg::OfferNotTaken));
    case broker::LeaseEnd::HolderSilent: return textOf(say(Msg::HolderSilent));
    case broker::LeaseEnd::TurnOver: return textOf(say(Msg::TurnOver));
    case broker::LeaseEnd::Drained: return textOf(say(Msg::DeviceDrained));
    case broker::LeaseEnd::Sick: return textOf(say(Msg::DeviceSick));
    }
    return {};
}

class FarmRunner
{
public:
    FarmRunner(std::shared_ptr<broker::Connection> connection,
               const std::function<std::unique_ptr<wire::Port>()>& worker, const FarmRunnerOptions& options)
        : m_connection(std::move(connection))
        , m_options(options)
        , m_desk(options.desk, broker::unguessable)
        , m_blobs(options.blobBytes)
        , m_child(worker(), m_blobs, options.child)
        , m_library(worker(), m_blobs)
        , m_inbox(std::make_shared<broker::Inbox>())
    {
    }

    Result<> run(std::stop_token stop)
    {
        const broker::DeskOptions& desk = m_options.desk;
        const auto put = [inbox = m_inbox](std::string_view subject, std::string_view text) {
            inbox->put(subject, text);
        };
        LATHE_TRY_ASSIGN(const auto devices, m_connection->subscribe(broker::hereSubject(desk.key, "*"), put));
        LATHE_TRY_ASSIGN(const auto claims, m_connection->subscribe(broker::claimSubject(desk.key, "*"), put));
        LATHE_TRY_ASSIGN(const auto orders,
                         m_connection->subscribe(broker::orderSubject(desk.key, desk.device, "*"), put));
        const StopBell bell(stop);
        while (true) {
            const Desk::Time now = Desk::Clock::now();
            const bool ends = stop.stop_requested() || m_leaves;
            m_desk.drain(ends || !m_drainedBy.empty());
            const std::uint64_t reconnections = m_connection->reconnections();
            if (std::exchange(m_reconnections, reconnections) != reconnections || !m_connection->connected())
                m_desk.brokerWasAway(now);
            LATHE_TRY(turn(now));
            tell(now);
            if (ends && !m_desk.session())
                return {};
            std::vector<pollfd> fds;
            // Each of a hundred devices tells something each second: while one measures, it looks at that when the desk
            // has to (Desk::wake()), and else leaves the processor alone.
            if (!m_child.busy())
                fds.push_back(m_inbox->watched());
            if (!stop.stop_requested())
                fds.push_back(bell.watched());
            if (auto refused = m_connection->ended())
                return *std::move(refused);
            Desk::Time wake = std::min({m_desk.wake(now), m_child.wake(), m_library.wake(), m_nextNotice});
            m_child.watch(fds);
            if (!isFull())
                m_library.watch(fds);
            if (m_channel) {
                m_channel->watch(fds);
                wake = std::min(wake, m_channel->wake().time());
            }
            if (::poll(fds.data(), fds.size(), Deadline::at(wake).pollMs()) < 0 && errno != EINTR)
                return makeError(Errc::Internal, say(Msg::CannotWait, std::strerror(errno)));
        }
    }

private:
    Result<> turn(Desk::Time now)
    {
        for (const broker::Inbox::Heard& heard : m_inbox->takeAll()) {
            if (const auto claim = broker::claimIn(heard.subject, heard.bytes))
                m_desk.hear(*claim, now);
            else if (const auto device = broker::deviceIn(heard.subject, heard.bytes))
                m_desk.hear(*device, now);
            else if (const auto order = broker::orderIn(heard.subject, heard.bytes))
                LATHE_TRY(obey(*order, now));
        }
        const Desk::Step step = m_desk.turn(now);
        if (step.over && m_channel && step.why == broker::LeaseEnd::NotTaken) {
            end(sentenceOf(step.why), now); // whatever comes now is late: the next one may have it at once
        } else if (step.over && m_channel) {
            m_why = step.why;
            m_over = true;
            // Nobody waits for what one does that says nothing; else what is in hand is done first.
            m_overBy = step.why == broker::LeaseEnd::HolderSilent ? now : now + kLastJob;
            m_child.dropWaiting();
            m_library.dropWaiting();
        }
        if (step.offer)
            LATHE_TRY(offer(*step.offer, now));
        LATHE_TRY(serve(now));
        if (m_channel && m_over && (now >= m_overBy || (!m_child.busy() && !m_library.busy())))
            end(sentenceOf(m_why), now);
        return {};
    }

    Result<> obey(const broker::Order& order, Desk::Time now)
    {
        const bool leaves = m_leaves || order.what == broker::Order::What::Leave;
        std::string drainedBy = order.what == broker::Order::What::Resume ? std::string() : order.user;
        if (leaves == m_leaves && drainedBy == m_drainedBy) // who repeats it fills no log
            return {};
        m_leaves = leaves;
        m_drainedBy = std::move(drainedBy);
        m_nextNotice = now;
        return m_options.audit == nullptr
                   ? Result<>()
                   : m_options.audit->write(
                       {{"user", order.user}, {"event", "order"}, {"order", broker::wordOf(order.what)}});
    }

    Result<> offer(const broker::Offer& offer, Desk::Time now)
    {
        const std::string user = m_desk.notice(now).user;
        m_session = offer.session;
        m_greeted = m_over = false;
        LATHE_TRY_ASSIGN(m_channel, broker::Channel::open(
                                        m_connection, broker::fromDeviceSubject(offer.device, user, offer.session),
                                        broker::toDeviceSubject(offer.device, user, offer.session), offer.session));
        m_connection->publish(broker::offerSubject(user), broker::toText(offer));
        return {};
    }

    /// What the one who has the device asks for, and what comes of it.
    Result<> serve(Desk::Time now)
    {
        if (m_channel) {
            (void)m_channel->pump();
            while (m_channel) {
                const auto message = m_channel->next();
                if (message && !*message)
                    break;
                if (message)
                    LATHE_TRY(audit(**message, now));
                const Result<> taken = message ? take(**message, now) : Result<>(message.error());
                if (!taken)
                    end(taken.error().message, now);
            }
        }
        m_child.turn(now);
        if (!isFull())
            m_library.turn(now);
        for (const auto& answers : {m_child.takeAnswers(), m_library.takeAnswers()})
            for (const wire::Message& answer : answers) {
                count(answer);
                if (m_channel)
                    m_channel->queue(answer);
            }
        if (m_channel)
            (void)m_channel->pump();
        return {};
    }

    Result<> take(const wire::Message& message, Desk::Time now)
    {
        m_desk.taken(m_session, now);
        if (m_greeted && message.has_blob())
            return m_blobs.putChunk(wire::fromWire(message.blob().hash()), message.blob().total(),
                                    message.blob().offset(), message.blob().data());
        if (m_greeted && m_over && (message.has_run_job() || ChildLibrary::takes(message)))
            return {}; // he will not have it for that long
        if (m_greeted && ChildLibrary::takes(message))
            return m_library.take(message);
        if (m_greeted)
            return m_child.take(message, now);
        m_channel->queue(wire::helloOf({"lathe-runner", {}}));
        LATHE_TRY(wire::checkHello(message, {"lathe-runner", {}}));
        m_greeted = true;
        return {};
    }

    /// A lease that begins, and each program before it runs first in that lease, whoever sent it; of thousands of them
    /// some again, when it comes back to them.
    Result<> audit(const wire::Message& message, Desk::Time now)
    {
        if (m_options.audit == nullptr)
            return {};
        nlohmann::json line = {{"user", m_desk.notice(now).user}, {"session", m_session.hex()}};
        if (!m_greeted) {
            m_audited.clear();
            line["event"] = "lease";
            return m_options.audit->write(std::move(line));
        }
        std::vector<Hash128> programs;
        for (const auto& artifact : message.run_job().artifacts())
            programs.push_back(wire::fromWire(artifact.blob()));
        if (message.has_load_library())
            programs.push_back(wire::fromWire(message.load_library().blob()));
        line["event"] = "program";
        for (const Hash128& program : programs)
            if (m_audited.add(program)) {
                line["hash"] = program.hex();
                LATHE_TRY(m_options.audit->write(line));
            }
        return {};
    }

    /// The outputs of a network, with all that is inside, are more than a board's memory holds.
    bool isFull() const { return m_channel && m_channel->isFull(); }

    void count(const wire::Message& answer)
    {
        if (!answer.has_run_result())
            return;
        ++m_trials;
        // What a device did wrong, and not a candidate.
        const wire::Failure& failure = answer.run_result().failure();
        if (failure.code() == static_cast<std::uint32_t>(Errc::DeviceLost)
            || failure.code() == static_cast<std::uint32_t>(Errc::WorkerCrashed)
            || failure.code() == static_cast<std::uint32_t>(Errc::BuildTimeout)
            || failure.code() == static_cast<std::uint32_t>(Errc::RunTimeout))
            m_lastError = wire::errorOf(failure).message.substr(0, kLastErrorBytes);
    }

    void end(std::string_view why, Desk::Time now)
    {
        if (m_options.audit != nullptr && m_greeted) // if it cannot be written, neither can what the next one does
            (void)m_options.audit->write({{"user", m_desk.notice(now).user},
                                          {"session", m_session.hex()},
                                          {"event", "end"},
                                          {"reason", std::string(why)}});
        m_channel->end(why);
        (void)m_channel->pump();
        m_channel.reset();
        m_child.reset();
        m_library.reset();
        m_desk.returned(m_session, now);
        m_nextNotice = now;
    }

    void tell(Desk::Time now)
    {
        broker::DeviceNotice notice = m_desk.notice(now);
        if (now < m_nextNotice && notice.state == m_told)
            return;
        nlohmann::json about = nlohmann::json::parse(m_options.about, nullptr, false);
        if (!about.is_object())
            about = nlohmann::json::object();
        about["health"] = machineHealth();
        about["trials"] = m_trials;
        if (!m_lastError.empty())
            about["last_error"] = m_lastError;
        if (!m_drainedBy.empty())
            about["drained_by"] = m_drainedBy;
        if (m_leaves)
            about["leaves"] = true;
        notice.about = about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        m_told = notice.state;
        m_nextNotice = now + broker::kNoticeEach;
        m_connection->publish(broker::hereSubject(notice.key, notice.device), broker::toText(notice));
    }

    std::shared_ptr<broker::Connection> m_connection;
    std::uint64_t m_reconnections = 0; ///< of it, so far
    const FarmRunnerOptions& m_options;
    Desk m_desk;
    wire::BlobStore m_blobs;
    ChildRunner m_child;
    ChildLibrary m_library;
    std::shared_ptr<broker::Inbox> m_inbox;
    std::unique_ptr<broker::Channel> m_channel; ///< to the one who was offered it, or has it
    Hash128 m_session;
    std::uint64_t m_trials = 0; ///< since the start
    std::string m_lastError;
    wire::KnownBlobs m_audited; ///< programs of this lease, the latest
    std::string m_drainedBy; ///< the user who said that nobody is to have it
    bool m_leaves = false; ///< somebody told it to end
    bool m_greeted = false;
    bool m_over = false; ///< it is to be taken from him
    Desk::Time m_overBy = {}; ///< by then at the latest
    broker::LeaseEnd m_why = broker::LeaseEnd::NotTaken;
    broker::DeviceState m_told = broker::DeviceState::Sick;
    Desk::Time m_nextNotice = {};
};

} // namespace

Result<> runOnFarm(const std::shared_ptr<broker::Connection>& connection,
                   const std::function<std::unique_ptr<wire::Port>()>& worker, const FarmRunnerOptions& options,
                   std::stop_token stop)
{
    return FarmRunner(connection, worker, options).run(std::move(stop));
}

} // namespace lathe::serve
