#pragma once

#include "core/search/policy.h"
#include "plugins/sim/cost_model.h"
#include "plugins/sim/launch_cost.h"

#include <functional>
#include <unordered_map>

namespace lathe::test {

/// Says what a candidate costs without running it.
class CostSource
{
public:
    virtual ~CostSource() = default;
    virtual double nanoseconds(const Candidate& candidate) = 0;
    /// Candidates that it knows; null: all.
    virtual std::shared_ptr<const std::vector<Candidate>> pool() const { return nullptr; }
};

/// The simulated device's formula over the lowered loop nest, in this process. Remembers what it was asked.
class SimulatedCost final : public CostSource
{
public:
    SimulatedCost(search::SearchTask task, sim::CpuMachine machine)
        : m_task(std::move(task))
        , m_time([machine](const ir::LoopNest& nest) { return sim::modelTimeNs(nest, machine); })
    {
    }
    /// Of launches; what the device cannot run is a failed trial.
    SimulatedCost(search::SearchTask task, sim::GpuMachine machine)
        : m_task(std::move(task))
        , m_time([machine](const ir::LoopNest& nest) { return sim::launchTimeNs(nest, machine); })
    {
    }
    double nanoseconds(const Candidate& candidate) override;

private:
    search::SearchTask m_task;
    std::function<double(const ir::LoopNest& nest)> m_time;
    std::unordered_map<Hash128, double> m_known;
};

struct RaceOptions
{
    std::string policy = "sketch";
    std::uint64_t seed = 1;
    std::int32_t trials = 1000;
    std::int32_t trialsPerRound = 64;
    bool modelOff = false; ///< "sketch" by its analytical estimate alone: the cost model is never trained
    double goal = 0; ///< stops when a cost is no more than that
};

/// Lowest cost after each trial. Ends early where nothing is left to propose. Errors: the policy's.
Result<std::vector<double>> race(const search::SearchTask& task, CostSource& costs, const RaceOptions& options);

/// Trials until a cost of `goal` was reached, counted from 1; `best.size()` + 1 if it was not.
std::size_t trialsTo(const std::vector<double>& best, double goal);

} // namespace lathe::test
