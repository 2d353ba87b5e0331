#include "core/schedule/state_edit.h"

#include "core/schedule/iteration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace lathe::schedule {

namespace {

template<typename... Args>
Error illegal(fmt::format_string<Args...> text, Args&&... args)
{
    return makeError(Errc::IllegalSchedule, fmt::format(text, std::forward<Args>(args)...));
}

constexpr std::size_t kMaxIterators = 64; ///< of a stage; more is a damaged record

} // namespace

Stage StateEdit::freshStage(const compute::Dag& dag, std::int32_t id)
{
    const compute::Op& op = dag.ops[id];
    Stage stage;
    stage.op = id;
    if (op.kind == compute::OpKind::Placeholder)
        return stage;
    const auto add = [&stage](const ir::Expr& axis, std::int64_t extent, IterKind kind) {
        Iterator iter;
        iter.name = axis->name;
        iter.extent = extent;
        iter.kind = kind;
        iter.id = stage.nextIterId++;
        stage.iters.push_back(std::move(iter));
    };
    for (std::size_t i = 0; i < op.axes.size(); ++i)
        add(op.axes[i], op.shape[i], IterKind::Spatial);
    for (std::size_t i = 0; i < op.reduceAxes.size(); ++i)
        add(op.reduceAxes[i], op.reduceExtents[i], IterKind::Reduction);
    return stage;
}

Result<> StateEdit::checkStage(std::int32_t stage) const
{
    if (stage < 0 || stage >= static_cast<std::int32_t>(m_stages.size()))
        return illegal("there is no stage {} (the state has {})", stage, m_stages.size());
    return {};
}

Result<> StateEdit::checkComputed(std::int32_t stage) const
{
    LATHE_TRY(checkStage(stage));
    if (m_state.m_dag->ops[stage].kind == compute::OpKind::Placeholder)
        return illegal("'{}' is a placeholder", name(stage));
    if (m_stages[stage].location == Location::Inlined)
        return illegal("'{}' is inlined", name(stage));
    return {};
}

Result<> StateEdit::checkIter(std::int32_t stage, std::int32_t iter) const
{
    LATHE_TRY(checkComputed(stage));
    if (iter < 0 || iter >= static_cast<std::int32_t>(m_stages[stage].iters.size()))
        return illegal("'{}' has no iterator {} (it has {})", name(stage), iter, m_stages[stage].iters.size());
    return {};
}

bool StateEdit::attachedAnywhere(std::int32_t stage) const
{
    return std::any_of(m_stages.begin(), m_stages.end(), [stage](const Stage& other) {
        return other.location == Location::At && other.attachStage == stage;
    });
}

Result<> StateEdit::operator()(const AnnotateStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    Iterator& iter = m_stages[step.stage].iters[step.iter];
    if (iter.annotation != Annotation::None && iter.annotation != step.annotation)
        return illegal("iterator {} of '{}' has an annotation already", iter.name, name(step.stage));
    iter.annotation = step.annotation;
    return {};
}

Result<> StateEdit::operator()(const FuseStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    Stage& stage = m_stages[step.stage];
    Iterator fused;
    fused.extent = 1;
    fused.id = stage.nextIterId;
    IterRelation relation;
    relation.children = {fused.id};
    if (step.iters.empty()) {
        if (!stage.iters.empty())
            return illegal("'{}' has iterators, so an empty fuse does not apply", name(step.stage));
        fused.kind = IterKind::Special;
        fused.name = "fused";
    }
    for (std::size_t i = 0; i < step.iters.size(); ++i) {
        const std::int32_t at = step.iters[i];
        LATHE_TRY(checkIter(step.stage, at));
        if (at != step.iters[0] + static_cast<std::int32_t>(i))
            return illegal("iterators to fuse in '{}' are not consecutive", name(step.stage));
        const Iterator& iter = stage.iters[at];
        const bool last = i + 1 == step.iters.size();
        for (const Stage& other : m_stages)
            if (!last && other.location == Location::At && other.attachStage == step.stage && other.attachIter == at)
                return illegal("a stage is attached at {} of '{}', which is not the last to fuse", iter.name,
                               name(step.stage));
        if (iter.annotation != Annotation::None)
            return illegal("iterator {} of '{}' is annotated and cannot be fused", iter.name, name(step.stage));
        if (iter.warp != 0)
            return illegal("threads of {} of '{}' exchange parts, so it cannot be fused", iter.name, name(step.stage));
        const std::string part = iter.name.empty() || iter.name.back() == '@' ? iter.name : iter.name + "@";
        fused.name += part;
        fused.extent = fused.extent < 0 || iter.extent < 0 ? -1 : cappedProduct(fused.extent, iter.extent);
        if (fused.extent > kMaxExtent)
            return illegal("fused loops of '{}' have more than 2^40 iterations", name(step.stage));
        fused.kind = i == 0 ? iter.kind : fused.kind == iter.kind ? iter.kind : IterKind::Mixed;
        relation.parents.push_back(iter.id);
    }
    stage.nextIterId += 1;
    stage.relations.push_back(std::move(relation));
    const std::int32_t first = step.iters.empty() ? 0 : step.iters[0];
    const auto count = static_cast<std::int32_t>(step.iters.size());
    stage.iters.erase(stage.iters.begin() + first, stage.iters.begin() + first + count);
    stage.iters.insert(stage.iters.begin() + first, std::move(fused));
    for (Stage& other : m_stages) {
        if (other.location != Location::At || other.attachStage != step.stage || other.attachIter < first)
            continue;
        other.attachIter = other.attachIter < first + count ? first : other.attachIter - count + 1;
    }
    return {};
}

Result<> StateEdit::operator()(const PragmaStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    static constexpr std::string_view kUnroll = "auto_unroll_max_step$";
    if (step.pragma == "debug_skip_region")
        return illegal("pragma debug_skip_region leaves '{}' uncomputed", name(step.stage));
    if (!step.pragma.starts_with(kUnroll))
        return illegal("there is no pragma '{}'", step.pragma);
    std::int32_t value = 0;
    const char* end = step.pragma.data() + step.pragma.size();
    const auto parsed = std::from_chars(step.pragma.data() + kUnroll.size(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || value < 0)
        return illegal("pragma '{}' has no number of steps", step.pragma);
    m_stages[step.stage].autoUnrollMaxStep = value;
    return {};
}

Result<> StateEdit::operator()(const ReorderStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    Stage& stage = m_stages[step.stage];
    std::vector<std::int32_t> sorted = step.order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int32_t> all(stage.iters.size());
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
        return illegal("the order of '{}' must name each of its {} iterators once", name(step.stage),
                       stage.iters.size());
    std::vector<Iterator> reordered;
    std::vector<std::int32_t> newPlace(step.order.size());
    for (std::size_t i = 0; i < step.order.size(); ++i) {
        reordered.push_back(stage.iters[step.order[i]]);
        newPlace[step.order[i]] = static_cast<std::int32_t>(i);
    }
    stage.iters = std::move(reordered);
    for (Stage& other : m_stages)
        if (other.location == Location::At && other.attachStage == step.stage)
            other.attachIter = newPlace[other.attachIter];
    return {};
}

Result<> StateEdit::split(std::int32_t stageId, std::int32_t at, std::vector<std::optional<std::int64_t>> lengths,
                          bool innerToOuter)
{
    LATHE_TRY(checkIter(stageId, at));
    Stage& stage = m_stages[stageId];
    const Iterator parent = stage.iters[at];
    if (lengths.empty())
        return illegal("a split of {} in '{}' needs lengths", parent.name, name(stageId));
    if (stage.iters.size() + lengths.size() > kMaxIterators)
        return illegal("'{}' would have more than {} iterators", name(stageId), kMaxIterators);
    if (parent.annotation != Annotation::None)
        return illegal("iterator {} of '{}' is annotated and cannot be split", parent.name, name(stageId));
    if (parent.warp != 0)
        return illegal("threads of {} of '{}' exchange parts, so it cannot be split", parent.name, name(stageId));
    for (const auto& length : lengths)
        if (length && (*length < 1 || *length > kMaxExtent))
            return illegal("{} in '{}' is split by {}", parent.name, name(stageId), *length);

    const std::size_t n = lengths.size();
    IterRelation relation;
    relation.parents = {parent.id};
    relation.innerToOuter = innerToOuter;
    std::vector<Iterator> parts(n + 1);
    for (std::size_t i = 0; i <= n; ++i) {
        parts[i].name = fmt::format("{}.{}", parent.name, i);
        parts[i].kind = parent.kind;
        parts[i].id = stage.nextIterId++;
        relation.children.push_back(parts[i].id);
    }
    std::int64_t rest = parent.extent;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t index = innerToOuter ? n - 1 - k : k;
        const auto length = lengths[index];
        parts[innerToOuter ? index + 1 : index].extent = length && rest >= 0 ? *length : -1;
        rest = length && rest >= 0 ? (rest + *length - 1) / *length : -1;
    }
    parts[innerToOuter ? 0 : n].extent = rest;
    relation.lengths = std::move(lengths);
    stage.relations.push_back(std::move(relation));
    stage.iters.erase(stage.iters.begin() + at);
    stage.iters.insert(stage.iters.begin() + at, parts.begin(), parts.end());
    for (Stage& other : m_stages)
        if (other.location == Location::At && other.attachStage == stageId && other.attachIter >= at)
            other.attachIter += static_cast<std::int32_t>(n);
    return {};
}

Result<std::vector<std::optional<std::int64_t>>> StateEdit::lengthsOf(std::int32_t step) const
{
    const bool exists = step >= 0 && step < static_cast<std::int32_t>(m_steps.size());
    const SplitStep* source = exists ? std::get_if<SplitStep>(&m_steps[step]) : nullptr;
    if (source == nullptr)
        return illegal("step {} is no earlier split to follow", step);
    return source->lengths;
}

Result<> StateEdit::operator()(const SplitStep& step)
{
    return split(step.stage, step.iter, step.lengths, step.innerToOuter);
}

Result<> StateEdit::operator()(const OverlapStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    const Stage& stage = m_stages[step.stage];
    const Iterator& parent = stage.iters[step.iter];
    if (parent.kind != IterKind::Spatial)
        return illegal("{} of '{}' is summed over: no part of it may be taken twice", parent.name, name(step.stage));
    LATHE_TRY(split(step.stage, step.iter, {step.length}, true));
    m_stages[step.stage].relations.back().overlaps = true;
    return {};
}

Result<> StateEdit::operator()(const FollowSplitStep& step)
{
    LATHE_TRY_ASSIGN(const auto source, lengthsOf(step.sourceStep));
    if (step.parts < 1 || step.parts > static_cast<std::int32_t>(source.size()))
        return illegal("step {} has {} lengths, not {} to follow", step.sourceStep, source.size(), step.parts);
    // The first parts - 1 lengths stay; the last is the product of the rest.
    std::vector<std::optional<std::int64_t>> lengths(source.begin(), source.begin() + step.parts - 1);
    std::optional<std::int64_t> product = 1;
    for (auto it = source.begin() + step.parts - 1; it != source.end(); ++it)
        product = product && *it ? std::optional(cappedProduct(*product, **it)) : std::nullopt;
    lengths.push_back(product);
    return split(step.stage, step.iter, std::move(lengths), true);
}

Result<> StateEdit::operator()(const FollowFusedSplitStep& step)
{
    if (step.sourceSteps.empty())
        return illegal("a fused split follows no step");
    std::optional<std::int64_t> product = 1;
    for (const std::int32_t source : step.sourceSteps) {
        LATHE_TRY_ASSIGN(const auto lengths, lengthsOf(source));
        if (step.level < 0 || step.level >= static_cast<std::int32_t>(lengths.size()))
            return illegal("step {} has no length {}", source, step.level);
        const auto length = lengths[step.level];
        product = product && length ? std::optional(cappedProduct(*product, *length)) : std::nullopt;
    }
    return split(step.stage, step.iter, {product}, step.factor);
}

Result<> StateEdit::operator()(const StorageAlignStep& step)
{
    LATHE_TRY(checkIter(step.stage, step.iter));
    if (step.factor < 1 || step.offset < 0 || step.offset >= step.factor)
        return illegal("storage of '{}' cannot be aligned to {} with offset {}", name(step.stage), step.factor,
                       step.offset);
    const Stage& stage = m_stages[step.stage];
    const std::int32_t dim = stage.iters[step.iter].id;
    if (dim >= static_cast<std::int32_t>(m_state.m_dag->ops[step.stage].shape.size()))
        return illegal("storage of '{}' is aligned at an iterator that is no dimension of it", name(step.stage));
    m_stages[step.stage].alignments.push_back({dim, step.factor, step.offset});
    return {};
}

Result<> StateEdit::operator()(const ComputeAtStep& step)
{
    LATHE_TRY(checkComputed(step.stage));
    LATHE_TRY(checkIter(step.target, step.targetIter));
    if (step.target <= step.stage)
        return illegal("'{}' cannot be computed at '{}', which does not come after it", name(step.stage),
                       name(step.target));
    const auto& outputs = m_state.m_dag->outputs;
    if (std::find(outputs.begin(), outputs.end(), step.stage) != outputs.end())
        return illegal("'{}' is an output and stays at root", name(step.stage));
    Stage& stage = m_stages[step.stage];
    stage.location = Location::At;
    stage.attachStage = step.target;
    stage.attachIter = step.targetIter;
    for (Iterator& iter : stage.iters)
        iter.extent = -1;
    return {};
}

Result<> StateEdit::operator()(const ComputeInlineStep& step)
{
    LATHE_TRY(checkStage(step.stage));
    const compute::Op& op = m_state.m_dag->ops[step.stage];
    if (op.kind == compute::OpKind::Placeholder)
        return illegal("'{}' is a placeholder", op.name);
    const auto& outputs = m_state.m_dag->outputs;
    if (std::find(outputs.begin(), outputs.end(), step.stage) != outputs.end())
        return illegal("'{}' is an output and cannot be inlined", op.name);
    if (!op.reduceAxes.empty())
        return illegal("'{}' is a reduction and cannot be inlined", op.name);
    if (attachedAnywhere(step.stage))
        return illegal("a stage is attached to '{}', which therefore cannot be inlined", op.name);
    Stage& stage = m_stages[step.stage];
    stage.location = Location::Inlined;
    stage.attachStage = stage.attachIter = -1;
    return {};
}

Result<> StateEdit::operator()(const ComputeRootStep& step)
{
    LATHE_TRY(checkStage(step.stage));
    if (m_state.m_dag->ops[step.stage].kind == compute::OpKind::Placeholder)
        return illegal("'{}' is a placeholder", name(step.stage));
    Stage& stage = m_stages[step.stage];
    stage.location = Location::Root;
    stage.attachStage = stage.attachIter = -1;
    for (Iterator& iter : stage.iters)
        iter.extent = -1;
    return {};
}

} // namespace lathe::schedule
