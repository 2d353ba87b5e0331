#pragma once

#include "core/graph/graph.h"

#include <string>

namespace lathe::graph::operators {

// What people call a node in the name of its task (OpTraits::label).

std::string convolutionLabel(const Graph& graph,
                             const Node& node); ///< "conv2d 3x3/2 64->128 @28", "depthwise_conv2d 3x3 32 @112"
std::string transposedConvolutionLabel(const Graph& graph, const Node& node);
std::string poolLabel(const Graph& graph, const Node& node); ///< "max_pool2d 3x3/2 64 @56"
std::string wholePoolLabel(const Graph& graph, const Node& node); ///< "global_avg_pool2d 512 @7"
std::string denseLabel(const Graph& graph, const Node& node); ///< "dense 512->1000"

} // namespace lathe::graph::operators
