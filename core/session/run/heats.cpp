#include "core/session/run/heats.h"

#include "core/session/run/clock_times.h"
#include "core/session/run/finals.h"
#include "core/session/run/measure_plan.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr double kOverheadSeconds = 0.002; ///< of a measurement, besides what it says of itself

/// Adds what one more look at a finalist said.
void takeLook(FinalsGroup::Finalist& finalist, TrialResult result)
{
    std::map<std::string, double> durations = std::move(finalist.result.durationsMs);
    for (const auto& [name, ms] : result.durationsMs)
        durations[name] += ms;
    if (result.ok() && std::isfinite(result.meanNs()) && result.meanNs() > 0)
        finalist.costsNs.push_back(result.meanNs());
    else if (result.ok()) {
        TrialResult failed;
        failed.stage = TrialStage::Run;
        failed.code = Errc::Internal;
        failed.text = "a run took no time that could be measured";
        failed.conditions = "{}";
        failed.device = result.device;
        result = std::move(failed);
    }
    if (finalist.costsNs.size() <= 1 || !result.ok())
        finalist.result = std::move(result);
    finalist.result.durationsMs = std::move(durations);
}

/// costs[pass][finalist] of those that never failed.
std::vector<std::vector<double>> passesOf(const FinalsGroup& group)
{
    std::vector<std::vector<double>> passes;
    for (const FinalsGroup::Finalist& finalist : group.finalists) {
        if (!finalist.result.ok())
            continue;
        passes.resize(finalist.costsNs.size());
        for (std::size_t p = 0; p < passes.size(); ++p)
            passes[p].push_back(finalist.costsNs[p]);
    }
    return passes;
}

} // namespace

Result<> Heats::pass(std::span<FinalsGroup> groups, bool backwards, Look look, std::stop_token stop)
{
    struct Place
    {
        FinalsGroup* group;
        FinalsGroup::Finalist* finalist;
    };
    std::vector<Place> places;
    for (FinalsGroup& group : groups) {
        group.passSeconds = 0;
        for (FinalsGroup::Finalist& finalist : group.finalists)
            if (finalist.result.ok())
                places.push_back({&group, &finalist});
    }
    if (backwards)
        std::reverse(places.begin(), places.end());
    std::vector<measure::MeasureRequest> requests;
    for (const Place& place : places) {
        measure::MeasureRequest request;
        request.trial = place.finalist->repeated.trial;
        request.candidate = place.finalist->repeated.candidate;
        LATHE_TRY_ASSIGN(request.task,
                         m_parts.tasks[place.group->task].data(request.candidate.alternative, m_parts.clock.account()));
        request.plan = planOf(m_parts.options, m_parts.coldBytes);
        request.plan.repeat = 1;
        if (look == Look::Glance) { // all are slower than the best could be: a glance is what they get
            request.bestNs = 1;
            request.plan.contenderFactor = kGlanceOnly;
        }
        request.built = place.finalist->built;
        requests.push_back(std::move(request));
    }
    const auto devices = static_cast<double>(std::max<std::size_t>(1, m_parts.devices.devices()));
    return m_parts.devices.measure(
        requests,
        [&](std::size_t i, TrialResult result) {
            auto& [group, finalist] = places[i];
            for (const char* part : {"upload", "measure", "check"})
                group->passSeconds += result.durationsMs[part] * 1e-3 / devices;
            const json conditions = json::parse(result.conditions, nullptr, false);
            group->passSeconds += numberIn(conditions, "device_build_ms", 0) * 1e-3 / devices;
            group->passSeconds += kOverheadSeconds;
            takeLook(*finalist, std::move(result));
        },
        stop);
}

std::vector<Record> Heats::recordsOf(FinalsGroup& group, const std::string& id, std::int32_t roundsBefore,
                                     bool runoff) const
{
    const std::vector<std::vector<double>> passes = passesOf(group);
    std::vector<double> costs = m_parts.runoffs ? quickest(passes) : standings(passes);
    const std::int64_t moments = toLevelOfRun(group, costs);
    std::vector<Record> records;
    std::size_t place = 0;
    for (FinalsGroup::Finalist& finalist : group.finalists) {
        Record& record = records.emplace_back();
        record.trial = contentHash(fmt::format("{} {}", id, finalist.repeated.trial)).hex();
        record.session = m_parts.journal.session();
        record.round = kFinalsRound;
        record.candidate = std::move(finalist.repeated.candidate);
        record.target = m_parts.model.target.text();
        record.timeMs = unixMs();
        record.repeats = originOf(finalist.repeated);
        record.result = std::move(finalist.result);
        if (record.result.ok())
            record.result.costsNs = {costs[place++]};
        json conditions = json::parse(record.result.conditions, nullptr, false);
        if (!conditions.is_object())
            conditions = json::object();
        conditions["finals"] = id;
        conditions["finals_round"] = roundsBefore;
        if (runoff)
            conditions["runoff"] = true;
        conditions["passes_ns"] = finalist.costsNs;
        if (m_parts.runoffs)
            conditions["moments"] = moments;
        record.result.conditions = conditions.dump();
    }
    return records;
}

/// Changes all costs of a task by one factor, so that the winner's is as finals.h says. The number of moments that it
/// stands for.
std::int64_t Heats::toLevelOfRun(const FinalsGroup& group, std::vector<double>& costs) const
{
    const RunTask& task = m_parts.tasks[group.task];
    if (!m_parts.runoffs || task.ahead().empty() || costs.empty())
        return 1;
    const auto stands = std::min_element(costs.begin(), costs.end()) - costs.begin();
    std::vector<const FinalsGroup::Finalist*> valid;
    for (const FinalsGroup::Finalist& finalist : group.finalists)
        if (finalist.result.ok())
            valid.push_back(&finalist);
    const std::string stood = originOf(task.ahead().front().record);
    if (std::none_of(valid.begin(), valid.end(),
                     [&stood](const auto* one) { return originOf(one->repeated) == stood; }))
        return 1; // it did not take part: nothing is known beside it
    const bool again = originOf(valid[static_cast<std::size_t>(stands)]->repeated) == stood;
    const LevelledCost levelled = smoothedCost(task.bestNs(), task.moments(), costs[static_cast<std::size_t>(stands)],
                                               again);
    const double factor = levelled.ns / costs[static_cast<std::size_t>(stands)];
    for (double& cost : costs)
        cost *= factor;
    return levelled.moments;
}

std::string Heats::newId(std::int32_t round) const
{
    return contentHash(fmt::format("{} finals {} {} {}", m_parts.nonce, round, unixMs(), m_parts.clock.atSeconds()))
        .hex();
}

} // namespace lathe::session
