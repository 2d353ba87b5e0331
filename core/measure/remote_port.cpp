#include "core/measure/remote_port.h"

#include "core/broker/subjects.h"
#include "core/support/message.h"

namespace lathe::measure {

Result<> RemotePort::open()
{
    if (m_closed)
        return makeError(Errc::DeviceLost, say(Msg::DeviceGivenBack));
    LATHE_TRY_ASSIGN(
        m_channel,
        broker::Channel::open(m_connection, broker::toDeviceSubject(m_offer.device, m_user, m_offer.session),
                              broker::fromDeviceSubject(m_offer.device, m_user, m_offer.session), m_offer.session));
    return {};
}

Result<> RemotePort::pump()
{
    switch (m_presence->load()) {
    case Gone::No: break;
    case Gone::Silent:
        m_channel->giveUp(say(Msg::DeviceUnheard, std::chrono::duration<double>(broker::kSilence).count()));
        break;
    case Gone::GivenBack: m_channel->giveUp(say(Msg::DeviceGivenBack)); break;
    }
    return m_channel->pump();
}

void RemotePort::watch(std::vector<pollfd>& fds) const
{
    m_channel->watch(fds);
}

wire::PortEnd RemotePort::close(const Error& why)
{
    m_closed = true;
    m_presence->store(Gone::GivenBack);
    if (m_channel) {
        m_channel->end(textOf(say(Msg::DeviceGivenBack)));
        (void)m_channel->pump(); // the channel stays: who waits for it may still look at it
    }
    return {messageOf(why), false, {}};
}

} // namespace lathe::measure
