#pragma once

#include "core/session/views.h"

#include <span>

namespace lathe::session {

// Where a run that ends with its budget is likely to end. Two things bring the network further: tasks that were not
// searched yet (a first trial is the default schedule) win what the searched ones have won, and what is searched goes
// on winning, by a share of the logarithm of time. The estimate is of runoffs (finals.h), so finals move it up as often
// as down.
//
//     won        = (k p + sum of ln(first_i / best_i) over searched tasks) / (k + how many),  k = 2, p = 0.35
//     ln(gain)   = -ln(1 - u (1 - exp(-won r)) - (1 - u)(1 - (end / now)^-q))
//     likely     = estimate / gain
//     band       = likely x exp(-+1.28 sqrt(0.12^2 + (ln(gain) / 2)^2))
//
// u is the unsearched tasks' share of the estimate, r the share of them that the time left does for, q = 0.05.
//
// The band's least width, 0.12, was chosen by 17 runs from before there were runoffs; in eleven runs since, it held 85
// % of the time (tests/bench/README.md).

struct ForecastTask
{
    double weight = 1;
    double firstMs = kUnknown; ///< of its first valid trial
    double bestMs = kUnknown;
    double secondsPerRound = 0; ///< that a search of it takes
    bool searched = false; ///< has had more than its first round
};

struct Forecast
{
    double ms = kUnknown, low = kUnknown, high = kUnknown;
};

/// All of a network's tasks, all with a valid trial, else unknown; unknown without an end, too.
Forecast forecast(std::span<const ForecastTask> tasks, double nowSeconds, double endSeconds);

} // namespace lathe::session
