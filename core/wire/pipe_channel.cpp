#include "core/wire/pipe_channel.h"

#include "core/support/check.h"
#include "core/support/message.h"
#include "core/wire/messages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace lathe::wire {

void PipeChannel::queue(const Message& message)
{
    std::string payload;
    const bool serialized = message.SerializeToString(&payload);
    LATHE_CHECK(serialized) << "a message does not serialize";
    appendFrame(m_out, payload);
}

Result<> PipeChannel::flush()
{
    while (hasOutput()) {
        const ssize_t n = ::write(m_output, m_out.data() + m_outputBegin, m_out.size() - m_outputBegin);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return {};
        if (n < 0)
            return makeError(Errc::WorkerCrashed, fmt::format("the other side is gone: {}", std::strerror(errno)));
        m_outputBegin += static_cast<std::size_t>(n);
    }
    m_out.clear();
    m_outputBegin = 0;
    return {};
}

Result<std::size_t> PipeChannel::fill()
{
    std::array<std::byte, 262144> chunk;
    std::size_t total = 0;
    while (total < kMaxFrameBytes) {
        pollfd fd = {m_input, POLLIN, 0};
        if (::poll(&fd, 1, 0) <= 0)
            return total;
        const ssize_t n = ::read(m_input, chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return total;
        if (n < 0)
            return makeError(Errc::WorkerCrashed,
                             fmt::format("cannot read from the other side: {}", std::strerror(errno)));
        if (n == 0 && total > 0)
            return total; // what came before the end is looked at first
        if (n == 0)
            return makeError(Errc::WorkerCrashed, m_reader.pending() ? "the stream ended within a message"
                                                                     : "the other side closed the stream");
        m_reader.feed(std::span(chunk).first(static_cast<std::size_t>(n)));
        total += static_cast<std::size_t>(n);
    }
    return total;
}

Result<> PipeChannel::pump()
{
    if (!m_ended)
        return m_ended;
    const Result<> sent = flush();
    const Result<std::size_t> read = fill();
    if (!read)
        m_ended = read.error();
    else if (!sent && *read == 0) // what it wrote before it went is read first
        m_ended = sent.error();
    return m_ended;
}

Result<std::optional<Message>> PipeChannel::next()
{
    LATHE_TRY_ASSIGN(const std::optional<std::string> frame, m_reader.next());
    if (!frame) {
        LATHE_TRY(m_ended);
        return std::optional<Message>();
    }
    std::optional<Message> message(std::in_place);
    if (!message->ParseFromString(*frame) || message->body_case() == Message::BODY_NOT_SET)
        return makeError(Errc::BadFile, say(Msg::MessageUnreadable, frame->size()));
    return message;
}

void PipeChannel::watch(std::vector<pollfd>& fds) const
{
    fds.push_back({m_input, POLLIN, 0});
    if (hasOutput())
        fds.push_back({m_output, POLLOUT, 0});
}

StandardStreams claimStandardStreams()
{
    StandardStreams streams = {::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
    const int devNull = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(devNull, STDIN_FILENO);
    ::close(devNull);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return streams;
}

} // namespace lathe::wire
