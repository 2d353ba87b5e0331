#include "core/session/exports/kernel_choices.h"

#include "core/deploy/runtime_archive.h"
#include "core/schedule/state.h"
#include "core/schedule/step.h"
#include "core/session/condition_texts.h"
#include "core/session/plan/network_plan.h"
#include "core/session/untuned.h"
#include "core/store/log_line.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

search::SearchAlternative searchAlternative(const graph::Alternative& alternative,
                                            const std::vector<bool>& taskInputConstant)
{
    search::SearchAlternative a;
    a.name = alternative.name;
    a.dag = alternative.dag;
    a.isReference = alternative.isReference;
    for (const graph::InputBinding& binding : alternative.bindings)
        a.constantInputs.push_back(taskInputConstant[static_cast<std::size_t>(binding.taskInput)]);
    return a;
}

/// An untuned function, dressed as a task.
search::SearchTask untunedTask(const graph::Subgraph& subgraph, const LoadedModel& model)
{
    search::SearchTask s;
    s.key = subgraph.name;
    s.name = subgraph.name;
    s.target = model.target;
    s.hardware = model.hardware;
    std::vector<bool> constant;
    for (const graph::ValueId id : subgraph.inputs)
        constant.push_back(model.graph.value(id).constant != nullptr);
    s.alternatives.push_back(searchAlternative(*subgraph.untuned, constant));
    return s;
}

const graph::Alternative* findAlternative(const graph::Task& task, std::string_view name)
{
    for (const graph::Alternative& alternative : task.alternatives)
        if (alternative.name == name)
            return &alternative;
    return nullptr;
}

} // namespace

search::SearchTask searchTask(const graph::Task& task, const LoadedModel& model, bool strict)
{
    search::SearchTask s;
    s.key = task.key;
    s.name = task.name;
    s.flop = task.flop;
    s.target = model.target;
    s.hardware = model.hardware;
    std::vector<bool> constant;
    for (const graph::TaskInput& input : task.inputs)
        constant.push_back(input.constant);
    for (const graph::Alternative& alternative : task.alternatives)
        if (!strict || !graph::tradesAccuracy(alternative.name) || task.alternatives.size() == 1)
            s.alternatives.push_back(searchAlternative(alternative, constant));
    return s;
}

namespace {

/// Whether the record's steps fit the DAG that this version makes of its alternative: an older one's may not.
bool replays(const graph::Alternative& alternative, const Record& record)
{
    const std::string& text = record.candidate.steps;
    const nlohmann::json json = text.empty() ? nlohmann::json::array() : nlohmann::json::parse(text, nullptr, false);
    const auto steps = schedule::stepsFromJson(json);
    return steps && schedule::State::replay(alternative.dag, *steps);
}

} // namespace

const graph::Alternative* usableAlternative(const graph::Task& task, const Record& record, bool strict)
{
    const graph::Alternative* const alternative = findAlternative(task, record.candidate.alternative);
    if (alternative == nullptr || (strict && graph::tradesAccuracy(alternative->name)))
        return nullptr;
    return replays(*alternative, record) ? alternative : nullptr;
}

Result<std::map<std::string, store::BestRow>> chooseRecords(const LoadedModel& model, const store::Project& project,
                                                            const RecordChoice& choice)
{
    const std::string target = model.target.text();
    std::vector<store::Conditions> conditions;
    if (choice.only) {
        conditions.push_back(*choice.only);
    } else {
        LATHE_TRY_ASSIGN(conditions, project.conditions(target));
    }
    std::map<std::string, const graph::Task*> tasks;
    for (const graph::Task& task : model.partition.tasks)
        tasks[task.key] = &task;
    std::map<std::string, store::BestRow> chosen;
    for (const store::Conditions& condition : conditions) {
        LATHE_TRY_ASSIGN(auto rows, project.best({{}, target, condition}));
        std::map<std::string, store::BestRow> here;
        for (store::BestRow& row : rows) { // by cost
            const auto task = tasks.find(row.task);
            if (task == tasks.end() || chosen.contains(row.task) || here.contains(row.task))
                continue;
            if (usableAlternative(*task->second, row.record, choice.strict) != nullptr)
                here.emplace(row.task, std::move(row));
        }
        chosen.merge(here);
    }
    return chosen;
}

namespace {

/// Why no record of a task was chosen.
Result<Message> reasonFor(const graph::Task& task, const LoadedModel& model, const store::Project* project,
                          const RecordChoice& choice)
{
    if (project == nullptr)
        return say(Msg::TuningLeftOut);
    LATHE_TRY_ASSIGN(const auto rows, project->best({task.key, {}, {}}));
    const std::string target = model.target.text();
    for (const store::BestRow& row : rows) {
        if (row.record.target == target && findAlternative(task, row.alternative) == nullptr)
            return say(Msg::RecordOfAlternative, row.alternative);
        if (const auto* const alternative = findAlternative(task, row.alternative);
            row.record.target == target && alternative != nullptr && !replays(*alternative, row.record))
            return say(Msg::RecordOfVersion, row.alternative);
        if (row.record.target == target && choice.strict && graph::tradesAccuracy(row.alternative))
            return say(Msg::RecordNotStrict, row.alternative);
    }
    if (!rows.empty() && std::all_of(rows.begin(), rows.end(), [](const store::BestRow& row) {
            return store::isImported(row.record);
        }))
        return say(Msg::RecordsImported);
    if (!rows.empty() && rows.front().record.target != target)
        return rows.front().record.target.empty() ? say(Msg::RecordsOfUnknownRun)
                                                  : say(Msg::RecordsOfTarget, rows.front().record.target);
    return say(Msg::NoValidRecord);
}

} // namespace

namespace {

/// The fastest record of the task that logs or packages have; null: they have none that can be used.
const AppliedLogs::Applied* logOf(const RecordChoice& wanted, const graph::Task& task)
{
    if (wanted.logs == nullptr)
        return nullptr;
    const auto found = wanted.logs->tasks.find(task.key);
    if (found == wanted.logs->tasks.end())
        return nullptr;
    const auto& all = found->second;
    const auto usable = std::find_if(all.begin(), all.end(), [&](const AppliedLogs::Applied& each) {
        return usableAlternative(task, each.record, wanted.strict) != nullptr;
    });
    return usable == all.end() ? nullptr : &*usable;
}

std::int64_t conversionsIn(const graph::plan::LayoutPlan& plan)
{
    return std::count_if(plan.edges.begin(), plan.edges.end(),
                         [](const graph::plan::PlannedEdge& edge) { return edge.converts(); });
}

/// A function takes another record than the fastest of its task, since it fits those around it.
void takeRecord(const store::BestRow& row, const std::vector<graph::Task>& tasks, const graph::Subgraph& subgraph,
                deploy::KernelChoice& choice, KernelChoices& out)
{
    out.estimatedTasksMs += (row.costNs * 1e-6 - choice.estimatedMs) * static_cast<double>(subgraph.runs);
    choice.alternative = findAlternative(tasks[static_cast<std::size_t>(subgraph.task)], row.alternative);
    choice.steps = row.record.candidate.steps;
    choice.record = row.record.trial;
    choice.estimatedMs = row.costNs * 1e-6;
}

} // namespace

Result<KernelChoices> chooseKernels(const LoadedModel& model, const store::Project* project, const RecordChoice& wanted,
                                    std::stop_token stop)
{
    std::map<std::string, store::BestRow> best;
    if (project != nullptr) {
        LATHE_TRY_ASSIGN(best, chooseRecords(model, *project, wanted));
    }
    // The conditions that lead: what comes from others is a near match.
    std::optional<store::Conditions> leading = wanted.only;
    if (!leading && project != nullptr) {
        LATHE_TRY_ASSIGN(const auto conditions, project->conditions(model.target.text()));
        if (!conditions.empty())
            leading = conditions.front();
    }
    KernelChoices out;
    // The plan of one task serves all its occurrences.
    std::vector<deploy::KernelChoice> ofTask;
    std::vector<About> nearOfTask; // what differs; null: nothing
    double flop = 0;
    for (const graph::Task& task : model.partition.tasks)
        flop += task.flop * task.weight;
    for (const graph::Task& task : model.partition.tasks) {
        deploy::KernelChoice choice;
        const auto row = best.find(task.key);
        const AppliedLogs::Applied* const ofLog = row == best.end() ? logOf(wanted, task) : nullptr;
        if (ofLog != nullptr) {
            const Record& record = ofLog->record;
            choice.alternative = findAlternative(task, record.candidate.alternative);
            choice.steps = record.candidate.steps;
            choice.record = record.trial;
            choice.estimatedMs = record.result.meanNs() * 1e-6;
            out.estimatedTasksMs += choice.estimatedMs * task.weight;
            nearOfTask.push_back(ofLog->differs);
            ofTask.push_back(std::move(choice));
            continue;
        }
        if (row == best.end()) {
            LATHE_TRY_ASSIGN(const Message reason, reasonFor(task, model, project, wanted));
            choice.reason = textOf(reason);
            choice.about = about(reason);
        } else {
            choice.alternative = findAlternative(task, row->second.alternative);
        }
        if (choice.reason.empty()) {
            choice.steps = row->second.record.candidate.steps;
            choice.record = row->second.record.trial;
            choice.estimatedMs = row->second.costNs * 1e-6;
            out.estimatedTasksMs += choice.estimatedMs * task.weight;
        } else {
            const search::SearchTask s = searchTask(task, model, wanted.strict);
            LATHE_TRY_ASSIGN(const Candidate candidate, defaultCandidate(s));
            choice.alternative = findAlternative(task, candidate.alternative);
            choice.steps = candidate.steps;
            out.estimatedTasksMs = kUnknown;
            out.fallbacks.push_back(task.name);
        }
        nearOfTask.push_back(!choice.record.empty() && leading && row->second.conditions != *leading
                                 ? about(differenceOf(row->second.conditions, *leading))
                                 : About());
        ofTask.push_back(std::move(choice));
    }
    std::optional<NetworkPlan> plan;
    if (project != nullptr || wanted.logs != nullptr) {
        LATHE_TRY_ASSIGN(plan, planNetwork(model, project, {wanted.only, wanted.strict, wanted.logs.get()},
                                           wanted.layouts, std::move(stop)));
    }
    if (plan) {
        out.plan = say(Msg::PlanChosen, plan->plan.seconds * 1e3, conversionsIn(plan->plan),
                       (plan->plan.seconds - plan->plan.kernelSeconds) * 1e3, plan->fastest.seconds * 1e3);
        if (plan->guessedConversions > 0)
            out.plan = say(Msg::PlanGuessed, *std::move(out.plan), plan->guessedConversions);
    }
    for (std::size_t s = 0; s < model.partition.subgraphs.size(); ++s) {
        const graph::Subgraph& subgraph = model.partition.subgraphs[s];
        deploy::KernelChoice choice;
        if (subgraph.task >= 0) {
            choice = ofTask[static_cast<std::size_t>(subgraph.task)];
            if (const auto planned = plan ? plan->trials.find(static_cast<std::int32_t>(s))
                                          : std::map<std::int32_t, std::string>::const_iterator();
                plan && planned != plan->trials.end())
                takeRecord(plan->records.at(
                               {model.partition.tasks[static_cast<std::size_t>(subgraph.task)].key, planned->second}),
                           model.partition.tasks, subgraph, choice, out);
        } else if (subgraph.function) {
            choice.reason = subgraph.reason;
            choice.about = subgraph.about;
        } else if (!subgraph.noop && !subgraph.control) {
            if (!subgraph.untuned)
                return makeError(Errc::Unsupported, say(Msg::NoDefinition, subgraph.name));
            LATHE_TRY_ASSIGN(const Candidate candidate, defaultCandidate(untunedTask(subgraph, model)));
            choice.alternative = &*subgraph.untuned;
            choice.steps = candidate.steps;
            choice.reason = subgraph.reason;
            choice.about = subgraph.about;
        }
        if (!subgraph.noop && !subgraph.control) {
            SubgraphReport report;
            report.name = subgraph.name;
            report.task = subgraph.task;
            report.record = choice.record;
            report.reason = choice.reason;
            report.about = choice.about;
            report.estimatedMs = choice.estimatedMs < 0 ? kUnknown : choice.estimatedMs;
            report.alternative = choice.alternative != nullptr ? choice.alternative->name : "";
            if (subgraph.task >= 0) {
                const auto task = static_cast<std::size_t>(subgraph.task);
                report.cover = choice.record.empty() ? Cover::Default : !nearOfTask[task] ? Cover::Record : Cover::Near;
                if (report.cover == Cover::Near) {
                    report.about = nearOfTask[task];
                    report.reason = textOf(*report.about);
                }
                report.flopShare = model.partition.tasks[task].flop / flop;
            }
            out.reports.push_back(std::move(report));
        }
        out.choices.push_back(std::move(choice));
    }
    double known = 0;
    for (const SubgraphReport& report : out.reports)
        known += std::isfinite(report.estimatedMs) ? report.estimatedMs : 0;
    for (SubgraphReport& report : out.reports)
        report.share = report.estimatedMs / known;
    return out;
}

std::optional<Message> refusalOf(const KernelChoices& choices, const LoadedModel& model)
{
    constexpr std::size_t kNamed = 5;
    if (choices.fallbacks.empty())
        return std::nullopt;
    std::vector<Message> names;
    for (std::size_t i = 0; i < std::min(kNamed, choices.fallbacks.size()); ++i)
        names.push_back(say(Msg::Plain, choices.fallbacks[i]));
    if (choices.fallbacks.size() > kNamed)
        names.push_back(say(Msg::AndMore, choices.fallbacks.size() - kNamed));
    return say(Msg::TasksWithoutRecord, choices.fallbacks.size(), model.partition.tasks.size(), std::move(names));
}

Result<Coverage> coverageOf(const LoadedModel& model, const store::Project* project, const RecordChoice& choice)
{
    RecordChoice quick = choice;
    quick.layouts.measures = false;
    LATHE_TRY_ASSIGN(KernelChoices chosen, chooseKernels(model, project, quick));
    Coverage out;
    out.tasks = static_cast<std::int32_t>(model.partition.tasks.size());
    out.defaults = static_cast<std::int32_t>(chosen.fallbacks.size());
    std::vector<bool> near(model.partition.tasks.size());
    for (const SubgraphReport& report : chosen.reports)
        if (report.cover == Cover::Near)
            near[static_cast<std::size_t>(report.task)] = true;
    out.near = static_cast<std::int32_t>(std::count(near.begin(), near.end(), true));
    out.records = out.tasks - out.defaults - out.near;
    out.estimatedTasksMs = chosen.estimatedTasksMs;
    if (const auto refusal = refusalOf(chosen, model)) {
        out.refusal = textOf(*refusal);
        out.aboutRefusal = about(*refusal);
    }
    out.subgraphs = std::move(chosen.reports);
    if (const auto exportable = deploy::checkExportable(model.target); !exportable) {
        out.unsupported = exportable.error().message;
        out.aboutUnsupported = exportable.error().about;
    }
    out.runsHere = model.target.traits().runsHere;
    if (choice.logs != nullptr)
        out.given = choice.logs->given;
    return out;
}

std::string_view toString(Cover cover)
{
    static constexpr std::string_view kNames[] = {"record", "near match", "default", "no task"};
    return kNames[static_cast<std::size_t>(cover)];
}

} // namespace lathe::session
