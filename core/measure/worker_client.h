#pragma once

#include "core/measure/worker.h"
#include "core/wire/blob_store.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <stop_token>
#include <string_view>

namespace lathe::measure {

/// One worker that is asked step by step: a request, then its answer.
/// Threads: one at a time.
class WorkerClient
{
public:
    /// A stop ends the process in the middle of its work.
    WorkerClient(Worker::Kind kind, WorkerPrograms programs, std::stop_token stop)
        : m_worker(kind, std::move(programs))
        , m_stop(std::move(stop))
    {
    }

    Result<> ensureStarted() { return m_worker.ensureStarted(); }
    /// Of the process that was started last: what earlier requests left is in it, if it is still the same.
    pid_t pid() const { return m_worker.process().pid(); }
    /// Sends, with the blobs that the request names (again, if the worker lost them), and waits; blobs of the answer
    /// end up in `blobs`. Starts the process if none is alive. Errors: Cancelled (stopped), RunTimeout, WorkerCrashed
    /// (with signal and last words), those of the start. After an error the process is gone.
    Result<wire::Message> ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                              wire::BlobStore& blobs, Deadline deadline);
    /// Whether somebody else killed the process of the request before, which may be asked again, once: more often it
    /// may be the work that eats the memory.
    bool wasKilled() const { return m_worker.killed(); }
    std::uint64_t nextId() { return ++m_lastId; }

private:
    Result<wire::Message> exchange(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                                   wire::BlobStore& blobs, Deadline deadline);

    Worker m_worker;
    std::stop_token m_stop;
    std::uint64_t m_lastId = 0;
};

} // namespace lathe::measure
