#include "core/search/lathe/launch_guess.h"

#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/support/message.h"

#include <algorithm>

namespace lathe::search {
namespace {

constexpr std::uint64_t kSeed = 20; ///< of all guesses: tasks do not differ by it
constexpr std::size_t kDraws = 96; ///< of each part of each sketch
constexpr std::size_t kClimbers = 4; ///< of the drawn ones, which are improved
constexpr std::size_t kSteps = 48; ///< tries to improve each
/// Sums of fewer steps (pooling, depthwise convolutions, the first layer of many networks) are little else than
/// accesses, and plain launches make these in the order in which they lie: on simulated devices guesses were 4 to 16 %
/// better at best, and on Mali 10 to 20 % worse.
constexpr std::int64_t kShortSum = 32;
/// By which part of it an estimate must be less to count as less: what compilers do to the last digits of a sum must
/// not choose between schedules.
constexpr double kLess = 1e-9;

bool isLess(double a, double b)
{
    return a < b * (1 - kLess);
}

/// What a part is ranked by. The estimate is the longer of what its arithmetic and its accesses take, so many
/// candidates are equal that differ in the other one, of which no device hides all. Of the 2,314 trials of
/// tests/data/launches this likes as good ones as the estimate alone (mean rank correlation 0.60 by either; the best
/// take 1.56 and 1.51 times the fastest), and on simulated devices fewer schedules are slower than plain launches.
double rankOf(const LaunchFacts& facts)
{
    constexpr double kSeen = 0.25;
    return facts.seconds + kSeen * std::min(facts.computeSeconds, facts.memorySeconds);
}

struct Drawn
{
    Genome genes;
    double rank = 0;
};

/// Changes one gene or two, half of the time by one step: values are ordered.
void change(Genome& genes, std::span<const Parameter> open, Random& random)
{
    const std::uint64_t changes = 1 + random.below(2);
    for (std::uint64_t c = 0; c < changes; ++c) {
        const std::size_t g = random.below(genes.size());
        const std::int32_t count = open[g].count;
        if (random.below(2) == 1)
            genes[g] = std::clamp(genes[g] + (random.below(2) == 1 ? 1 : -1), 0, count - 1);
        else
            genes[g] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(count)));
    }
}

/// For how many blocks there is to be room the compiler chooses: what it makes of a count is not known before.
void leaveRoom(Genome& genes, std::span<const Parameter> open)
{
    for (std::size_t g = 0; g < genes.size(); ++g)
        if (open[g].name.starts_with("room "))
            genes[g] = 0;
}

/// Parts do not restrict each other, and the estimate is the sum of theirs: each has a best of its own. Nothing: no
/// legal genes were found.
std::optional<Drawn> bestOfPart(const LaunchSketch& sketch, std::size_t part, Random random)
{
    const auto [first, count] = sketch.genesOf(part);
    const std::span<const Parameter> open = std::span(sketch.parameters()).subspan(first, count);
    std::vector<Drawn> drawn;
    for (std::size_t i = 0; i < kDraws; ++i) {
        Genome genes(count);
        if (!sketch.draw(part, random, genes))
            break; // it has tried long
        leaveRoom(genes, open);
        if (const auto facts = sketch.nest(part).facts(genes))
            drawn.push_back({std::move(genes), rankOf(*facts)});
        if (count == 0)
            break;
    }
    if (drawn.empty())
        return std::nullopt;
    std::stable_sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) { return a.rank < b.rank; });
    drawn.resize(std::min(drawn.size(), kClimbers));
    if (count > 0)
        for (Drawn& climber : drawn)
            for (std::size_t s = 0; s < kSteps; ++s) {
                Genome genes = climber.genes;
                change(genes, open, random);
                leaveRoom(genes, open);
                const auto facts = sketch.nest(part).facts(genes);
                if (facts && isLess(rankOf(*facts), climber.rank))
                    climber = {std::move(genes), rankOf(*facts)};
            }
    const Drawn* best = &drawn.front();
    for (const Drawn& other : drawn)
        if (isLess(other.rank, best->rank))
            best = &other;
    return *best;
}

/// The steps, if the device can start what they are lowered to.
Result<std::vector<schedule::Step>> startable(const PartedSketch& sketch, const Genome& genome, const SearchTask& task)
{
    LATHE_TRY_ASSIGN(std::vector<schedule::Step> steps, sketch.instantiate(genome));
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(sketch.dag(), steps));
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = task.alternatives.front().constantInputs;
    LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(state, options));
    LATHE_TRY(schedule::checkLimits(state, kernel.nest, task.hardware));
    // A search may find out what a driver makes of too many registers. Here nothing is tried.
    const LaunchMachine machine(task.hardware, task.target.family());
    for (const schedule::LaunchResources& launch : schedule::resourcesOf(kernel.nest, task.hardware))
        if (launch.neededRegisters > 255
            || static_cast<double>(launch.neededRegisters) * static_cast<double>(launch.threads)
                   > machine.coreRegisters)
            return makeError(Errc::IllegalSchedule, "the registers of a block are more than a core has");
    return steps;
}

} // namespace

Result<LaunchGuess> guessLaunches(const SearchTask& task)
{
    if (LaunchMachine(task.hardware, task.target.family()).isProcessor)
        return makeError(Errc::Unsupported, "processors have default launches that were tuned on them");
    const std::vector<compute::Op>& ops = task.alternatives.front().dag->ops;
    if (std::all_of(ops.begin(), ops.end(), [](const compute::Op& op) { return compute::reduceSize(op) < kShortSum; }))
        return makeError(Errc::Unsupported, "there is no long sum");
    SearchTask first = task;
    first.alternatives.resize(1);
    LATHE_TRY_ASSIGN(const auto sketches, latheLaunchSketches(first));

    struct Whole
    {
        const LaunchSketch* sketch;
        Genome genome;
        double rank;
    };
    std::vector<Whole> wholes;
    for (const auto& parted : sketches) {
        const auto* const sketch = static_cast<const LaunchSketch*>(parted.get()); // they all are
        Whole whole{sketch, Genome(sketch->parameters().size()), 0};
        bool isLegal = true;
        for (std::size_t part = 0; part < sketch->partCount() && isLegal; ++part) {
            const auto best = bestOfPart(*sketch, part, Random(kSeed, wholes.size(), part));
            isLegal = best.has_value();
            if (!best)
                continue;
            std::copy(best->genes.begin(), best->genes.end(),
                      whole.genome.begin() + static_cast<std::ptrdiff_t>(sketch->genesOf(part).first));
            whole.rank += best->rank;
        }
        if (isLegal)
            wholes.push_back(std::move(whole));
    }
    // Of equals the one whose sketch comes first: the simpler one.
    std::stable_sort(wholes.begin(), wholes.end(), [](const Whole& a, const Whole& b) { return a.rank < b.rank; });
    for (const Whole& whole : wholes) {
        const Genome genome = whole.sketch->settled(whole.genome);
        if (auto steps = startable(*whole.sketch, genome, task)) {
            LATHE_TRY_ASSIGN(const PartedSketch::Analysis analysis, whole.sketch->analyse(genome));
            return LaunchGuess{whole.sketch->name(), genome, *std::move(steps), analysis.seconds};
        }
    }
    return makeError(Errc::Unsupported, "nothing that was drawn keeps the device's limits");
}

} // namespace lathe::search
