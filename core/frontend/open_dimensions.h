#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::frontend {

struct ImportOptions;

/// What a dimension that a model leaves open probably means, by its name, its place, and what is known of the input.
enum class DimensionRole : std::uint8_t
{
    Batch,
    Channels,
    Depth, ///< of volumes; frames of films
    Height,
    Width,
    Sequence, ///< tokens of a text
    Frames, ///< of a spectrogram
    Samples, ///< of a sound
    Other ///< nothing tells
};
std::string_view toString(DimensionRole role); ///< "batch", "height"

/// A dimension of a model's inputs whose size the model leaves open. Dimensions of one name are one: they are equal.
struct OpenDimension
{
    struct Place
    {
        std::string input;
        std::int32_t axis = 0;
    };
    /// As --dim takes it: the model's own name for it, or INPUT:AXIS where it has none.
    std::string name;
    std::vector<Place> places; ///< in the order of the inputs; at least one
    DimensionRole role = DimensionRole::Other;
    std::int64_t guess = 1; ///< a usual size for what it is
    std::optional<std::int64_t> size; ///< that it was given
    /// It leads an input and nothing says that it is no batch: --batch sets it, and it is 1 where nothing does.
    bool isBatch = false;
};

/// What must be said before a model can be read.
struct OpenInputs
{
    struct Input
    {
        std::string name;
        std::vector<std::int64_t> shape; ///< in the file; -1: open
    };
    std::vector<OpenDimension> dimensions; ///< in the order of the inputs, without sizes
    std::vector<std::string> shapeless; ///< inputs of which even the number of dimensions is open: --shape sets them
    std::vector<Input> inputs; ///< all others
};

/// Reads what a model file leaves open, without its weights and nodes. Errors: those of importOnnx() about the file
/// itself: NotFound, BadFile.
Result<OpenInputs> readOpenInputs(const std::filesystem::path& path);

/// Gives dimensions the sizes that the options say: shapes, sizes, then the batch. Errors: InvalidArgument, for a name
/// that no dimension has, and for two sizes of one.
Result<> giveSizes(OpenInputs& open, const ImportOptions& options);

/// Whether all is known, batches aside, which are 1 then; else InvalidArgument: one sentence with all that is missing.
Result<> checkSizes(const OpenInputs& open, const ImportOptions& options);

/// (name, size) of those that have one.
std::vector<std::pair<std::string, std::int64_t>> sizesOf(const std::vector<OpenDimension>& dimensions);

} // namespace lathe::frontend
