#include "core/templates/annealing.h"

#include "core/support/check.h"
#include "core/templates/random_order.h"
#include "core/templates/refusal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lathe::templates {
namespace {

/// Keeps the division by a temperature of 0 possible (autotvm.md 7.2).
constexpr double kLeastTemperature = 1e-5;

struct BestFirst
{
    bool operator()(const ScoredIndex& a, const ScoredIndex& b) const
    {
        return a.score != b.score ? a.score > b.score : a.index < b.index;
    }
};

/// The best of what it is offered, each index once.
class BestOf
{
public:
    explicit BestOf(std::size_t count)
        : m_count(count)
    {
    }
    /// Whether this one would be kept, so that what is costly to know of it need not be asked otherwise.
    bool wants(const ScoredIndex& one) const
    {
        if (m_count == 0 || std::isnan(one.score) || m_indices.contains(one.index))
            return false;
        return m_best.size() < m_count || BestFirst()(one, *m_best.rbegin());
    }
    void add(const ScoredIndex& one)
    {
        m_best.insert(one);
        m_indices.insert(one.index);
        if (m_best.size() > m_count) {
            m_indices.erase(m_best.rbegin()->index);
            m_best.erase(std::prev(m_best.end()));
        }
    }
    std::vector<ScoredIndex> sorted() const { return {m_best.begin(), m_best.end()}; }

private:
    std::size_t m_count;
    std::set<ScoredIndex, BestFirst> m_best;
    std::unordered_set<std::uint64_t> m_indices;
};

bool accepts(float from, float to, double temperature, Random& random)
{
    if (std::isnan(to))
        return false;
    if (std::isnan(from) || to >= from)
        return true;
    return drawExpMinus((static_cast<double>(from) - static_cast<double>(to)) / (temperature + kLeastTemperature),
                        random);
}

} // namespace

bool drawExpMinus(double x, Random& random)
{
    for (bool last = false; !last;) {
        last = x <= 1;
        double least = last ? x : 1;
        x -= 1;
        // The run u1 > u2 > ... below `least` has n numbers with the probability least^n / n! - least^(n+1) / (n+1)!;
        // summed up for even n that is exp(-least).
        bool even = true;
        for (double u = random.uniform(); u < least; u = random.uniform()) {
            least = u;
            even = !even;
        }
        if (!even)
            return false; // so that an infinite x ends too
    }
    return true;
}

Annealing::Annealing(const ConfigSpace& space, AnnealingOptions options)
    : m_space(space)
    , m_options(options)
    , m_knobs(space)
{
    const std::uint64_t walkers = std::max<std::uint64_t>(m_options.walkers, 1);
    m_options.walkers = static_cast<std::size_t>(std::min(walkers, space.size()));
}

void Annealing::placeWalkers()
{
    if (m_options.persistent && !m_walkers.empty())
        return;
    m_walkers.clear();
    Random random(m_options.seed, m_calls, 0);
    RandomOrder order(m_space.size());
    for (std::size_t i = 0; i < m_options.walkers; ++i)
        m_walkers.push_back(order.next(random).value_or(0));
}

std::vector<ScoredIndex> Annealing::plan(std::size_t count, const Scores& scores, const Excluded& excluded,
                                         std::stop_token stop)
{
    placeWalkers();
    const bool diverse = m_options.diversityRatio >= 1;
    const auto wanted = diverse ? std::min(static_cast<double>(count) * m_options.diversityRatio,
                                           static_cast<double>(m_space.size()))
                                : static_cast<double>(count);
    BestOf best(static_cast<std::size_t>(wanted));

    // Whether it changed what is best.
    const auto offer = [&](std::span<const std::uint64_t> indices, std::span<const float> values) {
        LATHE_CHECK(indices.size() == values.size()) << indices.size() << " indices, " << values.size() << " scores";
        bool changed = false;
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const ScoredIndex one{indices[i], values[i]};
            if (!best.wants(one) || m_refused.contains(one.index) || (excluded && excluded(one.index)))
                continue;
            if (isRefused(m_space, one.index)) {
                m_refused.insert(one.index);
                continue;
            }
            best.add(one);
            changed = true;
        }
        return changed;
    };

    std::vector<float> at = scores(m_walkers);
    offer(m_walkers, at);

    // A generator for each walker: how many numbers one of them draws does not change the others' ways.
    std::vector<Random> randoms;
    for (std::size_t i = 0; i < m_walkers.size(); ++i)
        randoms.emplace_back(m_options.seed, m_calls, i + 1);
    ++m_calls;

    const double step = (m_options.startTemperature - m_options.endTemperature)
                        / (static_cast<double>(m_options.iterations) + 1);
    double temperature = m_options.startTemperature;
    std::size_t unchanged = 0;
    std::vector<std::uint64_t> moved(m_walkers.size());
    m_iterations = 0;
    while (m_iterations < m_options.iterations && unchanged < m_options.patience && !stop.stop_requested()) {
        for (std::size_t i = 0; i < moved.size(); ++i)
            moved[i] = m_knobs.neighbour(m_walkers[i], randoms[i]);
        const std::vector<float> values = scores(moved);
        unchanged = offer(moved, values) ? 0 : unchanged + 1;
        for (std::size_t i = 0; i < moved.size(); ++i)
            if (accepts(at[i], values[i], temperature, randoms[i])) {
                m_walkers[i] = moved[i];
                at[i] = values[i];
            }
        temperature -= step;
        ++m_iterations;
    }
    const std::vector<ScoredIndex> sorted = best.sorted();
    return diverse ? pickDiverse(m_space, sorted, count) : sorted;
}

} // namespace lathe::templates
