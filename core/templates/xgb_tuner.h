#pragma once

#include "core/templates/annealing.h"
#include "core/templates/feature_cache.h"
#include "core/templates/random_order.h"
#include "core/templates/throughput_trees.h"
#include "core/templates/tuner.h"

namespace lathe::templates {

struct XgbOptions
{
    std::size_t planSize = 64; ///< configurations that are chosen by one model; at least 1
    double randomShare = 0.05; ///< of planSize: so many of a plan's last places are left to random ones (3 of 64)
    /// How a plan is found; its diversityRatio is the reference's diversity_filter_ratio. Its seed is not looked at:
    /// the tuner's is taken.
    AnnealingOptions annealing = {};
    /// The loss, the trees and when they are enough. recallAt, seed and threads are not looked at: planSize and those
    /// below are taken.
    TreeOptions trees = {};
    ConfigFeatures features = {}; ///< empty: the kind `knob` (ConfigSpace::features)

    std::size_t transferLeast = 500; ///< records of other tasks with features, below which there is no base model
    std::int32_t transferRounds = 400; ///< of the base model
    std::int32_t transferPatience = 100;

    std::uint64_t seed = 0;
    std::int32_t threads = 1; ///< of XGBoost
};

/// Chooses what gradient boosted trees take for fast (autotvm.md 7.2). What it gives first is random. Whenever a plan's
/// worth of results is new, and any so far worked, trees are trained on all results, where failures have the throughput
/// 0, and simulated annealing finds the next plan: what is fastest by them of what its walkers met and nobody saw. What
/// is asked for beyond a plan is random.
///
/// With transfer(), a base model of other tasks makes the first plan, unless as many own results were told before it;
/// later its guesses, times 2^(-n/64) for n own results, are where the trees start from. Below 0.05, from n = 277 on,
/// the next training forgets it.
///
/// Other than the reference's (autotvm.md 17): base margins stand in the order of the rows; throughputs of other tasks
/// are shares of the best of their own task, as seconds of different shapes do not compare; configurations without
/// features are left out; plans have no places for what constraints refuse; results of earlier runs are learned from.
/// The order in which results of a plan come does not matter.
///
/// The base model is trained in transfer(), all others in next(). How long that takes, the features decide: those of
/// knobs cost next to nothing, but for those of loops each configuration that the annealing meets is lowered, thousands
/// of them for a plan. The library's sums of floating point numbers are the same on machines of one kind with equally
/// many threads; else their last digit may differ, and with it a plan.
class XgbTuner final : public Tuner
{
public:
    explicit XgbTuner(const ConfigSpace& space, XgbOptions options = {});

    Result<std::size_t> transfer(std::span<const ForeignRecords> tasks, std::stop_token stop = {}) override;

    /// What the base model counts, with so many own results: 2^(-n/64), 0 when that is below 0.05.
    static double baseShare(std::size_t results);
    /// How many models of own results were trained; 0: all so far is random, or of the base model.
    std::size_t models() const { return m_models; }

private:
    Result<> prepare(std::size_t count, std::stop_token stop) override;
    std::optional<std::uint64_t> draw() override;
    void learn(std::uint64_t index, double seconds) override;

    using Rows = ThroughputTrees::Rows;
    using Guess = std::function<Result<std::vector<float>>(const Rows&)>;

    TreeOptions treeOptions() const;
    Result<ThroughputTrees> train(std::stop_token stop);
    /// The part of a guess that is the base model's; empty without one.
    Result<std::vector<float>> margins(const Rows& rows) const;
    Result<> plan(const Guess& guess, std::stop_token stop);

    XgbOptions m_options;
    Random m_random;
    RandomOrder m_order;
    std::optional<Annealing> m_annealing; ///< always there; exchanged as a whole
    FeatureCache m_features;
    std::optional<ThroughputTrees> m_base;
    bool m_basePlans = false; ///< the next plan is the base model's
    std::vector<std::pair<std::uint64_t, double>> m_results;
    bool m_anySuccess = false;
    std::size_t m_nextModel; ///< trained when there are so many results
    std::size_t m_models = 0;
    std::vector<std::uint64_t> m_plan;
    std::size_t m_place = 0; ///< in the plan
};

} // namespace lathe::templates
