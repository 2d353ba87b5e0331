#include "core/templates/launch_emitter.h"

#include "core/search/lathe/access.h"

#include <algorithm>
#include <string>

namespace lathe::templates {

using schedule::AnnotateStep;
using schedule::Annotation;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

void fuseLoops(StepEmitter& emitter, std::int32_t stage, std::int32_t first, std::int32_t count)
{
    if (count < 2)
        return;
    schedule::FuseStep step{stage, {}};
    for (std::int32_t i = 0; i < count; ++i)
        step.iters.push_back(first + i);
    emitter.add(std::move(step));
}

AxisShare shareOfFour(std::int32_t axis, std::int64_t extent, std::span<const std::int64_t> sizes)
{
    return {axis, extent, sizes[1], sizes[2], sizes[3]};
}

AxisShare shareOfThree(std::int32_t axis, std::int64_t extent, std::span<const std::int64_t> sizes)
{
    return {axis, extent, 1, sizes[1], sizes[2]};
}

std::int64_t threadsOf(std::span<const AxisShare> shares)
{
    std::int64_t threads = 1;
    for (const AxisShare& share : shares)
        threads = cappedProduct({threads, share.threads});
    return threads;
}

std::vector<AxisShare> inAxisOrder(std::vector<AxisShare> shares)
{
    std::sort(shares.begin(), shares.end(), [](const AxisShare& a, const AxisShare& b) { return a.axis < b.axis; });
    return shares;
}

void emitFlatLaunch(StepEmitter& emitter, std::int32_t stage, std::int32_t count, std::int64_t threads)
{
    fuseLoops(emitter, stage, 0, count);
    emitter.add(schedule::SplitStep{stage, 0, 0, {threads}, true});
    emitter.add(AnnotateStep{stage, 0, Annotation::BlockX});
    emitter.add(AnnotateStep{stage, 1, Annotation::ThreadX});
}

std::int64_t virtualThreadsOf(std::span<const AxisShare> shares)
{
    std::int64_t threads = 1;
    for (const AxisShare& share : shares)
        threads = cappedProduct({threads, share.virtuals});
    return threads;
}

void emitShares(StepEmitter& emitter, std::int32_t stage, std::int32_t axes, const std::vector<AxisShare>& shares)
{
    StageLoops loops(emitter, stage, axes);
    std::vector<LoopPart> order;
    for (std::int32_t a = 0; a < axes; ++a)
        if (std::none_of(shares.begin(), shares.end(), [a](const AxisShare& share) { return share.axis == a; }))
            order.push_back({a, 0});
    for (const AxisShare& share : shares)
        order.push_back({share.axis, 0});
    for (const AxisShare& share : shares) {
        std::vector<std::int64_t> lengths = {share.virtuals, share.threads, share.inner / share.lanes};
        if (share.lanes > 1)
            lengths.push_back(share.lanes);
        loops.split(share.axis, share.extent, lengths);
    }
    for (const std::int32_t part : {1, 2, 3})
        for (const AxisShare& share : shares)
            order.push_back({share.axis, part});
    for (const AxisShare& share : shares)
        if (share.lanes > 1)
            order.push_back({share.axis, 4});
    loops.reorder(std::move(order));
    const auto count = static_cast<std::int32_t>(shares.size());
    fuseLoops(emitter, stage, 0, axes);
    fuseLoops(emitter, stage, kVirtualLoop, count);
    fuseLoops(emitter, stage, kThreadLoop, count);
    emitter.add(AnnotateStep{stage, kBlockLoop, Annotation::BlockX});
    if (virtualThreadsOf(shares) > 1)
        emitter.add(AnnotateStep{stage, kVirtualLoop, Annotation::VThread});
    emitter.add(AnnotateStep{stage, kThreadLoop, Annotation::ThreadX});
    if (std::any_of(shares.begin(), shares.end(), [](const AxisShare& share) { return share.lanes > 1; }))
        emitter.add(AnnotateStep{stage, kInnerLoops + count, Annotation::Vectorize});
}

std::vector<std::int32_t> operandsOf(const compute::Dag& dag, std::int32_t reduction)
{
    std::vector<std::int32_t> producers;
    for (const search::Operand& operand : search::operandsOf(dag, reduction))
        producers.push_back(operand.producer);
    return producers;
}

std::vector<StagedOperand> stageOperands(StepEmitter& emitter, const compute::Dag& dag,
                                         std::vector<std::int32_t> producers, Staging staging, std::int32_t& sums)
{
    // Later tensors first, so that those still to come keep their numbers.
    std::sort(producers.begin(), producers.end(), std::greater<>());
    producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
    std::vector<StagedOperand> staged;
    const auto moveOn = [&staged, &sums] {
        for (StagedOperand& other : staged)
            for (std::int32_t* const stage : {&other.shared, &other.local})
                *stage += *stage >= 0 ? 1 : 0;
        ++sums;
    };
    for (const std::int32_t producer : producers) {
        StagedOperand operand{producer,
                              static_cast<std::int32_t>(dag.ops[static_cast<std::size_t>(producer)].shape.size())};
        std::int32_t reader = sums;
        if (staging != Staging::Shared) {
            operand.local = emitter.cacheRead(producer, "local", reader);
            moveOn();
            reader = operand.local;
        }
        if (staging != Staging::Local) {
            operand.shared = emitter.cacheRead(producer, "shared", reader);
            operand.local += operand.local >= 0 ? 1 : 0;
            moveOn();
        }
        staged.push_back(operand);
    }
    return staged;
}

void emitFetch(StepEmitter& emitter, const StagedOperand& operand, std::int32_t reader, std::int32_t at,
               std::int64_t threads, std::int64_t unrolled, std::vector<std::int32_t> walk)
{
    emitter.add(schedule::ComputeAtStep{operand.shared, reader, at});
    if (!walk.empty())
        emitter.add(schedule::ReorderStep{operand.shared, std::move(walk)});
    fuseLoops(emitter, operand.shared, 0, operand.rank);
    emitter.add(schedule::SplitStep{operand.shared, 0, 0, {threads}, true});
    emitter.add(AnnotateStep{operand.shared, 1, Annotation::ThreadX});
    emitUnrolling(emitter, operand.shared, unrolled);
}

void emitUnrolling(StepEmitter& emitter, std::int32_t stage, std::int64_t steps)
{
    if (steps > 0)
        emitter.add(schedule::PragmaStep{stage, 0, "auto_unroll_max_step$" + std::to_string(steps)});
}

} // namespace lathe::templates
