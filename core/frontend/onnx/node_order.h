#pragma once

#include "core/frontend/onnx/importer.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace lathe::frontend::onnx_detail {

/// The node's name, or one made of its operator and its place in the graph.
std::string labelOf(const ::onnx::NodeProto& node, int index);

/// Nodes in an order in which each value is produced before it is read, in bodies of control flow too. Files should be
/// in such an order, but need not be trusted to. Errors: BadFile for cycles, values produced twice, values that nothing
/// produces. `unknown`: values from outside whose types are not known. `prefix` stands in front of the names of nodes.
Result<std::vector<int>> orderOf(const ::onnx::GraphProto& graph, const Builder& builder,
                                 const std::unordered_set<std::string>& unknown, const std::string& prefix);

} // namespace lathe::frontend::onnx_detail
