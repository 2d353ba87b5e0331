#pragma once

#include "core/schedule/state.h"
#include "core/support/random.h"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace lathe::schedule::test {

/// Applies random steps; those that are refused do not count.
class RandomScheduler
{
public:
    RandomScheduler(compute::DagPtr dag, std::uint64_t seed)
        : m_state(State::initial(std::move(dag)))
        , m_random(seed)
    {
    }

    State run()
    {
        for (std::size_t i = 0; i < m_state.stages().size(); ++i)
            if (chance(2))
                tryStep(ComputeInlineStep{static_cast<std::int32_t>(i)});
        for (std::int32_t id = static_cast<std::int32_t>(m_state.stages().size()) - 1; id >= 0; --id)
            if (isReduction(id) && chance(2))
                tryStep(CacheWriteStep{id, "local"});
        if (chance(4))
            tryStep(CacheReadStep{0, "local", {1}});
        for (std::int32_t id = static_cast<std::int32_t>(m_state.stages().size()) - 1; id >= 0; --id)
            scheduleStage(id);
        return m_state;
    }

private:
    bool chance(std::uint64_t n) { return m_random.below(n) == 0; }
    void tryStep(Step step)
    {
        if (const auto applied = m_state.apply(std::move(step)); !applied)
            return;
    }
    bool isReduction(std::int32_t id) const
    {
        return !m_state.dag()->ops[static_cast<std::size_t>(id)].reduceAxes.empty();
    }
    const Stage& stage(std::int32_t id) const { return m_state.stages()[static_cast<std::size_t>(id)]; }
    std::int32_t iterCount(std::int32_t id) const { return static_cast<std::int32_t>(stage(id).iters.size()); }

    void scheduleStage(std::int32_t id)
    {
        const compute::Op& op = m_state.dag()->ops[static_cast<std::size_t>(id)];
        if (chance(4) && !op.shape.empty())
            layout(id);
        if (op.kind == compute::OpKind::Placeholder || stage(id).location == Location::Inlined)
            return;
        // Consumers were scheduled before: attach to one of their loops.
        if (chance(2) && id + 1 < static_cast<std::int32_t>(m_state.stages().size())) {
            const std::int32_t target = id + 1
                                        + static_cast<std::int32_t>(
                                            m_random.below(m_state.stages().size() - static_cast<std::size_t>(id) - 1));
            if (iterCount(target) > 0)
                tryStep(ComputeAtStep{
                    id, target,
                    static_cast<std::int32_t>(m_random.below(static_cast<std::uint64_t>(iterCount(target))))});
        }
        for (int n = static_cast<int>(m_random.below(4)); n-- > 0 && iterCount(id) > 0;) {
            const auto at = static_cast<std::int32_t>(m_random.below(static_cast<std::uint64_t>(iterCount(id))));
            std::vector<std::optional<std::int64_t>> lengths{static_cast<std::int64_t>(1 + m_random.below(5))};
            if (chance(3))
                lengths.emplace_back(static_cast<std::int64_t>(1 + m_random.below(3)));
            if (chance(4))
                tryStep(OverlapStep{id, at, *lengths[0]});
            else
                tryStep(SplitStep{id, at, 0, lengths, !chance(4)});
        }
        if (chance(2)) {
            std::vector<std::int32_t> order(static_cast<std::size_t>(iterCount(id)));
            std::iota(order.begin(), order.end(), 0);
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[m_random.below(i)]);
            tryStep(ReorderStep{id, order});
        }
        if (chance(2) && stage(id).location == Location::Root)
            parallel(id);
        for (std::int32_t i = 0; i < iterCount(id); ++i) {
            if (chance(4))
                tryStep(PartitionStep{id, i});
            if (stage(id).iters[static_cast<std::size_t>(i)].annotation == Annotation::None && chance(4))
                tryStep(AnnotateStep{id, i, Annotation::Unroll});
        }
        const std::int32_t last = iterCount(id) - 1;
        if (last >= 0 && chance(2) && stage(id).iters.back().kind == IterKind::Spatial
            && stage(id).iters.back().annotation == Annotation::None)
            tryStep(AnnotateStep{id, last, Annotation::Vectorize});
        if (last >= 0 && chance(2))
            tryStep(PragmaStep{id, 0, chance(2) ? "auto_unroll_max_step$16" : "auto_unroll_max_step$64"});
    }

    void parallel(std::int32_t id)
    {
        std::int32_t count = 0;
        while (count < iterCount(id) && stage(id).iters[static_cast<std::size_t>(count)].kind == IterKind::Spatial)
            ++count;
        if (count == 0)
            return;
        count = 1 + static_cast<std::int32_t>(m_random.below(static_cast<std::uint64_t>(count)));
        std::vector<std::int32_t> outer(static_cast<std::size_t>(count));
        std::iota(outer.begin(), outer.end(), 0);
        tryStep(FuseStep{id, outer});
        if (stage(id).iters[0].kind == IterKind::Spatial)
            tryStep(AnnotateStep{id, 0, Annotation::Parallel});
    }

    void layout(std::int32_t id)
    {
        const auto& shape = m_state.dag()->ops[static_cast<std::size_t>(id)].shape;
        const auto dim = static_cast<std::int32_t>(m_random.below(shape.size()));
        const std::int64_t inner = 1 + static_cast<std::int64_t>(m_random.below(5));
        std::vector<LayoutStep::Axis> axes{{dim, inner, (shape[static_cast<std::size_t>(dim)] + inner - 1) / inner}};
        for (std::size_t d = 0; d < shape.size(); ++d)
            if (static_cast<std::int32_t>(d) != dim)
                axes.push_back({static_cast<std::int32_t>(d), 1, shape[d]});
        axes.push_back({dim, 1, inner});
        tryStep(LayoutStep{id, axes});
    }

    State m_state;
    Random m_random;
};

} // namespace lathe::schedule::test
