#include "core/wire/channel.h"

#include "core/support/message.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lathe::wire {

namespace {
constexpr std::size_t kChunkBytes = 1 << 20;
} // namespace

void Channel::queueBlob(const Hash128& hash, std::string_view bytes)
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

Result<> Channel::wait(Deadline deadline) const
{
    std::vector<pollfd> fds;
    watch(fds);
    const int timeout = std::min(deadline, wake()).pollMs();
    if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR)
        return makeError(Errc::Internal, say(Msg::CannotWait, std::strerror(errno)));
    return {};
}

Result<Message> Channel::receive(Deadline deadline)
{
    while (true) {
        const Result<> pumped = pump();
        LATHE_TRY_ASSIGN(std::optional<Message> message, next());
        if (message)
            return *std::move(message);
        LATHE_TRY(pumped);
        if (deadline.passed())
            return makeError(Errc::RunTimeout, say(Msg::NoAnswerInTime));
        LATHE_TRY(wait(deadline));
    }
}

Result<> Channel::send(const Message& message, Deadline deadline)
{
    queue(message);
    while (true) {
        LATHE_TRY(pump());
        if (!hasOutput())
            return {};
        if (deadline.passed())
            return makeError(Errc::RunTimeout, say(Msg::NoAnswerInTime));
        LATHE_TRY(wait(deadline));
    }
}

} // namespace lathe::wire
