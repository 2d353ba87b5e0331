#pragma once

#include "core/broker/channel.h"
#include "core/broker/notices.h"
#include "core/wire/port.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace lathe::measure {

/// A device behind a broker, as long as one has it: opening it takes the offer. Once closed it does not come back;
/// there will be another offer.
class RemotePort : public wire::Port
{
public:
    /// What others see of the device, who listen to its notices.
    enum class Gone : std::uint8_t
    {
        No,
        Silent,
        GivenBack ///< it is somebody else's by now, or we closed it
    };
    using Presence = std::shared_ptr<std::atomic<Gone>>;
    static Presence makePresence() { return std::make_shared<std::atomic<Gone>>(Gone::No); }

    /// @param presence  set by another thread; the channel then ends, which by itself waits for long
    RemotePort(std::shared_ptr<broker::Connection> connection, std::string user, broker::Offer offer,
               Presence presence = makePresence())
        : m_connection(std::move(connection))
        , m_user(std::move(user))
        , m_offer(std::move(offer))
        , m_presence(std::move(presence))
    {
    }

    /// Errors: DeviceLost (it was closed), those of the subscription.
    Result<> open() override;
    wire::Channel* channel() override { return m_channel.get(); }
    Result<> pump() override;
    void watch(std::vector<pollfd>& fds) const override;
    wire::PortEnd close(const Error& why) override;
    bool gone() override { return m_closed; }
    void suspend(bool) override {} ///< it is not ours to stop
    std::string name() const override { return m_offer.device; }

private:
    std::shared_ptr<broker::Connection> m_connection;
    std::string m_user;
    broker::Offer m_offer;
    Presence m_presence;
    std::unique_ptr<broker::Channel> m_channel;
    bool m_closed = false;
};

} // namespace lathe::measure
