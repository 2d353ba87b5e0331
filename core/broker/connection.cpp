#include "core/broker/connection.h"

#include "core/broker/address.h"
#include "core/broker/nkey.h"
#include "core/support/log.h"
#include "core/support/message.h"

#include <nats/nats.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

namespace lathe::broker {

namespace {

constexpr std::int64_t kConnectMs = 2000;
constexpr int kSignatures = 8; ///< that are tried: of one in 256 the library makes none
constexpr std::int64_t kSettleMs = 1000;
constexpr std::int64_t kReconnectWaitMs = 250;
/// A server that says nothing for two of these is lost.
constexpr std::int64_t kPingMs = 1000;

/// In the library's words, without the line of its source: "(conn.c:2088): No server available for connection".
std::string reasonOf(natsStatus status)
{
    const char* const last = nats_GetLastError(nullptr);
    const std::string_view said = last != nullptr && *last != '\0' ? last : natsStatus_GetText(status);
    const std::size_t place = said.starts_with('(') ? said.find("): ") : std::string_view::npos;
    return std::string(place == std::string_view::npos ? said : said.substr(place + 3));
}

} // namespace

struct Connection::Impl
{
    std::string url;
    std::string seed;
    std::atomic<bool> unlucky = false; ///< the last signature could not be sent
    natsOptions* options = nullptr;
    natsConnection* connection = nullptr;

    static natsStatus sign(char** reason, unsigned char** signature, int* bytes, const char* nonce, void* impl);

    ~Impl()
    {
        natsConnection_Destroy(connection);
        natsOptions_Destroy(options);
    }
};

namespace {

/// What goes wrong on a connection that is there: a subject that we may not use, messages that nobody took.
void onError(natsConnection*, natsSubscription*, natsStatus status, void*)
{
    log(LogLevel::Debug, "broker", reasonOf(status));
}

/// The library calls back on its own threads: what it calls is freed by itself, once it will call no more.
struct Listener
{
    Connection::Heard heard;
};

void onMessage(natsConnection*, natsSubscription*, natsMsg* message, void* listener)
{
    static_cast<Listener*>(listener)->heard(
        natsMsg_GetSubject(message),
        {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))});
    natsMsg_Destroy(message);
}

void onEnd(void* listener)
{
    delete static_cast<Listener*>(listener); // NOLINT(cppcoreguidelines-owning-memory): given by subscribe()
}

class NatsSubscription : public Subscription
{
public:
    NatsSubscription(std::shared_ptr<void> connection, natsSubscription* subscription)
        : m_connection(std::move(connection))
        , m_subscription(subscription)
    {
    }
    ~NatsSubscription() override
    {
        natsSubscription_Unsubscribe(m_subscription);
        natsSubscription_Destroy(m_subscription);
    }
    NatsSubscription(const NatsSubscription&) = delete;
    NatsSubscription& operator=(const NatsSubscription&) = delete;

private:
    std::shared_ptr<void> m_connection; ///< outlives it
    natsSubscription* m_subscription;
};

} // namespace

/// The library takes a signature that begins with a zero byte, one of 256, for none, and is refused: such a one is not
/// sent. The server asks for another one the next time.
natsStatus Connection::Impl::sign(char** reason, unsigned char** signature, int* bytes, const char* nonce, void* impl)
{
    *reason = nullptr;
    if (nonce == nullptr || *nonce == '\0') // a server that knows nobody asks for no signature
        return NATS_CONNECTION_AUTH_FAILED;
    auto* const self = static_cast<Impl*>(impl);
    const natsStatus status = nats_Sign(self->seed.c_str(), nonce, signature, bytes);
    self->unlucky = status != NATS_OK || **signature == 0;
    if (status != NATS_OK || !self->unlucky)
        return status;
    std::free(*signature); // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory): the library's
    *signature = nullptr;
    return NATS_ILLEGAL_STATE;
}

Connection::Connection(std::shared_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
Connection::~Connection() = default;

Result<std::shared_ptr<Connection>> Connection::open(const BrokerAddress& address)
{
    auto impl = std::make_shared<Impl>();
    natsStatus status = natsOptions_Create(&impl->options);
    const auto then = [&](auto set, auto... values) {
        if (status == NATS_OK)
            status = set(impl->options, values...);
    };
    then(natsOptions_SetURL, address.url.c_str());
    if (status != NATS_OK)
        return makeError(Errc::InvalidArgument, say(Msg::BrokerUnreachable, address.url, reasonOf(status)));
    then(natsOptions_SetName, address.name.c_str());
    // The library takes the scheme for a wish, and would go on in the clear where the server has no TLS: whoever sits
    // in between could take it away.
    if (address.url.starts_with("tls://"))
        then(natsOptions_SetSecure, true);
    // Said for itself: not every build of the library looks at the server's name, and none takes the brackets of IPv6
    // off.
    if (const auto place = parseAddress(address.url))
        then(natsOptions_SetExpectedHostname, place->host.c_str());
    if (!address.seed.empty()) {
        LATHE_TRY_ASSIGN(const NKey key, userKeyOf(address.seed));
        impl->seed = address.seed;
        then(natsOptions_SetNKey, key.publicKey.c_str(), Impl::sign, impl.get());
    }
    if (!address.authority.empty())
        then(natsOptions_SetCATrustedCertificates, address.authority.c_str());
    if (address.isUnchecked)
        then(natsOptions_SkipServerVerification, true);
    then(natsOptions_SetErrorHandler, onError, nullptr);
    then(natsOptions_SetTimeout, kConnectMs);
    then(natsOptions_SetAllowReconnect, true);
    then(natsOptions_SetMaxReconnect, -1);
    then(natsOptions_SetReconnectWait, kReconnectWaitMs);
    then(natsOptions_SetPingInterval, kPingMs);
    then(natsOptions_SetMaxPingsOut, 2);
    then(natsOptions_SetSendAsap, true);
    then(natsOptions_SetIgnoreDiscoveredServers, true); // only what we were told to trust
    then(natsOptions_UseGlobalMessageDelivery, true); // a few threads for all subscriptions
    const bool prepared = status == NATS_OK;
    for (int attempt = 0; prepared && attempt < kSignatures && (attempt == 0 || impl->unlucky); ++attempt) {
        impl->unlucky = false;
        status = natsConnection_Connect(&impl->connection, impl->options);
    }
    impl->url = address.url;
    if (status == NATS_OK)
        return std::shared_ptr<Connection>(new Connection(std::move(impl)));
    const bool refused = status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED
                         || status == NATS_SSL_ERROR || status == NATS_SECURE_CONNECTION_REQUIRED
                         || status == NATS_SECURE_CONNECTION_WANTED || status == NATS_PROTOCOL_ERROR;
    const bool malformed = status == NATS_INVALID_ARG || status == NATS_ADDRESS_MISSING;
    return makeError(refused     ? Errc::Incompatible
                     : malformed ? Errc::InvalidArgument
                                 : Errc::NotFound,
                     say(Msg::BrokerUnreachable, address.url, reasonOf(status)));
}

Result<std::unique_ptr<Subscription>> Connection::subscribe(const std::string& subject, Heard heard)
{
    auto listener = std::make_unique<Listener>(Listener{std::move(heard)});
    natsSubscription* subscription = nullptr;
    natsStatus status = natsConnection_Subscribe(&subscription, m_impl->connection, subject.c_str(), onMessage,
                                                 listener.get());
    if (status == NATS_OK)
        status = natsSubscription_SetOnCompleteCB(subscription, onEnd, listener.get());
    if (status != NATS_OK) {
        natsSubscription_Destroy(subscription);
        return makeError(status == NATS_INVALID_SUBJECT ? Errc::InvalidArgument : Errc::Internal,
                         say(Msg::SubscribeRefused, subject, reasonOf(status)));
    }
    listener.release(); // NOLINT(bugprone-unused-return-value): onEnd has it
    natsSubscription_SetPendingLimits(subscription, -1, 256 << 20);
    return std::unique_ptr<Subscription>(std::make_unique<NatsSubscription>(m_impl, subscription));
}

bool Connection::publish(const std::string& subject, std::string_view bytes)
{
    return natsConnection_Publish(m_impl->connection, subject.c_str(), bytes.data(), static_cast<int>(bytes.size()))
           == NATS_OK;
}

bool Connection::settle()
{
    return natsConnection_FlushTimeout(m_impl->connection, kSettleMs) == NATS_OK;
}

std::optional<Error> Connection::ended() const
{
    if (natsConnection_Status(m_impl->connection) != NATS_CONN_STATUS_CLOSED)
        return std::nullopt;
    const char* last = nullptr;
    const natsStatus status = natsConnection_GetLastError(m_impl->connection, &last);
    return makeError(Errc::Incompatible, say(Msg::BrokerUnreachable, m_impl->url,
                                             last != nullptr && *last != '\0' ? last : natsStatus_GetText(status)));
}

std::uint64_t Connection::reconnections() const
{
    natsStatistics* made = nullptr;
    if (natsStatistics_Create(&made) != NATS_OK)
        return 0;
    const std::unique_ptr<natsStatistics, decltype(&natsStatistics_Destroy)> statistics(made, natsStatistics_Destroy);
    std::uint64_t count = 0;
    if (natsConnection_GetStats(m_impl->connection, made) == NATS_OK)
        natsStatistics_GetCounts(made, nullptr, nullptr, nullptr, nullptr, &count);
    return count;
}

bool Connection::connected() const
{
    return natsConnection_Status(m_impl->connection) == NATS_CONN_STATUS_CONNECTED;
}

} // namespace lathe::broker
