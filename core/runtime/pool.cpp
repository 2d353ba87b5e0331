// A dispatch is: the caller writes task and context, then bumps m_dispatch (release); workers that spin on it (acquire)
// see both. The join is the same barrier that separates phases: a counter of arrivals, whose last arrival bumps the
// generation.
//
// Who waits too long sleeps on the word with a futex. The sleeper announces itself in a counter before it looks at the
// word again; the waker bumps the word before it looks at the counter. Both are sequentially consistent, so one of them
// sees the other and no wake-up is lost; while nobody sleeps the waker makes no system call.

#include "core/runtime/pool.h"

#include "core/runtime/clock.h"
#include "core/runtime/libc_versions.h"
#include "core/runtime/processors.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <new>

namespace lathe::runtime {

namespace {

constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint64_t kBriefSpin = 50'000; ///< nanoseconds: about what it costs to wake a sleeper

void pause()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

void futexWait(std::atomic<std::uint32_t>& word, std::uint32_t old)
{
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
}

void futexWakeAll(std::atomic<std::uint32_t>& word)
{
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

/// The index-th processor of this process's mask, modulo their number; -1 if the mask cannot be read.
int allowedProcessor(std::uint32_t index)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return -1;
    index %= maskedProcessors();
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &set) && index-- == 0)
            return i;
    return -1;
}

bool bindThisThread(int processor)
{
    if (processor < 0)
        return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

struct PhaseRun
{
    Pool* pool;
    const KernelCall* call;
    std::atomic<std::uint64_t> failure{0}; ///< code in the low half, 1 + the phase that returned it in the high half
};

void runPhases(void* context, std::uint32_t part, std::uint32_t parts)
{
    auto& run = *static_cast<PhaseRun*>(context);
    const KernelCall& call = *run.call;
    for (std::uint32_t i = 0; i < call.phaseCount; ++i) {
        const std::int32_t code = call.phases[i](call.args, call.partScratch + part * call.partScratchStride, part,
                                                 parts);
        if (code != 0) {
            std::uint64_t none = 0;
            const std::uint64_t failure = std::uint64_t{i + 1} << 32 | static_cast<std::uint32_t>(code);
            run.failure.compare_exchange_strong(none, failure, std::memory_order_relaxed);
        }
        if (i + 1 == call.phaseCount)
            return; // the join is the last barrier
        run.pool->barrier();
        // A fast part may fail in the next phase before a slow one reads this: only failures up to phase i count, so
        // that all parts leave, or stay, together.
        const std::uint64_t failure = run.failure.load(std::memory_order_relaxed);
        if (failure != 0 && (failure >> 32) <= i + 1)
            return;
    }
}

} // namespace

bool pinThisThread(std::uint32_t index)
{
    return bindThisThread(allowedProcessor(index));
}

Pool* Pool::create(const PoolOptions& options)
{
    const std::uint32_t processors = maskedProcessors();
    const std::uint32_t parts = options.threads > 0 ? options.threads : processorCount(options.systemRoot);
    if (parts > kMostThreads)
        return nullptr;
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, sizeof(Pool)) != 0)
        return nullptr;
    Pool* const pool = new (memory) Pool;
    pool->m_idleSpin = std::uint64_t{options.idleSpinMicroseconds} * 1000;
    // Parts are even, so the last is soon there. To sleep earlier is worse than the wait: on a virtual machine a halted
    // processor comes back after hundreds of microseconds, by when the other side sleeps too, and so on from kernel to
    // kernel (26 kernels of 20 us: 0.5 ms, and up to 12 ms in that state, where 100 us of spinning had been allowed).
    pool->m_barrierSpin = 2'000'000;
    if (parts > processors) { // a spinning waiter would keep the processor from the part that it waits for
        pool->m_idleSpin = 0;
        pool->m_barrierSpin = 0;
    } else if (processorQuota(options.systemRoot) / 1000 < parts) {
        // There is a processor for each part, but not time for all: who spins uses up what the others need, and then
        // all stand still until the next period, commonly for tens of milliseconds.
        pool->m_idleSpin = pool->m_idleSpin < kBriefSpin ? pool->m_idleSpin : kBriefSpin;
        pool->m_barrierSpin = kBriefSpin;
    }
    pool->m_spreads = !options.pin && parts <= processors;
    if (parts > 1) {
        void* workers = nullptr;
        if (posix_memalign(&workers, 64, (parts - 1) * sizeof(Worker)) != 0) {
            destroy(pool);
            return nullptr;
        }
        pool->m_workers = static_cast<Worker*>(workers);
        for (std::uint32_t i = 0; i + 1 < parts; ++i) {
            Worker* const worker = new (&pool->m_workers[i]) Worker;
            worker->pool = pool;
            worker->part = i + 1;
            worker->processor = options.pin ? allowedProcessor(i + 1) : -1;
            if (pthread_create(&worker->thread, nullptr, workerMain, worker) != 0) {
                destroy(pool);
                return nullptr;
            }
            // Counted one by one: destroy() after a refusal ends exactly those that run. Workers read it at their first
            // dispatch, which is after this.
            pool->m_parts = i + 2;
        }
    }
    return pool;
}

void Pool::destroy(Pool* pool)
{
    if (pool == nullptr)
        return;
    if (pool->m_parts > 1) {
        pool->m_task = nullptr;
        pool->m_dispatch.fetch_add(1, std::memory_order_seq_cst);
        futexWakeAll(pool->m_dispatch);
        for (std::uint32_t i = 0; i + 1 < pool->m_parts; ++i)
            pthread_join(pool->m_workers[i].thread, nullptr);
    }
    std::free(pool->m_workers);
    pool->~Pool();
    std::free(pool);
}

void* Pool::workerMain(void* argument)
{
    const Worker& worker = *static_cast<Worker*>(argument);
    if (worker.processor >= 0)
        bindThisThread(worker.processor); // a refusal costs speed, not correctness
    worker.pool->work(worker);
    return nullptr;
}

void Pool::work(const Worker& worker)
{
    std::uint32_t seen = 0;
    while (true) {
        seen = waitWhile(m_dispatch, seen, m_dispatchSleepers, m_idleSpin);
        if (m_task == nullptr)
            return;
        if (m_spreads && sched_getcpu() == m_callerProcessor)
            leaveTheCallersProcessor(worker);
        m_task(m_context, worker.part, m_parts);
        barrier();
    }
}

/// Each worker goes to a processor of its own, counted from the caller's. Afterwards the system may move it again as it
/// likes.
void Pool::leaveTheCallersProcessor(const Worker& worker)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int target = m_callerProcessor;
    for (std::uint32_t left = worker.part; left > 0;) {
        target = (target + 1) % CPU_SETSIZE;
        if (CPU_ISSET(target, &allowed))
            --left;
    }
    if (bindThisThread(target))
        sched_setaffinity(0, sizeof allowed, &allowed);
}

std::uint32_t Pool::waitWhile(std::atomic<std::uint32_t>& word, std::uint32_t old, std::atomic<std::uint32_t>& sleepers,
                              std::uint64_t spinNanoseconds)
{
    std::uint32_t now = word.load(std::memory_order_acquire);
    if (now != old)
        return now;
    if (spinNanoseconds > 0) {
        const std::uint64_t start = nowNanoseconds();
        do {
            for (int i = 0; i < 64; ++i) {
                now = word.load(std::memory_order_acquire);
                if (now != old)
                    return now;
                pause();
            }
        } while (nowNanoseconds() - start < spinNanoseconds);
    } else {
        for (int i = 0; i < 4; ++i) {
            sched_yield();
            now = word.load(std::memory_order_acquire);
            if (now != old)
                return now;
        }
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while ((now = word.load(std::memory_order_seq_cst)) == old)
        futexWait(word, old);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return now;
}

void Pool::barrier()
{
    if (m_parts == 1)
        return;
    const std::uint32_t generation = m_generation.load(std::memory_order_relaxed);
    if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_parts) {
        m_arrived.store(0, std::memory_order_relaxed);
        m_generation.store(generation + 1, std::memory_order_seq_cst);
        if (m_barrierSleepers.load(std::memory_order_seq_cst) != 0)
            futexWakeAll(m_generation);
        return;
    }
    waitWhile(m_generation, generation, m_barrierSleepers, m_barrierSpin);
}

void Pool::run(Task task, void* context)
{
    if (m_parts == 1) {
        task(context, 0, 1);
        return;
    }
    m_task = task;
    m_context = context;
    if (m_spreads)
        m_callerProcessor = sched_getcpu();
    m_dispatch.fetch_add(1, std::memory_order_seq_cst);
    if (m_dispatchSleepers.load(std::memory_order_seq_cst) != 0)
        futexWakeAll(m_dispatch);
    task(context, 0, m_parts);
    barrier();
}

std::int32_t Pool::run(const KernelCall& call)
{
    PhaseRun phaseRun{this, &call, {}};
    run(&runPhases, &phaseRun);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(phaseRun.failure.load(std::memory_order_relaxed)));
}

} // namespace lathe::runtime
