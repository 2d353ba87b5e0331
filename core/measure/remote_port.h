#pragma once

#include "core/broker/channel.h"
#include "core/broker/notices.h"
#include "core/wire/port.h"

#include <memory>
#include <string>

namespace lathe::measure {

/// A device behind a broker, as long as one has it: opening it takes the offer. Once closed it does not come back;
/// there will be another offer.
class RemotePort : public wire::Port
{
public:
    RemotePort(std::shared_ptr<broker::Connection> connection, std::string user, broker::Offer offer)
        : m_connection(std::move(connection))
        , m_user(std::move(user))
        , m_offer(std::move(offer))
    {
    }

    /// Errors: DeviceLost (it was closed), those of the subscription.
    Result<> open() override;
    wire::Channel* channel() override { return m_channel.get(); }
    Result<> pump() override { return m_channel->pump(); }
    void watch(std::vector<pollfd>& fds) const override;
    wire::PortEnd close(const Error& why) override;
    bool gone() override { return m_closed; }
    void suspend(bool) override {} ///< it is not ours to stop
    std::string name() const override { return m_offer.device; }

private:
    std::shared_ptr<broker::Connection> m_connection;
    std::string m_user;
    broker::Offer m_offer;
    std::unique_ptr<broker::Channel> m_channel;
    bool m_closed = false;
};

} // namespace lathe::measure
