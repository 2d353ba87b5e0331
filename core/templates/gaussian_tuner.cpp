#include "core/templates/gaussian_tuner.h"

#include "core/support/message.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lathe::templates {
namespace {

constexpr int kFirstSteps = 30; ///< uphill, to the first scales
constexpr int kSteps = 8; ///< from those of the last round
/// Fewer failures say nothing about where they lie.
constexpr std::size_t kLeastFailures = 4;
constexpr std::size_t kMostParents = 32; ///< of children

/// Of a normal distribution.
double shareBelow(double z)
{
    return 0.5 * std::erfc(-z * 0.7071067811865476);
}

/// How much less than the best a value will be, on average, where more counts as nothing.
double expectedImprovement(double best, double mean, double deviation)
{
    const double z = (best - mean) / deviation;
    const double density = 0.3989422804014327 * std::exp(-0.5 * z * z);
    return deviation * (z * shareBelow(z) + density);
}

} // namespace

/// What may be chosen, and what is expected of it.
class GaussianTuner::Candidates
{
public:
    Candidates(const KnobCoordinates& coordinates, Expectations times, std::optional<Expectations> outcomes,
               double best)
        : m_coordinates(coordinates)
        , m_times(std::move(times))
        , m_outcomes(std::move(outcomes))
        , m_best(best)
    {
    }

    bool contains(std::uint64_t index) const { return m_places.contains(index); }
    std::uint64_t index(std::size_t place) const { return m_all[place].index; }

    void add(std::span<const std::uint64_t> indices)
    {
        std::vector<double> places;
        for (const std::uint64_t index : indices)
            m_coordinates.append(index, places);
        std::size_t number = m_times.addCandidates(places, indices.size());
        if (m_outcomes)
            m_outcomes->addCandidates(places, indices.size());
        for (const std::uint64_t index : indices) {
            m_places[index] = m_all.size();
            m_all.push_back({index, number, chance(number), false});
            ++number;
        }
    }

    double gain(std::size_t place) const
    {
        const Candidate& one = m_all[place];
        return one.chance * expectedImprovement(m_best, m_times.mean(one.number), m_times.deviation(one.number));
    }

    /// The one that promises most; those before it are taken. Nothing: all are.
    std::optional<std::size_t> most() const
    {
        std::optional<std::size_t> most;
        double best = 0;
        for (std::size_t i = 0; i < m_all.size(); ++i)
            if (!m_all[i].taken)
                if (const double value = gain(i); !most || value > best) {
                    most = i;
                    best = value;
                }
        return most;
    }

    /// Those that promise most, from the best on.
    std::vector<std::uint64_t> most(std::size_t count) const
    {
        std::vector<std::pair<double, std::size_t>> order;
        for (std::size_t i = 0; i < m_all.size(); ++i)
            order.emplace_back(-gain(i), i);
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
        std::partial_sort(order.begin(), end, order.end());
        std::vector<std::uint64_t> indices;
        for (auto it = order.begin(); it != end; ++it)
            indices.push_back(m_all[it->second].index);
        return indices;
    }

    /// It is as good as measured: others near it promise less.
    void take(std::size_t place)
    {
        m_all[place].taken = true;
        m_times.assume(m_all[place].number);
    }
    void take(std::span<const std::uint64_t> awaited)
    {
        std::vector<std::uint64_t> others; // usually all: what was given is nobody's candidate
        for (const std::uint64_t index : awaited)
            if (!contains(index))
                others.push_back(index);
        add(others);
        for (const std::uint64_t index : awaited)
            take(m_places[index]);
    }

private:
    struct Candidate
    {
        std::uint64_t index;
        std::size_t number; ///< by which expectations know it
        double chance; ///< that it works
        bool taken;
    };

    double chance(std::size_t number) const
    {
        if (!m_outcomes)
            return 1;
        const double z = (m_outcomes->mean(number) - 0.5) / m_outcomes->deviation(number);
        return std::max(shareBelow(z), 1e-6); // where all will fail, something must be chosen
    }

    const KnobCoordinates& m_coordinates;
    Expectations m_times;
    std::optional<Expectations> m_outcomes; ///< 1: works, 0: fails
    double m_best;
    std::vector<Candidate> m_all;
    std::unordered_map<std::uint64_t, std::size_t> m_places;
};

GaussianTuner::GaussianTuner(const ConfigSpace& space, GaussianOptions options)
    : Tuner(space)
    , m_options(options)
    , m_coordinates(space)
    , m_random(options.seed)
    , m_order(space.size())
{
    m_options.first = std::max<std::size_t>(m_options.first, 2);
    m_options.mostKnown = std::max<std::size_t>(m_options.mostKnown, 2);
    m_options.mostFitted = std::max<std::size_t>(m_options.mostFitted, 2);
    m_options.worst = std::max(m_options.worst, 1.1);
}

void GaussianTuner::learn(std::uint64_t index, double seconds)
{
    std::erase(m_awaited, index);
    // Sorted, so that in which order results come does not matter.
    if (!std::isfinite(seconds)) {
        m_failed.insert(std::upper_bound(m_failed.begin(), m_failed.end(), index), index);
        return;
    }
    const Known known{index, std::log(seconds)};
    const auto better = [](const Known& a, const Known& b) {
        return a.value != b.value ? a.value < b.value : a.index < b.index;
    };
    m_worked.insert(std::upper_bound(m_worked.begin(), m_worked.end(), known, better), known);
}

/// Those of the best, spread evenly over `mostKnown` of them where fewer are wanted.
Observations GaussianTuner::times(std::size_t most) const
{
    const double slowest = m_worked.front().value + std::log(m_options.worst);
    const std::size_t all = std::min(m_worked.size(), m_options.mostKnown);
    const std::size_t count = std::min(all, most);
    Observations observations;
    for (std::size_t i = 0; i < count; ++i) {
        const Known& known = m_worked[i * all / count];
        m_coordinates.append(known.index, observations.places);
        observations.values.push_back(std::min(known.value, slowest));
    }
    return observations;
}

/// Half of each, or more of the one where there are fewer of the other.
Observations GaussianTuner::outcomes(std::size_t most) const
{
    const std::size_t half = most / 2;
    const std::size_t failed = std::min(m_failed.size(), std::max(half, most - std::min(most, m_worked.size())));
    const std::size_t worked = std::min(m_worked.size(), most - failed);
    Observations observations;
    for (std::size_t i = 0; i < failed; ++i) {
        m_coordinates.append(m_failed[i * m_failed.size() / failed], observations.places);
        observations.values.push_back(0);
    }
    for (std::size_t i = 0; i < worked; ++i) {
        m_coordinates.append(m_worked[i * m_worked.size() / worked].index, observations.places);
        observations.values.push_back(1);
    }
    return observations;
}

bool GaussianTuner::gather(Candidates& candidates, std::stop_token stop)
{
    std::vector<std::uint64_t> some;
    if (space().size() <= m_options.wholeSpace) {
        for (std::uint64_t index = 0; index < space().size(); ++index)
            if (isOpen(index))
                some.push_back(index);
        candidates.add(some);
        return !stop.stop_requested();
    }

    Random random(m_options.seed, 1, m_models);
    std::unordered_set<std::uint64_t> offered;
    const auto offer = [&](std::uint64_t index) {
        if (offered.insert(index).second && isOpen(index))
            some.push_back(index);
    };
    const auto offerNeighbours = [&](std::uint64_t index) {
        for (std::size_t i = 0; i < m_options.neighbours; ++i)
            offer(m_coordinates.nearby(index, random));
    };
    const KnobDigits& digits = m_coordinates.digits();
    for (std::size_t i = 0; i < m_options.anywhere; ++i)
        offer(random.below(space().size()));
    for (std::size_t i = 0; i < std::min(m_options.parents, m_worked.size()); ++i)
        offerNeighbours(m_worked[i].index);
    for (std::size_t i = 0; i < m_options.children; ++i) {
        const std::size_t parents = std::min(kMostParents, m_worked.size());
        std::uint64_t child = m_worked[static_cast<std::size_t>(random.below(parents))].index;
        const std::uint64_t other = m_worked[static_cast<std::size_t>(random.below(parents))].index;
        for (std::size_t j = 0; j < digits.count(); ++j)
            if (random.below(2) == 0)
                child = digits.changed(child, j, digits.digit(other, j));
        offer(child);
    }
    candidates.add(some);
    for (int round = 0; round < m_options.rounds && !stop.stop_requested(); ++round) {
        some.clear();
        for (const std::uint64_t index : candidates.most(m_options.parents))
            offerNeighbours(index);
        candidates.add(some);
    }
    return !stop.stop_requested();
}

Result<> GaussianTuner::prepare(std::size_t count, std::stop_token stop)
{
    m_plan.clear();
    m_place = 0;
    if (m_worked.size() + m_failed.size() < m_options.first || m_worked.size() < 2)
        return {};
    const auto fit = [&](const Observations& observations, const KernelScales& last) {
        return fitScales(m_coordinates, observations, last, last.lengths.empty() ? kFirstSteps : kSteps);
    };
    const KernelScales timeScales = fit(times(m_options.mostFitted), m_timeScales);
    KernelScales outcomeScales = m_outcomeScales;
    std::optional<Expectations> works;
    if (m_failed.size() >= kLeastFailures) {
        outcomeScales = fit(outcomes(m_options.mostFitted), m_outcomeScales);
        works.emplace(m_coordinates, outcomes(m_options.mostKnown), outcomeScales);
    }
    Candidates candidates(m_coordinates, Expectations(m_coordinates, times(m_options.mostKnown), timeScales),
                          std::move(works), m_worked.front().value);
    if (!gather(candidates, stop))
        return makeError(Errc::Cancelled, say(Msg::SearchStopped));
    m_timeScales = timeScales;
    m_outcomeScales = outcomeScales;
    ++m_models;

    candidates.take(m_awaited);
    while (m_plan.size() < count) {
        const std::optional<std::size_t> best = candidates.most();
        if (!best)
            break; // the rest is random
        m_plan.push_back(candidates.index(*best));
        candidates.take(*best);
    }
    return {};
}

std::optional<std::uint64_t> GaussianTuner::draw()
{
    while (m_place < m_plan.size()) {
        const std::uint64_t index = m_plan[m_place++];
        if (!seen(index))
            return index;
    }
    while (const std::optional<std::uint64_t> index = m_order.next(m_random))
        if (!seen(*index))
            return index;
    return std::nullopt;
}

} // namespace lathe::templates
