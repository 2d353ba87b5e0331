#include "tests/examples/policy/climb.h"

#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/support/random.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <unordered_set>

namespace lathe::examples {

using namespace search;

namespace {

class ClimbPolicy final : public Policy
{
public:
    ClimbPolicy(const SearchTask& task, std::vector<std::shared_ptr<const LatheSketch>> sketches, std::uint64_t seed)
        : m_task(task.key)
        , m_sketches(std::move(sketches))
        , m_seed(seed)
    {
    }

    Result<std::vector<Candidate>> propose(std::uint64_t round, std::int32_t count, Executor&,
                                           std::stop_token stop) override
    {
        constexpr std::uint64_t kTries = 100; // for each candidate; then the space counts as exhausted
        std::vector<Candidate> found;
        std::unordered_set<Hash128> taken = m_told; // what is proposed and not measured may come again
        for (std::uint64_t i = 0; i < kTries * static_cast<std::uint64_t>(count); ++i) {
            if (stop.stop_requested())
                return makeError(Errc::Cancelled, "stopped");
            if (std::ssize(found) == count)
                break;
            Random random(m_seed, round, i);
            const Place place = m_best.sketch != nullptr && i % 4 != 0 ? neighbour(random) : anywhere(random);
            const auto steps = place.sketch->instantiate(place.genome);
            if (steps && taken.insert(place.sketch->identity(place.genome)).second)
                found.push_back(candidate(place, *steps));
        }
        return found;
    }

    Result<> tell(std::span<const Measured> results, std::stop_token) override
    {
        for (const Measured& measured : results)
            for (const auto& sketch : m_sketches)
                if (sketch->name() == measured.candidate.sketch) {
                    m_told.insert(sketch->identity(measured.candidate.genome));
                    if (measured.result.ok() && measured.result.meanNs() < m_bestNs) {
                        m_best = {sketch, measured.candidate.genome};
                        m_bestNs = measured.result.meanNs();
                    }
                }
        return {};
    }

private:
    struct Place
    {
        std::shared_ptr<const LatheSketch> sketch;
        Genome genome;
    };

    static std::int32_t gene(const Parameter& parameter, Random& random)
    {
        return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(parameter.count)));
    }
    Place anywhere(Random& random) const
    {
        Place place{m_sketches[random.below(m_sketches.size())], {}};
        for (const Parameter& parameter : place.sketch->parameters())
            place.genome.push_back(gene(parameter, random));
        return place;
    }
    Place neighbour(Random& random) const
    {
        Place place = m_best;
        const std::size_t changed = random.below(place.genome.size());
        place.genome[changed] = gene(place.sketch->parameters()[changed], random);
        return place;
    }
    Candidate candidate(const Place& place, const std::vector<schedule::Step>& steps) const
    {
        Candidate made;
        made.task = m_task;
        made.alternative = place.sketch->alternative();
        made.sketch = place.sketch->name();
        made.genome = place.genome;
        made.steps = schedule::toJson(steps).dump();
        return made;
    }

    std::string m_task;
    std::vector<std::shared_ptr<const LatheSketch>> m_sketches;
    std::uint64_t m_seed;
    Place m_best;
    double m_bestNs = std::numeric_limits<double>::infinity();
    std::unordered_set<Hash128> m_told;
};

} // namespace

policy::PolicyEntry climb()
{
    policy::PolicyEntry entry;
    entry.name = "climb";
    entry.help = "one choice of the best at a time";
    entry.suits = [](const Target& target) { return target.traits().form == KernelForm::Phases; };
    entry.model = [](std::size_t, const PolicyOptions& options) -> Result<std::shared_ptr<SharedModel>> {
        return std::make_shared<SharedModel>(makeRandomModel(options.seed), kLatheFeatures, 0); // it asks none
    };
    entry.make = [](const SearchTask& task, const std::shared_ptr<SharedModel>&,
                    const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
        LATHE_TRY_ASSIGN(auto sketches, latheCpuSketches(task));
        return std::unique_ptr<Policy>(std::make_unique<ClimbPolicy>(task, std::move(sketches), options.seed));
    };
    return entry;
}

} // namespace lathe::examples
