#include "core/session/exports/timed_pairs.h"

#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

constexpr double kPairs = 20, kMostRuns = 50;
constexpr std::uint32_t kWantedPairs = 10;

} // namespace

PairPlan pairPlan(double tunedMs, double untunedMs, double seconds, double most)
{
    PairPlan plan;
    // A turn has a run that is not timed beside those that are.
    const auto runs = [seconds](double ms) {
        return static_cast<std::uint32_t>(
            std::clamp(seconds / (kPairs * std::max(ms, 1e-3) * 1e-3) - 1, 1.0, kMostRuns));
    };
    plan.tunedRuns = runs(tunedMs);
    plan.untunedRuns = runs(untunedMs);
    const auto pairs = [&] {
        const double turn = std::max(untunedMs, 1e-3) * 1e-3 * (1 + plan.untunedRuns);
        return static_cast<std::uint32_t>(std::clamp(std::floor(most / turn), 1.0, kPairs));
    };
    plan.pairs = pairs();
    if (plan.pairs < kWantedPairs) {
        plan.tunedRuns = plan.untunedRuns = 0;
        plan.pairs = pairs();
    }
    return plan;
}

double plannedSeconds(const PairPlan& plan, double tunedMs, double untunedMs)
{
    return plan.pairs * 1e-3 * ((1 + plan.tunedRuns) * tunedMs + (1 + plan.untunedRuns) * untunedMs);
}

Result<TimedPairs> timeInTurns(const TimeTurn& tuned, const TimeTurn& untuned, const PairPlan& plan,
                               const measure::MachineReader& machine, std::stop_token stop)
{
    TimedPairs pairs;
    std::vector<double> control;
    const auto take = [&control](const TimeTurn& turn, std::uint32_t runs, std::vector<double>& ms) -> Result<> {
        LATHE_TRY_ASSIGN(const Turn taken, turn(runs));
        ms.push_back(taken.ms);
        control.push_back(taken.controlNs);
        return {};
    };
    const measure::MachineCounters before = machine.read();
    for (std::uint32_t pair = 0; pair < plan.pairs; ++pair) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        if (pair % 2 == 0)
            LATHE_TRY(take(tuned, plan.tunedRuns, pairs.tunedMs));
        LATHE_TRY(take(untuned, plan.untunedRuns, pairs.untunedMs));
        if (pair % 2 == 1)
            LATHE_TRY(take(tuned, plan.tunedRuns, pairs.tunedMs));
    }
    pairs.machine = measure::machineBetween(before, machine.read());
    measure::putControl(pairs.machine, control);
    return pairs;
}

} // namespace lathe::session
