#pragma once

#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/policy.h"
#include "core/support/random.h"

#include <unordered_map>
#include <unordered_set>

namespace lathe::search {

enum class Guidance : std::uint8_t
{
    Model, ///< evolution by the cost model, by the analytical estimate until it is trained
    Measured, ///< evolution from what was measured alone
    None ///< random sampling
};

/// Lathe's own search: evolution over (sketch, genome) of all alternatives at once, scored without lowering.
class LathePolicy final : public Policy
{
public:
    static Result<std::unique_ptr<LathePolicy>> create(const SearchTask& task, Guidance guidance,
                                                       std::shared_ptr<SharedModel> model,
                                                       const PolicyOptions& options);

    Result<std::vector<Candidate>> propose(std::uint64_t round, std::int32_t count, Executor& executor,
                                           std::stop_token stop) override;
    Result<> tell(std::span<const Measured> results, std::stop_token stop) override;
    std::map<std::string, double> statistics() const override { return m_statistics; }
    /// The schedule that the task has without a search, and what a head start brings.
    Result<std::vector<Candidate>> firstRound(std::int32_t count) const override;
    std::vector<double> inherit(const HeadStart& headStart) override;
    Result<std::vector<Candidate>> heirs() const override;

private:
    struct Individual
    {
        std::int32_t sketch = -1; ///< -1: none (sampling failed)
        Genome genome;
        Hash128 identity;
        double seconds = 0; ///< estimated
        std::vector<float> features;
        double score = 0;
        bool scored = false; ///< by this round's model
    };
    struct Known
    {
        std::int32_t sketch;
        Genome genome;
        double seconds; ///< measured
    };

    LathePolicy(const SearchTask& task, Guidance guidance, std::shared_ptr<SharedModel> model,
                const PolicyOptions& options)
        : m_task(task)
        , m_guidance(guidance)
        , m_model(std::move(model))
        , m_seed(options.seed)
        , m_untuned(options.untuned)
    {
    }
    Result<> confine(const std::vector<Candidate>& pool);
    std::int32_t sketchOf(const Candidate& candidate) const; ///< -1: made by other rules or for another task
    bool modelLeads() const { return m_model->ready() && !m_known.empty(); }
    Random random(std::uint64_t round, std::uint64_t index) const;
    /// No search round has been told of: all that is known to be measured are heirs.
    bool onlyHeirsTold() const;
    Result<Candidate> candidate(const Individual& individual, double seconds) const;
    bool evaluate(Individual& individual) const;
    Individual sample(Random& random, std::int32_t only) const; ///< -1: any sketch
    Individual child(const std::vector<Individual>& parents, Random& random) const;
    Result<> score(std::vector<Individual>& population) const;
    /// By the model where it leads, else by the estimate. For display.
    Result<std::vector<double>> predictSeconds(const std::vector<Individual>& individuals) const;
    Result<std::vector<Individual>> evolve(std::uint64_t round, std::int32_t wanted, Executor& executor,
                                           std::stop_token stop);
    Result<std::vector<Individual>> evolveOne(std::uint64_t round, std::int32_t sketch, std::int32_t wanted,
                                              Executor& executor, std::stop_token stop);
    /// What the search is confined to and has not been told of, evaluated.
    std::vector<Individual> poolLeft() const;
    std::vector<Individual> sampleMany(std::uint64_t round, std::uint64_t firstIndex, std::size_t count,
                                       std::int32_t only, Executor& executor, std::stop_token stop) const;
    std::vector<Individual> pick(const std::vector<Individual>& ranked, std::vector<Individual> randoms,
                                 std::size_t count, bool first);
    /// Launches: whether what an individual is lowered to exists and keeps the device's limits, exactly. Each is
    /// lowered once, and counted once where it is rejected.
    bool isRunnable(const Individual& individual);

    SearchTask m_task;
    Guidance m_guidance;
    std::shared_ptr<SharedModel> m_model;
    std::uint64_t m_seed;
    std::function<std::optional<Candidate>(const SearchTask&)> m_untuned; ///< PolicyOptions::untuned
    std::vector<std::shared_ptr<const PartedSketch>> m_sketches;
    std::vector<Individual> m_pool; ///< PolicyOptions::pool
    bool m_confined = false;
    std::vector<Individual> m_inherited; ///< of similar tasks, adapted, the most promising first
    std::unordered_set<Hash128> m_told; ///< not what was proposed alone: Policy::propose() says why
    std::vector<Known> m_known; ///< valid results, fastest first
    std::unordered_map<Hash128, bool> m_runnable;
    double m_rejected = 0; ///< of all rounds so far
    std::size_t m_considered = 0; ///< candidates with features and a score, in the round at hand
    std::map<std::string, double> m_statistics;
};

} // namespace lathe::search
