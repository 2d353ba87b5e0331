#include "core/search/lathe/launch_exchange.h"

#include "core/ir/bounds.h"
#include "core/schedule/warp_shuffles.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

std::vector<std::int64_t> exchangesOf(const LaunchMachine& machine)
{
    std::vector<std::int64_t> open = {static_cast<std::int64_t>(Exchange::Shared)};
    // The threads of a processor's driver are loops, in which shuffles cost several barriers (plugins/opencl/README.md).
    if (machine.shuffles > 1 && !machine.isProcessor)
        open.push_back(static_cast<std::int64_t>(Exchange::Shuffles));
    return open;
}

Exchange exchangeOf(const LaunchMachine& machine, std::span<const std::int32_t> genes, std::size_t gene)
{
    return genes.size() > gene ? static_cast<Exchange>(exchangesOf(machine)[static_cast<std::size_t>(genes[gene])])
                               : Exchange::Shared;
}

Result<ExchangeFacts> exchangeFacts(Exchange exchange, std::int64_t threads,
                                    const std::vector<std::int64_t>& elementBytes, const LaunchMachine& machine)
{
    ExchangeFacts facts;
    const auto take = [&](std::int64_t elements) {
        for (const std::int64_t bytes : elementBytes)
            facts.sharedBytes += ir::ceilDivide(elements * bytes, 16) * 16;
    };
    const auto levelsOf = [](std::int64_t n) { return std::ceil(std::log2(static_cast<double>(n))); };
    if (exchange == Exchange::Shared) {
        take(threads);
        if (threads > 1)
            take(ir::ceilDivide(threads, 2));
        const double levels = levelsOf(threads);
        facts.arithmetic = 3 * levels;
        facts.sharedAccesses = 3 * levels;
        facts.barriers = levels + 1;
        return facts;
    }
    const auto warp = static_cast<std::int32_t>(machine.shuffles);
    if (!schedule::whyNoShuffles(threads, warp).empty())
        return makeError(Errc::IllegalSchedule, say(Msg::ThreadsUnderWarp, threads, warp, "shuffle_width"));
    const std::int64_t warps = schedule::warpsOf(threads, warp);
    // A shuffle goes the way of an access to shared memory, without its address.
    const double levels = levelsOf(std::min<std::int64_t>(threads, warp)) + (warps > 1 ? levelsOf(warps) : 0);
    const auto values = static_cast<double>(elementBytes.size());
    facts.arithmetic = levels * (values > 1 ? 5 : 1);
    facts.sharedAccesses = levels * values + (warps > 1 ? 2 * values : 0);
    facts.barriers = warps > 1 ? 1 : 0;
    if (warps > 1)
        take(warps);
    return facts;
}

void emitExchange(Exchange exchange, std::int32_t stage, std::int32_t iter, const LaunchMachine& machine,
                  StepEmitter& emitter)
{
    if (exchange == Exchange::Shuffles)
        emitter.add(schedule::ShuffleStep{stage, iter, static_cast<std::int32_t>(machine.shuffles)});
}

} // namespace lathe::search
