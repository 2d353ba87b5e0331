#include "core/wire/connection.h"

#include "core/support/check.h"
#include "core/wire/messages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lathe::wire {

namespace {
constexpr std::size_t kChunkBytes = 1 << 20;
constexpr int kProtocol = 2;
} // namespace

void Connection::queue(const Message& message)
{
    std::string payload;
    const bool serialized = message.SerializeToString(&payload);
    LATHE_CHECK(serialized) << "a message does not serialize";
    if (m_outputBegin > 0 && m_outputBegin == m_out.size()) {
        m_out.clear();
        m_outputBegin = 0;
    }
    appendFrame(m_out, payload);
}

void Connection::queueBlob(const Hash128& hash, std::string_view bytes)
{
    std::size_t offset = 0;
    do {
        const std::string_view piece = bytes.substr(offset, kChunkBytes);
        Message message;
        BlobChunk& chunk = *message.mutable_blob();
        toWire(hash, chunk.mutable_hash());
        chunk.set_total(bytes.size());
        chunk.set_offset(offset);
        chunk.set_data(piece.data(), piece.size());
        queue(message);
        offset += piece.size();
    } while (offset < bytes.size());
}

Result<> Connection::flush()
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

Result<> Connection::fill()
{
    std::array<std::byte, 262144> chunk;
    std::size_t total = 0;
    while (total < kMaxFrameBytes) {
        pollfd fd = {m_input, POLLIN, 0};
        if (::poll(&fd, 1, 0) <= 0)
            return {};
        const ssize_t n = ::read(m_input, chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return {};
        if (n < 0)
            return makeError(Errc::WorkerCrashed,
                             fmt::format("cannot read from the other side: {}", std::strerror(errno)));
        if (n == 0 && total > 0)
            return {}; // what came before the end is looked at first
        if (n == 0)
            return makeError(Errc::WorkerCrashed, m_reader.pending() ? "the stream ended within a message"
                                                                     : "the other side closed the stream");
        m_reader.feed(std::span(chunk).first(static_cast<std::size_t>(n)));
        total += static_cast<std::size_t>(n);
    }
    return {};
}

Result<std::optional<Message>> Connection::next()
{
    LATHE_TRY_ASSIGN(const std::optional<std::string> frame, m_reader.next());
    if (!frame)
        return std::optional<Message>();
    std::optional<Message> message(std::in_place);
    if (!message->ParseFromString(*frame) || message->body_case() == Message::BODY_NOT_SET)
        return makeError(Errc::BadFile, fmt::format("a message of {} bytes does not parse", frame->size()));
    return message;
}

Result<> Connection::wait(bool forInput, Deadline deadline)
{
    while (true) {
        std::array<pollfd, 2> fds = {pollfd{forInput ? m_input : -1, POLLIN, 0},
                                     pollfd{hasOutput() ? m_output : -1, POLLOUT, 0}};
        const int ready = ::poll(fds.data(), fds.size(), deadline.pollMs());
        if (ready < 0 && errno != EINTR)
            return makeError(Errc::Internal, fmt::format("cannot wait for a pipe: {}", std::strerror(errno)));
        if (ready > 0)
            return {};
        if (deadline.passed())
            return makeError(Errc::RunTimeout, "no answer in time");
    }
}

Result<Message> Connection::receive(Deadline deadline)
{
    while (true) {
        LATHE_TRY(flush());
        LATHE_TRY_ASSIGN(std::optional<Message> message, next());
        if (message)
            return *std::move(message);
        LATHE_TRY(wait(true, deadline));
        LATHE_TRY(fill());
    }
}

Result<> Connection::send(const Message& message, Deadline deadline)
{
    queue(message);
    while (true) {
        LATHE_TRY(flush());
        if (!hasOutput())
            return {};
        LATHE_TRY(wait(false, deadline));
    }
}

Hash128 fromWire(const Hash& hash)
{
    return {hash.high(), hash.low()};
}

void toWire(const Hash128& hash, Hash* out)
{
    out->set_high(hash.high);
    out->set_low(hash.low);
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

std::string protocolVersion()
{
    return fmt::format("{}/{}", LATHE_VERSION, kProtocol);
}

} // namespace lathe::wire
