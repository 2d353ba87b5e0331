#include "core/ir/bounds.h"
#include "core/search/lathe/launch_exchange.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

namespace {

constexpr std::int64_t kLeastSteps = 32; ///< sums of fewer are not worth a block

/// A reduction to few values: a block for each, whose threads add up parts of it and then each other's.
class LaunchTreePart final : public LaunchPart
{
public:
    LaunchTreePart(const LaunchContext& context, const Nest& nest)
        : m_machine(context.machine)
        , m_owner(nest.owner)
        , m_anchor(nest.anchor)
        , m_op(context.analysis.dag().ops[static_cast<std::size_t>(nest.anchor)])
        , m_operands(operandsOf(context.analysis.dag(), nest.anchor))
        , m_steps(compute::reduceSize(m_op))
        , m_sums(compute::spatialSize(m_op))
    {
        for (std::int64_t t = 16; t <= std::min<std::int64_t>({m_steps, m_machine.maxThreads, 1024}); t *= 2)
            m_threads.push_back(t);
        for (const std::int64_t u : {1, 4, 16})
            if (u == 1 || u * 16 <= m_steps)
                m_unroll.push_back(u);
        if (m_op.bodies[0]->kind == ir::ExprKind::Reduce && m_op.bodies[0]->combiner >= ir::Combiner::ArgMax)
            m_exchanged.push_back(sizeOf(m_op.bodies[0]->operands[1]->dtype));
        m_exchanged.push_back(sizeOf(m_op.dtype));
    }

    bool isWorthIt() const
    {
        return m_steps >= kLeastSteps && !m_threads.empty() && m_op.bodies.size() == 1
               && m_op.bodies[0]->kind == ir::ExprKind::Reduce;
    }

    std::vector<Parameter> parameters() const override
    {
        std::vector<Parameter> open = {launchChoice("threads " + m_op.name, m_threads),
                                       launchChoice("unroll " + m_op.name, m_unroll)};
        if (const std::vector<std::int64_t> ways = exchangesOf(m_machine); ways.size() > 1)
            open.push_back(launchChoice("exchange " + m_op.name, ways));
        return open;
    }

    Result<LaunchFacts> facts(std::span<const std::int32_t> genes) const override
    {
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])];
        const std::int64_t unroll = m_unroll[static_cast<std::size_t>(genes[1])];
        LaunchFacts f;
        if (unroll > 1 && ir::ceilDivide(m_steps, threads) < unroll)
            return makeError(Errc::IllegalSchedule, say(Msg::FewerStepsThanUnrolled));
        f.blocks = static_cast<double>(m_sums);
        f.threads = static_cast<double>(threads);
        LATHE_TRY_ASSIGN(const ExchangeFacts exchanged,
                         exchangeFacts(exchangeOf(genes), threads, m_exchanged, m_machine));
        // The sum itself, where another stage of the block reads it.
        const std::int64_t ownBytes = m_owner == m_anchor ? 0 : ir::ceilDivide(sizeOf(m_op.dtype), 16) * 16;
        f.sharedBytes = static_cast<double>(exchanged.sharedBytes + ownBytes);
        f.steps = static_cast<double>(ir::ceilDivide(m_steps, threads));
        f.unrolled = static_cast<double>(unroll);
        f.slices = f.threads;
        f.flops = 2 * static_cast<double>(m_steps * m_sums);
        f.arithmetic = f.steps * 3 / f.unrolled + f.steps + exchanged.arithmetic;
        f.sharedAccesses = exchanged.sharedAccesses;
        f.barriers = exchanged.barriers;
        f.bytes = static_cast<double>(m_sums * sizeOf(m_op.dtype));
        const std::size_t last = m_op.reduceAxes.size() - 1;
        for (const Operand& o : m_operands) {
            f.bytes += static_cast<double>(elementCount(o.shape) * o.elementBytes);
            f.accesses += f.steps;
            // Neighbouring threads take neighbouring steps.
            std::int64_t stride = 0, next = 1;
            for (std::size_t d = o.indices.size(); d-- > 0; next *= o.shape[d])
                stride += std::abs(o.indices[d].reduce[last]) * next;
            const double apart = std::min<double>(32, static_cast<double>(stride * o.elementBytes));
            f.segments += f.steps * std::max(1.0, static_cast<double>(m_machine.warp) * apart / 32);
        }
        f.waits = f.accesses
                  / std::min(16.0, f.unrolled * static_cast<double>(std::max<std::size_t>(1, m_operands.size())));
        f.finish(m_machine);
        return f;
    }

    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override
    {
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])];
        const std::int64_t unroll = m_unroll[static_cast<std::size_t>(genes[1])];
        const std::int32_t owner = emitter.stageOf(m_owner), sums = emitter.stageOf(m_anchor);
        const auto rank = static_cast<std::int32_t>(m_op.shape.size());
        const auto fuse = [&emitter](std::int32_t stage, std::int32_t first, std::int32_t count) {
            FuseStep step{stage, {}};
            for (std::int32_t i = 0; i < count; ++i)
                step.iters.push_back(first + i);
            if (count != 1)
                emitter.add(std::move(step));
        };
        std::int32_t first = 0; // of the loops over steps
        if (rank > 0 || owner != sums) {
            fuse(owner, 0, rank);
            emitter.add(AnnotateStep{owner, 0, Annotation::BlockX});
            first = 1;
        }
        if (owner != sums) {
            emitter.add(ComputeAtStep{sums, owner, 0});
            first = rank;
        }
        fuse(sums, first, static_cast<std::int32_t>(m_op.reduceAxes.size()));
        if (unroll == 1) {
            emitter.add(SplitStep{sums, first, m_steps, {threads}, true});
            emitter.add(AnnotateStep{sums, first + 1, Annotation::ThreadX});
            emitExchange(exchangeOf(genes), sums, first + 1, m_machine, emitter);
            return;
        }
        emitter.add(SplitStep{sums, first, m_steps, {unroll, threads}, true});
        emitter.add(AnnotateStep{sums, first + 1, Annotation::Unroll});
        emitter.add(AnnotateStep{sums, first + 2, Annotation::ThreadX});
        emitExchange(exchangeOf(genes), sums, first + 2, m_machine, emitter);
    }

private:
    Exchange exchangeOf(std::span<const std::int32_t> genes) const { return search::exchangeOf(m_machine, genes, 2); }
    LaunchMachine m_machine;
    std::int32_t m_owner, m_anchor;
    const compute::Op& m_op;
    std::vector<Operand> m_operands;
    std::int64_t m_steps, m_sums;
    std::vector<std::int64_t> m_threads, m_unroll;
    std::vector<std::int64_t> m_exchanged; ///< bytes of each value that threads exchange
};

} // namespace

std::unique_ptr<LaunchPart> makeLaunchTreePart(const LaunchContext& context, const Nest& nest)
{
    auto part = std::make_unique<LaunchTreePart>(context, nest);
    return part->isWorthIt() ? std::move(part) : nullptr;
}

} // namespace lathe::search
