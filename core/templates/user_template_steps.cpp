#include "core/templates/user_template_steps.h"

#include "core/ir/bounds.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace lathe::templates {
namespace {

using schedule::Annotation;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

/// Applies a definition's steps to a nest.
class Application
{
public:
    Application(const UserDefinition& definition, const Scheduled& scheduled, const Config& config)
        : m_definition(definition)
        , m_scheduled(scheduled)
        , m_nest(scheduled.nest)
        , m_config(config)
        , m_emitter(scheduled.dag.ops.size())
        , m_sum(m_emitter, sumStage(m_emitter, m_nest.anchor, m_nest.owner), m_nest.loops)
        , m_store(m_emitter, m_emitter.stageOf(m_nest.owner), definition.pattern == Pattern::Dense ? 2 : 4)
    {
    }

    Result<std::vector<schedule::Step>> run()
    {
        for (const UserStep& step : m_definition.steps)
            if (step.condition.empty() || m_config.number(step.condition).value_or(0) != 0)
                LATHE_TRY(apply(step));
        annotateLoops();
        if (m_shared > 0) {
            m_store.fuseOuter(m_shared);
            m_store.annotateOutermost(Annotation::Parallel);
        }
        inlineWithBorder(m_emitter, m_nest);
        return m_emitter.take();
    }

private:
    std::int32_t axisIndex(const UserAxis& axis) const
    {
        return axis.summed ? m_nest.reduce[axis.place] : m_nest.spatial[axis.place];
    }
    LoopPart part(const UserLoop& loop) const { return {axisIndex(*loop.axis), loop.part}; }
    std::size_t partsOf(const UserAxis& axis) const
    {
        const auto split = m_sizes.find(axis.name);
        return split == m_sizes.end() ? 1 : split->second.size();
    }
    std::int64_t extentOf(const UserAxis& axis) const
    {
        const compute::Op& op = m_scheduled.anchor();
        const auto index = static_cast<std::size_t>(axisIndex(axis));
        return axis.summed ? op.reduceExtents[index - op.shape.size()] : op.shape[index];
    }
    std::int64_t extentOf(const UserLoop& loop) const
    {
        const auto split = m_sizes.find(loop.axis->name);
        return split != m_sizes.end() ? split->second[static_cast<std::size_t>(loop.part)] : extentOf(*loop.axis);
    }

    Result<> exists(const UserLoop& loop) const
    {
        if (static_cast<std::size_t>(loop.part) < partsOf(*loop.axis))
            return {};
        return makeError(Errc::InvalidArgument, say(Msg::UserTemplateNoPart,
                                                    fmt::format("{}.{}", loop.axis->name, loop.part), loop.axis->name));
    }

    Result<> apply(const UserStep& step)
    {
        for (const UserLoop& loop : step.loops)
            if (step.verb != UserVerb::Split)
                LATHE_TRY(exists(loop));
        switch (step.verb) {
        case UserVerb::Split: return split(step);
        case UserVerb::Order: return order(step);
        case UserVerb::SumAt:
            m_emitter.add(
                schedule::ComputeAtStep{m_sum.stage(), m_store.stage(), m_store.position(part(step.loops.front()))});
            break;
        case UserVerb::Unroll: m_unrolled.push_back(step.loops.front()); break;
        case UserVerb::Vectorize: m_vectors.push_back(step.loops.front()); break;
        case UserVerb::Pack: return pack(step);
        case UserVerb::Parallel: m_shared = step.count; break;
        }
        return {};
    }

    Result<> split(const UserStep& step)
    {
        const UserAxis& axis = *step.loops.front().axis;
        if (m_sizes.contains(axis.name))
            return makeError(Errc::InvalidArgument, say(Msg::UserTemplateSplitTwice, axis.name));
        const std::int64_t extent = extentOf(axis);
        LATHE_TRY_ASSIGN(std::vector<std::int64_t> sizes,
                         splitSizes(m_config, step.knob, m_definition.find(step.knob)->parts, extent));
        const std::vector<std::int64_t> inner(sizes.begin() + 1, sizes.end());
        const std::int32_t index = axisIndex(axis);
        // Elements that a tail would repeat must not be summed twice.
        if (axis.summed) {
            m_sum.split(index, extent, inner);
        } else {
            m_sum.cover(index, extent, inner);
            m_store.cover(index, extent, inner);
        }
        m_sizes[axis.name] = std::move(sizes);
        return {};
    }

    Result<> order(const UserStep& step)
    {
        std::vector<LoopPart> ofSum, ofStore;
        for (const UserLoop& loop : step.loops) {
            ofSum.push_back(part(loop));
            if (!loop.axis->summed)
                ofStore.push_back(part(loop));
        }
        std::size_t wanted = 0;
        for (const UserAxis& axis : axesOf(m_definition.pattern))
            wanted += partsOf(axis);
        if (ofSum.size() != wanted)
            return makeError(Errc::InvalidArgument, say(Msg::UserTemplateOrder, ofSum.size(), wanted));
        m_sum.reorder(std::move(ofSum));
        m_store.reorder(std::move(ofStore));
        return {};
    }

    /// Vectors first, since what is unrolled around them is counted in vectors. Both come after all other steps, when
    /// all loops have their extents.
    void annotateLoops()
    {
        std::int64_t ofSum = 1, ofStore = 1; // vectors that are written out for one iteration of what is around them
        std::vector<UserLoop> taken;
        for (const UserLoop& loop : m_vectors) {
            const std::int64_t extent = extentOf(loop);
            const std::int64_t vectors = ir::ceilDivide(extent, m_scheduled.fullLanes());
            if (extent == 1 || vectors > kMostAccumulators
                || std::find(taken.begin(), taken.end(), loop) != taken.end())
                continue;
            annotate(loop, Annotation::Vectorize);
            taken.push_back(loop);
            ofSum = cappedProduct({ofSum, vectors});
            ofStore = cappedProduct({ofStore, loop.axis->summed ? 1 : vectors});
        }
        for (const UserLoop& loop : m_unrolled) {
            if (std::find(taken.begin(), taken.end(), loop) != taken.end())
                continue;
            taken.push_back(loop);
            const std::array<std::pair<LoopPart, std::int64_t>, 1> one = {{{part(loop), extentOf(loop)}}};
            ofSum = unrollWithin(m_sum, one, ofSum, kMostUnrolled).value_or(ofSum);
            if (!loop.axis->summed)
                ofStore = unrollWithin(m_store, one, ofStore, kMostUnrolled).value_or(ofStore);
        }
    }

    void annotate(const UserLoop& loop, Annotation annotation)
    {
        m_sum.annotate(part(loop), annotation);
        if (!loop.axis->summed)
            m_store.annotate(part(loop), annotation);
    }

    /// The dimension of the weight that an axis walks; -1: none.
    std::int32_t weightDim(const UserAxis& axis) const
    {
        if (m_definition.pattern == Pattern::Dense)
            return axis.name == "n" ? m_nest.weightDims[0] : axis.name == "k" ? m_nest.weightDims[1] : -1;
        if (!axis.summed)
            return axis.place == 1 ? m_nest.weightDims[0] : -1;
        return m_nest.weightDims[axis.place + 1];
    }

    Result<> pack(const UserStep& step)
    {
        if (!m_nest.weightIsConstant)
            return {};
        schedule::LayoutStep layout{m_emitter.stageOf(m_nest.weight), {}};
        for (const UserLoop& loop : step.loops) {
            const std::int32_t dim = weightDim(*loop.axis);
            if (dim < 0)
                return makeError(Errc::InvalidArgument, say(Msg::UserTemplatePack, loop.axis->name));
            std::int64_t div = 1;
            for (std::size_t p = static_cast<std::size_t>(loop.part) + 1; p < partsOf(*loop.axis); ++p)
                div = cappedProduct({div, m_sizes[loop.axis->name][p]});
            layout.axes.push_back({dim, div, extentOf(loop)});
        }
        // Dimensions that no loop of the step walks: the multiplier of depthwise kernels, which is 1.
        const std::vector<std::int64_t>& shape = m_scheduled.dag.ops[static_cast<std::size_t>(m_nest.weight)].shape;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const auto has = [d](const schedule::LayoutStep::Axis& a) { return a.dim == static_cast<std::int32_t>(d); };
            if (std::none_of(layout.axes.begin(), layout.axes.end(), has))
                layout.axes.insert(layout.axes.begin(), {static_cast<std::int32_t>(d), 1, shape[d]});
        }
        m_emitter.add(std::move(layout));
        return {};
    }

    const UserDefinition& m_definition;
    const Scheduled& m_scheduled;
    const MatchedNest& m_nest;
    const Config& m_config;
    StepEmitter m_emitter;
    StageLoops m_sum, m_store;
    std::map<std::string, std::vector<std::int64_t>> m_sizes; ///< of axes that are split
    std::vector<UserLoop> m_unrolled, m_vectors; ///< in the order of the steps that say so
    std::int32_t m_shared = 0; ///< loops that are shared out among the threads
};

} // namespace

Result<std::vector<schedule::Step>> userSteps(const UserDefinition& definition, const Scheduled& scheduled,
                                              const Config& config)
{
    if (patternOf(scheduled.nest) != definition.pattern)
        return makeError(Errc::Unsupported, say(Msg::TemplateForOther));
    return Application(definition, scheduled, config).run();
}

} // namespace lathe::templates
