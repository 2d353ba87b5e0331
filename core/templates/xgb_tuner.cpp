#include "core/templates/xgb_tuner.h"

#include "core/support/message.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::templates {
namespace {

constexpr double kLeastBaseShare = 0.05;
constexpr double kBaseHalvesAfter = 64; ///< results
constexpr std::uint64_t kShuffleStream = 1; ///< what random numbers are for, beside plans

/// Rows that trees learn from.
struct Sample
{
    std::vector<std::vector<float>> rows;
    std::vector<float> labels;
};

/// Of equal guesses the first row counts as the better one (recall.h), so rows stand in no order that says which is.
void shuffle(Sample& sample, Random random)
{
    for (std::size_t i = sample.rows.size(); i > 1; --i) {
        const auto j = static_cast<std::size_t>(random.below(i));
        std::swap(sample.rows[i - 1], sample.rows[j]);
        std::swap(sample.labels[i - 1], sample.labels[j]);
    }
}

bool works(double seconds)
{
    return std::isfinite(seconds) && seconds > 0;
}

/// Adds those of other tasks that have features.
Result<> append(Sample& sample, const ForeignRecords& task, const ConfigFeatures& features)
{
    double best = std::numeric_limits<double>::infinity();
    for (const auto& record : task.seconds)
        if (works(record.second))
            best = std::min(best, record.second);
    for (const auto& [index, seconds] : task.seconds) {
        const Result<Config> config = task.space->at(index);
        if (!config)
            continue;
        Result<std::vector<float>> row = features(*config);
        if (!row && row.error().code == Errc::Cancelled)
            return std::move(row).error();
        if (!row)
            continue;
        sample.rows.push_back(*std::move(row));
        sample.labels.push_back(works(seconds) ? static_cast<float>(best / seconds) : 0.0F);
    }
    return {};
}

} // namespace

XgbTuner::XgbTuner(const ConfigSpace& space, XgbOptions options)
    : Tuner(space)
    , m_options(std::move(options))
    , m_random(m_options.seed)
    , m_order(space.size())
    , m_features(space, m_options.features)
{
    m_options.planSize = std::max<std::size_t>(m_options.planSize, 1);
    m_options.annealing.seed = m_options.seed;
    m_annealing.emplace(space, m_options.annealing);
    m_nextModel = m_options.planSize;
}

double XgbTuner::baseShare(std::size_t results)
{
    const double share = std::exp2(-static_cast<double>(results) / kBaseHalvesAfter);
    return share < kLeastBaseShare ? 0 : share;
}

TreeOptions XgbTuner::treeOptions() const
{
    TreeOptions trees = m_options.trees;
    trees.recallAt = m_options.planSize;
    trees.seed = m_options.seed;
    trees.threads = m_options.threads;
    return trees;
}

void XgbTuner::learn(std::uint64_t index, double seconds)
{
    m_results.emplace_back(index, seconds);
    m_anySuccess = m_anySuccess || works(seconds);
}

Result<std::size_t> XgbTuner::transfer(std::span<const ForeignRecords> tasks, std::stop_token stop)
{
    Sample sample;
    for (const ForeignRecords& task : tasks) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
        if (task.space == nullptr)
            continue;
        // A knob that the other space lacks is 0, so that each feature stands where this space has it.
        const ConfigFeatures own = [this](const Config& config) -> Result<std::vector<float>> {
            if (m_options.features)
                return m_options.features(config);
            return space().features(config);
        };
        LATHE_TRY(append(sample, task, task.features ? task.features : own));
    }
    if (sample.rows.empty() || sample.rows.size() < m_options.transferLeast)
        return std::size_t{0};
    shuffle(sample, Random(m_options.seed, kShuffleStream, 0));
    TreeOptions trees = treeOptions();
    trees.rounds = m_options.transferRounds;
    trees.patience = m_options.transferPatience;
    trees.recallAt = 2 * m_options.planSize;
    LATHE_TRY_ASSIGN(ThroughputTrees base, ThroughputTrees::train(sample.rows, sample.labels, {}, trees, stop));
    m_base.emplace(std::move(base));
    m_basePlans = true;
    return sample.rows.size();
}

Result<> XgbTuner::prepare(std::size_t /*count*/, std::stop_token stop)
{
    if (m_results.size() >= m_nextModel && m_anySuccess) {
        if (baseShare(m_results.size()) == 0)
            m_base.reset();
        LATHE_TRY_ASSIGN(const ThroughputTrees trees, train(stop));
        LATHE_TRY(plan(
            [&](const Rows& rows) -> Result<std::vector<float>> {
                LATHE_TRY_ASSIGN(const std::vector<float> from, margins(rows));
                return trees.predict(rows, from);
            },
            stop));
        ++m_models;
        m_nextModel = m_results.size() + m_options.planSize;
        m_basePlans = false;
    } else if (m_basePlans) {
        LATHE_TRY(plan([&](const Rows& rows) { return m_base->predict(rows); }, stop));
        m_basePlans = false;
    }
    return {};
}

Result<ThroughputTrees> XgbTuner::train(std::stop_token stop)
{
    // In the order of indices, then shuffled: in which order results came does not matter.
    std::vector<std::pair<std::uint64_t, double>> results = m_results;
    std::sort(results.begin(), results.end());
    double best = std::numeric_limits<double>::infinity();
    for (const auto& result : results)
        best = std::min(best, result.second);
    Sample sample;
    for (const auto& [index, seconds] : results) {
        LATHE_TRY_ASSIGN(const std::vector<float>* features, m_features.of(index));
        if (features == nullptr)
            continue;
        sample.rows.push_back(*features);
        sample.labels.push_back(works(seconds) ? static_cast<float>(best / seconds) : 0.0F);
    }
    if (sample.rows.empty()) { // nothing is known of any: all are alike
        sample.rows.emplace_back();
        sample.labels.push_back(0);
    }
    shuffle(sample, Random(m_options.seed, kShuffleStream, m_models + 1));
    LATHE_TRY_ASSIGN(const std::vector<float> from, margins(sample.rows));
    return ThroughputTrees::train(sample.rows, sample.labels, from, treeOptions(), stop);
}

Result<std::vector<float>> XgbTuner::margins(const Rows& rows) const
{
    if (!m_base)
        return std::vector<float>();
    LATHE_TRY_ASSIGN(std::vector<float> guesses, m_base->predict(rows));
    const auto share = static_cast<float>(baseShare(m_results.size()));
    for (float& guess : guesses)
        guess *= share;
    return guesses;
}

Result<> XgbTuner::plan(const Guess& guess, std::stop_token stop)
{
    std::unordered_map<std::uint64_t, float> known; // walkers come to the same places again
    std::optional<Error> error;
    const auto addUnknown = [&](std::span<const std::uint64_t> indices) -> Result<> {
        std::vector<std::uint64_t> asked;
        Rows rows;
        for (const std::uint64_t index : indices) {
            if (!known.emplace(index, std::numeric_limits<float>::quiet_NaN()).second)
                continue;
            LATHE_TRY_ASSIGN(const std::vector<float>* features, m_features.of(index));
            if (features == nullptr)
                continue; // no number: not planned
            asked.push_back(index);
            rows.push_back(*features);
        }
        LATHE_TRY_ASSIGN(const std::vector<float> guesses, guess(rows));
        for (std::size_t i = 0; i < asked.size(); ++i)
            known[asked[i]] = guesses[i];
        return {};
    };
    const auto scores = [&](std::span<const std::uint64_t> indices) {
        if (!error)
            if (Result<> added = addUnknown(indices); !added)
                error = std::move(added).error();
        std::vector<float> values;
        for (const std::uint64_t index : indices) {
            const auto found = known.find(index);
            values.push_back(found == known.end() ? std::numeric_limits<float>::quiet_NaN() : found->second);
        }
        return values;
    };

    Annealing annealing = *m_annealing; // stays as it was when this fails
    const std::vector<ScoredIndex> found = annealing.plan(
        m_options.planSize, scores, [this](std::uint64_t index) { return !isOpen(index); }, stop);
    if (error)
        return *std::move(error);
    if (stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::SearchStopped));
    m_annealing.emplace(std::move(annealing));
    m_plan.clear();
    for (const ScoredIndex& one : found)
        m_plan.push_back(one.index);
    m_place = 0;
    return {};
}

std::optional<std::uint64_t> XgbTuner::draw()
{
    const auto random = static_cast<std::size_t>(std::clamp(m_options.randomShare, 0.0, 1.0)
                                                 * static_cast<double>(m_options.planSize));
    while (m_place + random < m_plan.size()) {
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
