#pragma once

#include "core/graph/graph.h"

#include <filesystem>

namespace lathe::wire {
class Network;
}

namespace lathe::backend {

/// A network for another process of this machine: its structure in the message, the contents of the constants that it
/// reads in a new file `constants`, one after another, which both sides map: gigabytes need no memory but where the
/// file itself is in memory. Errors: StoreFailed (disk full ...), those of making constants.
Result<> writeNetwork(const graph::Graph& network, const std::filesystem::path& constants, wire::Network& message);

/// The network of a message; large constants stay in the file, which must not change meanwhile.
/// Errors: BadFile (what does not fit together), NotFound (the file is gone).
Result<graph::Graph> readNetwork(const wire::Network& message);

} // namespace lathe::backend
