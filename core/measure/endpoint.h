#pragma once

#include "core/measure/types.h"
#include "core/support/result.h"
#include "core/wire/blob_store.h"
#include "core/wire/known_blobs.h"
#include "core/wire/port.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace lathe::wire {
class Message;
}

namespace lathe::measure {

/// What one can rely on at an endpoint.
struct EndpointTraits
{
    std::optional<DeviceSpec> device = {}; ///< that is opened behind the hellos; nothing: none (a builder)
    std::string buildId = {}; ///< that the other side must be of; empty: any
    bool sharesMachine = false; ///< its work takes the cores of this machine
    /// The other side kills what hangs, explains what crashed, and goes on: an end of the channel is then no
    /// request's fault. Else all that is ours to do.
    bool supervised = false;
    std::size_t capacity = 1; ///< requests that it holds at once; it works on the first
};

/// One builder or device and the way to it: started when it is wanted, greeted, its device opened. It knows nothing of
/// what is asked of it.
/// Threads: one. Nothing here waits but waitUntilReady().
class Endpoint
{
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    Endpoint(std::unique_ptr<wire::Port> port, EndpointTraits traits);
    ~Endpoint();

    const EndpointTraits& traits() const { return m_traits; }
    void setSharesMachine(bool shares) { m_traits.sharesMachine = shares; } ///< as its device says, once it is open
    bool ready() const { return m_state == State::Ready; }
    bool opening() const { return m_state == State::Opening; }

    /// Starts the worker, unless that has been done. Errors: those of Port::open().
    Result<> open(Time now);
    /// Sends, reads, and takes what the other side says of itself until it is ready. What it says then next() gives.
    /// Errors: it cannot be made ready, and why (its last words included). It may be opened again; at once, if
    /// killed().
    Result<> turn(Time now);
    /// The last error of turn() or ended() came by a kill from outside.
    bool killed() const { return m_killed; }
    /// Errors: Incompatible, those of open() and of the device. A worker that somebody kills is started again.
    Result<> waitUntilReady();

    void watch(std::vector<pollfd>& fds) const;
    Time wake() const; ///< when turn() has something to do although nothing happens

    // Of an endpoint that is ready:
    void queue(const wire::Message& message);
    bool isSending() const; ///< something that was queued has not left yet
    /// Errors: those of the channel; close() then, with it.
    Result<std::optional<wire::Message>> next();
    /// Sends a blob unless this worker has it.
    void offerBlob(const Hash128& hash, std::string_view bytes);
    void forgetBlob(const Hash128& hash) { m_sent.forget(hash); }
    wire::BlobStore& received() { return m_received; } ///< what it sends
    /// Of several who ask in turns, each with something of its own in the worker: whether that is another one than
    /// before.
    bool changesUser(const void* user) { return std::exchange(m_user, user) != user; }
    void countRequest() { ++m_served; }
    std::uint32_t served() const { return m_served; } ///< since it was started

    /// Nothing more is asked of this worker; another one is started when one is wanted.
    wire::PortEnd close(const Error& why);
    void stop(); ///< close(), whatever it says
    /// close(), and what is to be told of it: how the worker ended, and its last words.
    Error ended(const Error& why);
    void suspend(Time now); ///< its work stands still
    void resume(Time now);

    const DeviceIdentity& identity() const { return m_identity; } ///< of the device that was opened last
    std::uint64_t starts() const { return m_starts; } ///< what an earlier worker knew a later one does not
    std::string name() const { return m_port->name(); }

private:
    enum class State : std::uint8_t
    {
        Down,
        Opening,
        Ready
    };
    Result<> takeOpening();
    Result<> take(const wire::Message& message);

    std::unique_ptr<wire::Port> m_port;
    EndpointTraits m_traits;
    State m_state = State::Down;
    bool m_greeted = false;
    bool m_killed = false;
    Time m_openBy = Time::max();
    Time m_suspendedSince;
    DeviceIdentity m_identity;
    wire::KnownBlobs m_sent;
    wire::BlobStore m_received;
    const void* m_user = nullptr; ///< is only compared
    std::uint32_t m_served = 0;
    std::uint64_t m_starts = 0;
};

} // namespace lathe::measure
