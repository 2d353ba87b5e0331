#include "core/session/tbb_executor.h"

#include "core/target/detect.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#ifdef LATHE_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* place);
extern "C" void __tsan_release(void* place);
#endif

namespace lathe::session {

namespace {

/// TBB is not instrumented: here the thread sanitizer is told that what one thread did before release() is seen by
/// those that acquire() the same place.
struct Handover
{
#ifdef LATHE_THREAD_SANITIZER
    char place = 0;
    void release()
    {
        __tsan_release(&place);
    }
    void acquire()
    {
        __tsan_acquire(&place);
    }
#else
    void release() {}
    void acquire() {}
#endif
};

class TbbExecutor final : public Executor
{
public:
    explicit TbbExecutor(unsigned threads)
        : m_arena(static_cast<int>(threads == 0 ? availableThreads() : threads))
    {
    }

    void parallelFor(std::size_t count, const std::function<void(std::size_t)>& body, std::stop_token stop) override
    {
        Handover work, results;
        work.release();
        m_arena.execute([&] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count),
                              [&](const tbb::blocked_range<std::size_t>& range) {
                                  work.acquire();
                                  for (std::size_t i = range.begin(); i != range.end() && !stop.stop_requested(); ++i)
                                      body(i);
                                  results.release();
                              });
        });
        results.acquire();
    }
    unsigned concurrency() const override { return static_cast<unsigned>(m_arena.max_concurrency()); }

private:
    tbb::task_arena m_arena;
};

} // namespace

std::unique_ptr<Executor> makeTbbExecutor(unsigned threads)
{
    return std::make_unique<TbbExecutor>(threads);
}

} // namespace lathe::session
