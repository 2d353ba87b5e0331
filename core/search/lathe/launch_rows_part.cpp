#include "core/search/lathe/launch_rows_part.h"

#include "core/ir/bounds.h"
#include "core/search/lathe/launch_exchange.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

namespace {

class LaunchRowsPart final : public LaunchPart
{
public:
    LaunchRowsPart(const LaunchContext& context, const RowStages& stages)
        : m_machine(context.machine)
        , m_dag(context.analysis.dag())
        , m_stages(stages)
    {
        for (std::int64_t t = 16; t <= std::min<std::int64_t>({m_stages.length, m_machine.maxThreads, 1024}); t *= 2)
            m_threads.push_back(t);
        if (m_threads.empty())
            m_threads = {std::min(m_stages.length, m_machine.maxThreads)};
        for (const compute::Op& op : m_dag.ops)
            if (op.kind == compute::OpKind::Placeholder)
                m_bytes += static_cast<double>(compute::spatialSize(op) * sizeOf(op.dtype));
    }

    std::vector<Parameter> parameters() const override
    {
        std::vector<Parameter> open = {launchChoice("threads " + op(m_stages.owner).name, m_threads)};
        if (const std::vector<std::int64_t> ways = exchangesOf(m_machine); ways.size() > 1 && !m_stages.sums.empty())
            open.push_back(launchChoice("exchange " + op(m_stages.owner).name, ways));
        return open;
    }

    Result<LaunchFacts> facts(std::span<const std::int32_t> genes) const override
    {
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])];
        LaunchFacts f;
        f.blocks = static_cast<double>(m_stages.rows);
        f.threads = static_cast<double>(threads);
        std::int64_t bytes = 0;
        const auto take = [&bytes](std::int64_t elements, const compute::Op& o) {
            bytes += ir::ceilDivide(elements * sizeOf(o.dtype), 16) * 16;
        };
        // All threads go equally often: past the end of the row, what is kept has room for it.
        for (const std::int32_t kept : m_stages.kept)
            take(op(kept).shape.back() == m_stages.length ? ir::ceilDivide(m_stages.length, threads) * threads : 1,
                 op(kept));
        ExchangeFacts exchanged; // of all sums
        for (const std::int32_t sum : m_stages.sums) {
            LATHE_TRY_ASSIGN(const ExchangeFacts one,
                             exchangeFacts(exchangeOf(genes), threads, {sizeOf(op(sum).dtype)}, m_machine));
            bytes += one.sharedBytes;
            take(1, op(sum));
            exchanged.arithmetic += one.arithmetic;
            exchanged.sharedAccesses += one.sharedAccesses;
            exchanged.barriers += one.barriers + 1;
        }
        f.sharedBytes = static_cast<double>(bytes);
        if (bytes > m_machine.sharedBytes)
            return makeError(Errc::IllegalSchedule, say(Msg::RowOverShared));
        const auto each = static_cast<double>(ir::ceilDivide(m_stages.length, threads));
        const auto sums = static_cast<double>(m_stages.sums.size()), kept = static_cast<double>(m_stages.kept.size());
        f.steps = each;
        f.slices = f.threads;
        f.flops = static_cast<double>(m_stages.rows * m_stages.length) * (sums + 1);
        f.bytes = m_bytes + static_cast<double>(m_stages.rows * m_stages.length * sizeOf(op(m_stages.owner).dtype));
        f.arithmetic = (sums + kept + 1) * each * 6 + exchanged.arithmetic;
        f.accesses = (sums + 1) * each;
        f.sharedAccesses = (kept + 1) * each + exchanged.sharedAccesses;
        f.segments = f.accesses * static_cast<double>(m_machine.warp) * 4 / 32;
        f.waits = (sums + 1) * std::ceil(each / 4);
        f.barriers = exchanged.barriers + kept;
        f.finish(m_machine);
        return f;
    }

    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override
    {
        const std::int64_t threads = m_threads[static_cast<std::size_t>(genes[0])];
        emitElements(m_stages.owner, threads, emitter);
        // Readers before what they read.
        for (std::int32_t id = m_stages.owner - 1; id >= 0; --id) {
            if (std::find(m_stages.kept.begin(), m_stages.kept.end(), id) != m_stages.kept.end())
                emitElements(id, threads, emitter);
            else if (std::find(m_stages.sums.begin(), m_stages.sums.end(), id) != m_stages.sums.end())
                emitSum(id, threads, exchangeOf(genes), emitter);
        }
    }

private:
    Exchange exchangeOf(std::span<const std::int32_t> genes) const { return search::exchangeOf(m_machine, genes, 1); }
    const compute::Op& op(std::int32_t id) const { return m_dag.ops[static_cast<std::size_t>(id)]; }

    void emitElements(std::int32_t id, std::int64_t threads, StepEmitter& emitter) const
    {
        const auto rank = static_cast<std::int32_t>(op(id).shape.size());
        const std::int32_t stage = emitter.stageOf(id);
        const bool isWide = op(id).shape.back() == m_stages.length;
        StageLoops loops(emitter, stage, rank);
        if (isWide)
            loops.split(rank - 1, m_stages.length, {threads});
        if (id == m_stages.owner) {
            loops.fuseOuter(rank - 1);
            loops.annotateOutermost(Annotation::BlockX);
        } else {
            emitter.add(ComputeAtStep{stage, emitter.stageOf(m_stages.owner), 0});
        }
        if (isWide)
            loops.annotate({rank - 1, 1}, Annotation::ThreadX);
    }

    void emitSum(std::int32_t id, std::int64_t threads, Exchange exchange, StepEmitter& emitter) const
    {
        const auto rank = static_cast<std::int32_t>(op(id).shape.size());
        const std::int32_t stage = emitter.stageOf(id);
        emitter.add(ComputeAtStep{stage, emitter.stageOf(m_stages.owner), 0});
        emitter.add(SplitStep{stage, rank, m_stages.length, {threads}, true});
        emitter.add(AnnotateStep{stage, rank + 1, Annotation::ThreadX});
        emitExchange(exchange, stage, rank + 1, m_machine, emitter);
    }

    LaunchMachine m_machine;
    const compute::Dag& m_dag;
    RowStages m_stages;
    std::vector<std::int64_t> m_threads;
    double m_bytes = 0;
};

} // namespace

std::unique_ptr<LaunchPart> makeLaunchRowsPart(const LaunchContext& context, const RowStages& stages)
{
    return std::make_unique<LaunchRowsPart>(context, stages);
}

} // namespace lathe::search
