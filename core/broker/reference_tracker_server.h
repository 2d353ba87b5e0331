#pragma once

#include "core/broker/address.h"
#include "core/broker/inbox.h"
#include "core/broker/reference_tracker.h"
#include "core/support/open_file.h"
#include "core/support/result.h"

#include <poll.h>

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::broker {

/// A ReferenceTracker behind a port. No connection is waited for: one that says nothing, or takes nothing, is nobody
/// else's loss. Machines that are switched off are noticed within a minute by the system (TCP keepalive), and what they
/// offered is taken back.
class ReferenceTrackerServer
{
public:
    /// Opens the port, and answers nobody before run(). The protocol knows no secrets, so that another address than
    /// this machine's must be wanted: `forAnybody`. Errors: Unsupported (CompatNeedsFlag), InvalidArgument
    /// (CannotListen: the port is in use, there is no such address).
    static Result<std::unique_ptr<ReferenceTrackerServer>> listen(const Address& address, bool forAnybody);

    /// "HOST:PORT", as it was given.
    const std::string& where() const { return m_where; }
    /// Takes notices of Lathe's devices and claims, with their subjects. Threads: any; it may outlive the server.
    const std::shared_ptr<Inbox>& farm() const { return m_farm; }
    /// Until it is told to stop. Threads: one.
    void run(const std::stop_token& stop);

private:
    using Peer = ReferenceTracker::Peer;
    ReferenceTrackerServer(OpenFile listener, std::string where)
        : m_listener(std::move(listener))
        , m_where(std::move(where))
    {
    }
    void accept(ReferenceTracker::Time now);
    void receive(Peer peer, int socket, ReferenceTracker::Time now);
    void transmit(ReferenceTracker::Time now);
    void leave(Peer peer, ReferenceTracker::Time now);

    OpenFile m_listener;
    std::string m_where;
    std::shared_ptr<Inbox> m_farm = std::make_shared<Inbox>();
    ReferenceTracker m_tracker;
    std::map<Peer, OpenFile> m_sockets;
    Peer m_lastPeer = 0;
    bool m_isFull = false; ///< the system has no more connections for us at the moment
};

} // namespace lathe::broker
