#include "core/search/reference/reference_policy.h"

#include "core/schedule/launch_limits.h"
#include "core/search/features.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::search {

Result<std::unique_ptr<ReferencePolicy>> ReferencePolicy::create(const SearchTask& task,
                                                                 std::shared_ptr<SharedModel> model,
                                                                 const PolicyOptions& options,
                                                                 const ReferenceSearchParameters& parameters)
{
    // It has one algorithm per task.
    const auto chosen = std::find_if(task.alternatives.begin(), task.alternatives.end(),
                                     [](const SearchAlternative& a) { return a.isReference; });
    if (chosen == task.alternatives.end())
        return makeError(Errc::Unsupported,
                         "task " + task.name + " has no alternative that the reference compiler would pick");
    std::unique_ptr<ReferencePolicy> policy(new ReferencePolicy(task, std::move(model), options, parameters));
    LATHE_TRY_ASSIGN(const std::vector<schedule::State> states,
                     generateReferenceSketches(chosen->dag, task.target, task.hardware));
    policy->m_constantInputs = chosen->constantInputs;
    const SketchRuleContext context = SketchRuleContext::of(task.target, task.hardware);
    for (std::size_t i = 0; i < states.size(); ++i)
        policy->m_sketches.push_back(std::make_shared<const ReferenceSketch>(
            "reference/1:" + chosen->name + ':' + std::to_string(i), chosen->name, states[i], context));
    return policy;
}

bool ReferencePolicy::isRunnable(const Program& program)
{
    if (m_task.target.traits().form != KernelForm::Launches)
        return true;
    const auto [known, isNew] = m_runnable.try_emplace(program.identity, false);
    if (!isNew)
        return known->second;
    if (const auto state = m_sketches[static_cast<std::size_t>(program.sketch)]->state(program.genome))
        known->second =
            schedule::checkRunnable(*state, KernelForm::Launches, m_constantInputs, m_task.hardware).has_value();
    m_rejected += known->second ? 0 : 1;
    return known->second;
}

ReferencePolicy::Program ReferencePolicy::finish(std::int32_t sketch, Genome genome, const schedule::State& state) const
{
    Program program{-1, std::move(genome), contentHash(schedule::toJson(state.steps()).dump()), {}, 0};
    if (auto features = referenceFeatures(state, m_task.hardware)) {
        program.features = *std::move(features);
        program.sketch = sketch;
    }
    return program;
}

Result<> ReferencePolicy::score(std::vector<Program>& programs, std::uint64_t salt) const
{
    if (!m_model->ready()) {
        // Until the warm-up is over the reference draws scores.
        for (Program& p : programs)
            p.score = Random(m_seed ^ p.identity.low ^ salt).uniform();
        return {};
    }
    FeatureMatrix features;
    features.columns = kReferenceFeatures;
    for (const Program& p : programs)
        features.append(p.features);
    LATHE_TRY_ASSIGN(const std::vector<float> scores, m_model->predict(features));
    for (std::size_t i = 0; i < programs.size(); ++i)
        programs[i].score = scores[i];
    return {};
}

Result<std::vector<ReferencePolicy::Program>> ReferencePolicy::sampleInitial(std::uint64_t round, Executor& executor,
                                                                             std::stop_token stop)
{
    std::vector<Program> population;
    std::unordered_set<Hash128> texts;
    const auto size = static_cast<std::size_t>(m_parameters.population);
    int barren = 0;
    double failures = 0;
    for (std::uint64_t iteration = 0; population.size() < static_cast<std::size_t>(m_minPopulation); ++iteration) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
        std::vector<Program> drawn(size);
        executor.parallelFor(
            size,
            [&](std::size_t i) {
                Random r = random(round, iteration * 1'000'000ULL + i);
                const auto sketch = static_cast<std::int32_t>(r.below(m_sketches.size()));
                Genome genome;
                if (const auto state = m_sketches[static_cast<std::size_t>(sketch)]->sample(r, genome))
                    drawn[i] = finish(sketch, std::move(genome), *state);
            },
            stop);
        const std::size_t before = population.size();
        for (Program& p : drawn) {
            if (p.sketch < 0)
                ++failures;
            else if (texts.insert(p.identity).second)
                population.push_back(std::move(p));
        }
        barren = population.size() == before ? barren + 1 : 0;
        if (barren >= 5) {
            if (m_minPopulation <= 1)
                break;
            m_minPopulation /= 2;
            barren = 0;
        }
    }
    m_statistics["sample_failures"] = failures;
    m_statistics["sampled"] = static_cast<double>(population.size());
    return population;
}

Result<std::vector<ReferencePolicy::Program>> ReferencePolicy::evolve(std::vector<Program> population,
                                                                      std::size_t wanted, std::uint64_t round,
                                                                      Executor& executor, std::stop_token stop)
{
    std::vector<Program> best;
    std::unordered_set<Hash128> inBest;
    const int generations = m_model->ready() ? m_parameters.iterations : 1;
    for (int generation = 0;; ++generation) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
        LATHE_TRY(score(population, static_cast<std::uint64_t>(generation)));
        for (const Program& p : population)
            if (!m_told.contains(p.identity) && inBest.insert(p.identity).second)
                best.push_back(p);
        std::sort(best.begin(), best.end(), [](const Program& a, const Program& b) {
            return a.score != b.score ? a.score > b.score : a.identity < b.identity;
        });
        std::vector<Program> runnable; // what the device cannot run makes room for the next best
        for (Program& p : best) {
            if (runnable.size() == wanted)
                inBest.erase(p.identity);
            else if (isRunnable(p))
                runnable.push_back(std::move(p));
        }
        best = std::move(runnable);
        if (generation == generations || population.empty())
            break;
        // Parents in proportion to their score.
        std::vector<double> sums;
        double sum = 0;
        for (const Program& p : population)
            sums.push_back(sum += std::max(p.score, 0.0));
        const auto size = static_cast<std::size_t>(m_parameters.population);
        std::vector<Program> children(size);
        executor.parallelFor(
            size,
            [&](std::size_t i) {
                Random r = random(round, 1'000'000'000ULL * static_cast<std::uint64_t>(generation + 1) + i);
                for (int attempt = 0; attempt < 8; ++attempt) {
                    const double dice = r.uniform() * sum;
                    const auto at = sum > 0 ? static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), dice)
                                                                       - sums.begin())
                                            : r.below(population.size());
                    const Program& parent = population[std::min(at, population.size() - 1)];
                    if (r.uniform() >= m_parameters.mutationProbability) {
                        children[i] = parent;
                        return;
                    }
                    const ReferenceSketch& sketch = *m_sketches[static_cast<std::size_t>(parent.sketch)];
                    Genome genome = parent.genome;
                    if (!sketch.mutate(r, genome))
                        continue;
                    if (const auto state = sketch.state(genome)) {
                        children[i] = finish(parent.sketch, std::move(genome), *state);
                        if (children[i].sketch >= 0)
                            return;
                    }
                }
            },
            stop);
        std::erase_if(children, [](const Program& p) { return p.sketch < 0; });
        population = std::move(children);
        m_statistics["generations"] = generation + 1;
        m_statistics["population"] = static_cast<double>(population.size());
    }
    return best;
}

Result<std::vector<Candidate>> ReferencePolicy::propose(std::uint64_t round, std::int32_t count, Executor& executor,
                                                        std::stop_token stop)
{
    const auto wanted = static_cast<std::size_t>(count);
    const auto randoms = static_cast<std::size_t>(m_parameters.epsGreedy * count);
    std::vector<const Program*> chosen;
    std::vector<Program> best, pool;
    std::unordered_set<Hash128> taken;
    for (std::int32_t attempt = 0; attempt <= m_parameters.retries && chosen.empty(); ++attempt) {
        const std::uint64_t salted = round + (static_cast<std::uint64_t>(attempt) << 32);
        LATHE_TRY_ASSIGN(std::vector<Program> population, sampleInitial(salted, executor, stop));
        const auto reuse = static_cast<std::size_t>(m_parameters.sampleInitUseMeasuredRatio * m_parameters.population);
        for (std::size_t i = 0; i < std::min(reuse, m_known.size()); ++i)
            population.push_back(m_known[i].program);
        if (population.empty())
            continue;
        Random r = random(salted, ~0ULL);
        pool.clear();
        for (std::size_t i = 0; i < 3 * randoms; ++i)
            pool.push_back(population[r.below(population.size())]);
        LATHE_TRY_ASSIGN(best, evolve(std::move(population), 2 * wanted, salted, executor, stop));
        const auto take = [&](const std::vector<Program>& from, std::size_t until) {
            for (const Program& p : from)
                if (chosen.size() < until && !m_told.contains(p.identity) && isRunnable(p)
                    && taken.insert(p.identity).second)
                    chosen.push_back(&p);
        };
        take(best, wanted - randoms);
        take(pool, wanted);
        take(best, wanted);
    }
    std::vector<Candidate> candidates;
    for (const Program* p : chosen) {
        const ReferenceSketch& sketch = *m_sketches[static_cast<std::size_t>(p->sketch)];
        LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, sketch.instantiate(p->genome));
        Candidate candidate;
        candidate.task = m_task.key;
        candidate.alternative = sketch.alternative();
        candidate.sketch = sketch.name();
        candidate.genome = p->genome;
        candidate.steps = schedule::toJson(steps).dump();
        candidates.push_back(std::move(candidate));
    }
    m_statistics["rejected"] = m_rejected;
    m_statistics["sketches"] = static_cast<double>(m_sketches.size());
    m_statistics["model_trained"] = m_model->ready() ? 1.0 : 0.0;
    if (!best.empty())
        m_statistics["max_score"] = best.front().score;
    return candidates;
}

Result<> ReferencePolicy::tell(std::span<const Measured> results, std::stop_token stop)
{
    for (const Measured& measured : results) {
        const Candidate& candidate = measured.candidate;
        const auto found = std::find_if(m_sketches.begin(), m_sketches.end(),
                                        [&](const auto& s) { return s->name() == candidate.sketch; });
        if (candidate.task != m_task.key || found == m_sketches.end())
            continue;
        const auto state = (*found)->state(candidate.genome);
        if (!state)
            continue;
        Program program = finish(static_cast<std::int32_t>(found - m_sketches.begin()), candidate.genome, *state);
        m_told.insert(program.identity);
        if (program.sketch < 0)
            continue;
        const bool valid = measured.result.ok() && std::isfinite(measured.result.meanNs());
        const double seconds = valid ? measured.result.meanNs() * 1e-9 : std::numeric_limits<double>::infinity();
        if (measured.result.code != Errc::DeviceLost && measured.result.code != Errc::Cancelled)
            m_model->add(m_task.key, program.features, seconds);
        if (valid) {
            const auto at = std::upper_bound(m_known.begin(), m_known.end(), seconds,
                                             [](double s, const Known& k) { return s < k.seconds; });
            m_known.insert(at, Known{std::move(program), seconds});
        }
    }
    return m_model->trainIfDue(stop);
}

} // namespace lathe::search
