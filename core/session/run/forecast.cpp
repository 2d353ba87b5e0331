#include "core/session/run/forecast.h"

#include <algorithm>
#include <cmath>

namespace lathe::session {

Forecast forecast(std::span<const ForecastTask> tasks, double nowSeconds, double endSeconds)
{
    constexpr double kPriorTasks = 2, kPriorGain = 0.35, kSlope = 0.05;
    constexpr double kNoise = 0.12, kOfGain = 0.5, kEightyPercent = 1.28;
    double estimate = 0, unsearched = 0, unsearchedSeconds = 0, won = kPriorTasks * kPriorGain,
           searchedTasks = kPriorTasks;
    for (const ForecastTask& task : tasks) {
        estimate += task.weight * task.bestMs;
        if (task.searched) {
            won += std::log(task.firstMs / task.bestMs);
            ++searchedTasks;
        } else {
            unsearched += task.weight * task.bestMs;
            unsearchedSeconds += task.secondsPerRound;
        }
    }
    if (!std::isfinite(estimate) || !(estimate > 0) || !std::isfinite(endSeconds) || !(nowSeconds > 0))
        return {};
    const double left = std::max(0.0, endSeconds - nowSeconds);
    const double reached = unsearchedSeconds > 0 ? std::min(1.0, left / unsearchedSeconds) : left > 0 ? 1.0 : 0.0;
    const double share = unsearched / estimate;
    const double ofUnsearched = 1 - std::exp(-std::max(0.0, won / searchedTasks) * reached);
    const double ofSearched = 1 - std::pow(std::max(1.0, endSeconds / nowSeconds), -kSlope);
    const double lnGain = -std::log(1 - share * ofUnsearched - (1 - share) * ofSearched);
    const double likely = estimate * std::exp(-lnGain);
    const double band = std::exp(kEightyPercent * std::hypot(kNoise, kOfGain * lnGain));
    return {likely, likely / band, likely * band};
}

} // namespace lathe::session
