#include "core/measure/endpoint.h"

#include "core/measure/device_words.h"
#include "core/wire/failure.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lathe::measure {

namespace {
constexpr std::chrono::seconds kOpenSeconds(60);
constexpr int kStarts = 4; // of a process that others kill
} // namespace

Endpoint::Endpoint(std::unique_ptr<wire::Port> port, EndpointTraits traits)
    : m_port(std::move(port))
    , m_traits(std::move(traits))
{
}
Endpoint::~Endpoint() = default;

Result<> Endpoint::open(Time now)
{
    if (m_state == State::Ready && m_port->gone())
        stop();
    if (m_state != State::Down)
        return {};
    m_greeted = false;
    m_killed = false;
    m_sent.clear();
    m_received = wire::BlobStore();
    m_served = 0;
    ++m_starts;
    LATHE_TRY(m_port->open());
    m_port->channel()->queue(wire::helloOf({"lathe", m_traits.buildId}));
    m_state = State::Opening;
    m_openBy = now + kOpenSeconds;
    return {};
}

Result<> Endpoint::turn(Time now)
{
    if (m_state == State::Down)
        return {};
    const Result<> pumped = m_port->pump();
    if (m_state == State::Ready) // its end is told by next(), behind what it said before
        return {};
    Result<> taken = takeOpening();
    if (taken && m_state == State::Opening && !pumped)
        taken = pumped;
    if (taken && m_state == State::Opening && now >= m_openBy)
        taken = makeError(Errc::RunTimeout, say(Msg::NoAnswerInTime));
    if (!taken)
        return ended(taken.error());
    return {};
}

Result<> Endpoint::takeOpening()
{
    while (m_state == State::Opening) {
        LATHE_TRY_ASSIGN(const std::optional<wire::Message> message, m_port->channel()->next());
        if (!message)
            return {};
        LATHE_TRY(take(*message));
    }
    return {};
}

Result<> Endpoint::take(const wire::Message& message)
{
    if (!m_greeted) {
        LATHE_TRY(wire::checkHello(message, {"lathe", m_traits.buildId}));
        m_greeted = true;
        if (!m_traits.device) {
            m_state = State::Ready;
            return {};
        }
        wire::Message open;
        open.mutable_open_device()->set_kind(m_traits.device->kind);
        open.mutable_open_device()->set_key(m_traits.device->key);
        open.mutable_open_device()->set_options(m_traits.device->options);
        m_port->channel()->queue(open);
        return {};
    }
    if (!message.has_device_opened())
        return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
    const wire::DeviceOpened& opened = message.device_opened();
    if (opened.failure().code() != 0)
        return wire::errorOf(opened.failure());
    LATHE_TRY(deviceWords(opened.json()));
    m_identity = identityOf(opened.json());
    m_state = State::Ready;
    return {};
}

Error Endpoint::ended(const Error& why)
{
    const wire::PortEnd end = close(why);
    m_killed = end.killed;
    if (why.code != Errc::WorkerCrashed)
        return why;
    const Message ended = say(Msg::WorkerEnded, m_port->name(), end.cause);
    return makeError(Errc::WorkerCrashed, end.words.empty() ? ended : say(Msg::Noted, ended, end.words));
}

Result<> Endpoint::waitUntilReady()
{
    for (int i = 1;; ++i) {
        LATHE_TRY(open(Clock::now()));
        Result<> ready;
        while (ready && m_state == State::Opening) {
            ready = turn(Clock::now());
            if (!ready || m_state != State::Opening)
                break;
            std::vector<pollfd> fds;
            watch(fds);
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake() - Clock::now());
            const auto timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
            if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR)
                return makeError(Errc::Internal, say(Msg::CannotWait, std::strerror(errno)));
        }
        if (ready || !m_killed || i == kStarts)
            return ready;
    }
}

void Endpoint::watch(std::vector<pollfd>& fds) const
{
    if (m_state != State::Down)
        m_port->watch(fds);
}

Endpoint::Time Endpoint::wake() const
{
    if (m_state == State::Down)
        return Time::max();
    const Time channel = m_port->channel()->wake().time();
    return m_state == State::Opening ? std::min(m_openBy, channel) : channel;
}

void Endpoint::queue(const wire::Message& message)
{
    m_port->channel()->queue(message);
}

bool Endpoint::isSending() const
{
    return m_port->channel()->hasOutput();
}

Result<std::optional<wire::Message>> Endpoint::next()
{
    return m_port->channel()->next();
}

void Endpoint::offerBlob(const Hash128& hash, std::string_view bytes)
{
    if (m_sent.add(hash))
        m_port->channel()->queueBlob(hash, bytes);
}

wire::PortEnd Endpoint::close(const Error& why)
{
    m_state = State::Down;
    return m_port->close(why);
}

void Endpoint::stop()
{
    if (m_state != State::Down)
        (void)close(makeError(Errc::Cancelled, say(Msg::Stopped)));
}

void Endpoint::suspend(Time now)
{
    m_suspendedSince = now;
    m_port->suspend(true);
}

void Endpoint::resume(Time now)
{
    m_port->suspend(false);
    if (m_state == State::Opening)
        m_openBy += now - m_suspendedSince;
}

} // namespace lathe::measure
