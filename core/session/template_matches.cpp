#include "core/session/template_matches.h"

#include "core/session/exports/kernel_choices.h"
#include "core/store/log_line.h"
#include "core/support/message.h"

namespace lathe::session {

TemplateMatches::TemplateMatches(const LoadedModel& model)
{
    for (const graph::Task& task : model.partition.tasks)
        for (templates::TaskTemplate& made : templates::templatesOf(searchTask(task, model, false)))
            m_byWorkload[templates::workloadKey(made.workload)].emplace_back(&task, std::move(made));
}

Result<std::span<const TemplateMatches::Match>> TemplateMatches::of(const templates::TemplateTrial& trial) const
{
    const templates::Template* row = templates::findTemplate(trial.workload.task);
    if (row == nullptr)
        return makeError(Errc::Unsupported, say(Msg::LogOfTemplate, store::quoted(trial.workload.task, 60)));
    if (row->steps == nullptr)
        return makeError(Errc::Unsupported, say(Msg::LineTemplateWithoutSteps, trial.workload.task));
    const auto found = m_byWorkload.find(templates::workloadKey(templates::unpacked(trial.workload)));
    if (found == m_byWorkload.end())
        return makeError(Errc::NotFound, say(Msg::LineOfOtherWorkload));
    return std::span<const Match>(found->second);
}

std::span<const TemplateMatches::Match> TemplateMatches::ofWorkload(const std::string& workload) const
{
    const auto found = m_byWorkload.find(workload);
    return found == m_byWorkload.end() ? std::span<const Match>() : std::span<const Match>(found->second);
}

const templates::TaskTemplate* TemplateMatches::of(const Candidate& candidate) const
{
    const std::string_view name = templates::templateNameOf(candidate);
    if (name.empty())
        return nullptr;
    for (const auto& [workload, matches] : m_byWorkload)
        for (const auto& [task, made] : matches)
            if (made.row->name == name && task->key == candidate.task && made.alternative == candidate.alternative)
                return &made;
    return nullptr;
}

} // namespace lathe::session
