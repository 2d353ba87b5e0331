#include "core/measure/worker_client.h"

#include "core/support/message.h"
#include "core/wire/messages.h"

#include <chrono>

namespace lathe::measure {

Result<wire::Message> WorkerClient::ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                                        wire::BlobStore& blobs, Deadline deadline)
{
    auto answer = exchange(request, needed, blobs, deadline);
    if (!answer)
        m_worker.stop(); // what it may still say answers nothing
    return answer;
}

Result<wire::Message> WorkerClient::exchange(const wire::Message& request,
                                             const std::map<Hash128, std::string_view>& needed, wire::BlobStore& blobs,
                                             Deadline deadline)
{
    if (m_stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::Stopped));
    LATHE_TRY(m_worker.ensureStarted());
    for (const auto& [hash, bytes] : needed)
        m_worker.offerBlob(hash, bytes);
    m_worker.connection().queue(request);
    while (true) {
        // A look at the stop from time to time; what has arrived of an answer waits in the connection.
        const Deadline look = m_stop.stop_possible() ? Deadline::in(std::chrono::milliseconds(50)) : deadline;
        auto answer = m_worker.receive(look < deadline ? look : deadline);
        if (!answer && answer.error().code == Errc::RunTimeout && !m_stop.stop_requested() && !deadline.passed())
            continue;
        if (!answer && m_stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        if (!answer)
            return answer;
        if (answer->has_blob()) {
            const auto& chunk = answer->blob();
            LATHE_TRY(blobs.putChunk(wire::fromWire(chunk.hash()), chunk.total(), chunk.offset(), chunk.data()));
            continue;
        }
        if (!answer->has_missing())
            return answer;
        for (const auto& wanted : answer->missing().blobs()) {
            const auto known = needed.find(wire::fromWire(wanted));
            if (known == needed.end())
                return makeError(Errc::Internal, "the worker asks for a blob that is not of its job");
            m_worker.forgetBlob(known->first);
            m_worker.offerBlob(known->first, known->second);
        }
        m_worker.connection().queue(request);
    }
}

} // namespace lathe::measure
