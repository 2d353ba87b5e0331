#pragma once

#include "core/wire/channel.h"
#include "core/wire/framing.h"

#include <string>

namespace lathe::wire {

/// Messages over a pair of file descriptors, which it does not own. Descriptors may be blocking (workers) or not
/// (supervisors, who wait with poll). Ends with WorkerCrashed when the other side closes its end.
class PipeChannel : public Channel
{
public:
    PipeChannel(int input, int output)
        : m_input(input)
        , m_output(output)
    {
    }

    void queue(const Message& message) override;
    bool hasOutput() const override { return m_outputBegin < m_out.size(); }
    /// Reads up to about a frame's size.
    Result<> pump() override;
    Result<std::optional<Message>> next() override;
    void watch(std::vector<pollfd>& fds) const override;

private:
    Result<> flush();
    Result<std::size_t> fill(); ///< bytes that were read

    int m_input;
    int m_output;
    FrameReader m_reader;
    std::string m_out;
    std::size_t m_outputBegin = 0;
    Result<> m_ended; ///< an error once there is nothing more to read
};

/// Takes a worker's standard input and output for messages: whatever else writes to standard output (a kernel, a
/// driver) lands on standard error instead of in the middle of a message.
struct StandardStreams
{
    int input = -1;
    int output = -1;
};
StandardStreams claimStandardStreams();

} // namespace lathe::wire
