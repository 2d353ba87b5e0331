#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <span>

namespace lathe::graph {

// What passes share: they edit a copy in place (append nodes, redirect uses) and end with compact().

/// Every consumer of `from`, and the graph's outputs, read `to` instead.
void replaceUses(Graph& graph, ValueId from, ValueId to);

/// Drops nodes and values that no output needs, and orders the rest depth first from the outputs, arguments left to
/// right: the order in which the reference numbers expressions. Graph inputs stay even when unused. Errors: Internal on
/// a cycle.
Result<Graph> compact(const Graph& graph);

/// Appends a node with one output of the given type. `name` is made unique by a suffix.
ValueId append(Graph& graph, std::string name, std::string op, std::vector<ValueId> inputs, Attrs attrs, DType dtype,
               std::vector<std::int64_t> shape, std::string origin = {});

/// The value with another shape of as many elements: constants share their contents, others get a reshape of that name.
ValueId reshaped(Graph& graph, ValueId id, const std::vector<std::int64_t>& shape, const std::string& name,
                 const std::string& origin);

/// Which dimension of its operand, of `rank`, each of the result's is, for a node whose LayoutRule is Transpose.
std::vector<std::int64_t> permutationOf(const Node& node, std::size_t rank);
/// True if only dimensions of extent 1 change places: the elements keep their order.
bool keepsOrder(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& axes);

/// A name that no node of the graph has: `wanted`, else wanted_1, wanted_2 ...
std::string uniqueNodeName(const Graph& graph, const std::string& wanted);

/// Times that a value is read: by nodes (each argument counts) and as a graph output.
std::vector<std::int32_t> useCounts(const Graph& graph);

std::shared_ptr<const ConstData> ownedConst(std::vector<std::byte> contents);
/// The numbers of a constant of any float type; empty for values that are no such constant, or that cannot be read.
std::optional<std::vector<double>> constNumbers(const Value& value);
/// A constant of one bool, which is true.
bool isTrue(const Value& value);
/// A constant of a float type; each number is rounded once.
ValueId addNumbers(Graph& graph, std::string name, DType dtype, std::vector<std::int64_t> shape,
                   std::span<const double> contents);
ValueId addFloats(Graph& graph, std::string name, std::vector<std::int64_t> shape, std::vector<float> contents);

/// `contents` of a row-major tensor with its dimensions permuted: result dimension i is input dimension axes[i]. Made
/// later where they are large and lie in a file.
std::shared_ptr<const ConstData> permuteConst(const ConstData& contents, DType dtype,
                                              const std::vector<std::int64_t>& shape,
                                              const std::vector<std::int64_t>& axes);

/// `shape` with leading ones up to `rank`.
std::vector<std::int64_t> padRank(const std::vector<std::int64_t>& shape, std::size_t rank);

/// True if `shape` broadcasts into a tensor of the rank along one axis: `extent` there and 1 elsewhere.
/// Leading dimensions may be missing.
bool broadcastsAlong(const std::vector<std::int64_t>& shape, std::size_t rank, std::size_t axis, std::int64_t extent);

} // namespace lathe::graph
