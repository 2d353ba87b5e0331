#include "core/session/plan/default_figure.h"

#include "core/session/exports/kernel_choices.h"
#include "core/session/untuned.h"
#include "core/support/message.h"

#include <map>
#include <optional>

namespace lathe::session {

Result<DefaultFigure> defaultFigure(const LoadedModel& model, const store::Project* project, const NetworkPlan& plan,
                                    bool strict, const std::stop_token& stop)
{
    // The conditions are those of the records that the plan chose among: costs of others do not compare.
    std::map<std::string, store::Conditions> conditions;
    for (const auto& [taskAndTrial, row] : plan.records)
        conditions.emplace(taskAndTrial.first, row.conditions);
    std::map<std::int32_t, std::optional<double>> costs; // ns, by task
    DefaultFigure figure;
    for (const graph::plan::LayoutNode& node : plan.problem.graph.nodes) {
        if (!node.isTuned())
            continue;
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        const graph::Task& task = model.partition.tasks[static_cast<std::size_t>(node.task)];
        const auto measured = conditions.find(task.key);
        if (measured == conditions.end())
            continue; // no record at all: it counts as nothing in the other figures, too
        const auto [known, isNew] = costs.try_emplace(node.task);
        if (isNew && project != nullptr)
            if (const auto candidate = exportedCandidate(searchTask(task, model, strict))) {
                LATHE_TRY_ASSIGN(known->second,
                                 project->costOf(task.key, model.target.text(), measured->second, candidate->hash()));
            }
        if (known->second)
            figure.seconds += *known->second * 1e-9 * static_cast<double>(node.runs);
        else
            ++figure.missing;
    }
    return figure;
}

} // namespace lathe::session
