#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lathe::frontend {

/// One network of the zoo: structure and seeded weights, no file needed.
struct ZooEntry
{
    std::string name; ///< "resnet-18"
    std::vector<std::string> aliases; ///< other spellings that buildZoo takes, those of the tutorials among them
    std::string description; ///< one line, with what is odd about the network
    std::vector<std::string> layouts; ///< data layouts in which it is written; the first is the default
};

const std::vector<ZooEntry>& zooList();

/// Null if no name or alias is equal.
const ZooEntry* findZoo(std::string_view name);

struct ZooOptions
{
    std::int64_t batch = 1;
    std::string layout = {}; ///< "NCHW" or "NHWC"; empty: the network's default
    std::uint32_t seed = 0; ///< of the weights; 0 gives those of the reference bit for bit
    std::int64_t imageSize = 0; ///< height and width of the image; 0: the network's own (224, mlp 28)
    std::int64_t classes = 0; ///< 0: the network's own (1000, mlp 10)
    /// False: all weights are zero (batch norm keeps gamma 1 and variance 1), for those who want the structure alone.
    bool weights = true;
};

/// Builds a network of the zoo, weights included, with all types set; nothing is rewritten yet (batch norms, bias_adds
/// and dropouts stand as written). Graph input: "data"; text encoders read "input_ids" and "attention_mask".
///
/// Errors: NotFound for a name the zoo has not, with the names it has; Unsupported for a layout in which the network is
/// not written; InvalidArgument for a batch, an image size or a number of classes that does not work.
Result<graph::Graph> buildZoo(std::string_view name, const ZooOptions& options = {});

} // namespace lathe::frontend
