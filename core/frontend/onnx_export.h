#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace lathe::frontend {

/// Writes a graph as ONNX, opset 17, weights inside. Convolutions and pools in NHWC get Transpose nodes around them.
/// Importing the file gives a graph that computes the same.
///
/// Errors: Unsupported (an operator without an ONNX spelling, named with its node; more than 2 GiB), StoreFailed and
/// InvalidArgument from writing.
Result<> exportOnnx(const graph::Graph& graph, const std::filesystem::path& path);
Result<std::vector<std::byte>> exportOnnx(const graph::Graph& graph);

} // namespace lathe::frontend
