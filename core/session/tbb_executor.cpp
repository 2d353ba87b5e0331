#include "core/session/tbb_executor.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace lathe::session {

namespace {

class TbbExecutor final : public Executor
{
public:
    explicit TbbExecutor(unsigned threads) : m_arena(threads == 0 ? tbb::task_arena::automatic : static_cast<int>(threads)) { }

    void parallelFor(std::size_t count, const std::function<void(std::size_t)>& body, std::stop_token stop) override
    {
        m_arena.execute([&] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), [&](const tbb::blocked_range<std::size_t>& range) {
                for (std::size_t i = range.begin(); i != range.end() && !stop.stop_requested(); ++i)
                    body(i);
            });
        });
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
