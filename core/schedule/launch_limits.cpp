#include "core/schedule/launch_limits.h"

#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/support/message.h"

#include <algorithm>
#include <array>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Stmt;
using ir::StmtKind;

/// The widest access of a thread to memory, in bytes: what a vectorized loop moves at once.
class WidestVector
{
public:
    explicit WidestVector(const ir::LoopNest& nest)
        : m_nest(nest)
    {
    }

    std::int64_t of(const Stmt& s)
    {
        visit(s);
        return m_bytes;
    }

private:
    void visit(const Stmt& s)
    {
        if (!s)
            return;
        const ir::StmtNode* const outer = m_loop;
        if (s->kind == StmtKind::For && s->loop == ir::LoopKind::Vectorized)
            m_loop = s.get();
        if (s->kind == StmtKind::Store && m_loop != nullptr) {
            note(s->buffer, s->indices);
            ir::visit(s->value, [this](const Expr& e) {
                if (e->kind == ExprKind::Load)
                    note(e->source, e->operands);
            });
        }
        if (s->kind == StmtKind::AsyncCopy)
            m_bytes = std::max(m_bytes, s->count * sizeOf(m_nest.buffers[static_cast<std::size_t>(s->buffer)].dtype));
        for (const Stmt& inner : s->body)
            visit(inner);
        m_loop = outer;
    }

    void note(std::int32_t id, const std::vector<Expr>& indices)
    {
        const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
        const bool isByLane = std::ranges::any_of(indices,
                                                  [&](const Expr& e) { return ir::uses(e, m_loop->variable); });
        if (buffer.scope != ir::Scope::Register && isByLane)
            m_bytes = std::max(m_bytes, m_loop->extent->intValue * sizeOf(buffer.dtype));
    }

    const ir::LoopNest& m_nest;
    const ir::StmtNode* m_loop = nullptr; ///< the vectorized one around
    std::int64_t m_bytes = 0;
};

/// Lanes of the warps that shuffles count on, or the first of them that is not `width`; 0: there are no shuffles.
std::int32_t warpOfShuffles(const Stmt& s, std::int64_t width)
{
    if (!s)
        return 0;
    std::int32_t found = s->kind == StmtKind::Shuffle ? s->warp : 0;
    for (const Stmt& inner : s->body)
        if (found == 0 || found == width)
            if (const std::int32_t other = warpOfShuffles(inner, width); other != 0)
                found = other;
    return found;
}

Result<> checkLaunch(const ir::LoopNest& nest, const ir::Launch& launch, const Hardware& hardware)
{
    const LaunchSizes taken = sizesOf(nest, launch);
    const auto isOver = [&hardware](std::int64_t value, const char* name) {
        const std::int64_t most = hardware.get(name);
        return most > 0 && value > most;
    };
    if (isOver(taken.threads, "max_threads_per_block"))
        return makeError(Errc::IllegalSchedule, say(Msg::ThreadsOverBlock, taken.threads,
                                                    hardware.get("max_threads_per_block"), "max_threads_per_block"));
    if (isOver(taken.sharedBytes, "max_shared_memory_per_block"))
        return makeError(Errc::IllegalSchedule,
                         say(Msg::SharedOverBlock, taken.sharedBytes, hardware.get("max_shared_memory_per_block"),
                             "max_shared_memory_per_block"));
    if (isOver(taken.localBytes, "max_local_memory_per_block"))
        return makeError(Errc::IllegalSchedule,
                         say(Msg::LocalOverThread, taken.localBytes, hardware.get("max_local_memory_per_block"),
                             "max_local_memory_per_block"));
    constexpr std::array<const char*, 3> kGrid = {"max_blocks_x", "max_blocks_y", "max_blocks_z"};
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t known = hardware.get(kGrid[d]);
        const std::int64_t most = known > 0 ? known : kMostBlocks;
        if (taken.grid[d] > most)
            return makeError(Errc::IllegalSchedule, say(Msg::BlocksOverGrid, taken.grid[d], most, kGrid[d]));
    }
    const std::int64_t width = hardware.get("shuffle_width");
    if (const std::int32_t warp = warpOfShuffles(launch.body, width); warp != 0 && warp != width)
        return makeError(Errc::IllegalSchedule, say(Msg::ShufflesOfOtherWarps, warp, width, "shuffle_width"));
    const std::int64_t vector = WidestVector(nest).of(launch.body);
    if (isOver(vector, "vector_unit_bytes"))
        return makeError(Errc::IllegalSchedule,
                         say(Msg::VectorTooWide, vector, hardware.get("vector_unit_bytes"), "vector_unit_bytes"));
    return {};
}

} // namespace

Result<> checkLimits(const State& state, const ir::LoopNest& nest, const Hardware& hardware)
{
    const std::int64_t most = hardware.get("max_vthread_extent");
    for (const Stage& stage : state.stages()) {
        std::int64_t virtualThreads = 1;
        for (const Iterator& iterator : stage.iters)
            if (iterator.annotation == Annotation::VThread)
                virtualThreads *= std::max<std::int64_t>(iterator.extent, 1);
        if (most > 0 && virtualThreads > most)
            return makeError(Errc::IllegalSchedule,
                             say(Msg::VirtualThreadsOver, virtualThreads, most, "max_vthread_extent"));
    }
    for (const ir::Launch& launch : nest.launches)
        LATHE_TRY(checkLaunch(nest, launch, hardware));
    const std::int64_t largest = hardware.get("max_buffer_bytes");
    for (const ir::Buffer& buffer : nest.buffers) {
        if (buffer.scope != ir::Scope::Parameter && buffer.scope != ir::Scope::Team)
            continue;
        const std::int64_t bytes = ir::elementCount(buffer) * sizeOf(buffer.dtype);
        if (largest > 0 && bytes > largest)
            return makeError(Errc::IllegalSchedule,
                             say(Msg::BufferOverDevice, buffer.name, bytes, largest, "max_buffer_bytes"));
    }
    return {};
}

Result<> checkRunnable(const State& state, KernelForm form, const std::vector<bool>& constantInputs,
                       const Hardware& hardware)
{
    if (form != KernelForm::Launches)
        return {};
    LowerOptions options;
    options.form = form;
    options.constantInputs = constantInputs;
    LATHE_TRY_ASSIGN(const LoweredKernel kernel, lower(state, options));
    return checkLimits(state, kernel.nest, hardware);
}

} // namespace lathe::schedule
