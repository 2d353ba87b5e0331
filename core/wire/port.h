#pragma once

#include "core/support/message.h"
#include "core/support/result.h"
#include "core/wire/channel.h"

#include <poll.h>

#include <string>
#include <vector>

namespace lathe::wire {

/// How a worker ended.
struct PortEnd
{
    lathe::Message cause; ///< "signal 11 (SIGSEGV, segmentation fault)"
    bool killed = false; ///< by somebody else, which no work brings about
    std::string words; ///< its last ones on standard error
};

/// The way to one worker: a process of this machine, or a device behind a broker. It has one channel at a time. Nothing
/// here waits, except for the end of a process whose streams have ended.
/// Threads: one.
class Port
{
public:
    virtual ~Port() = default;

    /// Starts the worker anew. Errors: NotFound (no such program), Internal.
    virtual Result<> open() = 0;
    /// To the worker that was started last; null before the first one.
    virtual Channel* channel() = 0;
    /// Sends and reads what can be. Errors: those of the channel.
    virtual Result<> pump() = 0;
    /// For poll(2): what pump() waits for.
    virtual void watch(std::vector<pollfd>& fds) const = 0;
    /// Ends the worker. @param why  WorkerCrashed: it is ending by itself, and how will be in the answer
    virtual PortEnd close(const Error& why) = 0;
    /// Whether it is known to have ended, though nobody closed it.
    virtual bool gone() = 0;
    /// Stops its work where it is, and goes on.
    virtual void suspend(bool suspended) = 0;
    /// For people: "lathe-runner".
    virtual std::string name() const = 0;
};

} // namespace lathe::wire
