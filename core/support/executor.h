#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace lathe {

/// Where core's parallel work runs. Core starts no threads of its own: session hands it a TBB executor, tests a serial
/// one or plain std::threads (for the thread sanitizer).
class Executor
{
public:
    virtual ~Executor() = default;

    /// Calls body(i) once for each i in [0, count), in any order, on any of the executor's threads, and returns when
    /// all are done. A stop request skips what has not begun. `body` must not throw.
    virtual void parallelFor(std::size_t count, const std::function<void(std::size_t)>& body,
                             std::stop_token stop = {}) = 0;

    /// Threads that parallelFor uses, >= 1.
    virtual unsigned concurrency() const = 0;
};

/// Runs everything on the calling thread, in index order.
class SerialExecutor final : public Executor
{
public:
    void parallelFor(std::size_t count, const std::function<void(std::size_t)>& body,
                     std::stop_token stop = {}) override
    {
        for (std::size_t i = 0; i < count && !stop.stop_requested(); ++i)
            body(i);
    }
    unsigned concurrency() const override { return 1; }
};

} // namespace lathe
