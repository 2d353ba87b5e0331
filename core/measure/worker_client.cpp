#include "core/measure/worker_client.h"

#include "core/support/message.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace lathe::measure {

namespace {

/// A stop is looked for so often, and whether a device elsewhere is still there.
constexpr std::chrono::milliseconds kLook(50), kLookElsewhere(500);

} // namespace

WorkerClient::WorkerClient(WorkerKind kind, const WorkerPrograms& programs, std::stop_token stop)
    : WorkerClient(makeLocalWorker(kind, programs), std::move(stop))
{
}

Result<wire::Message> WorkerClient::ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                                        wire::BlobStore& blobs, Deadline deadline)
{
    auto answer = exchange(request, needed, blobs, deadline);
    if (!answer)
        m_endpoint.stop(); // what it may still say answers nothing
    return answer;
}

/// Until there is a message, or for a while.
Result<std::optional<wire::Message>> WorkerClient::wait(Deadline deadline)
{
    LATHE_TRY(m_endpoint.turn(Endpoint::Clock::now()));
    auto message = m_endpoint.next();
    if (!message)
        return m_endpoint.ended(message.error());
    if (*message)
        return message;
    std::vector<pollfd> fds;
    m_endpoint.watch(fds);
    Deadline look = m_stop.stop_possible() ? Deadline::in(kLook) : Deadline::never();
    if (m_endpoint.traits().supervised)
        look = std::min(look, Deadline::in(kLookElsewhere));
    look = std::min({look, deadline, Deadline::at(m_endpoint.wake())});
    if (::poll(fds.data(), fds.size(), look.pollMs()) < 0 && errno != EINTR)
        return makeError(Errc::Internal, say(Msg::CannotWait, std::strerror(errno)));
    return message;
}

Result<wire::Message> WorkerClient::exchange(const wire::Message& request,
                                             const std::map<Hash128, std::string_view>& needed, wire::BlobStore& blobs,
                                             Deadline deadline)
{
    if (m_stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::Stopped));
    LATHE_TRY(m_endpoint.waitUntilReady());
    for (const auto& [hash, bytes] : needed)
        m_endpoint.offerBlob(hash, bytes);
    m_endpoint.queue(request);
    while (true) {
        auto answer = wait(deadline);
        if (m_stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        if (!answer)
            return answer.error();
        if (!*answer && deadline.passed())
            return makeError(Errc::RunTimeout, say(Msg::NoAnswerInTime));
        if (!*answer || (*answer)->has_progress())
            continue;
        wire::Message message = **std::move(answer);
        if (message.has_blob()) {
            const auto& chunk = message.blob();
            LATHE_TRY(blobs.putChunk(wire::fromWire(chunk.hash()), chunk.total(), chunk.offset(), chunk.data()));
            continue;
        }
        if (!message.has_missing())
            return message;
        for (const auto& wanted : message.missing().blobs()) {
            const auto known = needed.find(wire::fromWire(wanted));
            if (known == needed.end())
                return makeError(Errc::Internal, "the worker asks for a blob that is not of its job");
            m_endpoint.forgetBlob(known->first);
            m_endpoint.offerBlob(known->first, known->second);
        }
        m_endpoint.queue(request);
    }
}

} // namespace lathe::measure
