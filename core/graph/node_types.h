#pragma once

#include "core/graph/operator.h"

namespace lathe::graph {

/// Output types of one node by its operator's shape rule. Checks the operator's name, the counts of inputs and outputs
/// and the size of the result. Errors name the node, its inputs' types and the rule that is broken: Unsupported for an
/// unknown operator, else InvalidArgument.
Result<std::vector<TensorType>> nodeTypes(const Node& node, std::span<const TensorType> inputs,
                                          std::span<const ConstData* const> constants);

/// Evaluates one node; allocates the outputs. Inputs have the types that nodeTypes was asked with.
Result<std::vector<HostTensor>> evaluateNode(const Node& node, std::span<const HostTensor* const> inputs);

/// The constant that a node of constants gives, where it need not be computed now: a reshape shares its operand's
/// contents, and what a few operators make of a large constant in a file is left until it is looked at. Null: compute
/// it, or leave the node.
std::shared_ptr<const ConstData> foldLater(const Node& node, std::span<const Value* const> inputs,
                                           const TensorType& output);

/// "float32 [1, 64, 56, 56]".
std::string typeText(const TensorType& type);

/// A constant's contents as a tensor; InvalidArgument if the size does not fit the type.
Result<HostTensor> tensorOf(const Value& constant);

} // namespace lathe::graph
