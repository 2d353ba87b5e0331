#include "core/session/template_views.h"

#include "core/graph/lowering_order.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/templates/space_summary.h"
#include "core/templates/task_template.h"

#include <algorithm>
#include <map>

namespace lathe::session {

namespace {

constexpr std::size_t kShownChoices = 64;

TemplateView viewOf(const templates::TaskTemplate& made)
{
    TemplateView view;
    view.name = made.row->name;
    view.workload = templates::workloadKey(made.workload);
    view.hasSteps = made.row->steps != nullptr;
    view.size = made.space.size();
    const templates::InvalidShare invalid = templates::invalidShare(made.space);
    view.invalidShare = invalid.share();
    view.invalidIsExact = invalid.exact;
    for (const templates::Knob& knob : made.space.knobs()) {
        KnobView shown{knob.name, std::string(templates::toString(knob.kind)), knob.extent, {}, knob.choices.size()};
        for (std::size_t i = 0; i < std::min(kShownChoices, knob.choices.size()); ++i)
            shown.choices.push_back(templates::entityText(knob.choices[i]));
        view.knobs.push_back(std::move(shown));
    }
    return view;
}

} // namespace

std::string_view templateOfSketch(std::string_view sketch)
{
    return sketch.starts_with(templates::kTemplateSketch) ? sketch.substr(templates::kTemplateSketch.size())
                                                          : std::string_view();
}

std::vector<std::int32_t> templateOrder(const LoadedModel& model)
{
    const std::vector<std::int32_t> order = graph::loweringOrder(model.graph, model.partition);
    if (model.target.traits().form != KernelForm::Launches)
        return order;
    // What is walked backwards are workloads, each at its first occurrence; tasks of one stay in the network's order.
    std::vector<std::vector<std::int32_t>> groups;
    std::map<std::string, std::size_t> known;
    for (const std::int32_t id : order) {
        const graph::Task& task = model.partition.tasks[static_cast<std::size_t>(id)];
        const auto workloads = templates::workloadsOf(searchTask(task, model, false));
        const std::string key = workloads.empty() ? task.key : templates::workloadKey(workloads.front().workload);
        const auto [place, isNew] = known.try_emplace(key, groups.size());
        if (isNew)
            groups.emplace_back();
        groups[place->second].push_back(id);
    }
    std::vector<std::int32_t> reversed;
    for (auto group = groups.rbegin(); group != groups.rend(); ++group)
        reversed.insert(reversed.end(), group->begin(), group->end());
    return reversed;
}

std::vector<TemplateView> viewTemplates(const LoadedModel& model)
{
    std::vector<TemplateView> views;
    std::map<std::string, std::size_t> known;
    for (const std::int32_t id : templateOrder(model)) {
        const graph::Task& task = model.partition.tasks[static_cast<std::size_t>(id)];
        for (const templates::TaskTemplate& made : templates::workloadsOf(searchTask(task, model, false))) {
            const auto [place, isNew] = known.try_emplace(templates::workloadKey(made.workload), views.size());
            if (isNew)
                views.push_back(viewOf(made));
            views[place->second].tasks.push_back(id);
        }
    }
    return views;
}

} // namespace lathe::session
