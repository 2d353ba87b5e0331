#include "core/ir/bounds.h"
#include "core/search/lathe/launch_part.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

namespace {

/// Operations without a sum: each thread has a vector or a few of its own, no thread goes over the tensor in a loop.
class LaunchMapPart final : public LaunchPart
{
public:
    LaunchMapPart(const LaunchContext& context, const Nest& nest)
        : m_machine(context.machine)
        , m_owner(nest.owner)
        , m_op(context.analysis.dag().ops[static_cast<std::size_t>(nest.owner)])
        , m_operands(operandsOf(context.analysis.dag(), nest.owner))
        , m_elements(compute::spatialSize(m_op))
    {
        if (!m_op.shape.empty() && readsAlong(context.analysis, nest.owner))
            m_lanes = launchLanes(m_op.shape.back(), sizeOf(m_op.dtype), m_machine);
        for (std::int64_t t = 32; t <= std::min<std::int64_t>(m_machine.maxThreads, 1024); t *= 2)
            if (t < 2 * m_elements || t == 32)
                m_threads.push_back(std::min(t, m_machine.maxThreads));
        if (m_threads.empty())
            m_threads = {m_machine.maxThreads};
        m_bytes = static_cast<double>(m_elements * sizeOf(m_op.dtype));
        for (const Operand& o : m_operands)
            m_bytes += static_cast<double>(elementCount(o.shape) * o.elementBytes);
    }

    std::vector<Parameter> parameters() const override
    {
        return {launchChoice("threads " + m_op.name, m_threads), launchChoice("lanes " + m_op.name, m_lanes),
                launchChoice("own " + m_op.name, {1, 2, 4})};
    }

    Result<LaunchFacts> facts(std::span<const std::int32_t> genes) const override
    {
        const std::int64_t lanes = m_lanes[static_cast<std::size_t>(genes[1])], own = std::int64_t{1} << genes[2];
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])], vectors = m_elements / lanes;
        LaunchFacts f;
        if (own > 1 && own * threads > vectors)
            return makeError(Errc::IllegalSchedule, say(Msg::BlockOfTooFew));
        f.blocks = static_cast<double>(ir::ceilDivide(vectors, own * threads));
        f.threads = static_cast<double>(threads);
        f.sums = static_cast<double>(own * lanes);
        f.lanes = static_cast<double>(lanes);
        f.registers = 12 + f.sums * static_cast<double>(m_operands.size());
        f.unrolled = static_cast<double>(own);
        f.flops = static_cast<double>(m_elements);
        f.waste = f.blocks * f.threads * f.sums / static_cast<double>(m_elements);
        f.bytes = m_bytes;
        f.arithmetic = 4 * f.sums + 8;
        f.accesses = static_cast<double>(own) * static_cast<double>(m_operands.size() + 1);
        const double warp = static_cast<double>(std::min(m_machine.warp, threads) * lanes * sizeOf(m_op.dtype));
        f.segments = f.accesses * std::ceil(warp / 32);
        f.waits = 1;
        f.finish(m_machine);
        return f;
    }

    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override
    {
        emitLaunchMap(emitter, emitter.stageOf(m_owner), m_op.shape, m_lanes[static_cast<std::size_t>(genes[1])],
                      std::int64_t{1} << genes[2], m_threads[static_cast<std::size_t>(genes[0])]);
    }

private:
    /// Whether all that is read, directly or through maps without loops of their own, lies along the last dimension or
    /// does not depend on it, and no condition does.
    static bool readsAlong(const compute::Analysis& analysis, std::int32_t id)
    {
        const compute::Op& op = analysis.dag().ops[static_cast<std::size_t>(id)];
        if (op.bodies.size() != 1 || op.axes.empty() || analysis.op(id).hasBranch)
            return false;
        for (const Operand& o : operandsOf(analysis.dag(), id)) {
            if (o.usesSpatial(op.axes.size() - 1) && !o.contiguousIn(op.axes.size() - 1))
                return false;
            const compute::Op& producer = analysis.dag().ops[static_cast<std::size_t>(o.producer)];
            if (producer.kind != compute::OpKind::Placeholder && producer.reduceAxes.empty()
                && o.usesSpatial(op.axes.size() - 1) && !readsAlong(analysis, o.producer))
                return false;
        }
        return true;
    }

    LaunchMachine m_machine;
    std::int32_t m_owner;
    const compute::Op& m_op;
    std::vector<Operand> m_operands;
    std::int64_t m_elements;
    std::vector<std::int64_t> m_threads, m_lanes = {1};
    double m_bytes = 0;
};

} // namespace

std::unique_ptr<LaunchPart> makeLaunchMapPart(const LaunchContext& context, const Nest& nest)
{
    return std::make_unique<LaunchMapPart>(context, nest);
}

} // namespace lathe::search
