#pragma once

#include "core/record/record.h"
#include "core/search/search_task.h"
#include "core/templates/matched_nest.h"
#include "core/templates/template_table.h"
#include "core/templates/tuner_table.h"

#include <vector>

namespace lathe::templates {

/// A template that computes a task: its workload there, its space, and what it needs to make steps.
struct TaskTemplate
{
    const Template* row = nullptr; ///< of templatesOf(): it has steps
    std::string alternative; ///< of the task, whose DAG it schedules
    compute::DagPtr dag;
    std::vector<bool> constantInputs; ///< SearchAlternative::constantInputs
    MatchedNest nest;
    std::optional<WinogradNest> winograd; ///< of a winograd template; the nest then has arguments alone
    Workload workload;
    TemplateFacts facts;
    std::int64_t vectorBytes = 32;
    KernelForm form = KernelForm::Phases; ///< of the target's kernels
    ConfigSpace space;
    std::string taskKey;

    /// Errors: those of its steps.
    Result<std::vector<schedule::Step>> steps(const Config& config) const;
    /// A complete candidate. Its kind is "template", its sketch "template/1:" and the template's name; its genome holds
    /// what each knob chooses, in the space's order (genomeOf()); its edges are the layouts of images that it wants and
    /// leaves, if they are not plain. Errors: those of its steps.
    Result<Candidate> candidate(const Config& config) const;
    /// The configuration of a candidate; nothing: it is of another template, or damaged.
    std::optional<Config> configOf(const Candidate& candidate) const;
};

/// What each knob chooses, one after another: of a split all sizes but the first, of a reordering the order, of marks
/// their values, of an option its whole number (true is 1) or, of other values, its place among the choices.
/// Errors: InvalidArgument for a configuration that lacks a knob of the space or has another kind of value for it, and
/// values beyond 32 bits.
Result<std::vector<std::int32_t>> genomeOf(const ConfigSpace& space, const Config& config);
/// The reverse; the sizes that are not kept are -1. Nothing: it is none of this space's knobs.
std::optional<Config> configOfGenome(const ConfigSpace& space, std::span<const std::int32_t> genome);

/// What sketches of template candidates begin with.
inline constexpr std::string_view kTemplateSketch = "template/1:";
/// "template/1:conv2d_NCHWc.x86", of a candidate's sketch, to "conv2d_NCHWc.x86"; empty: it is no template's.
std::string_view templateNameOf(const Candidate& candidate);

/// Features of the template's configurations, which must outlive them: of a kind that needs the lowered kernel, with
/// the values of options behind them. Empty for others.
ConfigFeatures featuresOf(const TaskTemplate& made, FeatureKind kind);

/// What the templates of a target's family need to know of it.
TemplateFacts factsOf(const Target& target, const Hardware& hardware);

/// All templates whose operator the task has, in the order in which the reference would make tasks of them, also those
/// that cannot be turned into code yet. Empty: there is none; `why` says what is in the way, if it is asked for.
std::vector<TaskTemplate> workloadsOf(const search::SearchTask& task, Message* why = nullptr);
/// Those of them that can.
std::vector<TaskTemplate> templatesOf(const search::SearchTask& task, Message* why = nullptr);

} // namespace lathe::templates
