#include "core/session/plan/network_plan.h"

#include "core/session/device_directory.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/plan/conversion_clock.h"
#include "core/support/message.h"
#include "core/templates/matched_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lathe::session {

using namespace graph::plan;

namespace {

constexpr double kGuessedBytesPerSecond = 4e9; ///< read and written, where no conversion was measured at all

class Planning
{
public:
    Planning(const LoadedModel& model, const store::Project* project, const PlanRecords& records,
             const LayoutChoice& choice, std::stop_token stop)
        : m_model(model)
        , m_project(project)
        , m_records(records)
        , m_choice(choice)
        , m_stop(std::move(stop))
    {
    }

    Result<std::optional<NetworkPlan>> run()
    {
        NetworkPlan made;
        LayoutGraph reducedGraph = reduced(m_model.graph, m_model.partition);
        TaskCandidates candidates;
        bool anyLayout = false;
        for (const LayoutNode& node : reducedGraph.nodes) {
            if (!node.isTuned() || candidates.contains(node.task))
                continue;
            LATHE_TRY(readTask(node, candidates[node.task], made.records));
            for (const LayoutCandidate& candidate : candidates[node.task])
                anyLayout = anyLayout || candidate.input != Layout::plain(node.order)
                            || candidate.output != Layout::plain(node.order);
        }
        if (!anyLayout)
            return std::optional<NetworkPlan>();
        LATHE_TRY_ASSIGN(NodeCandidates ofNodes,
                         candidatesOf(reducedGraph, candidates, static_cast<std::size_t>(m_choice.mostCandidates)));
        const std::vector<Conversion> wanted = conversionsOf(reducedGraph, ofNodes);
        LATHE_TRY_ASSIGN(const ConversionCost cost, costsOf(wanted, made));
        LATHE_TRY_ASSIGN(made.problem, makeLayoutProblem(std::move(reducedGraph), std::move(ofNodes), cost));
        LATHE_TRY_ASSIGN(made.fastest, planFastestKernels(made.problem));
        tell(PlanStep::Solving);
        if (m_choice.tuner == "off") {
            made.plan = made.fastest;
        } else {
            PlanOptions options;
            options.solver = m_choice.tuner == "dp"     ? Solver::Dynamic
                             : m_choice.tuner == "pbqp" ? Solver::Pbqp
                                                        : Solver::Auto;
            auto plan = planLayouts(made.problem, options);
            if (!plan && options.solver == Solver::Dynamic && plan.error().code == Errc::Unsupported)
                return makeError(Errc::Unsupported, say(Msg::PlanTooLarge, options.mostStates));
            LATHE_TRY_ASSIGN(made.plan, std::move(plan));
        }
        tell(PlanStep::Solved);
        for (std::size_t n = 0; n < made.plan.nodes.size(); ++n)
            if (const std::string& trial = made.plan.nodes[n].id; !trial.empty())
                made.trials[made.problem.graph.nodes[n].subgraph] = trial;
        return std::optional(std::move(made));
    }

private:
    void tell(PlanStep step) const
    {
        if (m_choice.told)
            m_choice.told(step);
    }

    /// The fastest record of each pair of layouts; where a task has no record, its default schedule, which is plain.
    Result<> readTask(const LayoutNode& node, std::vector<LayoutCandidate>& candidates, NetworkPlan::Records& rows)
    {
        const graph::Task& task = m_model.partition.tasks[static_cast<std::size_t>(node.task)];
        const std::string target = m_model.target.text();
        std::vector<store::Conditions> conditions;
        if (m_records.only) {
            conditions.push_back(*m_records.only);
        } else if (m_project != nullptr) {
            LATHE_TRY_ASSIGN(conditions, m_project->conditions(target));
        }
        for (const store::Conditions& condition : conditions) {
            std::set<std::string> seen;
            LATHE_TRY(m_project->forEachContender(task.key, target, condition, [&](const Record& record) {
                take(node, task, record, condition, seen, candidates, rows);
                return !m_stop.stop_requested();
            }));
            if (m_stop.stop_requested())
                return makeError(Errc::Cancelled, say(Msg::Stopped));
            if (!candidates.empty())
                return {};
        }
        if (m_records.logs != nullptr)
            if (const auto ofLog = m_records.logs->tasks.find(task.key); ofLog != m_records.logs->tasks.end()) {
                std::set<std::string> seen;
                for (const AppliedLogs::Applied& each : ofLog->second)
                    take(node, task, each.record, {}, seen, candidates, rows);
            }
        const Layout plain = Layout::plain(node.order);
        if (candidates.empty())
            candidates.push_back({plain, plain, 0, {}});
        return {};
    }

    void take(const LayoutNode& node, const graph::Task& task, const Record& record, const store::Conditions& condition,
              std::set<std::string>& seen, std::vector<LayoutCandidate>& candidates, NetworkPlan::Records& rows)
    {
        const auto layouts = layoutsOf(node, task, record.candidate);
        if (!layouts)
            return;
        std::string text = layouts->first.text() + '>' + layouts->second.text();
        const graph::Alternative* const alternative = seen.contains(text)
                                                          ? nullptr
                                                          : usableAlternative(task, record, m_records.strict);
        if (alternative == nullptr)
            return;
        seen.insert(std::move(text));
        const double ns = record.result.meanNs();
        candidates.push_back({layouts->first, layouts->second, ns * 1e-9, record.trial});
        rows[{task.key, record.trial}] = {task.key, alternative->name, ns, condition, record};
    }

    /// Of the anchor's data and of the result; nothing: a candidate whose layouts the network's graph cannot follow.
    std::optional<std::pair<Layout, Layout>> layoutsOf(const LayoutNode& node, const graph::Task& task,
                                                       const Candidate& candidate)
    {
        const Layout plain = Layout::plain(node.order);
        if (candidate.edges.empty())
            return std::pair(plain, plain);
        const auto alternative = std::ranges::find(task.alternatives, candidate.alternative, &graph::Alternative::name);
        if (alternative == task.alternatives.end())
            return std::nullopt;
        const auto& nest = nestOf(task, *alternative);
        const std::vector<std::int32_t>& inputs = alternative->dag->inputs;
        if (!nest || candidate.edges.size() != inputs.size() + alternative->dag->outputs.size())
            return std::nullopt;
        const auto data = std::find(inputs.begin(), inputs.end(), nest->data.op);
        const auto input = data == inputs.end()
                               ? std::optional(plain)
                               : layoutOf(candidate.edges[static_cast<std::size_t>(data - inputs.begin())].map,
                                          node.order);
        const auto output = layoutOf(candidate.edges[inputs.size()].map, node.order);
        return input && output ? std::optional(std::pair(*input, *output)) : std::nullopt;
    }

    const std::optional<templates::MatchedNest>& nestOf(const graph::Task& task, const graph::Alternative& alternative)
    {
        const auto [known, isNew] = m_nests.try_emplace(&alternative);
        if (isNew) {
            search::SearchAlternative searched{alternative.name, alternative.dag, {}, alternative.isReference};
            for (const graph::InputBinding& binding : alternative.bindings)
                searched.constantInputs.push_back(task.inputs[static_cast<std::size_t>(binding.taskInput)].constant);
            if (auto matched = templates::matchNest(searched))
                known->second = *std::move(matched);
        }
        return known->second;
    }

    /// Where the records were measured; empty: there are none but those of logs.
    std::string deviceKey() const
    {
        if (m_records.only)
            return m_records.only->deviceKey;
        if (m_project != nullptr)
            if (const auto known = m_project->conditions(m_model.target.text()); known && !known->empty())
                return known->front().deviceKey;
        return {};
    }

    Result<ConversionCost> costsOf(const std::vector<Conversion>& wanted, NetworkPlan& made)
    {
        const std::string device = deviceKey();
        const unsigned threads = m_model.target.threads();
        const std::string processor = fmt::format("{} threads={}", device.empty() ? "processor" : device, threads);
        std::map<std::string, double> stored;
        if (m_project != nullptr) {
            LATHE_TRY_ASSIGN(stored, m_project->conversions(processor));
        }
        ConversionTable table;
        std::vector<Conversion> missing;
        for (const Conversion& conversion : wanted) {
            const auto known = stored.find(textOf(conversion));
            if (known != stored.end())
                table[conversion] = known->second;
            else
                missing.push_back(conversion);
        }
        if (missing.empty())
            return costFrom(std::move(table));
        // What this machine takes says nothing of another.
        made.canMeasure = m_model.target.traits().runsHere
                          && (device.empty() || hasDeviceOfClass(m_model.target.kind(), device));
        if (!m_choice.measures || !made.canMeasure) {
            made.guessedConversions = static_cast<std::int64_t>(missing.size());
            if (table.empty())
                for (const Conversion& conversion : missing)
                    table[conversion] = guessed(conversion);
            return estimateFrom(std::move(table));
        }
        tell(PlanStep::Timing);
        ConversionTiming timing;
        timing.threads = threads;
        timing.runs = m_choice.conversionRuns;
        LATHE_TRY_ASSIGN(ConversionTable measured, timeConversions(missing, timing, m_stop));
        LATHE_TRY(keep(processor, measured, timing.runs));
        tell(PlanStep::Timed);
        table.merge(measured);
        return costFrom(std::move(table));
    }

    /// With the project, where it can be written to now: another program may hold it.
    Result<> keep(const std::string& processor, const ConversionTable& measured, std::int64_t runs) const
    {
        if (m_project == nullptr)
            return {};
        auto writer = m_project->readOnly() ? store::Project::open(m_project->file(), store::Project::Access::Write)
                                            : m_project->beside();
        if (!writer || writer->readOnly())
            return {};
        std::map<std::string, double> texts;
        for (const auto& [conversion, seconds] : measured)
            texts[textOf(conversion)] = seconds;
        return writer->addConversions(processor, texts, runs);
    }

    static double guessed(const Conversion& conversion)
    {
        double bytes = 2.0 * static_cast<double>(sizeOf(conversion.dtype));
        for (const std::int64_t extent : conversion.shape)
            bytes *= static_cast<double>(extent);
        return bytes / kGuessedBytesPerSecond;
    }

    const LoadedModel& m_model;
    const store::Project* m_project;
    const PlanRecords& m_records;
    const LayoutChoice& m_choice;
    std::stop_token m_stop;
    std::map<const graph::Alternative*, std::optional<templates::MatchedNest>> m_nests; ///< that were matched
};

} // namespace

std::optional<Layout> layoutOf(const IndexMap& map, std::string_view order)
{
    if (static_cast<std::size_t>(map.logicalRank) != order.size())
        return std::nullopt;
    Layout layout;
    std::string seen;
    for (std::int32_t j = 0; j < map.physicalRank; ++j) {
        const IndexMap::Axis& axis = map.axes[j];
        const char name = order[static_cast<std::size_t>(axis.dim)];
        if (seen.find(name) == std::string::npos) {
            seen += name;
            layout.axes += name;
        } else {
            layout.blocks.push_back({name, axis.extent});
        }
    }
    // Only what the text says comes out of it again.
    const auto again = graph::plan::indexMapOf(layout, order,
                                               std::span(map.logicalShape, static_cast<std::size_t>(map.logicalRank)));
    return again && *again == map ? std::optional(std::move(layout)) : std::nullopt;
}

Result<std::optional<NetworkPlan>> planNetwork(const LoadedModel& model, const store::Project* project,
                                               const PlanRecords& records, const LayoutChoice& choice,
                                               std::stop_token stop)
{
    return Planning(model, project, records, choice, std::move(stop)).run();
}

} // namespace lathe::session
