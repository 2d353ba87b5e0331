#pragma once

#include "core/support/deadline.h"
#include "core/support/hash.h"
#include "core/support/result.h"
#include "core/wire/framing.h"

#include <memory>
#include <optional>
#include <string>

namespace lathe::wire {

class Hash;
class Message;

/// Messages over a pair of file descriptors, which it does not own. Descriptors may be blocking (workers) or not
/// (supervisors, who wait with poll). Not thread safe.
class Connection
{
public:
    Connection(int input, int output)
        : m_input(input)
        , m_output(output)
    {
    }

    /// Appends to what is to be sent; flush() or wait() send it.
    void queue(const Message& message);
    void queueBlob(const Hash128& hash, std::string_view bytes);
    bool hasOutput() const { return m_outputBegin < m_out.size(); }
    /// Sends what the descriptor takes. Errors: WorkerCrashed (the other side is gone).
    Result<> flush();

    /// Reads what is there, without waiting, up to about a frame's size. Errors: WorkerCrashed at the end of the
    /// stream.
    Result<> fill();
    /// The next message among what was read. Errors: BadFile (not ours, oversized, does not parse).
    Result<std::optional<Message>> next();

    /// Sends all that is queued and waits for one message. Errors: as above, and RunTimeout.
    Result<Message> receive(Deadline deadline);
    Result<> send(const Message& message, Deadline deadline);

    int input() const { return m_input; }
    int output() const { return m_output; }

private:
    Result<> wait(bool forInput, Deadline deadline);
    int m_input;
    int m_output;
    FrameReader m_reader;
    std::string m_out;
    std::size_t m_outputBegin = 0;
};

Hash128 fromWire(const Hash& hash);
void toWire(const Hash128& hash, Hash* out);

/// Takes a worker's standard input and output for messages: whatever else writes to standard output (a kernel, a
/// driver) lands on standard error instead of in the middle of a message.
struct StandardStreams
{
    int input = -1;
    int output = -1;
};
StandardStreams claimStandardStreams();

/// What a Hello must carry: "0.1.0/2", product and protocol.
std::string protocolVersion();

} // namespace lathe::wire
