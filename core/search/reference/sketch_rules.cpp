// The reference's rules, in its order. Each looks at one stage of a partial schedule, from the last to the first, and
// says whether it applies and whether rules after it may still apply as well; together they enumerate the sketches.

#include "core/search/reference/sketch_rules.h"

#include <algorithm>
#include <optional>

namespace lathe::search {
namespace {

using namespace schedule;

enum class Verdict : std::uint8_t
{
    Skip,
    Apply,
    ApplyAndSkipRest
};

struct Branch
{
    State state;
    std::int32_t stage;
};

using Branches = Result<std::vector<Branch>>;

struct Rule
{
    Verdict (*condition)(const SketchRuleContext&, const StateView&, std::int32_t stage);
    Branches (*apply)(const SketchRuleContext&, const State&, std::int32_t stage);
};

std::int32_t iterCount(const State& s, std::int32_t stage)
{
    return static_cast<std::int32_t>(s.stages()[static_cast<std::size_t>(stage)].iters.size());
}

const Iterator& iterAt(const State& s, std::int32_t stage, std::int32_t i)
{
    return s.stages()[static_cast<std::size_t>(stage)].iters[static_cast<std::size_t>(i)];
}

bool alwaysInlined(const SketchRuleContext& context, const StateView& view, std::int32_t stage)
{
    if (view.isPlaceholder(stage) || view.isOutput(stage) || view.hasReduceIter(stage))
        return false;
    return context.gpuTests || view.analysis().op(stage).strictlyInlineable;
}

Branches one(State state, std::int32_t stage)
{
    std::vector<Branch> branches;
    branches.push_back({std::move(state), stage});
    return branches;
}

// --- skip, inline ---------------------------------------------------------------------------------------------------

Branches skipStage(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    return one(state, stage - 1);
}

Branches inlineStage(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    State s = state;
    LATHE_TRY(s.apply(ComputeInlineStep{stage}));
    return one(std::move(s), stage - 1);
}

// --- winograd's small transforms ------------------------------------------------------------------------------------

Branches tileConstTensor(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    State s = state;
    const compute::Op& op = s.dag()->ops[static_cast<std::size_t>(stage)];
    const std::vector<std::string> names = compute::attrNames(op, "auto_scheduler_simplify_const_tensor_indices");
    const auto unrolled = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (std::int32_t i = 0; i < iterCount(s, stage); ++i)
        if (unrolled(iterAt(s, stage, i).name))
            LATHE_TRY(s.apply(AnnotateStep{stage, i, Annotation::Unroll}));
    std::vector<std::int32_t> outer, inner, last;
    for (std::int32_t i = 0; i < iterCount(s, stage); ++i) {
        const Iterator iter = iterAt(s, stage, i);
        if (unrolled(iter.name)) {
            last.push_back(i);
            continue;
        }
        LATHE_TRY(s.apply(SplitStep{stage, i, iter.extent, {std::nullopt}, true}));
        outer.push_back(i);
        inner.push_back(++i);
    }
    ReorderStep order{stage, outer};
    order.order.insert(order.order.end(), inner.begin(), inner.end());
    order.order.insert(order.order.end(), last.begin(), last.end());
    LATHE_TRY(s.apply(std::move(order)));
    return one(std::move(s), stage - 1);
}

// --- parallel reductions --------------------------------------------------------------------------------------------

/// Fuses all reduce iterators; returns the position of the one that remains.
Result<std::int32_t> fuseReductions(State& s, std::int32_t stage)
{
    FuseStep fuse{stage, {}};
    for (std::int32_t i = 0; i < iterCount(s, stage); ++i)
        if (iterAt(s, stage, i).kind == IterKind::Reduction)
            fuse.iters.push_back(i);
    if (fuse.iters.empty())
        return makeError(Errc::Internal, "a stage without reduction was to be reduced");
    const std::int32_t first = fuse.iters.front();
    if (fuse.iters.size() > 1)
        LATHE_TRY(s.apply(std::move(fuse)));
    return first;
}

bool needsRfactor(const SketchRuleContext& context, const StateView& view, std::int32_t stage)
{
    if (view.isPlaceholder(stage) || !view.hasReduceIter(stage))
        return false;
    const std::int64_t space = view.spaceSize(stage), reduce = view.reduceSize(stage);
    if (view.needsTiling(stage))
        return !(space > reduce || space > 16 * context.cores) && reduce > 1;
    return reduce > 1 && reduce > context.cores;
}

Branches addRfactor(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    State base = state;
    LATHE_TRY_ASSIGN(const std::int32_t fused, fuseReductions(base, stage));
    const auto space = static_cast<std::int32_t>(base.dag()->ops[static_cast<std::size_t>(stage)].shape.size());
    LATHE_TRY(base.apply(SplitStep{stage, fused, iterAt(base, stage, fused).extent, {1}, true}));
    std::vector<Branch> branches;
    for (std::int32_t part = 0; part < 2; ++part) {
        State s = base;
        LATHE_TRY(s.apply(RfactorStep{stage, fused + part, space}));
        if (part == 1) {
            // The factored axis goes innermost, for vectors.
            ReorderStep order{stage, {}};
            for (std::int32_t i = 0; i < iterCount(s, stage); ++i)
                if (i != space)
                    order.order.push_back(i);
            order.order.push_back(space);
            LATHE_TRY(s.apply(std::move(order)));
        }
        branches.push_back({std::move(s), stage - 1});
    }
    return branches;
}

Branches crossThreadReduction(const SketchRuleContext& context, const State& state, std::int32_t stage)
{
    State s = state;
    LATHE_TRY_ASSIGN(const std::int32_t fused, fuseReductions(s, stage));
    const StateView view(s);
    const std::set<std::int32_t> consumers = view.consumers(stage);
    const std::int32_t target = consumers.size() == 1 ? *consumers.begin() : -1;
    const std::int32_t common = target >= 0 ? view.analysis().commonOuterIterators(stage, target) : 0;
    if (target >= 0 && common > 0 && !view.needsTiling(target)) {
        std::int32_t splitStep = -1;
        for (std::size_t i = 0; i < s.steps().size(); ++i)
            if (const auto* split = std::get_if<SplitStep>(&s.steps()[i]); split && split->stage == target)
                splitStep = static_cast<std::int32_t>(i);
        if (splitStep < 0) {
            const std::int32_t last = iterCount(s, target) - 1;
            LATHE_TRY(s.apply(SplitStep{target, last, iterAt(s, target, last).extent, {context.warpSize}, true}));
            splitStep = static_cast<std::int32_t>(s.steps().size()) - 1;
            LATHE_TRY(s.apply(AnnotateStep{target, last + 1, Annotation::ThreadX}));
        }
        LATHE_TRY(s.apply(FollowSplitStep{stage, fused, splitStep, 1}));
        LATHE_TRY(s.apply(AnnotateStep{stage, fused + 1, Annotation::ThreadX}));
        LATHE_TRY(s.apply(ComputeAtStep{stage, target, common - 1}));
    } else {
        LATHE_TRY(s.apply(SplitStep{stage, fused, iterAt(s, stage, fused).extent, {context.warpSize}, true}));
        LATHE_TRY(s.apply(AnnotateStep{stage, fused + 1, Annotation::ThreadX}));
    }
    return one(std::move(s), stage - 1);
}

// --- caches ---------------------------------------------------------------------------------------------------------

Branches addCacheWrite(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    State s = state;
    LATHE_TRY(s.apply(CacheWriteStep{stage, "local"}));
    return one(std::move(s), stage);
}

/// Position of the last reduce iterator of the outermost reduce tile.
std::int32_t lastOuterReduce(const State& s, std::int32_t stage)
{
    const compute::Op& op = s.dag()->ops[static_cast<std::size_t>(stage)];
    auto left = static_cast<std::int32_t>(op.reduceExtents.size())
                - static_cast<std::int32_t>(compute::attrNames(op, "auto_scheduler_no_split_at_inner").size());
    for (std::int32_t i = 0; i < iterCount(s, stage); ++i)
        if (iterAt(s, stage, i).kind == IterKind::Reduction && --left == 0)
            return i;
    return -1;
}

Branches addCacheRead(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    State s = state;
    std::set<std::int32_t> pending = StateView(s).consumers(stage);
    while (!pending.empty()) {
        const std::int32_t target = *pending.begin();
        LATHE_TRY(s.apply(CacheReadStep{stage, "shared", {target}}));
        const std::int32_t moved = target + 1;
        const std::int32_t at = lastOuterReduce(s, moved);
        if (at < 0)
            return makeError(Errc::Internal, "a reader of a shared copy has no reduction");
        LATHE_TRY(s.apply(ComputeAtStep{stage + 1, moved, at}));
        std::set<std::int32_t> rest;
        for (auto it = std::next(pending.begin()); it != pending.end(); ++it)
            rest.insert(*it + 1);
        pending = std::move(rest);
    }
    return one(std::move(s), stage);
}

Branches specialComputeLocation(const SketchRuleContext&, const State& state, std::int32_t stage)
{
    State s = state;
    const std::int32_t target = *StateView(s).consumers(stage).begin();
    for (std::int32_t i = 1; i < iterCount(s, target); ++i) {
        if (iterAt(s, target, i).annotation == Annotation::Unroll) {
            LATHE_TRY(s.apply(ComputeAtStep{stage, target, i - 1}));
            break;
        }
    }
    return one(std::move(s), stage - 1);
}

// --- multi-level tiling ---------------------------------------------------------------------------------------------

/// Splits and reorders by the structure; the steps that split spatial iterators go to `spatialSplits`.
Result<> tile(State& s, std::int32_t stage, const std::string& structure, std::vector<std::int32_t>& spatialSplits)
{
    const auto spaceLevels = static_cast<std::size_t>(std::count(structure.begin(), structure.end(), 'S'));
    const auto reduceLevels = static_cast<std::size_t>(std::count(structure.begin(), structure.end(), 'R'));
    const std::vector<std::string> whole = compute::attrNames(s.dag()->ops[static_cast<std::size_t>(stage)],
                                                              "auto_scheduler_no_split_at_inner");
    std::vector<std::vector<std::int32_t>> space(spaceLevels), reduce(reduceLevels);
    std::vector<std::int32_t> innermost;
    for (std::int32_t i = 0; i < iterCount(s, stage); ++i) {
        const Iterator iter = iterAt(s, stage, i);
        if (std::find(whole.begin(), whole.end(), iter.name) != whole.end()) {
            innermost.push_back(i);
            continue;
        }
        const bool spatial = iter.kind == IterKind::Spatial;
        auto& levels = spatial ? space : reduce;
        LATHE_TRY(s.apply(SplitStep{stage, i, iter.extent,
                                    std::vector<std::optional<std::int64_t>>(levels.size() - 1, std::nullopt), true}));
        if (spatial)
            spatialSplits.push_back(static_cast<std::int32_t>(s.steps().size()) - 1);
        for (std::size_t l = 0; l < levels.size(); ++l)
            levels[l].push_back(i + static_cast<std::int32_t>(l));
        i += static_cast<std::int32_t>(levels.size()) - 1;
    }
    ReorderStep order{stage, {}};
    std::size_t nextSpace = 0, nextReduce = 0;
    for (const char level : structure) {
        const auto& part = level == 'S' ? space[nextSpace++] : reduce[nextReduce++];
        order.order.insert(order.order.end(), part.begin(), part.end());
    }
    order.order.insert(order.order.end(), innermost.begin(), innermost.end());
    return s.apply(std::move(order));
}

Branches multiLevelTiling(const SketchRuleContext& context, const State& state, std::int32_t stage)
{
    State s = state;
    std::vector<std::int32_t> splits;
    LATHE_TRY(tile(s, stage, context.structure, splits));
    return one(std::move(s), stage - 1);
}

/// The consumer's spatial iterators follow the producer's splits for `level` levels.
Result<> followTiling(State& s, std::int32_t stage, const std::vector<std::int32_t>& splits, std::int32_t level)
{
    std::vector<std::vector<std::int32_t>> levels(static_cast<std::size_t>(level) + 1);
    std::int32_t position = 0;
    for (const std::int32_t source : splits) {
        LATHE_TRY(s.apply(FollowSplitStep{stage, position, source, level}));
        for (std::int32_t l = 0; l <= level; ++l)
            levels[static_cast<std::size_t>(l)].push_back(position + l);
        position += level + 1;
    }
    ReorderStep order{stage, {}};
    for (const auto& part : levels)
        order.order.insert(order.order.end(), part.begin(), part.end());
    return s.apply(std::move(order));
}

Branches multiLevelTilingWithFusion(const SketchRuleContext& context, const State& state, std::int32_t stage)
{
    const std::int32_t target = StateView(state).elementwiseConsumer(stage);
    State base = state;
    std::vector<std::int32_t> splits;
    LATHE_TRY(tile(base, stage, context.structure, splits));
    std::vector<Branch> branches;
    for (const std::int32_t level : context.gpuTests ? std::vector<std::int32_t>{3} : std::vector<std::int32_t>{1, 2}) {
        State s = base;
        LATHE_TRY(followTiling(s, target, splits, level));
        LATHE_TRY(s.apply(ComputeAtStep{stage, target, level * static_cast<std::int32_t>(splits.size()) - 1}));
        branches.push_back({std::move(s), stage - 1});
    }
    return branches;
}

// --- conditions -----------------------------------------------------------------------------------------------------

bool isCacheWrite(const StateView& view, std::int32_t stage)
{
    return view.stage(stage).scope == "local";
}

Verdict always(const SketchRuleContext&, const StateView&, std::int32_t)
{
    return Verdict::Apply;
}

Verdict whenInlined(const SketchRuleContext& c, const StateView& v, std::int32_t s)
{
    return alwaysInlined(c, v, s) ? Verdict::ApplyAndSkipRest : Verdict::Skip;
}

Verdict whenConstTensor(const SketchRuleContext&, const StateView& v, std::int32_t s)
{
    return v.constIndexed(s) ? Verdict::ApplyAndSkipRest : Verdict::Skip;
}

Verdict whenRfactor(const SketchRuleContext& c, const StateView& v, std::int32_t s)
{
    return needsRfactor(c, v, s) && !isCacheWrite(v, s) ? Verdict::Apply : Verdict::Skip;
}

Verdict whenCacheWrite(const SketchRuleContext& c, const StateView& v, std::int32_t s)
{
    if (!v.needsTiling(s) || v.elementwiseConsumer(s) >= 0)
        return Verdict::Skip;
    return c.gpuTests ? Verdict::ApplyAndSkipRest : Verdict::Apply;
}

Verdict whenFusion(const SketchRuleContext& c, const StateView& v, std::int32_t s)
{
    if (!v.needsTiling(s) || v.elementwiseConsumer(s) < 0)
        return Verdict::Skip;
    return c.gpuTests || isCacheWrite(v, s) ? Verdict::ApplyAndSkipRest : Verdict::Apply;
}

Verdict whenTiling(const SketchRuleContext&, const StateView& v, std::int32_t s)
{
    return v.needsTiling(s) ? Verdict::ApplyAndSkipRest : Verdict::Skip;
}

Verdict whenCacheRead(const SketchRuleContext&, const StateView& v, std::int32_t s)
{
    const std::set<std::int32_t> consumers = v.consumers(s);
    if (consumers.empty())
        return Verdict::Skip;
    const std::int32_t target = *consumers.begin();
    if (!v.needsTiling(target) || v.hasCrossThreadReduction(target))
        return Verdict::Skip;
    const std::vector<std::int32_t> direct = v.analysis().producers(target);
    return std::find(direct.begin(), direct.end(), s) != direct.end() ? Verdict::ApplyAndSkipRest : Verdict::Skip;
}

Verdict whenSpecialLocation(const SketchRuleContext& c, const StateView& v, std::int32_t s)
{
    if (v.isPlaceholder(s) || v.producers(s).empty() || !alwaysInlined(c, v, s))
        return Verdict::Skip;
    const std::set<std::int32_t> consumers = v.consumers(s);
    return consumers.size() == 1 && v.constIndexed(*consumers.begin()) ? Verdict::ApplyAndSkipRest : Verdict::Skip;
}

Verdict whenCrossThread(const SketchRuleContext& c, const StateView& v, std::int32_t s)
{
    if (v.isPlaceholder(s) || !v.hasReduceIter(s) || isCacheWrite(v, s))
        return Verdict::Skip;
    const std::int64_t space = v.spaceSize(s), reduce = v.reduceSize(s);
    const bool wanted = v.needsTiling(s) ? space <= c.maxThreads && space < reduce : reduce > c.warpSize;
    return wanted ? Verdict::Apply : Verdict::Skip;
}

constexpr Rule kSkip{always, skipStage};
constexpr Rule kInline{whenInlined, inlineStage};
constexpr Rule kConstTensor{whenConstTensor, tileConstTensor};
constexpr Rule kRfactor{whenRfactor, addRfactor};
constexpr Rule kCacheWrite{whenCacheWrite, addCacheWrite};
constexpr Rule kFusion{whenFusion, multiLevelTilingWithFusion};
constexpr Rule kTiling{whenTiling, multiLevelTiling};
constexpr Rule kCacheRead{whenCacheRead, addCacheRead};
constexpr Rule kSpecialLocation{whenSpecialLocation, specialComputeLocation};
constexpr Rule kCrossThread{whenCrossThread, crossThreadReduction};

const std::vector<Rule> kCpuRules = {kInline, kConstTensor, kRfactor, kCacheWrite, kFusion, kTiling, kSkip};
const std::vector<Rule> kGpuRules = {kCacheRead,  kSpecialLocation, kInline, kConstTensor, kCrossThread,
                                     kCacheWrite, kFusion,          kTiling, kSkip};

/// The split directly before an rfactor was made with length 1; its length is open.
Result<State> openRfactorSplits(const State& state)
{
    std::vector<Step> steps = state.steps();
    bool changed = false;
    for (std::size_t i = 1; i < steps.size(); ++i) {
        auto* split = std::get_if<SplitStep>(&steps[i - 1]);
        if (std::holds_alternative<RfactorStep>(steps[i]) && split) {
            split->lengths = {std::nullopt};
            changed = true;
        }
    }
    if (!changed)
        return state;
    return State::replay(state.baseDag(), steps);
}

} // namespace

Result<std::vector<State>> generateReferenceSketches(const compute::DagPtr& dag, const Target& target,
                                                     const Hardware& hardware)
{
    const SketchRuleContext context = SketchRuleContext::of(target, hardware);
    const std::vector<Rule>& rules = context.gpu ? kGpuRules : kCpuRules;
    std::vector<Branch> now;
    now.push_back({State::initial(dag), static_cast<std::int32_t>(dag->ops.size()) - 1});
    std::vector<State> sketches;
    while (!now.empty()) {
        std::vector<Branch> next;
        for (const Branch& branch : now) {
            if (branch.stage < 0) {
                LATHE_TRY_ASSIGN(State opened, openRfactorSplits(branch.state));
                sketches.push_back(std::move(opened));
                continue;
            }
            const StateView view(branch.state);
            bool anyApplied = false;
            for (std::size_t r = 0; r < rules.size(); ++r) {
                const Verdict verdict = rules[r].condition(context, view, branch.stage);
                if (verdict == Verdict::Skip)
                    continue;
                LATHE_TRY_ASSIGN(std::vector<Branch> made, rules[r].apply(context, branch.state, branch.stage));
                for (Branch& b : made)
                    next.push_back(std::move(b));
                anyApplied = true;
                if (verdict == Verdict::ApplyAndSkipRest)
                    break;
            }
            if (!anyApplied)
                return makeError(Errc::Internal, "no rule took a stage");
        }
        now = std::move(next);
    }
    return sketches;
}

} // namespace lathe::search
