#pragma once

#include "core/measure/machine_state.h"
#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

namespace lathe::session {

/// One turn: a few runs of a network, after one that is not timed.
struct Turn
{
    double ms = 0; ///< median of the runs
    double controlNs = 0; ///< the control kernel on the same threads, beside the runs; not-a-number: unknown
};
using TimeTurn = std::function<Result<Turn>(std::uint32_t runs)>;

struct PairPlan
{
    std::uint32_t pairs = 0;
    std::uint32_t tunedRuns = 1, untunedRuns = 1; ///< of a turn
};

/// How often two networks that take so long are to be timed in turns: 20 pairs, with as many runs in a turn as make
/// `seconds` of either side, but `most` seconds of the untuned one in all: a network that takes longer than a fortieth
/// of that has fewer pairs, one at least.
PairPlan pairPlan(double tunedMs, double untunedMs, double seconds, double most);

/// Two networks, timed in turns in the same seconds, and what the machine did meanwhile.
struct TimedPairs
{
    std::vector<double> tunedMs, untunedMs; ///< one per pair
    measure::MachineState machine;
};

/// Turns in alternating order: tuned and untuned, untuned and tuned. Errors: those of the turns; Cancelled.
Result<TimedPairs> timeInTurns(const TimeTurn& tuned, const TimeTurn& untuned, const PairPlan& plan,
                               const measure::MachineReader& machine, std::stop_token stop);

} // namespace lathe::session
