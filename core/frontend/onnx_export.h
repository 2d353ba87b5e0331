#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace lathe::frontend {

/// Writes a graph as ONNX, opset 17 or the oldest that has its operators, weights inside. Convolutions and pools in
/// NHWC get Transpose nodes around them. Branches and loops become If and Loop; integers with scales QuantizeLinear and
/// DequantizeLinear, or what these are made of where they take no such scale. Outputs have the names of the graph's,
/// and the sizes that depend on data. Importing the file gives a graph that computes the same.
///
/// Errors: Unsupported (an operator or element type without an ONNX spelling, named with its node and those around it;
/// more than 2 GiB), StoreFailed and InvalidArgument from writing.
Result<> exportOnnx(const graph::Graph& graph, const std::filesystem::path& path);
Result<std::vector<std::byte>> exportOnnx(const graph::Graph& graph);

} // namespace lathe::frontend
