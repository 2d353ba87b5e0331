#include "core/session/plan/plan_log.h"

#include "core/session/exports/exporter.h"
#include "core/session/plan/network_plan.h"
#include "core/session/project/template_log_export.h"
#include "core/session/template_matches.h"
#include "core/store/line_file.h"

namespace lathe::session {

namespace {

/// The records that the plan takes, in the network's order, a line for each function: the reference reads the file in
/// that order (autotvm.md 11). Written whole, unlike the reference's, which adds to what is there. Returns how many
/// were made by no template.
Result<std::int64_t> writeLog(const NetworkPlan& plan, const LoadedModel& model, const std::filesystem::path& file)
{
    const TemplateMatches matches(model);
    LATHE_TRY_ASSIGN(store::LineFile out, store::LineFile::create(file));
    std::int64_t left = 0;
    for (const graph::plan::LayoutNode& node : plan.problem.graph.nodes) {
        if (!node.isTuned())
            continue;
        const auto trial = plan.trials.find(node.subgraph);
        const Record* const record = trial == plan.trials.end() ? nullptr : &plan.records.at(trial->second).record;
        const templates::TaskTemplate* const made = record == nullptr ? nullptr : matches.of(record->candidate);
        std::optional<templates::Config> config = made == nullptr ? std::nullopt : made->configOf(record->candidate);
        if (!config) {
            ++left;
            continue;
        }
        out.line(templates::templateLine(templateTrialOf(*record, *made, *std::move(config), model.target)));
    }
    LATHE_TRY(out.close());
    return left;
}

} // namespace

Result<std::optional<PlanView>> planOf(const LoadedModel& model, const store::Project* project,
                                       const CompileOptions& options, const std::filesystem::path& log,
                                       const std::function<void(PlanStep)>& told, std::int64_t* left,
                                       std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const AppliedLogs logs, recordsOfFiles(model, options));
    LayoutChoice choice = layoutChoice(options);
    choice.told = told;
    LATHE_TRY_ASSIGN(const std::optional<NetworkPlan> plan,
                     planNetwork(model, project, {{}, options.strict, &logs}, choice, std::move(stop)));
    if (!plan)
        return std::optional<PlanView>();
    if (!log.empty()) {
        LATHE_TRY_ASSIGN(const std::int64_t without, writeLog(*plan, model, log));
        if (left != nullptr)
            *left = without;
    }
    return std::optional(viewOf(*plan, model));
}

} // namespace lathe::session
