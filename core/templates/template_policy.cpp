#include "core/templates/template_policy.h"

#include "core/schedule/launch_limits.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/support/message.h"
#include "core/templates/tuner_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::templates {

using search::Measured;

SharedTemplates::SharedTemplates(std::uint64_t seed)
    : SharedModel(search::makeRandomModel(seed), search::kLatheFeatures, 0)
{
}

bool SharedTemplates::Board::failedThroughout() const
{
    return !seconds.empty()
           && std::none_of(seconds.begin(), seconds.end(), [](const auto& each) { return std::isfinite(each.second); });
}

std::vector<ForeignRecords> SharedTemplates::othersOf(const Tunable& own, FeatureKind kind) const
{
    std::vector<ForeignRecords> others;
    for (const auto& [key, board] : m_boards) {
        if (key == own.workload() || board.made == nullptr || board.made->kind() != own.kind())
            continue;
        ForeignRecords records;
        records.space = &board.made->space();
        records.seconds.assign(board.seconds.begin(), board.seconds.end());
        records.features = board.made->features(kind);
        others.push_back(std::move(records));
    }
    return others;
}

Result<std::unique_ptr<TemplatePolicy>> TemplatePolicy::create(const search::SearchTask& task,
                                                               std::shared_ptr<SharedTemplates> shared,
                                                               const search::PolicyOptions& options, bool ofSketches)
{
    LATHE_TRY_ASSIGN(const TunerEntry* const tuner,
                     findTuner(options.tuner.empty() ? std::string_view(kDefaultTuner) : options.tuner));
    LATHE_TRY_ASSIGN(const TunerValues values, tunerValues(*tuner, options.tunerSettings));
    std::unique_ptr<TemplatePolicy> policy(new TemplatePolicy(task, std::move(shared), options));
    std::vector<std::shared_ptr<const Tunable>> spaces;
    if (ofSketches) {
        LATHE_TRY_ASSIGN(spaces, sketchTunables(task));
    } else {
        spaces = templateTunables(task);
    }
    for (std::shared_ptr<const Tunable>& made : spaces) {
        auto way = std::make_unique<Way>();
        way->made = std::move(made);
        way->workload = way->made->workload();
        way->tuner = tuner->make(way->made->space(), values, way->made->features(tuner->features), options.seed);
        way->transfers = values.contains("transfer") && values.find("transfer")->second != 0;
        way->features = tuner->features;
        policy->m_ways.push_back(std::move(way));
    }
    return policy;
}

/// What an export would run without records comes first: templates know fewer algorithms, and what was tuned is not to
/// be slower.
Result<std::vector<Candidate>> TemplatePolicy::firstRound(std::int32_t count) const
{
    std::vector<Candidate> first;
    for (const auto& make : m_firsts) {
        std::optional<Candidate> candidate = make ? make(m_task) : std::nullopt;
        const bool isNew = candidate && std::ranges::none_of(first, [&](const Candidate& known) {
                               return known.hash() == candidate->hash();
                           });
        if (isNew && std::ssize(first) < count)
            first.push_back(*std::move(candidate));
    }
    return first;
}

bool TemplatePolicy::searches(const Way& way) const
{
    const SharedTemplates::Board& board = m_shared->boardOf(way.workload);
    return board.searched.empty() || board.searched == m_task.key || board.failedThroughout();
}

Result<std::vector<Candidate>> TemplatePolicy::propose(std::uint64_t, std::int32_t count, Executor&,
                                                       std::stop_token stop)
{
    // Each template gets its turn: that with the fewest results so far.
    std::vector<Way*> order;
    for (const auto& way : m_ways)
        order.push_back(way.get());
    std::stable_sort(order.begin(), order.end(),
                     [](const Way* a, const Way* b) { return a->told.size() < b->told.size(); });
    for (Way* way : order) {
        Proposed proposed;
        LATHE_TRY_ASSIGN(std::vector<Candidate> candidates,
                         proposeOf(*way, static_cast<std::size_t>(count), proposed, stop));
        if (!candidates.empty()) {
            m_proposed.push_back(std::move(proposed));
            return candidates;
        }
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
    }
    return std::vector<Candidate>();
}

Result<Candidate> TemplatePolicy::runnable(const Way& way, const Config& config) const
{
    LATHE_TRY_ASSIGN(Candidate candidate, way.made->candidate(config));
    LATHE_TRY(way.made->checkRunnable(config, m_task.hardware));
    return candidate;
}

bool TemplatePolicy::proposesAhead() const
{
    return std::ranges::all_of(m_ways, [this](const auto& way) { return searches(*way); });
}

void TemplatePolicy::takeBackProposals()
{
    if (m_proposed.empty())
        return;
    for (const auto& [way, index] : m_proposed.back())
        way->tuner->takeBack(index);
    m_proposed.pop_back();
}

Result<std::vector<Candidate>> TemplatePolicy::proposeOf(Way& way, std::size_t count, Proposed& proposed,
                                                         std::stop_token stop)
{
    if (!searches(way))
        return bestOfOthers(way, count);
    if (std::exchange(way.transfers, false)) {
        const std::vector<ForeignRecords> others = m_shared->othersOf(*way.made, way.features);
        LATHE_TRY(way.tuner->transfer(others, stop));
    }
    std::vector<Candidate> candidates;
    while (candidates.size() < count) {
        LATHE_TRY_ASSIGN(const std::vector<std::uint64_t> indices, way.tuner->next(count - candidates.size(), stop));
        if (indices.empty())
            break;
        for (const std::uint64_t index : indices) {
            LATHE_TRY_ASSIGN(const Config config, way.made->space().at(index));
            auto candidate = runnable(way, config);
            if (candidate) {
                proposed.emplace_back(&way, index);
                candidates.push_back(*std::move(candidate));
                way.refusedInARow = way.tuner->gaveUp() ? way.refusedInARow : 0;
            } else {
                refuse(way, index, candidate.error());
            }
        }
        // Where nothing can be run, nobody wants to look at all of a space to know it.
        if (way.refusedInARow >= kMostRefusedInARow)
            way.tuner->giveUp();
    }
    return candidates;
}

/// It counts as rejected, and the tuner learns from it as from any that failed.
void TemplatePolicy::refuse(Way& way, std::uint64_t index, const Error& why)
{
    Refusal& refusal = way.refusedBy[why.message];
    if (++refusal.count == 1)
        refusal.why = messageOf(why);
    ++way.refusedInARow;
    way.tuner->tell(index, std::numeric_limits<double>::infinity());
}

std::optional<Message> TemplatePolicy::whyNothing() const
{
    std::optional<Message> said;
    for (const auto& way : m_ways) {
        if (!searches(*way))
            continue;
        if (!way->tuner->exhausted())
            return std::nullopt;
        if (way->refusedInARow == 0 || said)
            continue;
        const auto most = std::max_element(
            way->refusedBy.begin(), way->refusedBy.end(),
            [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
        said = say(Msg::NothingRunnable, way->refusedInARow, most->second.why);
    }
    return said;
}

bool TemplatePolicy::waitsForOthers() const
{
    bool waits = false;
    for (const auto& way : m_ways) {
        if (searches(*way)) {
            if (!way->tuner->exhausted())
                return false;
            continue;
        }
        const auto next = bestOfOthers(*way, 1);
        if (!next || !next->empty())
            return false;
        waits = true;
    }
    return waits;
}

/// Of the fastest ones of the task that is searched, those that this one has not measured.
Result<std::vector<Candidate>> TemplatePolicy::bestOfOthers(const Way& way, std::size_t count) const
{
    const SharedTemplates::Board& board = m_shared->boardOf(way.workload);
    std::vector<std::pair<double, std::uint64_t>> best;
    for (const auto& [index, seconds] : board.seconds)
        if (std::isfinite(seconds))
            best.emplace_back(seconds, index);
    std::sort(best.begin(), best.end());
    std::vector<Candidate> candidates;
    std::size_t taken = 0; // with those that were measured in earlier rounds and worked
    for (const auto& [seconds, index] : best) {
        if (taken == kTaken || candidates.size() == count)
            break;
        if (const auto told = way.told.find(index); told != way.told.end()) {
            taken += std::isfinite(told->second) ? 1 : 0;
            continue;
        }
        LATHE_TRY_ASSIGN(const Config config, way.made->space().at(index));
        // The task that was measured has other operators after it: what fitted there need not fit here.
        if (auto candidate = runnable(way, config)) {
            candidates.push_back(*std::move(candidate));
            ++taken;
        }
    }
    return candidates;
}

Result<> TemplatePolicy::tell(std::span<const Measured> results, std::stop_token)
{
    for (const auto& way : m_ways) {
        std::vector<std::pair<std::uint64_t, double>> ours;
        for (const Measured& measured : results) {
            const std::optional<Config> config = way->made->configOf(measured.candidate);
            if (!config)
                continue;
            const auto index = way->made->space().indexOf(*config);
            if (!index)
                continue; // of a log: no choice of this space
            const bool worked = measured.result.ok() && std::isfinite(measured.result.meanNs());
            ours.emplace_back(*index,
                              worked ? measured.result.meanNs() * 1e-9 : std::numeric_limits<double>::infinity());
        }
        SharedTemplates::Board& board = m_shared->boardOf(way->workload);
        const bool searched = searches(*way);
        if (searched && !ours.empty()) {
            if (board.searched != m_task.key)
                board.seconds.clear(); // what failed with other operators after it may work with these
            board.searched = m_task.key;
            board.made = way->made;
        }
        for (const auto& [index, seconds] : ours) {
            way->told.try_emplace(index, seconds);
            if (!searched)
                continue;
            way->tuner->tell(index, seconds);
            board.seconds.try_emplace(index, seconds);
        }
    }
    if (results.empty() || m_proposed.empty())
        return {};
    // The budget ended before the others of the round.
    for (const auto& [way, index] : m_proposed.front())
        way->tuner->takeBack(index);
    m_proposed.pop_front();
    return {};
}

std::map<std::string, double> TemplatePolicy::statistics() const
{
    std::map<std::string, double> statistics = {{"templates", static_cast<double>(m_ways.size())}, {"rejected", 0}};
    double configurations = 0, measured = 0;
    for (const auto& way : m_ways) {
        configurations += static_cast<double>(way->made->space().size());
        measured += static_cast<double>(way->told.size());
        statistics["rejected"] += static_cast<double>(way->tuner->refused());
        for (const auto& [why, refusal] : way->refusedBy)
            statistics["rejected"] += static_cast<double>(refusal.count);
    }
    statistics["configurations"] = configurations;
    statistics["measured"] = measured;
    return statistics;
}

} // namespace lathe::templates
