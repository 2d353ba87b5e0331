#include "core/broker/channel.h"

#include "core/support/check.h"
#include "core/support/message.h"
#include "core/wire/messages.h"

#include <vector>

namespace lathe::broker {

Channel::Channel(std::shared_ptr<Connection> connection, std::string to, Hash128 session)
    : m_connection(std::move(connection))
    , m_to(std::move(to))
    , m_link(session)
    , m_inbox(std::make_shared<Inbox>())
{
}

Result<std::unique_ptr<Channel>> Channel::open(std::shared_ptr<Connection> connection, std::string to,
                                               const std::string& from, Hash128 session)
{
    std::unique_ptr<Channel> channel(new Channel(std::move(connection), std::move(to), session));
    LATHE_TRY_ASSIGN(channel->m_subscription,
                     channel->m_connection->subscribe(
                         from, [inbox = channel->m_inbox](std::string_view subject, std::string_view packet) {
                             inbox->put(subject, packet);
                         }));
    return channel;
}

Channel::~Channel()
{
    end(textOf(say(Msg::DeviceGivenBack)));
    (void)Channel::pump();
}

void Channel::queue(const wire::Message& message)
{
    std::string bytes;
    const bool serialized = message.SerializeToString(&bytes);
    LATHE_CHECK(serialized) << "a message does not serialize";
    m_link.send(bytes);
}

Result<> Channel::pump()
{
    const Link::Time now = Link::Clock::now();
    for (const Inbox::Heard& packet : m_inbox->takeAll())
        m_link.receive(packet.bytes, now);
    for (const std::string& packet : m_link.outgoing(now))
        m_connection->publish(m_to, packet); // what is lost is sent again
    const std::optional<Error>& ended = m_link.ended();
    return ended ? Result<>(*ended) : Result<>();
}

Result<std::optional<wire::Message>> Channel::next()
{
    const std::optional<std::string> bytes = m_link.next();
    if (!bytes) {
        const std::optional<Error>& ended = m_link.ended();
        return ended ? Result<std::optional<wire::Message>>(*ended) : std::optional<wire::Message>();
    }
    std::optional<wire::Message> message(std::in_place);
    if (!message->ParseFromString(*bytes) || message->body_case() == wire::Message::BODY_NOT_SET)
        return makeError(Errc::BadFile, say(Msg::MessageUnreadable, bytes->size()));
    return message;
}

void Channel::watch(std::vector<pollfd>& fds) const
{
    fds.push_back(m_inbox->watched());
}

Deadline Channel::wake() const
{
    return Deadline::at(m_link.wake());
}

void Channel::end(std::string_view why)
{
    m_link.end(why);
}

} // namespace lathe::broker
