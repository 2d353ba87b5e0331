#include "tests/plugins/cuda/kernels/drawn.h"

#include "core/schedule/launch_limits.h"
#include "core/schedule/step.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/search/reference/annotate.h"
#include "core/session/untuned.h"
#include "core/templates/task_template.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace lathe::cuda::kernels {
namespace {

Result<schedule::LoweredKernel> lowered(const search::SearchTask& task, const schedule::State& state,
                                        const std::vector<bool>& constantInputs)
{
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = constantInputs;
    LATHE_TRY_ASSIGN(schedule::LoweredKernel kernel, schedule::lower(state, options));
    LATHE_TRY(schedule::checkLimits(state, kernel.nest, task.hardware));
    return kernel;
}

Result<DrawnKernel> finish(const search::SearchTask& task, const search::SearchAlternative& alternative,
                           std::string sketch, const std::vector<schedule::Step>& steps)
{
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(alternative.dag, steps));
    DrawnKernel made{task.name, std::move(sketch), task.flop, 0, {}, {}};
    LATHE_TRY_ASSIGN(made.kernel, lowered(task, state, alternative.constantInputs));
    return made;
}

const search::SearchAlternative& alternativeOf(const search::SearchTask& task, std::string_view name)
{
    const auto found = std::ranges::find(task.alternatives, name, &search::SearchAlternative::name);
    return found == task.alternatives.end() ? task.alternatives.front() : *found;
}

bool drawGenome(const search::PartedSketch& sketch, Random& random, search::Genome& genome)
{
    genome.assign(sketch.parameters().size(), 0);
    for (std::size_t part = 0; part < sketch.partCount(); ++part) {
        const auto [first, count] = sketch.genesOf(part);
        if (!sketch.draw(part, random, std::span(genome).subspan(first, count)))
            return false;
    }
    return true;
}

/// By the sketch's names: "threads xx conv2d" and its like, of each axis from the outermost on.
BlockTile tileOf(const search::PartedSketch& sketch, const search::Genome& genome)
{
    BlockTile tile;
    std::vector<std::pair<std::string, std::int64_t>> axes; // what a block has along each
    std::int64_t lanes = 1;
    const auto words = [&](std::size_t p) {
        std::vector<std::string> all(1);
        for (const char c : sketch.parameters()[p].name)
            if (c == ' ')
                all.emplace_back();
            else
                all.back() += c;
        return all;
    };
    for (std::size_t p = 0; p < genome.size(); ++p)
        if (const auto name = words(p); name.front() == "unroll")
            tile.op = name.back();
    for (std::size_t p = 0; p < genome.size(); ++p) {
        const search::Parameter& parameter = sketch.parameters()[p];
        const auto name = words(p);
        if (name.back() != tile.op || parameter.values.empty())
            continue;
        const std::int64_t value = parameter.values[static_cast<std::size_t>(genome[p])];
        const bool isThreads = name[0] == "threads", isOwn = name[0] == "sums" || name[0] == "virtual";
        if (name[0] == "lanes")
            lanes = value;
        if (name.size() != 3 || (!isThreads && !isOwn))
            continue;
        tile.ofThread *= isOwn ? value : 1;
        if (const auto known = std::ranges::find(axes, name[1], &std::pair<std::string, std::int64_t>::first);
            known != axes.end())
            known->second *= value;
        else
            axes.emplace_back(name[1], value);
    }
    if (axes.empty())
        return {};
    tile.ofThread *= lanes;
    tile.columns = axes.back().second * lanes;
    axes.pop_back();
    for (const auto& [axis, extent] : axes)
        tile.rows *= axis == "eps" || axis == "nu" ? 1 : extent;
    return tile;
}

Error nothing(const search::SearchTask& task)
{
    return makeError(Errc::Unsupported, "no candidate of " + task.name);
}

struct Liked
{
    double seconds;
    const search::PartedSketch* sketch;
    search::Genome genome;
};

/// The best candidates of a sketch by its estimate: drawn ones, then changes of one gene or two of the best.
class Climb
{
public:
    Climb(const search::PartedSketch& sketch, std::size_t count, bool onlyLarge)
        : m_sketch(sketch)
        , m_count(count)
        , m_onlyLarge(onlyLarge)
    {
    }

    void draw(Random random)
    {
        if (search::Genome genome; drawGenome(m_sketch, random, genome))
            add(std::move(genome));
    }
    void change(Random random)
    {
        if (m_best.empty() || m_sketch.parameters().empty())
            return;
        search::Genome genome = m_best[random.below(m_best.size())].genome;
        for (std::uint64_t left = 1 + random.below(2); left > 0; --left) {
            const std::size_t g = random.below(genome.size());
            genome[g] = static_cast<std::int32_t>(
                random.below(static_cast<std::uint64_t>(m_sketch.parameters()[g].count)));
        }
        add(std::move(genome));
    }
    std::vector<Liked> take() { return std::move(m_best); }

private:
    void add(search::Genome genome)
    {
        genome = m_sketch.settled(std::move(genome));
        if (m_onlyLarge && !tileOf(m_sketch, genome).isLarge())
            return;
        const auto known = m_sketch.analyse(genome);
        if (!known || (m_best.size() == m_count && known->seconds >= m_best.back().seconds))
            return;
        if (!m_seen.insert(m_sketch.identity(genome)).second)
            return;
        const auto at = std::ranges::upper_bound(m_best, known->seconds, {}, &Liked::seconds);
        m_best.insert(at, {known->seconds, &m_sketch, std::move(genome)});
        if (m_best.size() > m_count)
            m_best.pop_back();
    }

    const search::PartedSketch& m_sketch;
    std::size_t m_count;
    bool m_onlyLarge;
    std::vector<Liked> m_best; ///< ascending
    std::set<Hash128> m_seen;
};

Result<DrawnKernel> drawLathe(const search::SearchTask& task, Random& random)
{
    LATHE_TRY_ASSIGN(const auto sketches, search::latheLaunchSketches(task));
    const search::PartedSketch& sketch = *sketches[random.below(sketches.size())];
    search::Genome genome;
    if (!drawGenome(sketch, random, genome))
        return nothing(task);
    LATHE_TRY_ASSIGN(const auto known, sketch.analyse(genome));
    LATHE_TRY_ASSIGN(const auto steps, sketch.instantiate(genome));
    LATHE_TRY_ASSIGN(DrawnKernel made, finish(task, alternativeOf(task, sketch.alternative()), sketch.name(), steps));
    made.estimated = known.seconds;
    made.tile = tileOf(sketch, genome);
    return made;
}

Result<DrawnKernel> drawReference(const search::SearchTask& task, Random& random)
{
    const search::SearchAlternative& alternative = task.alternatives[random.below(task.alternatives.size())];
    LATHE_TRY_ASSIGN(const auto sketches,
                     search::generateReferenceSketches(alternative.dag, task.target, task.hardware));
    if (sketches.empty())
        return nothing(task);
    const auto context = search::SketchRuleContext::of(task.target, task.hardware);
    const search::ReferenceSketch sketch("reference", alternative.name, sketches[random.below(sketches.size())],
                                         context);
    search::Genome genome;
    LATHE_TRY_ASSIGN(const schedule::State state, sketch.sample(random, genome));
    DrawnKernel made{task.name, sketch.name(), task.flop, 0, {}, {}};
    LATHE_TRY_ASSIGN(made.kernel, lowered(task, state, alternative.constantInputs));
    return made;
}

Result<DrawnKernel> drawTemplate(const search::SearchTask& task, Random& random)
{
    const std::vector<templates::TaskTemplate> all = templates::templatesOf(task);
    if (all.empty())
        return nothing(task);
    const templates::TaskTemplate& one = all[random.below(all.size())];
    LATHE_TRY_ASSIGN(const templates::Config config, one.space.at(random.below(one.space.size())));
    if (const auto refused = one.space.refusal(config))
        return makeError(Errc::IllegalSchedule, *refused);
    LATHE_TRY_ASSIGN(const auto steps, one.steps(config));
    return finish(task, alternativeOf(task, one.alternative), "template:" + std::string(one.row->name), steps);
}

} // namespace

Result<DrawnKernel> draw(const search::SearchTask& task, Origin origin, Random& random)
{
    switch (origin) {
    case Origin::Lathe: return drawLathe(task, random);
    case Origin::Reference: return drawReference(task, random);
    case Origin::Template: break;
    }
    return drawTemplate(task, random);
}

Result<std::vector<DrawnKernel>> likedBest(const search::SearchTask& task, std::size_t count, std::size_t draws,
                                           std::uint64_t seed, bool onlyLarge)
{
    LATHE_TRY_ASSIGN(const auto sketches, search::latheLaunchSketches(task));
    std::vector<Liked> liked;
    for (const auto& sketch : sketches) {
        if (onlyLarge && sketch->name().find("shared") == std::string::npos)
            continue; // others have no tiles that a block shares
        Climb climb(*sketch, count, onlyLarge);
        for (std::size_t i = 0; i < draws; ++i)
            climb.draw(Random(seed, contentHash(sketch->name()).low, i));
        for (std::size_t i = 0; i < draws; ++i)
            climb.change(Random(seed, contentHash(sketch->name()).high, i));
        std::ranges::move(climb.take(), std::back_inserter(liked));
    }
    std::ranges::stable_sort(liked, {}, &Liked::seconds);
    std::vector<DrawnKernel> best;
    for (const Liked& one : liked) {
        if (best.size() == count)
            break;
        const auto steps = one.sketch->instantiate(one.genome);
        if (!steps)
            continue;
        auto made = finish(task, alternativeOf(task, one.sketch->alternative()), one.sketch->name(), *steps);
        if (!made)
            continue;
        for (std::size_t p = 0; p < one.genome.size(); ++p)
            made->sketch += ", " + one.sketch->parameters()[p].name + " " + one.sketch->describe(p, one.genome[p]);
        made->estimated = one.seconds;
        made->tile = tileOf(*one.sketch, one.genome);
        best.push_back(*std::move(made));
    }
    if (best.empty())
        return nothing(task);
    return best;
}

Result<DrawnKernel> untuned(const search::SearchTask& task)
{
    LATHE_TRY_ASSIGN(const Candidate candidate, session::defaultCandidate(task));
    const nlohmann::json json = candidate.steps.empty() ? nlohmann::json::array()
                                                        : nlohmann::json::parse(candidate.steps, nullptr, false);
    LATHE_TRY_ASSIGN(const auto steps, schedule::stepsFromJson(json));
    return finish(task, alternativeOf(task, candidate.alternative), candidate.sketch, steps);
}

} // namespace lathe::cuda::kernels
