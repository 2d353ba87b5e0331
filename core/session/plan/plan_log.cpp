#include "core/session/plan/plan_log.h"

#include "core/session/project/template_log_export.h"
#include "core/session/template_matches.h"
#include "core/store/line_file.h"

namespace lathe::session {

Result<std::int64_t> writePlanLog(const NetworkPlan& plan, const LoadedModel& model, const std::filesystem::path& file)
{
    const TemplateMatches matches(model);
    LATHE_TRY_ASSIGN(store::LineFile out, store::LineFile::create(file));
    std::int64_t left = 0;
    for (const graph::plan::LayoutNode& node : plan.problem.graph.nodes) {
        if (!node.isTuned())
            continue;
        const auto trial = plan.trials.find(node.subgraph);
        const Record* const record = trial == plan.trials.end()
                                         ? nullptr
                                         : &plan.records
                                                .at({model.partition.tasks[static_cast<std::size_t>(node.task)].key,
                                                     trial->second})
                                                .record;
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

} // namespace lathe::session
