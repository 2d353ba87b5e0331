#pragma once

#include "core/session/views.h"

#include <span>

namespace lathe::session {

// Where a run that ends with its budget is likely to end. Two things bring the network further: tasks that were not searched yet
// (a first trial is the default schedule) win what the searched ones have won, and what is searched goes on winning, by a share of
// the logarithm of time. Finals then raise the estimate, since the least of many measurements is too low.
//
//     won        = (k p + sum of ln(first_i / best_i) over searched tasks) / (k + how many),  k = 2, p = 0.35
//     ln(gain)   = -ln(1 - u (1 - exp(-won r)) - (1 - u)(1 - (end / now)^-q))
//     likely     = estimate / gain x 1.10
//     band       = likely x exp(-+1.28 sqrt(0.12^2 + (ln(gain) / 2)^2))
//
// u is the unsearched tasks' share of the estimate, r the share of them that the time left does for, q = 0.05.
//
// What finals add depends on the machine: 6 % fitted nineteen runs on a calm one, 21 % was the mean of 17 runs on one whose speed
// changes by the minute; 10 % and the band's least width are between the two. The final estimate lay in this band, which is meant
// to hold four of five, for 79 % of the time of these 17 (15 networks, 180 and 480 s; tests/bench/forecast).

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
