#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

/// Monotonic, arbitrary origin.
std::uint64_t nowNanoseconds();

/// Of repeats, each the mean of several runs. std is the population's; p95 by linear interpolation between ranks.
struct Statistics
{
    double median = 0;
    double mean = 0;
    double std = 0;
    double min = 0;
    double max = 0;
    double p95 = 0;
};

/// Sorts `values` in place. All zero if count is 0.
Statistics summarize(double* values, std::size_t count);

/// How a time is taken (the field's time evaluator): one warm-up call; then `repeat` values, each the mean of `number`
/// calls between two clock marks; while a repeat is shorter than minRepeatMs, number grows to
/// max(minRepeatMs / mean + 1, number * 1.618) and the attempt is thrown away; the grown number stays.
struct RepeatPlan
{
    std::uint32_t number = 1;
    std::uint32_t repeat = 3;
    double minRepeatMs = 0;
    double cooldownMs = 0; ///< slept after every repeatsToCooldown-th repeat
    std::uint32_t repeatsToCooldown = 1;
};

using TimedCall = std::int32_t (*)(void* context);

/// Nanoseconds per call into results[0 .. plan.repeat). 0, or the first code that a call returned.
std::int32_t timeRepeats(const RepeatPlan& plan, TimedCall call, void* context, double* results);

} // namespace lathe::runtime
