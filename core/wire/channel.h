#pragma once

#include "core/support/deadline.h"
#include "core/support/hash.h"
#include "core/support/result.h"

#include <poll.h>

#include <optional>
#include <string_view>
#include <vector>

namespace lathe::wire {

class Message;

/// Messages to and from one other side, wherever that is: behind pipes (pipe_channel.h) or behind a broker
/// (core/broker). Each message arrives whole, once and in order, until the channel ends. What arrived before the end
/// is still given by next(); then it tells the cause, for ever.
/// Threads: one.
class Channel
{
public:
    virtual ~Channel() = default;

    /// Appends to what is to be sent. Nothing is sent before pump().
    virtual void queue(const Message& message) = 0;
    /// In messages of a part each, as much as BlobStore::putChunk() takes.
    void queueBlob(const Hash128& hash, std::string_view bytes);
    /// Something that was queued has not left yet.
    virtual bool hasOutput() const = 0;

    /// Sends and reads what can be without waiting. Errors: those with which next() will end, as soon as they are
    /// known.
    virtual Result<> pump() = 0;
    /// The next message that pump() read; nothing: there is none yet.
    /// Errors: WorkerCrashed, DeviceLost (the other side is gone), BadFile (it sent what is no message).
    virtual Result<std::optional<Message>> next() = 0;

    /// For poll(2): what pump() waits for.
    virtual void watch(std::vector<pollfd>& fds) const = 0;
    /// When pump() has something to do although nothing happens (to send once more, say).
    virtual Deadline wake() const { return Deadline::never(); }

    /// Sends all that is queued and waits for one message. Errors: as above, and RunTimeout.
    Result<Message> receive(Deadline deadline);
    Result<> send(const Message& message, Deadline deadline);

private:
    Result<> wait(Deadline deadline) const;
};

} // namespace lathe::wire
