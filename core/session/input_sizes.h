#pragma once

#include "core/frontend/open_dimensions.h"
#include "core/session/options/options.h"
#include "core/support/message.h"

#include <filesystem>
#include <vector>

namespace lathe::store {
struct ModelRow;
class Project;
} // namespace lathe::store

namespace lathe::frontend {
struct ImportOptions;
}

namespace lathe::session {

struct LoadedModel;

/// Its file by its one true path, absolute and without links: however it was typed, it is the same model. A network of
/// the zoo, and a file that is not there, stay as they are.
void settleSource(ModelSpec& spec);

/// Whether it says any size of inputs: --batch, --shape, --dim.
bool saysSizes(const ModelSpec& spec);
/// Gives `to` the sizes of `from`, and no other.
void takeSizes(const ModelSpec& from, ModelSpec& to);
/// The sizes that a model is asked for with, as the importer takes them.
frontend::ImportOptions importSizes(const ModelSpec& spec);

/// Which dimensions a model (or, without a source, the latest one of the project) leaves open; each has the size that
/// the spec gives it, else the one that it had last time in the project. What has none must be chosen before the model
/// can be opened (a batch may stay open: it is 1 then). Nothing of a network of the zoo. Reads the file's head and the
/// project: off the GUI thread. Errors: NotFound, BadFile; InvalidArgument for sizes that contradict each other.
Result<frontend::OpenInputs> readInputSizes(const ModelSpec& spec, const std::filesystem::path& project);

/// The spec with the sizes that its model had last time in the project for what it leaves open itself; a notice if
/// there are such. As it is where the project is not there or does not know the model.
Result<ModelSpec> withSizesOfProject(ModelSpec spec, const std::filesystem::path& project,
                                     std::vector<Message>& notices);

/// The row of the project that is this model in these sizes, however they were said; 0: there is none.
Result<std::int64_t> findModel(const LoadedModel& model, const store::Project& project);

} // namespace lathe::session
