#pragma once

#include "core/broker/connection.h"
#include "core/broker/inbox.h"
#include "core/broker/link.h"
#include "core/support/message.h"
#include "core/wire/channel.h"

#include <memory>
#include <string>

namespace lathe::broker {

/// Messages to one other program by way of a broker, which may be restarted meanwhile. Ends with DeviceLost when the
/// other side ends it or falls silent.
class Channel : public wire::Channel
{
public:
    /// Errors: those of Connection::subscribe().
    /// @param to, from  subjects that the other side hears and sends to
    /// @param session  a random one, the same at both sides
    static Result<std::unique_ptr<Channel>> open(std::shared_ptr<Connection> connection, std::string to,
                                                 const std::string& from, Hash128 session);
    /// Tells the other side, if it can be reached.
    ~Channel() override;

    void queue(const wire::Message& message) override;
    bool hasOutput() const override { return !m_link.allSent(); }
    Result<> pump() override;
    Result<std::optional<wire::Message>> next() override;
    void watch(std::vector<pollfd>& fds) const override;
    Deadline wake() const override;

    /// Much waits to be sent: whoever can is to wait with more.
    bool isFull() const { return m_link.waitingBytes() > (64u << 20); }
    void end(std::string_view why); ///< sent by the next pump()
    /// next() tells it, behind what arrived until now.
    void giveUp(lathe::Message why) { m_link.giveUp(std::move(why)); }

private:
    Channel(std::shared_ptr<Connection> connection, std::string to, Hash128 session);

    std::shared_ptr<Connection> m_connection;
    std::string m_to;
    Link m_link;
    std::shared_ptr<Inbox> m_inbox;
    std::unique_ptr<Subscription> m_subscription;
};

} // namespace lathe::broker
