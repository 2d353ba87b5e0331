#pragma once

#include "core/measure/local_worker.h"
#include "core/support/deadline.h"
#include "core/wire/blob_store.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

namespace lathe::measure {

/// An endpoint that is asked step by step: a request, then its answer.
/// Threads: one at a time.
class WorkerClient
{
public:
    /// A process of this machine. A stop ends it in the middle of its work.
    WorkerClient(WorkerKind kind, const WorkerPrograms& programs, std::stop_token stop = {});
    /// A stop ends what it works on.
    WorkerClient(std::unique_ptr<Endpoint> endpoint, std::stop_token stop)
        : m_own(std::move(endpoint))
        , m_endpoint(*m_own)
        , m_stop(std::move(stop))
    {
    }
    /// One that is used by others too, in between.
    explicit WorkerClient(Endpoint& endpoint, std::stop_token stop = {})
        : m_endpoint(endpoint)
        , m_stop(std::move(stop))
    {
    }

    Result<> ensureStarted() { return m_endpoint.waitUntilReady(); }
    /// A number for the worker that was started last: what earlier requests left is there, if it is still the same.
    std::uint64_t place() const { return m_endpoint.starts(); }
    bool othersAsked() { return m_endpoint.changesUser(this); } ///< since this one asked so last
    /// Sends, with the blobs that the request names (again, if the worker lost them), and waits; blobs of the answer
    /// end up in `blobs`. Starts the worker if none is alive. Errors: Cancelled (stopped), RunTimeout, WorkerCrashed
    /// (with signal and last words), those of the start. After an error the worker is gone.
    Result<wire::Message> ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                              wire::BlobStore& blobs, Deadline deadline);
    /// Whether somebody else killed the worker of the request before, which may be asked again, once: more often it
    /// may be the work that eats the memory.
    bool wasKilled() const { return m_endpoint.killed(); }
    std::uint64_t nextId() { return ++m_lastId; }

private:
    Result<wire::Message> exchange(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                                   wire::BlobStore& blobs, Deadline deadline);
    Result<std::optional<wire::Message>> wait(Deadline deadline);

    std::unique_ptr<Endpoint> m_own;
    Endpoint& m_endpoint;
    std::stop_token m_stop;
    std::uint64_t m_lastId = 0;
};

} // namespace lathe::measure
