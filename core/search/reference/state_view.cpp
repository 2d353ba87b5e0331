#include "core/search/reference/sketch_rules.h"

#include <algorithm>

namespace lathe::search {

using namespace schedule;

SketchRuleContext SketchRuleContext::of(const Target& target, const Hardware& hardware)
{
    SketchRuleContext context;
    const std::string family = target.family();
    context.gpu = family == "gpu";
    context.gpuTests = family != "cpu";
    context.structure = context.gpuTests ? "SSSRRSRS" : "SSRSRS";
    context.cores = hardware.get("num_cores", -1);
    context.maxThreads = hardware.get("max_threads_per_block");
    context.warpSize = hardware.get("warp_size");
    context.maxVThread = hardware.get("max_vthread_extent");
    return context;
}

StateView::StateView(const State& state)
    : m_state(state)
{
    // Most states of a search share their DAG; the latest analysis of each thread serves them all.
    thread_local std::shared_ptr<const compute::Analysis> latest;
    thread_local compute::DagPtr latestDag;
    if (latestDag != state.dag()) {
        latest = std::make_shared<const compute::Analysis>(state.dag());
        latestDag = state.dag();
    }
    m_analysis = latest;
}

bool StateView::hasReduceIter(std::int32_t i) const
{
    const auto& iters = stage(i).iters;
    return std::any_of(iters.begin(), iters.end(), [](const Iterator& it) { return it.kind != IterKind::Spatial; });
}

bool StateView::constIndexed(std::int32_t i) const
{
    return !compute::attrNames(op(i), "auto_scheduler_simplify_const_tensor_indices").empty();
}

std::set<std::int32_t> StateView::consumers(std::int32_t i) const
{
    std::set<std::int32_t> found;
    for (const std::int32_t c : analysis().consumers(i)) {
        if (isInlined(c))
            found.merge(consumers(c));
        else
            found.insert(c);
    }
    return found;
}

std::set<std::int32_t> StateView::producers(std::int32_t i) const
{
    std::set<std::int32_t> found;
    for (const std::int32_t p : analysis().producers(i)) {
        if (isInlined(p))
            found.merge(producers(p));
        else
            found.insert(p);
    }
    return found;
}

std::int32_t StateView::elementwiseConsumer(std::int32_t i) const
{
    const std::set<std::int32_t> readers = consumers(i);
    if (readers.size() != 1)
        return -1;
    const std::int32_t target = *readers.begin();
    if (!analysis().elementwiseMatch(i, target) || (hasReduceIter(i) && hasReduceIter(target))
        || stage(target).scope == "shared")
        return -1;
    return target;
}

bool StateView::hasCrossThreadReduction(std::int32_t i) const
{
    const auto bound = [this](std::int32_t s) {
        const auto& iters = stage(s).iters;
        return std::any_of(iters.begin(), iters.end(), [](const Iterator& it) {
            return it.annotation == Annotation::ThreadX && it.kind == IterKind::Reduction;
        });
    };
    // As the reference: the stage itself, or a copy of it that was made by a cache write.
    if (bound(i))
        return true;
    return i > 0 && stage(i - 1).scope == "local" && analysis().consumers(i - 1) == std::vector{i} && bound(i - 1);
}

bool StateView::isTiled(std::int32_t i) const
{
    return stage(i).iters.size() != op(i).shape.size() + op(i).reduceExtents.size();
}

std::int64_t StateView::spaceSize(std::int32_t i) const
{
    std::int64_t n = 1;
    for (const Iterator& it : stage(i).iters)
        if (it.kind == IterKind::Spatial)
            n *= it.extent;
    return n;
}

std::int64_t StateView::reduceSize(std::int32_t i) const
{
    std::int64_t n = 1;
    for (const Iterator& it : stage(i).iters)
        if (it.kind == IterKind::Reduction)
            n *= it.extent;
    return n;
}

} // namespace lathe::search
