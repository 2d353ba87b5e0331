#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::broker {

/// A NATS server, and who we are there.
struct BrokerAddress
{
    std::string url; ///< nats://HOST:PORT, with TLS tls://HOST:PORT
    std::string seed = {}; ///< our secret (nkey.h); empty: we have none
    std::string authority = {}; ///< certificates (PEM) of those whom the server's may be signed by; empty: the system's
    std::string name = {}; ///< of this program, for who looks at the server's connections
    /// Whose certificate the server has does not matter: for one that we started ourselves, and tell nothing.
    bool isUnchecked = false;
};

/// What one wants to hear. Once it is gone nothing more is heard, but what is being handed over at that moment.
class Subscription
{
public:
    virtual ~Subscription() = default;
};

/// A connection to a broker. Once made, it is made again for ever when it is lost: what was sent and had not arrived
/// until then is lost (link.h repeats what matters).
/// Threads: any.
class Connection
{
public:
    /// Waits up to two seconds. Errors: NotFound (nobody is there), Incompatible (it refuses us), InvalidArgument (no
    /// such address).
    static Result<std::shared_ptr<Connection>> open(const BrokerAddress& address);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// `heard` is called on a thread of the library, for each message to a subject that fits (`*` one word, `>` all
    /// that follow), in the order of arrival. Errors: InvalidArgument, Internal.
    using Heard = std::function<void(std::string_view subject, std::string_view bytes)>;
    Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject, Heard heard);
    /// False: it is certain that it will not arrive.
    bool publish(const std::string& subject, std::string_view bytes);
    /// Returns when the server has what was asked of it so far: before that, another program's message may be sent to
    /// nobody. False: not within a second.
    bool settle();

    bool connected() const;
    /// How often it was lost and made again. Each time others may still be on their way back.
    std::uint64_t reconnections() const;
    /// Nothing: it is there, or is made again. Incompatible: the broker does not know us any more, and none is made.
    std::optional<Error> ended() const;

private:
    struct Impl;
    explicit Connection(std::shared_ptr<Impl> impl);
    std::shared_ptr<Impl> m_impl; ///< subscriptions keep it
};

} // namespace lathe::broker
