#pragma once

#include "core/frontend/open_dimensions.h"
#include "core/graph/graph.h"
#include "core/support/message.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe::frontend {

struct ImportOptions
{
    /// Size of the batch (OpenDimension::isBatch). Unset: 1, with a note.
    std::optional<std::int64_t> batch;
    /// Whole shapes by input name; they set every other use of the same dimension too.
    std::map<std::string, std::vector<std::int64_t>> shapes;
    /// Sizes of open dimensions by OpenDimension::name.
    std::vector<std::pair<std::string, std::int64_t>> sizes;
    /// What the model leaves open, with the sizes that were used. May be null.
    std::vector<OpenDimension>* dimensions = nullptr;
    /// Remarks for people, such as a batch that was chosen. May be null.
    std::vector<Message>* notes = nullptr;
    /// Files from this size on stay mapped, and the weights of at least `leastMapped` bytes in them are not copied.
    /// Smaller ones are read, so that they may be written anew while the network is open. Files with external weights
    /// likewise, by the sum of their sizes.
    std::size_t mapFrom = std::size_t{512} << 20;
    std::size_t leastMapped = std::size_t{64} << 10;
};

/// Reads an ONNX model: opsets 5 and later, weights inside the file or in external files of the same folder. The graph
/// has all types set, holds Lathe's own operators, and arithmetic on shapes is folded into constants. Weights in large
/// files stay where they are: they are mapped.
///
/// Errors: NotFound, BadFile (truncated, hostile, inconsistent: one sentence naming the place), Unsupported (one error
/// that names every operator and attribute that Lathe lacks, with the nodes), InvalidArgument (an input's shape is open
/// or contradicts the options; a node breaks a shape rule). Memory is bounded by the sizes of the files.
Result<graph::Graph> importOnnx(const std::filesystem::path& path, const ImportOptions& options = {});

/// The same from memory. `folder` is where external weights are looked for; empty: a model that has some is refused.
Result<graph::Graph> importOnnx(std::span<const std::byte> bytes, const ImportOptions& options = {},
                                const std::filesystem::path& folder = {});

} // namespace lathe::frontend
