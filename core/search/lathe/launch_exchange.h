#pragma once

#include "core/search/lathe/launch_part.h"

namespace lathe::search {

/// How the threads of a block, each of which has a part of a sum, hand their parts to each other.
enum class Exchange : std::uint8_t
{
    Shared, ///< all parts through shared memory, half as many threads at each barrier
    Shuffles ///< within warps from register to register; what the warps come to through shared memory
};

/// The ways that are open on a device, as values of a parameter. Only the first: there is nothing to choose.
std::vector<std::int64_t> exchangesOf(const LaunchMachine& machine);

/// What gene number `gene` says; it is there only where a device has more than one way.
Exchange exchangeOf(const LaunchMachine& machine, std::span<const std::int32_t> genes, std::size_t gene);

/// What the exchange of one sum's parts takes, of one thread. Of a reduction to an index two values are exchanged.
struct ExchangeFacts
{
    std::int64_t sharedBytes = 0; ///< of a block, exactly what is lowered
    double arithmetic = 0, sharedAccesses = 0, barriers = 0;
};

/// @param elementBytes of each value that is exchanged
/// Errors: IllegalSchedule, where so many threads cannot exchange parts that way.
Result<ExchangeFacts> exchangeFacts(Exchange exchange, std::int64_t threads,
                                    const std::vector<std::int64_t>& elementBytes, const LaunchMachine& machine);

/// The step that says so, for a loop over threads; nothing where the exchange is through shared memory.
void emitExchange(Exchange exchange, std::int32_t stage, std::int32_t iter, const LaunchMachine& machine,
                  StepEmitter& emitter);

} // namespace lathe::search
