#include "core/search/lathe/lathe_policy.h"

#include "core/schedule/launch_limits.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::search {
namespace {

constexpr std::size_t kPopulation = 512;
constexpr int kGenerations = 5;
constexpr std::size_t kElite = 64; ///< measured ones that take part
constexpr int kTries = 16; ///< until a random genome obeys all limits
constexpr double kRandomShare = 0.05;
/// Genes in which the leaders of a round differ from each other while there is choice: near twins teach the model one
/// thing.
constexpr int kDistance = 3;
constexpr double kTrust = 8; ///< measurements of a task that weigh as much as the estimate

int differences(const Genome& a, const Genome& b)
{
    int count = 0;
    for (std::size_t g = 0; g < a.size(); ++g)
        count += a[g] != b[g] ? 1 : 0;
    return count;
}

} // namespace

Result<std::unique_ptr<LathePolicy>> LathePolicy::create(const SearchTask& task, Guidance guidance,
                                                         std::shared_ptr<SharedModel> model,
                                                         const PolicyOptions& options)
{
    std::unique_ptr<LathePolicy> policy(new LathePolicy(task, guidance, std::move(model), options));
    if (task.target.traits().form == KernelForm::Phases) {
        LATHE_TRY_ASSIGN(const auto sketches, latheCpuSketches(task));
        policy->m_sketches.assign(sketches.begin(), sketches.end());
    } else {
        LATHE_TRY_ASSIGN(policy->m_sketches, latheLaunchSketches(task));
    }
    if (options.pool) {
        if (guidance == Guidance::Measured)
            return makeError(
                Errc::Unsupported,
                "evolution without a model cannot be confined to given candidates: it would breed none of them");
        LATHE_TRY(policy->confine(*options.pool));
    }
    return policy;
}

Result<> LathePolicy::confine(const std::vector<Candidate>& pool)
{
    m_confined = true;
    for (const Candidate& candidate : pool) {
        const std::int32_t sketch = sketchOf(candidate);
        if (sketch < 0)
            return makeError(Errc::InvalidArgument, "a given candidate of sketch '" + candidate.sketch
                                                        + "' does not belong to task " + m_task.name);
        Individual individual{sketch, candidate.genome, {}, 0, {}, 0};
        if (evaluate(individual)) // what breaks a limit is no choice
            m_pool.push_back(std::move(individual));
    }
    return {};
}

std::int32_t LathePolicy::sketchOf(const Candidate& candidate) const
{
    for (std::size_t s = 0; s < m_sketches.size(); ++s)
        if (m_sketches[s]->name() == candidate.sketch)
            return candidate.task == m_task.key && candidate.genome.size() == m_sketches[s]->parameters().size()
                       ? static_cast<std::int32_t>(s)
                       : -1;
    return -1;
}

std::vector<LathePolicy::Individual> LathePolicy::poolLeft() const
{
    std::vector<Individual> left;
    std::copy_if(m_pool.begin(), m_pool.end(), std::back_inserter(left),
                 [&](const Individual& individual) { return !m_told.contains(individual.identity); });
    return left;
}

Random LathePolicy::random(std::uint64_t round, std::uint64_t index) const
{
    return Random(m_seed ^ contentHash(m_task.key).low, round, index);
}

bool LathePolicy::evaluate(Individual& individual) const
{
    const PartedSketch& sketch = *m_sketches[static_cast<std::size_t>(individual.sketch)];
    auto analysis = sketch.analyse(individual.genome);
    if (!analysis)
        return false;
    individual.seconds = analysis->seconds;
    individual.features = std::move(analysis->features);
    individual.identity = sketch.identity(individual.genome);
    return true;
}

LathePolicy::Individual LathePolicy::sample(Random& random, std::int32_t only) const
{
    Individual individual;
    const std::int32_t which = only >= 0 ? only : static_cast<std::int32_t>(random.below(m_sketches.size()));
    const PartedSketch& sketch = *m_sketches[static_cast<std::size_t>(which)];
    individual.sketch = which;
    individual.genome.resize(sketch.parameters().size());
    // Phases do not restrict each other: each is drawn until it is legal, so that many phases are no harder than one.
    for (std::size_t part = 0; part < sketch.partCount(); ++part) {
        const auto [first, count] = sketch.genesOf(part);
        if (!sketch.draw(part, random, std::span(individual.genome).subspan(first, count))) {
            individual.sketch = -1;
            return individual;
        }
    }
    if (!evaluate(individual))
        individual.sketch = -1;
    return individual;
}

LathePolicy::Individual LathePolicy::child(const std::vector<Individual>& parents, Random& random) const
{
    const auto tournament = [&]() -> const Individual& {
        // The population is ranked: the least of three draws is the best of them.
        std::uint64_t best = random.below(parents.size());
        for (int i = 0; i < 2; ++i)
            best = std::min(best, random.below(parents.size()));
        return parents[static_cast<std::size_t>(best)];
    };
    for (int t = 0; t < kTries; ++t) {
        const Individual& mother = tournament();
        Individual individual{mother.sketch, mother.genome, {}, 0, {}, 0};
        const PartedSketch& sketch = *m_sketches[static_cast<std::size_t>(mother.sketch)];
        if (individual.genome.empty())
            return Individual();
        if (random.uniform() < 0.3) {
            const Individual& father = tournament();
            if (father.sketch == mother.sketch)
                for (std::size_t g = 0; g < individual.genome.size(); ++g)
                    if (random.below(2) == 1)
                        individual.genome[g] = father.genome[g];
        }
        const std::uint64_t changes = 1 + random.below(3);
        for (std::uint64_t c = 0; c < changes; ++c) {
            const std::size_t g = random.below(individual.genome.size());
            const std::int32_t count = sketch.parameters()[g].count;
            // Values are ordered: a neighbour half of the time.
            if (random.below(2) == 1 && count > 2)
                individual.genome[g] = std::clamp(individual.genome[g] + (random.below(2) == 1 ? 1 : -1), 0, count - 1);
            else
                individual.genome[g] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(count)));
        }
        // Without a model a child is thought of as a little worse than its parent for every gene that changed.
        individual.score = mother.score - 0.1 * static_cast<double>(changes);
        if (evaluate(individual))
            return individual;
    }
    return Individual();
}

std::vector<LathePolicy::Individual> LathePolicy::sampleMany(std::uint64_t round, std::uint64_t firstIndex,
                                                             std::size_t count, std::int32_t only, Executor& executor,
                                                             std::stop_token stop) const
{
    if (m_confined) {
        std::vector<Individual> left = poolLeft();
        Random r = random(round, firstIndex);
        for (std::size_t i = 0; i < left.size(); ++i)
            std::swap(left[i], left[i + r.below(left.size() - i)]);
        left.resize(std::min(left.size(), count));
        return left;
    }
    std::vector<Individual> drawn(count);
    executor.parallelFor(
        count,
        [&](std::size_t i) {
            Random r = random(round, firstIndex + i);
            drawn[i] = sample(r, only);
        },
        stop);
    std::erase_if(drawn, [](const Individual& individual) { return individual.sketch < 0; });
    return drawn;
}

Result<> LathePolicy::score(std::vector<Individual>& population) const
{
    // The model learns between rounds: within one, who has a score keeps it.
    std::vector<Individual*> fresh;
    for (Individual& individual : population)
        if (!individual.scored)
            fresh.push_back(&individual);
    // What other tasks taught the model says little of this one: the estimate leads until enough of it was measured.
    // Both are binary logarithms of a speed.
    if (m_guidance == Guidance::Model && modelLeads()) {
        FeatureMatrix features;
        features.columns = kLatheFeatures;
        for (const Individual* individual : fresh)
            features.append(individual->features);
        LATHE_TRY_ASSIGN(const std::vector<float> scores, m_model->predict(features));
        // Similar tasks are worth as many measurements as the estimate.
        const double known = static_cast<double>(m_known.size()) + (m_inherited.empty() ? 0 : kTrust);
        const double share = known / (known + kTrust);
        for (std::size_t i = 0; i < fresh.size(); ++i)
            fresh[i]->score = share * scores[i] - (1 - share) * std::log2(fresh[i]->seconds);
    } else if (m_guidance == Guidance::Model) {
        for (Individual* individual : fresh)
            individual->score = -std::log2(individual->seconds);
    }
    for (Individual* individual : fresh)
        individual->scored = true;
    // Equal scores are ordered by identity, which no number of threads changes.
    std::sort(population.begin(), population.end(), [](const Individual& a, const Individual& b) {
        return a.score != b.score ? a.score > b.score : a.identity < b.identity;
    });
    const auto twins = std::unique(population.begin(), population.end(),
                                   [](const Individual& a, const Individual& b) { return a.identity == b.identity; });
    population.erase(twins, population.end());
    return {};
}

Result<std::vector<double>> LathePolicy::predictSeconds(const std::vector<Individual>& individuals) const
{
    std::vector<double> seconds;
    if (m_guidance == Guidance::Model && modelLeads()) {
        // The model speaks of shares of the task's best speed, as binary logarithms.
        FeatureMatrix features;
        features.columns = kLatheFeatures;
        for (const Individual& individual : individuals)
            features.append(individual.features);
        LATHE_TRY_ASSIGN(const std::vector<float> scores, m_model->predict(features));
        for (const float score : scores)
            seconds.push_back(m_known.front().seconds * std::exp2(-static_cast<double>(score)));
        return seconds;
    }
    for (const Individual& individual : individuals)
        seconds.push_back(individual.seconds);
    return seconds;
}

Result<std::vector<LathePolicy::Individual>> LathePolicy::evolve(std::uint64_t round, std::int32_t wanted,
                                                                 Executor& executor, std::stop_token stop)
{
    if (m_confined) {
        std::vector<Individual> left = poolLeft();
        LATHE_TRY(score(left));
        return left;
    }
    // Each algorithm evolves by itself: what the estimate thinks of one must not starve another.
    std::vector<Individual> all;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(m_sketches.size()); ++s) {
        LATHE_TRY_ASSIGN(const std::vector<Individual> best, evolveOne(round, s, wanted, executor, stop));
        all.insert(all.end(), best.begin(), best.end());
    }
    LATHE_TRY(score(all));
    return all;
}

Result<std::vector<LathePolicy::Individual>> LathePolicy::evolveOne(std::uint64_t round, std::int32_t sketch,
                                                                    std::int32_t wanted, Executor& executor,
                                                                    std::stop_token stop)
{
    const std::uint64_t offset = 100'000'000ULL * static_cast<std::uint64_t>(sketch);
    // Without a trained model the estimate leads alone; it is searched longer since it costs nothing.
    const bool estimated = m_guidance == Guidance::Model && !modelLeads();
    const int generations = estimated ? 2 * kGenerations : kGenerations;
    std::vector<Individual> population = sampleMany(round, offset, kPopulation, sketch, executor, stop);
    m_considered += population.size();
    for (const Individual& inherited : m_inherited)
        if (inherited.sketch == sketch)
            population.push_back(inherited);
    std::size_t elite = 0;
    for (std::size_t i = 0; i < m_known.size() && elite < kElite; ++i) {
        if (m_known[i].sketch != sketch)
            continue;
        ++elite;
        Individual individual{m_known[i].sketch, m_known[i].genome, {}, 0, {}, 0};
        if (evaluate(individual)) {
            individual.score = -std::log2(m_known[i].seconds);
            population.push_back(std::move(individual));
        }
    }
    std::vector<Individual> best; // not measured yet
    const std::size_t keep = static_cast<std::size_t>(wanted) * 4 + 64;
    for (int generation = 0;; ++generation) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
        LATHE_TRY(score(population));
        for (const Individual& individual : population)
            if (!m_told.contains(individual.identity))
                best.push_back(individual);
        LATHE_TRY(score(best));
        if (best.size() > keep)
            best.resize(keep);
        if (generation == generations || population.empty())
            break;
        const std::vector<Individual> parents(
            population.begin(),
            population.begin() + static_cast<std::ptrdiff_t>(std::min(population.size(), kPopulation / 2)));
        std::vector<Individual> children(kPopulation);
        const std::uint64_t first = offset + 1'000'000ULL * static_cast<std::uint64_t>(generation + 1);
        executor.parallelFor(
            kPopulation,
            [&](std::size_t i) {
                Random r = random(round, first + i);
                children[i] = child(parents, r);
            },
            stop);
        std::erase_if(children, [](const Individual& individual) { return individual.sketch < 0; });
        m_considered += children.size();
        // The best tenth lives on.
        children.insert(children.end(), population.begin(),
                        population.begin()
                            + static_cast<std::ptrdiff_t>(std::min(population.size(), kPopulation / 10)));
        population = std::move(children);
    }
    return best;
}

bool LathePolicy::isRunnable(const Individual& individual)
{
    if (m_task.target.traits().form != KernelForm::Launches)
        return true;
    const auto [known, isNew] = m_runnable.try_emplace(individual.identity, false);
    if (!isNew)
        return known->second;
    const PartedSketch& sketch = *m_sketches[static_cast<std::size_t>(individual.sketch)];
    std::vector<bool> constantInputs;
    for (const SearchAlternative& alternative : m_task.alternatives)
        if (alternative.name == sketch.alternative())
            constantInputs = alternative.constantInputs;
    if (const auto steps = sketch.instantiate(individual.genome))
        if (const auto state = schedule::State::replay(sketch.dag(), *steps))
            known->second =
                schedule::checkRunnable(*state, KernelForm::Launches, constantInputs, m_task.hardware).has_value();
    m_rejected += known->second ? 0 : 1;
    return known->second;
}

std::vector<LathePolicy::Individual> LathePolicy::pick(const std::vector<Individual>& ranked,
                                                       std::vector<Individual> randoms, std::size_t count, bool first)
{
    std::vector<Individual> chosen;
    std::unordered_set<Hash128> taken;
    const auto take = [&](const Individual& individual) {
        if (chosen.size() < count && !m_told.contains(individual.identity) && taken.insert(individual.identity).second
            && isRunnable(individual))
            chosen.push_back(individual);
    };
    // Algorithms compete by trials: in its first round each alternative gets a share, whatever the estimate thinks of
    // it.
    const std::size_t guests = first ? count / 2 : count / 16;
    const std::size_t randomCount = m_guidance == Guidance::None ? count
                                    : count < 8                  ? 0
                                                                 : static_cast<std::size_t>(
                                                    std::ceil(kRandomShare * static_cast<double>(count)));
    const std::size_t leaders = count - std::min(count, guests * (m_sketches.size() > 1 ? 1 : 0) + randomCount);
    const auto apart = [&](const Individual& individual) {
        return std::none_of(chosen.begin(), chosen.end(), [&](const Individual& other) {
            return other.sketch == individual.sketch && differences(individual.genome, other.genome) < kDistance;
        });
    };
    for (const Individual& individual : ranked)
        if (chosen.size() < leaders && apart(individual))
            take(individual);
    for (const Individual& individual : ranked)
        if (chosen.size() < leaders)
            take(individual);
    if (m_sketches.size() > 1) {
        const std::size_t each = std::max<std::size_t>(1, guests / m_sketches.size());
        for (std::size_t s = 0; s < m_sketches.size(); ++s) {
            auto have = static_cast<std::size_t>(std::count_if(chosen.begin(), chosen.end(), [&](const Individual& i) {
                return static_cast<std::size_t>(i.sketch) == s;
            }));
            for (const Individual& individual : ranked)
                if (static_cast<std::size_t>(individual.sketch) == s && have < each) {
                    const std::size_t before = chosen.size();
                    take(individual);
                    have += chosen.size() - before;
                }
        }
    }
    for (const Individual& individual : randoms)
        if (chosen.size() < leaders + guests + randomCount)
            take(individual);
    for (const Individual& individual : ranked)
        take(individual);
    for (const Individual& individual : randoms)
        take(individual);
    return chosen;
}

Result<std::vector<Candidate>> LathePolicy::propose(std::uint64_t round, std::int32_t count, Executor& executor,
                                                    std::stop_token stop)
{
    const bool first = onlyHeirsTold();
    m_considered = 0;
    std::vector<Individual> ranked;
    const bool blind = m_guidance == Guidance::None || (m_guidance == Guidance::Measured && m_known.empty());
    if (!blind) {
        LATHE_TRY_ASSIGN(ranked, evolve(round, count, executor, stop));
    }
    const std::size_t draws = static_cast<std::size_t>(count) * (blind ? 4 : 1) + 16;
    const std::vector<Individual> randoms = sampleMany(round, 99'000'000'000ULL, draws, -1, executor, stop);
    if (stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::SearchStopped));
    std::vector<Individual> chosen = pick(ranked, randoms, static_cast<std::size_t>(count), first);

    LATHE_TRY_ASSIGN(const std::vector<double> predictions, predictSeconds(chosen));
    std::vector<Candidate> candidates;
    for (const Individual& individual : chosen) {
        LATHE_TRY_ASSIGN(Candidate made, candidate(individual, predictions[candidates.size()]));
        candidates.push_back(std::move(made));
    }
    m_statistics = {{"sketches", static_cast<double>(m_sketches.size())},
                    {"considered", static_cast<double>(m_considered + randoms.size())},
                    {"ranked", static_cast<double>(ranked.size())},
                    {"proposed", static_cast<double>(m_told.size() + candidates.size())},
                    {"model_trained", m_model->ready() ? 1.0 : 0.0}};
    if (m_task.target.traits().form == KernelForm::Launches)
        m_statistics["rejected"] = m_rejected;
    if (!chosen.empty())
        m_statistics["best_estimate_ms"] = chosen.front().seconds * 1e3;
    if (!ranked.empty())
        m_statistics["max_score"] = ranked.front().score;
    return candidates;
}

Result<> LathePolicy::tell(std::span<const Measured> results, std::stop_token stop)
{
    for (const Measured& measured : results) {
        const Candidate& candidate = measured.candidate;
        const std::int32_t sketch = sketchOf(candidate);
        if (sketch < 0)
            continue; // a record by other rules: it counts in the store, but has no features here
        Individual individual{sketch, candidate.genome, {}, 0, {}, 0};
        if (!evaluate(individual))
            continue;
        m_told.insert(individual.identity);
        const bool valid = measured.result.ok() && std::isfinite(measured.result.meanNs());
        const double seconds = valid ? measured.result.meanNs() * 1e-9 : std::numeric_limits<double>::infinity();
        if (measured.result.code != Errc::DeviceLost && measured.result.code != Errc::Cancelled)
            m_model->add(m_task.key, individual.features, seconds);
        if (valid) {
            const auto at = std::upper_bound(m_known.begin(), m_known.end(), seconds,
                                             [](double s, const Known& k) { return s < k.seconds; });
            m_known.insert(at, Known{individual.sketch, candidate.genome, seconds});
        }
    }
    if (m_guidance != Guidance::Model)
        return {};
    return m_model->trainIfDue(stop);
}

} // namespace lathe::search
