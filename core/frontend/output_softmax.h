#pragma once

#include "core/graph/graph.h"
#include "core/support/message.h"

#include <vector>

namespace lathe::frontend {

/// Appends a softmax over the last dimension to the output of a network that has one, or to each float output of two
/// dimensions of one that has several; names, order, dtypes and shapes of the outputs stay. An output that is a softmax
/// already, or a reshape of one, stays as it is, and `notes` says so.
/// Errors: InvalidArgument if there is no such output.
Result<graph::Graph> appendSoftmax(graph::Graph graph, std::vector<Message>& notes);

} // namespace lathe::frontend
