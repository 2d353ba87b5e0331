#include "core/search/lathe/launch_part.h"

#include "core/support/element_count.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

void LaunchFacts::finish(const LaunchMachine& machine)
{
    const double warps = std::ceil(threads / static_cast<double>(machine.warp));
    const double warpThreads = warps * static_cast<double>(machine.warp);
    resident = std::min({machine.coreBlocks, std::floor(machine.coreThreads / warpThreads),
                         std::floor(machine.coreRegisters / (std::min(registers, mostRegisters) * warpThreads))});
    if (sharedBytes > 0)
        resident = std::min(resident, std::floor(machine.coreShared / sharedBytes));
    resident = std::max(1.0, std::min(resident, std::ceil(blocks / machine.cores)));
    occupancy = std::min(1.0, resident * warpThreads / machine.coreThreads);
    waves = std::ceil(blocks / (machine.cores * resident));

    constexpr double kBarrier = 20, kSpill = 4;
    double instructions = arithmetic + accesses + sharedAccesses + kBarrier * barriers + conflicts;
    if (machine.isProcessor) {
        // Vectors whose elements lie apart are loaded one by one. At a barrier each thread's sums leave the registers.
        constexpr double kElement = 3, kGroup = 150;
        instructions = arithmetic + accesses + sharedAccesses + kElement * gathered + barriers * (2 * sums + 10)
                       + kGroup / warps;
    }
    // What does not fit in registers goes to memory and comes back.
    const double held = std::min(static_cast<double>(machine.registers), mostRegisters);
    if (const double over = registers - held; over > 0)
        instructions *= 1 + kSpill * over / held;
    if (unrolled > 2048) // leaves the cache of instructions
        instructions *= 1.3;
    const double perCycle = std::max(0.25, machine.lanes / static_cast<double>(machine.warp)); // warps, of one core
    // The fewer warps there are, the more is seen of each wait.
    const double compute = waves
                           * std::max(resident * warps * instructions / perCycle,
                                      instructions + waits * machine.latency);
    const double moved = blocks * warps * segments * 32;
    computeSeconds = compute / machine.cyclesPerSecond;
    memorySeconds = std::max(moved / machine.cacheBytesPerCycle, bytes / machine.memoryBytesPerCycle)
                    / machine.cyclesPerSecond;
    seconds += std::max(computeSeconds, memorySeconds) + machine.launchSeconds;
}

void emitLaunchMap(StepEmitter& emitter, std::int32_t stage, const std::vector<std::int64_t>& shape, std::int64_t lanes,
                   std::int64_t own, std::int64_t threads, std::int32_t reduces)
{
    const auto rank = static_cast<std::int32_t>(shape.size());
    const bool vectors = lanes > 1;
    if (vectors)
        emitter.add(SplitStep{stage, rank - 1, shape.back(), {lanes}, true});
    FuseStep all{stage, {}};
    for (std::int32_t d = 0; d < rank; ++d)
        all.iters.push_back(d);
    if (rank != 1) // a stage without dimensions gets a loop
        emitter.add(std::move(all));
    // Neighbouring threads access neighbouring elements: what a thread has besides lies a block apart.
    emitter.add(SplitStep{stage, 0, elementCount(shape) / lanes, {own, threads}, true});
    ReorderStep order{stage, {0, 2, 1}};
    for (std::int32_t r = 0; r < reduces; ++r)
        order.order.push_back((vectors ? 4 : 3) + r);
    if (vectors)
        order.order.push_back(3);
    emitter.add(std::move(order));
    emitter.add(AnnotateStep{stage, 0, Annotation::BlockX});
    emitter.add(AnnotateStep{stage, kMapThreads, Annotation::ThreadX});
    if (own > 1)
        emitter.add(AnnotateStep{stage, 2, Annotation::Unroll});
    if (vectors)
        emitter.add(AnnotateStep{stage, 3 + reduces, Annotation::Vectorize});
}

std::vector<std::int64_t> launchLanes(std::int64_t extent, std::int64_t elementBytes, const LaunchMachine& machine)
{
    std::vector<std::int64_t> values = {1};
    for (std::int64_t l = 2; l * elementBytes <= machine.vectorBytes && extent % l == 0; l *= 2)
        values.push_back(l);
    return values;
}

Parameter launchChoice(std::string name, std::vector<std::int64_t> values)
{
    const auto count = static_cast<std::int32_t>(values.size());
    return {std::move(name), Parameter::Kind::Choice, count, nullptr, std::move(values)};
}

} // namespace lathe::search
