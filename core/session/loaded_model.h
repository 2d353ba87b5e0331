#pragma once

#include "core/frontend/open_dimensions.h"
#include "core/graph/pass_runner.h"
#include "core/graph/task.h"
#include "core/session/options/options.h"
#include "core/session/template_views.h"
#include "core/session/views.h"
#include "core/target/target.h"

namespace lathe::session {

/// A network, from file to tasks: what every command on a MODEL starts with.
struct LoadedModel
{
    ModelSpec spec;
    Target target;
    Hardware hardware;
    graph::Graph imported; ///< as read: what the reference executor runs
    graph::Graph optimized; ///< after the passes
    graph::Graph graph; ///< in the flat form (graph/flatten.h): what the partition's ids refer to
    graph::Partition partition;
    std::vector<graph::PassRun> passes; ///< what was done between `imported` and `partition`
    std::string hash; ///< of the file's bytes, or of the zoo network's name and options
    std::vector<frontend::OpenDimension> dimensions; ///< that the file leaves open, with the sizes that they have here
    std::vector<Message> notices;
};

/// Errors: those of the importer, the passes and the partition; InvalidArgument for an unknown target, layout or zoo
/// name.
Result<std::shared_ptr<const LoadedModel>> loadModel(const ModelSpec& spec, std::string_view target);

/// LoadedModel::hash of a model's file. Errors: NotFound.
Result<std::string> modelFileHash(const std::filesystem::path& file);

/// The model that a project names. If its file is gone, the error says which project names it.
Result<std::shared_ptr<const LoadedModel>> loadModelOf(const std::filesystem::path& project, const ModelSpec& spec,
                                                       std::string_view target);

/// What an opened device tells of its hardware, from its description in Measurer::devices(); nothing if the text is no
/// such description.
Hardware figuresOf(std::string_view device);

/// Replaces hardware parameters. InvalidArgument: one that the target does not have, or a value out of range.
Result<> putLimits(LoadedModel& model, const Hardware& limits);

std::shared_ptr<const GraphView> viewGraph(const LoadedModel& model);
std::vector<TaskView> viewTasks(const LoadedModel& model);
/// In the order of templateOrder().
std::vector<TemplateView> viewTemplates(const LoadedModel& model);
/// The tasks in the order in which they are tuned one after another: the network's for processors, the reverse
/// elsewhere (autotvm.md 5.1).
std::vector<std::int32_t> templateOrder(const LoadedModel& model);
std::vector<UntunedView> viewUntuned(const LoadedModel& model);

} // namespace lathe::session
