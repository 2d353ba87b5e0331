// One table of rules. Each looks at values that others measured, and finds nothing where they are unknown. A threshold
// is a round number below which the figure costs less than it takes to act on it; where it was chosen by measurements,
// the row says by which.

#include "core/session/verdict/diagnosis.h"

#include "core/session/roofline.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

using Found = std::optional<Rule::Found>;

/// Not-a-number while a task has no valid program: then no share is known.
double sumOf(std::span<const TaskFacts> tasks)
{
    double sum = 0;
    for (const TaskFacts& task : tasks)
        sum += task.ms;
    return sum;
}

double sumOfKnown(std::span<const TaskFacts> tasks)
{
    double sum = 0;
    for (const TaskFacts& task : tasks)
        sum += std::isfinite(task.ms) ? task.ms : 0;
    return sum;
}

Found othersTake(const RunFacts& facts, double threshold)
{
    const measure::MachineState& machine = facts.machine;
    if (!(machine.taken() > threshold))
        return {};
    const double others = std::isfinite(machine.others) ? machine.others : 0,
                 stolen = std::isfinite(machine.stolen) ? machine.stolen : 0;
    return Rule::Found{say(Msg::FoundOthers, 100 * others, 100 * stolen, machine.processors)};
}

Found gainNotProven(const RunFacts& facts, double)
{
    const Verdict verdict = facts.gain.verdict();
    return verdict == Verdict::NotProven || verdict == Verdict::Slower ? Found(Rule::Found{sayGain(facts.gain)})
                                                                       : Found();
}

Found sumApart(const RunFacts& facts, double threshold)
{
    const double sum = facts.parts.totalMs(), apart = facts.measuredMs / sum - 1;
    if (!(std::abs(apart) > threshold))
        return {};
    return Rule::Found{apart > 0 ? say(Msg::FoundAboveSum, facts.measuredMs, 100 * apart, sum)
                                 : say(Msg::FoundBelowSum, facts.measuredMs, -100 * apart, sum)};
}

Found throttled(const RunFacts& facts, double threshold)
{
    const measure::MachineState& machine = facts.machine;
    if (machine.heatSlowdowns > 0)
        return Rule::Found{say(Msg::FoundHeat, machine.heatSlowdowns)};
    if (machine.heldBackSeconds > threshold * machine.seconds)
        return Rule::Found{say(Msg::FoundQuota, machine.heldBackSeconds, machine.seconds)};
    if (machine.mhz < (1 - threshold) * machine.mostMhz)
        return Rule::Found{say(Msg::FoundSlowClock, machine.mhz, machine.mostMhz)};
    return {};
}

Found unsteady(const RunFacts& facts, double threshold)
{
    return facts.machine.controlSpread > threshold
               ? Found(Rule::Found{say(Msg::FoundUnsteady, facts.machine.controlSpread)})
               : Found();
}

Found neverSearched(const RunFacts& facts, double threshold)
{
    const double sum = sumOfKnown(facts.tasks);
    double missed = 0;
    std::int64_t count = 0;
    const TaskFacts* largest = nullptr;
    for (const TaskFacts& task : facts.tasks) {
        if (task.rounds > 1)
            continue;
        ++count;
        missed += std::isfinite(task.ms) ? task.ms : 0;
        if (largest == nullptr || task.ms > largest->ms)
            largest = &task;
    }
    if (largest == nullptr || !(missed > threshold * sum))
        return {};
    return Rule::Found{say(Msg::FoundNotSearched, count, static_cast<std::int64_t>(facts.tasks.size()),
                           100 * missed / sum, largest->name),
                       largest->task};
}

Found dominates(const RunFacts& facts, double threshold)
{
    const double sum = sumOf(facts.tasks);
    if (facts.tasks.size() < 3)
        return {};
    for (const TaskFacts& task : facts.tasks)
        if (task.ms > threshold * sum)
            return Rule::Found{say(Msg::FoundDominant, task.name, 100 * task.ms / sum), task.task};
    return {};
}

/// Only what comes near to its limit is bound by it.
Found memoryBound(const RunFacts& facts, double threshold)
{
    constexpr double kNear = 0.5;
    const double sum = sumOf(facts.tasks);
    double bound = 0;
    std::int64_t count = 0;
    const TaskFacts* largest = nullptr;
    for (const TaskFacts& task : facts.tasks) {
        if (!task.memoryBound || !(task.leastMs > kNear * task.ms))
            continue;
        ++count;
        bound += task.ms;
        if (largest == nullptr || task.ms > largest->ms)
            largest = &task;
    }
    if (largest == nullptr || !(bound > threshold * sum))
        return {};
    return Rule::Found{say(Msg::FoundMemoryBound, count, 100 * bound / sum), largest->task};
}

Found longChain(const RunFacts& facts, double threshold)
{
    const double share = facts.parts.chainMs / facts.parts.totalMs();
    return share > threshold ? Found(Rule::Found{say(Msg::FoundChain, 100 * share, facts.parts.chainMs)}) : Found();
}

Found smallParts(const RunFacts& facts, double threshold)
{
    const double share = facts.small.ms / facts.measuredMs;
    return facts.small.count > 0 && share > threshold
               ? Found(Rule::Found{say(Msg::FoundSmall, 1000 * kSmallFunctionMs, facts.small.count, 100 * share)})
               : Found();
}

/// What there is to do about them differs: threads can be fewer.
Found smallFunctions(const RunFacts& facts, double threshold)
{
    return facts.startsKernels ? Found() : smallParts(facts, threshold);
}

Found smallKernels(const RunFacts& facts, double threshold)
{
    return facts.startsKernels ? smallParts(facts, threshold) : Found();
}

Found fewThreads(const RunFacts& facts, double)
{
    return facts.threads > 0 && facts.threads < facts.processors
               ? Found(Rule::Found{say(Msg::FoundFewThreads, facts.threads, facts.processors)})
               : Found();
}

Found manyRejected(const RunFacts& facts, double threshold)
{
    const std::int64_t rejected = facts.proposed.rejected, all = facts.proposed.trials + rejected;
    return static_cast<double>(rejected) > threshold * static_cast<double>(all)
               ? Found(Rule::Found{say(Msg::FoundRejected, rejected, all)})
               : Found();
}

constexpr Rule kRules[] = {
    // 0..1 of all processor time: two cores at load 5.8 had 60 %, a quiet machine has 1 to 3 %
    {"others take processors", Gravity::Doubt, 0.10, Msg::TitleOthers, Msg::CureOthers, othersTake},
    // no threshold beside the interval
    {"gain not proven", Gravity::Doubt, 0, Msg::TitleNotProven, Msg::CureNotProven, gainNotProven},
    // 0..1 of the sum: 44 of 49 networks were within it on a machine that others used, too (tests/bench/README.md)
    {"sum of parts apart", Gravity::Doubt, kSumApart, Msg::TitleSumApart, Msg::CureSumApart, sumApart},
    // 0..1 of the clock rate, and of the time that a quota held the process back
    {"throttled", Gravity::Doubt, 0.15, Msg::TitleThrottled, Msg::CureThrottled, throttled},
    // slowest turn of the control kernel over its fastest
    {"unsteady", Gravity::Doubt, 2.0, Msg::TitleUnsteady, Msg::CureUnsteady, unsteady},
    // 0..1 of the tasks' sum
    {"tasks not searched", Gravity::Hint, 0.05, Msg::TitleNotSearched, Msg::CureNotSearched, neverSearched},
    {"one task dominates", Gravity::Hint, 0.50, Msg::TitleDominant, Msg::CureDominant, dominates},
    {"memory-bound", Gravity::Hint, 0.30, Msg::TitleMemoryBound, Msg::CureMemoryBound, memoryBound},
    // 0..1 of the network
    {"long chain", Gravity::Hint, 0.20, Msg::TitleChain, Msg::CureChain, longChain},
    {"small functions", Gravity::Hint, 0.10, Msg::TitleSmall, Msg::CureSmall, smallFunctions},
    {"small kernels", Gravity::Hint, 0.10, Msg::TitleSmall, Msg::CureSmallKernels, smallKernels},
    // threads below processors
    {"few threads", Gravity::Hint, 0, Msg::TitleFewThreads, Msg::CureFewThreads, fewThreads},
    // 0..1 of all candidates: where most are rejected, that is why trials are few
    {"many rejected", Gravity::Hint, 0.50, Msg::TitleRejected, Msg::CureRejected, manyRejected},
};

const Rule* ruleOf(std::string_view id)
{
    const auto found = std::ranges::find(kRules, id, &Rule::id);
    return found == std::end(kRules) ? nullptr : found;
}

Finding findingOf(const Rule& rule, Message evidence, std::int32_t task)
{
    return {std::string(rule.id), rule.gravity,           Message{rule.title, {}},
            std::move(evidence),  Message{rule.cure, {}}, task};
}

} // namespace

std::span<const Rule> rules()
{
    return kRules;
}

std::vector<Finding> diagnose(const RunFacts& facts)
{
    std::vector<Finding> findings;
    for (const Rule& rule : kRules)
        if (Found found = rule.look(facts, rule.threshold))
            findings.push_back(findingOf(rule, std::move(found->evidence), found->task));
    std::ranges::stable_sort(findings, {}, &Finding::gravity);
    return findings;
}

std::vector<TaskFacts> taskFacts(std::span<const TaskView> tasks, std::span<const std::int64_t> rounds,
                                 const DeviceLimits& limits)
{
    const std::vector<RooflineRow> rows = roofline(tasks, limits);
    std::vector<TaskFacts> facts;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        facts.push_back({tasks[i].id, tasks[i].name, tasks[i].weight * tasks[i].bestMs,
                         i < rounds.size() ? rounds[i] : 0, tasks[i].weight * rows[i].lowerBoundMs,
                         rows[i].memoryBound()});
    return facts;
}

Message sayGain(const Gain& gain)
{
    const bool interval = std::isfinite(gain.low);
    switch (gain.verdict()) {
    case Verdict::Unknown: return say(Msg::GainUnknown);
    case Verdict::Faster:
        return say(Msg::GainFaster, gain.ratio, gain.low, gain.high, gain.pairs, gain.ms, gain.untunedMs);
    case Verdict::Slower:
        return say(Msg::GainSlower, 1 / gain.ratio, 1 / gain.high, 1 / gain.low, gain.pairs, gain.ms, gain.untunedMs);
    case Verdict::NotProven:
        return interval
                   ? say(Msg::GainNotProven, gain.ratio, gain.low, gain.high, gain.pairs, gain.ms, gain.untunedMs)
                   : say(Msg::GainTooFewPairs, gain.ratio, gain.pairs, kLeastPairsForInterval, gain.ms, gain.untunedMs);
    }
    return say(Msg::GainUnknown);
}

bool believable(const Gain& gain, std::span<const Finding> findings)
{
    return gain.verdict() != Verdict::Unknown
           && std::ranges::none_of(findings, [](const Finding& f) { return f.gravity == Gravity::Doubt; });
}

json toJson(std::span<const Finding> findings)
{
    json list = json::array();
    for (const Finding& finding : findings) {
        json row = {{"rule", finding.rule},           {"gravity", finding.gravity == Gravity::Doubt ? "doubt" : "hint"},
                    {"title", textOf(finding.title)}, {"evidence", textOf(finding.evidence)},
                    {"cure", textOf(finding.cure)},   {"about", json::parse(toJsonText(about(finding.evidence)))}};
        if (finding.task >= 0)
            row["task"] = finding.task;
        list.push_back(std::move(row));
    }
    return list;
}

std::vector<Finding> findingsIn(const json& list)
{
    std::vector<Finding> findings;
    if (!list.is_array())
        return findings;
    for (const json& row : list) {
        const Rule* rule = ruleOf(textIn(row, "rule"));
        if (rule == nullptr)
            continue;
        const About about = row.contains("about")
                                ? aboutFromJsonText(row["about"].dump(-1, ' ', false, json::error_handler_t::replace))
                                : About();
        findings.push_back(
            findingOf(*rule, messageOf(textIn(row, "evidence"), about),
                      static_cast<std::int32_t>(std::clamp<std::int64_t>(wholeIn(row, "task", -1), -1, 1 << 20))));
    }
    return findings;
}

} // namespace lathe::session
