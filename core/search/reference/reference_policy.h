#pragma once

#include "core/search/policy.h"
#include "core/search/reference/annotate.h"

#include <unordered_map>
#include <unordered_set>

namespace lathe::search {

/// Defaults of the reference's search round (auto-scheduler.md 5.3).
struct ReferenceSearchParameters
{
    double epsGreedy = 0.05;
    std::int32_t sampleInitMinPopulation = 50;
    double sampleInitUseMeasuredRatio = 0.2;
    std::int32_t population = 2048;
    std::int32_t iterations = 4;
    double mutationProbability = 0.85;
    std::int32_t retries = 1; ///< rounds searched again when one found nothing new
};

/// The reference's evolutionary search on its own sketches and features, for comparison.
class ReferencePolicy final : public Policy
{
public:
    static Result<std::unique_ptr<ReferencePolicy>> create(const SearchTask& task, std::shared_ptr<SharedModel> model,
                                                           const PolicyOptions& options,
                                                           const ReferenceSearchParameters& parameters = {});

    Result<std::vector<Candidate>> propose(std::uint64_t round, std::int32_t count, Executor& executor,
                                           std::stop_token stop) override;
    Result<> tell(std::span<const Measured> results, std::stop_token stop) override;
    std::map<std::string, double> statistics() const override { return m_statistics; }
    const std::vector<std::shared_ptr<const ReferenceSketch>>& sketches() const { return m_sketches; }

private:
    struct Program
    {
        std::int32_t sketch = -1; ///< -1: invalid
        Genome genome;
        Hash128 identity; ///< of the steps: unused decisions do not count
        std::vector<float> features;
        double score = 0;
    };
    struct Known
    {
        Program program;
        double seconds;
    };

    ReferencePolicy(const SearchTask& task, std::shared_ptr<SharedModel> model, const PolicyOptions& options,
                    const ReferenceSearchParameters& parameters)
        : m_task(task)
        , m_model(std::move(model))
        , m_seed(options.seed)
        , m_parameters(parameters)
        , m_minPopulation(parameters.sampleInitMinPopulation)
    {
    }
    /// Whether the device can run it: of kernels that are launches, lowered and held against the hardware's limits.
    /// Each program is lowered once, and counted once where it is rejected.
    bool isRunnable(const Program& program);
    Program finish(std::int32_t sketch, Genome genome, const schedule::State& state) const;
    Result<> score(std::vector<Program>& programs, std::uint64_t salt) const;
    Result<std::vector<Program>> sampleInitial(std::uint64_t round, Executor& executor, std::stop_token stop);
    Result<std::vector<Program>> evolve(std::vector<Program> population, std::size_t wanted, std::uint64_t round,
                                        Executor& executor, std::stop_token stop);
    Random random(std::uint64_t round, std::uint64_t index) const
    {
        return Random(m_seed ^ contentHash(m_task.key).high, round, index);
    }

    SearchTask m_task;
    std::shared_ptr<SharedModel> m_model;
    std::uint64_t m_seed;
    ReferenceSearchParameters m_parameters;
    std::int32_t m_minPopulation;
    std::vector<std::shared_ptr<const ReferenceSketch>> m_sketches;
    std::vector<bool> m_constantInputs; ///< of the alternative that is searched
    std::unordered_map<Hash128, bool> m_runnable; ///< by Program::identity, of those that were lowered
    double m_rejected = 0; ///< of all rounds so far
    std::unordered_set<Hash128> m_told; ///< as LathePolicy has it
    std::vector<Known> m_known; ///< valid, fastest first
    std::map<std::string, double> m_statistics;
};

} // namespace lathe::search
