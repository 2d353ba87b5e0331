#include "core/search/reference/annotate.h"

#include "core/support/message.h"

#include <algorithm>
#include <charconv>

namespace lathe::search {
namespace {

using namespace schedule;

const std::vector<std::int32_t> kCpuUnroll = {0, 16, 64, 512};
const std::vector<std::int32_t> kGpuUnroll = {0, 16, 64, 512, 1024};

Error illegalAnnotation(std::string text)
{
    return makeError(Errc::IllegalSchedule, std::move(text));
}

/// The initial population's rules on one state. Decisions are read from the genome or, with a generator, drawn into it.
class Annotator
{
public:
    Annotator(const SketchRuleContext& context, State& state, Genome& genome, std::size_t firstSlot, Random* random,
              const std::vector<std::int32_t>& unroll)
        : m_context(context)
        , m_state(state)
        , m_genome(genome)
        , m_firstSlot(firstSlot)
        , m_random(random)
        , m_unroll(unroll)
    {
    }

    Result<> run(bool cpuRules, bool gpuBinding, bool vectorize)
    {
        if (cpuRules) {
            LATHE_TRY(changeLocations());
            LATHE_TRY(parallelize());
        }
        if (gpuBinding)
            LATHE_TRY(bindThreads());
        LATHE_TRY(unroll());
        if (vectorize)
            LATHE_TRY(vectorizeInner());
        return {};
    }

private:
    std::int32_t stageCount() const { return static_cast<std::int32_t>(m_state.stages().size()); }
    const Stage& stage(std::int32_t i) const { return m_state.stages()[static_cast<std::size_t>(i)]; }
    const std::vector<Iterator>& iters(std::int32_t i) const { return stage(i).iters; }

    /// One of `count` options.
    Result<std::int32_t> decide(std::int32_t stageId, ReferenceSketch::Slot slot, std::int32_t count)
    {
        std::int32_t& gene =
            m_genome[m_firstSlot + static_cast<std::size_t>(stageId) * ReferenceSketch::SlotCount + slot];
        if (m_random)
            gene = static_cast<std::int32_t>(m_random->below(static_cast<std::uint64_t>(count)));
        if (gene < 0 || gene >= count)
            return illegalAnnotation("stage " + std::to_string(stageId) + " has " + std::to_string(count)
                                     + " options, not number " + std::to_string(gene));
        return gene;
    }
    /// Like decide, but the initial population always takes the default.
    Result<std::int32_t> decideLater(std::int32_t stageId, ReferenceSketch::Slot slot, std::int32_t count)
    {
        std::int32_t& gene =
            m_genome[m_firstSlot + static_cast<std::size_t>(stageId) * ReferenceSketch::SlotCount + slot];
        if (m_random)
            gene = 0;
        if (gene < 0 || gene >= count)
            return illegalAnnotation("stage " + std::to_string(stageId) + " has no option " + std::to_string(gene));
        return gene;
    }

    bool hasAttached(std::int32_t target, std::int32_t iter) const { return !attached(target, iter).empty(); }
    std::vector<std::int32_t> attached(std::int32_t target, std::int32_t iter) const
    {
        std::vector<std::int32_t> found;
        for (std::int32_t i = 0; i < stageCount(); ++i)
            if (stage(i).location == Location::At && stage(i).attachStage == target && stage(i).attachIter == iter)
                found.push_back(i);
        return found;
    }
    std::int32_t rootOf(std::int32_t i) const
    {
        return stage(i).location == Location::At ? rootOf(stage(i).attachStage) : i;
    }

    /// The one consumer, or the common root of several; -1: none.
    std::int32_t singleConsumer(const StateView& view, std::int32_t i) const
    {
        const std::set<std::int32_t> consumers = view.consumers(i);
        if (consumers.size() == 1)
            return *consumers.begin();
        std::int32_t root = -1;
        for (const std::int32_t c : consumers) {
            if (root >= 0 && rootOf(c) != root)
                return -1;
            root = rootOf(c);
        }
        return root;
    }

    std::vector<std::pair<std::int32_t, std::int32_t>> locations(const StateView& view, std::int32_t i) const
    {
        std::vector<std::pair<std::int32_t, std::int32_t>> found;
        const std::int32_t target = singleConsumer(view, i);
        if (target < 0)
            return found;
        const bool elsewhere = stage(target).location == Location::At;
        const bool tiled = view.isTiled(target);
        bool reduced = false;
        for (std::int32_t k = 0; k < static_cast<std::int32_t>(iters(target).size()); ++k) {
            const Iterator& it = iters(target)[static_cast<std::size_t>(k)];
            if (it.kind == IterKind::Reduction) {
                reduced = true;
                if (!tiled)
                    break;
            } else if (it.kind == IterKind::Spatial && reduced) {
                break;
            }
            if (it.annotation == Annotation::Unroll)
                break;
            if (it.extent == 1 || (elsewhere && it.kind == IterKind::Spatial && it.name.ends_with(".0")))
                continue;
            found.emplace_back(target, k);
            if (hasAttached(target, k))
                break;
        }
        if (elsewhere) {
            const std::int32_t outer = stage(target).attachStage;
            for (std::int32_t k = 0; k < static_cast<std::int32_t>(iters(outer).size()); ++k) {
                const Iterator& it = iters(outer)[static_cast<std::size_t>(k)];
                if (it.kind == IterKind::Reduction || hasAttached(outer, k))
                    break;
                if (it.extent != 1)
                    found.emplace_back(outer, k);
            }
        }
        return found;
    }

    Result<> changeLocations()
    {
        for (std::int32_t i = stageCount() - 1; i >= 0; --i) {
            const StateView view(m_state);
            if (view.isPlaceholder(i) || view.isInlined(i) || view.isTiled(i) || view.needsTiling(i)
                || view.isOutput(i))
                continue;
            const auto candidates = locations(view, i);
            LATHE_TRY_ASSIGN(const std::int32_t choice,
                             decide(i, ReferenceSketch::Location, static_cast<std::int32_t>(candidates.size()) + 2));
            if (choice == 0) {
                if (!view.hasReduceIter(i) && stage(i).location == Location::At)
                    LATHE_TRY(m_state.apply(ComputeInlineStep{i}));
            } else if (choice == 1) {
                LATHE_TRY(m_state.apply(ComputeRootStep{i}));
            } else {
                const auto [target, iter] = candidates[static_cast<std::size_t>(choice) - 2];
                LATHE_TRY(m_state.apply(ComputeAtStep{i, target, iter}));
            }
            LATHE_TRY(m_state.inferBounds());
        }
        return {};
    }

    Result<> parallelStage(std::int32_t i, std::int32_t offset)
    {
        std::vector<std::int32_t> fuse;
        std::int64_t degree = 1;
        std::int32_t k = offset;
        const auto count = static_cast<std::int32_t>(iters(i).size());
        const std::int32_t depth = [&] {
            auto d = offset == 0 ? decideLater(i, ReferenceSketch::ParallelDepth, count + 1) : Result<std::int32_t>(0);
            return d ? *d : 0;
        }();
        for (; k < count; ++k) {
            const Iterator& it = iters(i)[static_cast<std::size_t>(k)];
            if (it.kind == IterKind::Reduction || it.annotation != Annotation::None || (depth > 0 && k >= depth))
                break;
            fuse.push_back(k);
            degree *= it.extent;
            if (depth == 0 && degree > 16 * m_context.cores)
                break;
            if (hasAttached(i, k))
                break;
        }
        if (degree == 1 && k < count && hasAttached(i, k)) {
            for (const std::int32_t inner : attached(i, k))
                LATHE_TRY(parallelStage(inner, 0));
            LATHE_TRY(parallelStage(i, k + 1));
        }
        if (fuse.empty())
            return {};
        const std::int32_t first = fuse.front();
        if (fuse.size() > 1)
            LATHE_TRY(m_state.apply(FuseStep{i, std::move(fuse)}));
        return m_state.apply(AnnotateStep{i, first, Annotation::Parallel});
    }

    Result<> parallelize()
    {
        const std::int32_t count = stageCount();
        for (std::int32_t i = 0; i < count; ++i)
            if (stage(i).location == Location::Root && !StateView(m_state).isPlaceholder(i))
                LATHE_TRY(parallelStage(i, 0));
        return {};
    }

    Result<> unroll()
    {
        for (std::int32_t i = 0; i < stageCount(); ++i) {
            const StateView view(m_state);
            if (view.isInlined(i) || view.isPlaceholder(i) || !view.hasReduceIter(i))
                continue;
            LATHE_TRY_ASSIGN(const std::int32_t choice,
                             decide(i, ReferenceSketch::Unroll, static_cast<std::int32_t>(m_unroll.size())));
            LATHE_TRY(m_state.apply(PragmaStep{
                i, 0, "auto_unroll_max_step$" + std::to_string(m_unroll[static_cast<std::size_t>(choice)])}));
        }
        return {};
    }

    Result<> vectorizeInner()
    {
        for (std::int32_t i = 0; i < stageCount(); ++i) {
            const StateView view(m_state);
            if (view.isInlined(i) || view.isPlaceholder(i))
                continue;
            const auto count = static_cast<std::int32_t>(iters(i).size());
            std::int64_t product = 1;
            std::int32_t fusible = 0;
            while (fusible < count) {
                const std::int32_t k = count - 1 - fusible;
                const Iterator& it = iters(i)[static_cast<std::size_t>(k)];
                if (hasAttached(i, k) || it.kind == IterKind::Reduction || it.annotation != Annotation::None)
                    break;
                if (view.isTiled(i) && fusible != 0)
                    break;
                product *= it.extent;
                if (product > kMaxVectorizeSize)
                    break;
                ++fusible;
            }
            if (fusible > 1) {
                LATHE_TRY_ASSIGN(const std::int32_t extra, decide(i, ReferenceSketch::Vector, fusible - 1));
                fusible = 1 + extra;
            }
            if (fusible == 0)
                continue;
            if (fusible > 1) {
                FuseStep fuse{i, {}};
                for (std::int32_t k = count - fusible; k < count; ++k)
                    fuse.iters.push_back(k);
                LATHE_TRY(m_state.apply(std::move(fuse)));
            }
            LATHE_TRY(m_state.apply(AnnotateStep{i, count - fusible, Annotation::Vectorize}));
        }
        return {};
    }

    /// Fuses the outermost spatial iterators that nothing holds apart; position 0 is what remains of them.
    Result<> fuseOuterSpace(std::int32_t i)
    {
        FuseStep fuse{i, {}};
        for (std::int32_t k = 0; k < static_cast<std::int32_t>(iters(i).size()); ++k) {
            const Iterator& it = iters(i)[static_cast<std::size_t>(k)];
            if (it.kind == IterKind::Reduction || it.annotation != Annotation::None || (k > 0 && hasAttached(i, k - 1)))
                break;
            fuse.iters.push_back(k);
        }
        if (fuse.iters.size() == 1)
            return {};
        return m_state.apply(std::move(fuse));
    }

    /// Fuses the iterators of one tile level, which begin at `first`, and binds them; returns the extent.
    Result<std::int64_t> bindLevel(std::int32_t i, std::int32_t first, std::int32_t axes, std::string_view suffix,
                                   Annotation annotation)
    {
        FuseStep fuse{i, {}};
        for (std::int32_t k = first; k < first + axes; ++k) {
            if (!iters(i)[static_cast<std::size_t>(k)].name.ends_with(suffix))
                break;
            fuse.iters.push_back(k);
        }
        LATHE_TRY(m_state.apply(std::move(fuse)));
        LATHE_TRY(m_state.apply(AnnotateStep{i, first, annotation}));
        return iters(i)[static_cast<std::size_t>(first)].extent;
    }

    Result<> bindTiledRoot(std::int32_t i)
    {
        const compute::Op& op = m_state.dag()->ops[static_cast<std::size_t>(i)];
        const auto axes = static_cast<std::int32_t>(op.shape.size());
        const bool small = compute::spatialSize(op) * compute::reduceSize(op) <= 2 * m_context.warpSize;
        LATHE_TRY(bindLevel(i, 0, axes, ".0", Annotation::BlockX));
        LATHE_TRY_ASSIGN(const std::int64_t vthreads, bindLevel(i, 1, axes, ".1", Annotation::VThread));
        if (vthreads > m_context.maxVThread)
            return makeError(Errc::IllegalSchedule,
                             say(Msg::VirtualThreadsOver, vthreads, m_context.maxVThread, "max_vthread_extent"));
        LATHE_TRY_ASSIGN(const std::int64_t threads, bindLevel(i, 2, axes, ".2", Annotation::ThreadX));
        if (!small && threads < m_context.warpSize)
            return makeError(Errc::IllegalSchedule,
                             say(Msg::ThreadsUnderWarp, threads, m_context.warpSize, "warp_size"));
        if (m_context.maxThreads > 0 && threads > m_context.maxThreads)
            return makeError(Errc::IllegalSchedule,
                             say(Msg::ThreadsOverBlock, threads, m_context.maxThreads, "max_threads_per_block"));
        return {};
    }

    /// A factor of `extent`, or the default when the decision is 0.
    Result<std::int64_t> threadSplit(std::int32_t i, std::int64_t extent, std::int64_t byDefault)
    {
        const auto table = FactorTuples::get(extent, 1, kMaxInnermostSplitFactor);
        LATHE_TRY_ASSIGN(const std::int32_t choice, decideLater(i, ReferenceSketch::ThreadSplit, table->count() + 1));
        return choice == 0 ? byDefault : table->tuple(choice - 1)[0];
    }

    Result<> bindShared(std::int32_t i)
    {
        // The splits of the group's root, latest first, whose thread level gives the number of threads.
        std::vector<std::int32_t> sources;
        const std::int32_t tiled = stage(i).attachStage;
        const StateView view(m_state);
        std::int32_t spatial = static_cast<std::int32_t>(view.op(tiled).shape.size());
        for (std::size_t s = m_state.steps().size(); s-- > 0;) {
            const auto* split = std::get_if<SplitStep>(&m_state.steps()[s]);
            if (split && split->lengths.size() == 4 && spatial > 0) {
                sources.push_back(static_cast<std::int32_t>(s));
                --spatial;
            }
        }
        FuseStep all{i, {}};
        for (std::int32_t k = 0; k < static_cast<std::int32_t>(iters(i).size()); ++k)
            all.iters.push_back(k);
        LATHE_TRY(m_state.apply(std::move(all)));
        const std::int64_t extent = iters(i).front().extent;
        LATHE_TRY_ASSIGN(const std::int64_t length, threadSplit(i, extent, 1));
        LATHE_TRY(m_state.apply(SplitStep{i, 0, extent, {length}, true}));
        LATHE_TRY(m_state.apply(AnnotateStep{i, 1, Annotation::Vectorize}));
        LATHE_TRY(m_state.apply(FollowFusedSplitStep{i, 0, std::move(sources), 1, true}));
        return m_state.apply(AnnotateStep{i, 1, Annotation::ThreadX});
    }

    Result<> bindThreads()
    {
        std::set<std::int32_t> tiledRoots;
        for (std::int32_t i = 0; i < stageCount(); ++i) {
            const StateView view(m_state);
            if (!view.isPlaceholder(i) && !view.isInlined(i) && view.needsTiling(i)
                && stage(i).location == Location::At)
                tiledRoots.insert(stage(i).attachStage);
        }
        LATHE_TRY(m_state.inferBounds());
        for (std::int32_t i = stageCount() - 1; i >= 0; --i) {
            const StateView view(m_state);
            if (view.isInlined(i) || view.isPlaceholder(i))
                continue;
            if (view.hasCrossThreadReduction(i)) {
                if (stage(i).location != Location::Root)
                    continue;
                LATHE_TRY(fuseOuterSpace(i));
                LATHE_TRY(m_state.apply(AnnotateStep{i, 0, Annotation::BlockX}));
                continue;
            }
            if (std::any_of(iters(i).begin(), iters(i).end(),
                            [](const Iterator& it) { return it.annotation == Annotation::ThreadX; }))
                continue;
            if (stage(i).location == Location::Root) {
                if (tiledRoots.contains(i)) {
                    LATHE_TRY(bindTiledRoot(i));
                    continue;
                }
                LATHE_TRY(fuseOuterSpace(i));
                const std::int64_t extent = iters(i).front().extent;
                if (extent <= m_context.warpSize) {
                    LATHE_TRY(m_state.apply(AnnotateStep{i, 0, Annotation::ThreadX}));
                } else {
                    LATHE_TRY_ASSIGN(const std::int64_t length, threadSplit(i, extent, m_context.warpSize));
                    LATHE_TRY(m_state.apply(SplitStep{i, 0, extent, {length}, true}));
                    LATHE_TRY(m_state.apply(AnnotateStep{i, 0, Annotation::BlockX}));
                    LATHE_TRY(m_state.apply(AnnotateStep{i, 1, Annotation::ThreadX}));
                }
            } else if (stage(i).scope == "shared") {
                LATHE_TRY(bindShared(i));
            }
        }
        return {};
    }

    const SketchRuleContext& m_context;
    State& m_state;
    Genome& m_genome;
    std::size_t m_firstSlot;
    Random* m_random;
    const std::vector<std::int32_t>& m_unroll;
};

} // namespace

ReferenceSketch::ReferenceSketch(std::string name, std::string alternative, const State& sketch,
                                 const SketchRuleContext& context)
    : Sketch(std::move(name), std::move(alternative), sketch.baseDag())
    , m_context(context)
    , m_steps(sketch.steps())
    , m_stages(sketch.stages().size())
{
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        const auto* split = std::get_if<SplitStep>(&m_steps[i]);
        if (!split
            || std::all_of(split->lengths.begin(), split->lengths.end(), [](const auto& l) { return l.has_value(); }))
            continue;
        const auto tuples = FactorTuples::get(std::max<std::int64_t>(1, split->extent),
                                              static_cast<std::int32_t>(split->lengths.size()),
                                              kMaxInnermostSplitFactor);
        m_openSplits.push_back(i);
        m_parameters.push_back(
            {"split at step " + std::to_string(i), Parameter::Kind::Tile, tuples->count(), tuples, {}});
    }
    static constexpr const char* kSlots[SlotCount] = {"location", "parallel", "unroll", "vector", "thread split"};
    for (std::size_t s = 0; s < m_stages; ++s)
        for (std::size_t slot = 0; slot < SlotCount; ++slot)
            m_parameters.push_back({std::string(kSlots[slot]) + ' ' + sketch.dag()->ops[s].name,
                                    Parameter::Kind::Decision,
                                    64,
                                    nullptr,
                                    {}});
}

const std::vector<std::int32_t>& ReferenceSketch::unrollCandidates() const
{
    return m_context.gpuTests ? kGpuUnroll : kCpuUnroll;
}

Result<State> ReferenceSketch::annotate(Genome& genome, Random* random) const
{
    std::vector<Step> steps = m_steps;
    for (std::size_t g = 0; g < m_openSplits.size(); ++g) {
        if (random)
            genome[g] = static_cast<std::int32_t>(random->below(static_cast<std::uint64_t>(m_parameters[g].count)));
        auto& split = std::get<SplitStep>(steps[m_openSplits[g]]);
        const auto lengths = m_parameters[g].tuples->tuple(genome[g]);
        split.lengths.assign(lengths.begin(), lengths.end());
    }
    LATHE_TRY_ASSIGN(State state, State::replay(dag(), steps));
    LATHE_TRY(state.inferBounds());
    const bool mali = m_context.gpuTests && !m_context.gpu;
    Annotator annotator(m_context, state, genome, m_openSplits.size(), random, unrollCandidates());
    LATHE_TRY(annotator.run(!m_context.gpuTests, m_context.gpuTests, !m_context.gpuTests || mali));
    return state;
}

Result<State> ReferenceSketch::state(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    Genome copy = genome;
    return annotate(copy, nullptr);
}

Result<std::vector<Step>> ReferenceSketch::instantiate(const Genome& genome) const
{
    LATHE_TRY_ASSIGN(const State made, state(genome));
    return made.steps();
}

Result<State> ReferenceSketch::sample(Random& random, Genome& genome) const
{
    genome.assign(m_parameters.size(), 0);
    return annotate(genome, &random);
}

bool ReferenceSketch::mutate(Random& random, Genome& genome) const
{
    const auto slotGene = [&](Slot slot) { return m_openSplits.size() + random.below(m_stages) * SlotCount + slot; };
    const double dice = random.uniform();
    const double tileShare = 0.90, unrollShare = m_context.gpuTests ? 0.10 : 0.04, locationShare = 0.05;
    if (dice < tileShare) {
        if (m_openSplits.empty())
            return false;
        const std::size_t g = random.below(m_openSplits.size());
        const FactorTuples& table = *m_parameters[g].tuples;
        if (table.extent() <= 1)
            return false;
        const auto tuple = table.tuple(genome[g]);
        std::vector<std::int64_t> parts(tuple.begin(), tuple.end());
        std::int64_t inner = 1;
        for (const std::int64_t p : parts)
            inner *= p;
        parts.insert(parts.begin(), table.extent() / inner);
        // A random factor moves from one part to another.
        std::vector<std::size_t> order(parts.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        for (std::size_t i = order.size() - 1; i > 0; --i)
            std::swap(order[i], order[random.below(i + 1)]);
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            const std::vector<std::int64_t> factors = divisors(parts[order[i]]);
            if (factors.size() < 2)
                continue;
            const std::int64_t factor = factors[1 + random.below(factors.size() - 1)];
            std::vector<std::int64_t> moved = parts;
            moved[order[i]] /= factor;
            moved[order[i + 1]] *= factor;
            const std::int32_t index = table.indexOf(std::span(moved).subspan(1));
            if (index < 0)
                continue; // the innermost part would be too long
            genome[g] = index;
            return true;
        }
        return false;
    }
    if (dice < tileShare + unrollShare) {
        genome[slotGene(Unroll)] = static_cast<std::int32_t>(random.below(unrollCandidates().size()));
        return true;
    }
    if (dice < tileShare + unrollShare + locationShare) {
        genome[slotGene(Location)] = static_cast<std::int32_t>(random.below(16));
        return true;
    }
    genome[slotGene(ParallelDepth)] = static_cast<std::int32_t>(1 + random.below(8));
    return true;
}

} // namespace lathe::search
