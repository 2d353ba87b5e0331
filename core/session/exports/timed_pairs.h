#pragma once

#include "core/measure/machine_state.h"
#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

namespace lathe::session {

/// One turn: a few runs of a network, after one that is not timed; with 0 runs, that one.
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
/// `seconds` of either side, but `most` seconds of the untuned one in all. Where that leaves fewer than 10 pairs, turns
/// have no run but the one that is not timed elsewhere: it counts then, on either side (runs 0), and is so long that
/// what it finds in the caches matters little. So a network has fewer than 10 pairs only if it takes more than a tenth
/// of `most`; one at least.
PairPlan pairPlan(double tunedMs, double untunedMs, double seconds, double most);

/// Of what a plan takes: of a quiet machine.
double plannedSeconds(const PairPlan& plan, double tunedMs, double untunedMs);

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
