#include "tests/support/search/race.h"

#include "core/policy/policy_table.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/lower.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace lathe::test {

double SimulatedCost::nanoseconds(const Candidate& candidate)
{
    const Hash128 hash = candidate.hash();
    if (const auto known = m_known.find(hash); known != m_known.end())
        return known->second;
    const auto cost = [&]() -> Result<double> {
        const auto alternative = std::find_if(
            m_task.alternatives.begin(), m_task.alternatives.end(),
            [&](const search::SearchAlternative& a) { return a.name == candidate.alternative; });
        if (alternative == m_task.alternatives.end())
            return makeError(Errc::NotFound, "no alternative " + candidate.alternative);
        LATHE_TRY_ASSIGN(const auto steps,
                         schedule::stepsFromJson(nlohmann::json::parse(candidate.steps, nullptr, false)));
        LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(alternative->dag, steps));
        schedule::LowerOptions options;
        options.constantInputs = alternative->constantInputs;
        options.form = m_task.target.traits().form;
        LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(state, options));
        if (options.form == KernelForm::Launches)
            LATHE_TRY(schedule::checkLimits(state, kernel.nest, m_task.hardware));
        return m_time(kernel.nest);
    }();
    // What does not lower is a failed trial.
    return m_known[hash] = cost ? *cost : std::numeric_limits<double>::infinity();
}

Result<std::vector<double>> race(const search::SearchTask& task, CostSource& costs, const RaceOptions& options)
{
    search::PolicyOptions policyOptions;
    policyOptions.seed = options.seed;
    policyOptions.trialsPerRound = options.trialsPerRound;
    policyOptions.pool = costs.pool();
    LATHE_TRY_ASSIGN(std::shared_ptr<search::SharedModel> model,
                     policy::makeSharedModel(options.modelOff ? "random" : options.policy, 1, policyOptions));
    LATHE_TRY_ASSIGN(const std::unique_ptr<search::Policy> policy,
                     policy::makePolicy(options.policy, task, std::move(model), policyOptions));
    SerialExecutor executor;
    std::vector<double> best;
    const auto trials = static_cast<std::size_t>(options.trials);
    for (std::uint64_t round = 0; best.size() < trials; ++round) {
        const auto wanted = static_cast<std::int32_t>(
            std::min(trials - best.size(), static_cast<std::size_t>(options.trialsPerRound)));
        LATHE_TRY_ASSIGN(const std::vector<Candidate> candidates, policy->propose(round, wanted, executor));
        if (candidates.empty())
            break;
        std::vector<search::Measured> results;
        for (const Candidate& candidate : candidates) {
            const double cost = costs.nanoseconds(candidate);
            best.push_back(best.empty() ? cost : std::min(best.back(), cost));
            search::Measured& measured = results.emplace_back(search::Measured{candidate, {}});
            if (cost < std::numeric_limits<double>::infinity())
                measured.result.costsNs = {cost};
            else
                measured.result.code = Errc::BuildFailed;
        }
        if (best.back() <= options.goal)
            break;
        LATHE_TRY(policy->tell(results));
    }
    return best;
}

std::size_t trialsTo(const std::vector<double>& best, double goal)
{
    return static_cast<std::size_t>(std::find_if(best.begin(), best.end(), [&](double cost) { return cost <= goal; })
                                    - best.begin())
           + 1;
}

} // namespace lathe::test
