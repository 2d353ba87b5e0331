#pragma once

#include "core/runtime/kernel_abi.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

struct PoolOptions
{
    std::uint32_t threads = 0; ///< parts, the caller's included; 0: processorCount()
    bool pin =
        false; ///< workers are bound to one processor each, the second allowed one first; the caller is left alone
    /// How long an idle worker spins before it sleeps. A sleeping worker costs the next dispatch tens of microseconds.
    /// A process whose quota is below its threads has no time to spin, and spins briefly.
    std::uint32_t idleSpinMicroseconds = 500;
    const char* systemRoot = ""; ///< of processorQuota(); tests give another
};

/// One kernel call: every part runs every phase, with a barrier between phases.
struct KernelCall
{
    const LathePhase* phases = nullptr;
    std::uint32_t phaseCount = 0;
    const LatheArgs* args = nullptr;
    std::byte* partScratch = nullptr; ///< of part 0; 64-byte aligned
    std::size_t partScratchStride = 0; ///< bytes from one part's scratch to the next; a multiple of 64
};

/// A persistent fork-join team. The system likes to wake a worker on the processor of who wakes it, where it would wait
/// for the caller's whole part and then make the caller wait: a worker that finds itself there moves, once, to another.
/// Dispatch is one release store and an acquire spin of each worker; the caller is part 0.
/// Threads: one caller at a time. A task may call barrier(), nothing else of the pool. Any number of parts is right,
/// also more than there are processors (waiters then give way at once instead of spinning).
class Pool
{
public:
    using Task = void (*)(void* context, std::uint32_t part, std::uint32_t parts);

    /// Null if memory or threads are refused.
    static Pool* create(const PoolOptions& options);
    /// Ends and joins the workers. Null is fine.
    static void destroy(Pool* pool);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    std::uint32_t parts() const { return m_parts; }

    /// Runs task on every part at once and returns when all are done.
    void run(Task task, void* context);
    /// Inside a task: waits until every part is here. What parts wrote before it, all see after it.
    void barrier();
    /// 0, or the first code that a phase returned; the phase is finished by all parts, later ones are not begun.
    std::int32_t run(const KernelCall& call);

private:
    struct alignas(64) Worker
    {
        Pool* pool = nullptr;
        std::uint32_t part = 0;
        int processor = -1;
        pthread_t thread{};
    };

    Pool() = default;
    ~Pool() = default;
    static void* workerMain(void* argument);
    void work(const Worker& worker);
    void leaveTheCallersProcessor(const Worker& worker);
    std::uint32_t waitWhile(std::atomic<std::uint32_t>& word, std::uint32_t old, std::atomic<std::uint32_t>& sleepers,
                            std::uint64_t spinNanoseconds);

    // Each word that one side writes and the other spins on has a line of its own.
    alignas(64) std::atomic<std::uint32_t> m_dispatch{0}; ///< counts dispatches
    std::atomic<std::uint32_t> m_dispatchSleepers{0};
    Task m_task = nullptr; ///< null: workers end
    void* m_context = nullptr;
    int m_callerProcessor = -1; ///< at this dispatch
    bool m_spreads = false; ///< unpinned, and there is a processor for each part
    alignas(64) std::atomic<std::uint32_t> m_arrived{0};
    alignas(64) std::atomic<std::uint32_t> m_generation{0}; ///< of the barrier
    std::atomic<std::uint32_t> m_barrierSleepers{0};
    alignas(64) std::uint32_t m_parts = 1;
    std::uint64_t m_idleSpin = 0;
    std::uint64_t m_barrierSpin = 0;
    Worker* m_workers = nullptr;
};

struct PoolDeleter
{
    void operator()(Pool* pool) const { Pool::destroy(pool); }
};

/// Binds the calling thread to the index-th processor of this process's mask (modulo their number). False if the system
/// refuses.
bool pinThisThread(std::uint32_t index);

} // namespace lathe::runtime
