#pragma once

#include "core/runtime/dtype.h"
#include "core/support/id.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lathe::graph {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

/// Contents of a constant: dense, row-major, little endian, at any address. May be a view into a mapped file (`owner`
/// keeps it).
///
/// What passes derive from a large constant in a file (its transpose, another element type) is made anew each time that
/// it is looked at: opening a network of gigabytes copies none of them, and compiling it holds one at a time.
struct ConstData
{
    const std::byte* data = nullptr; ///< null if `make` is set
    std::size_t bytes = 0;
    std::shared_ptr<const void> owner;
    bool mapped = false; ///< `data` lies in a file
    std::function<Result<std::vector<std::byte>>()> make; ///< may be called from any thread
    int steps = 0; ///< constants that one look makes, one from the other

    bool inFile() const { return mapped || make; }
};

/// Constants in files that are smaller than this are copied like any others.
inline constexpr std::size_t kLargeConstant = std::size_t{1} << 20;

/// A constant's contents while somebody looks at them. The constant must live as long.
struct ConstBytes
{
    std::span<const std::byte> bytes;
    std::shared_ptr<const std::vector<std::byte>> made;
};
/// Errors: those of making it, Internal if it comes out in another size, BadFile if its file was cut short or written
/// to.
Result<ConstBytes> contentsOf(const ConstData& constant);
/// For who has read a constant that lies in a file: whether it was there all the time. Errors: BadFile (it was not).
Result<> stillThere(const ConstData& constant);

/// Where a constant comes from that the model does not hold as it is; for people to read.
struct Provenance
{
    std::vector<std::string> sources; ///< names of the model's own constants; none: an importer or a pass made it up
    std::vector<std::string> steps; ///< what was done to them, in order and each once: operators, "layout", "scale"
};

/// A tensor on an edge. Static shapes only: symbolic dimensions are bound at import (--shape, --batch).
struct Value
{
    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    std::shared_ptr<const ConstData> constant; ///< null unless the value is a constant
    std::shared_ptr<const Provenance> provenance = nullptr; ///< null: the model holds the constant as it is
    NodeId producer; ///< invalid for graph inputs and constants
};

/// Of a constant that `step` makes of these; those of them that are no constants, or null, do not count.
std::shared_ptr<const Provenance> derivedFrom(std::span<const Value* const> values, std::string_view step);
std::shared_ptr<const Provenance> derivedFrom(const Value& value, std::string_view step);

using Attr = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                          std::vector<std::string>>;
using Attrs = std::map<std::string, Attr, std::less<>>;

struct Graph;

/// One operator. `op` is a name of the operator registry (operator.h), Lathe's own set: importers translate into it.
struct Node
{
    std::string name; ///< unique in the graph; the importer's, or made up
    std::string op;
    Attrs attrs;
    std::vector<ValueId> inputs; ///< invalid ids stand for absent optional inputs
    std::vector<ValueId> outputs;
    std::string origin; ///< name of the node of the model file that it came from, kept through passes
    /// What operators of control flow run (operators/control.cpp): of `if` the branches for true and false, of `loop`
    /// one body. Each is closed: what it reads from around it is among the node's inputs. Shared and never changed;
    /// who changes one puts another in its place.
    std::vector<std::shared_ptr<const Graph>> bodies = {};
    std::int32_t region = -1; ///< in the flat form (flatten.h): index into Graph::regions; -1: the network itself
};

/// A stretch of nodes that does not run exactly once, in the flat form of a graph (flatten.h).
struct Region
{
    enum class Kind : std::uint8_t
    {
        WhenTrue,
        WhenFalse,
        Loop
    };
    Kind kind = Kind::Loop;
    std::int32_t parent = -1; ///< the region around it; -1: the network itself
    NodeId begin, end; ///< the nodes before and behind it: branch_begin and branch_end, loop_begin and loop_end
    std::int64_t trips = 1; ///< of a loop: how often it runs if that is known, else 1
};

/// Bodies in bodies: more than this is refused, so that recursion over them is bounded.
inline constexpr int kDeepestBodies = 16;

/// The extent of an output's dimension that depends on what the network computes. The output's own shape has the most
/// that it can be; what a run leaves behind the true extent means nothing.
struct OutputExtent
{
    std::int32_t output = 0; ///< index into Graph::outputs
    std::int32_t axis = 0;
    ValueId count; ///< I64 of one element: the true extent, from 0 to that of the shape
};

/// The network. Nodes are in topological order after every pass; ids index the vectors.
/// A value type: passes take a Graph and return another.
struct Graph
{
    std::string name;
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::vector<std::string> outputNames; ///< the model's, in order; passes keep them. Empty: the names of the values
    std::vector<Region> regions; ///< of the flat form alone: empty unless there is control flow
    std::vector<OutputExtent> outputExtents; ///< of dimensions whose extent depends on data; passes keep them

    const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id.value)]; }
    Value& value(ValueId id) { return values[static_cast<std::size_t>(id.value)]; }
    const Node& node(NodeId id) const { return nodes[static_cast<std::size_t>(id.value)]; }
    Node& node(NodeId id) { return nodes[static_cast<std::size_t>(id.value)]; }

    ValueId addValue(std::string valueName, DType dtype, std::vector<std::int64_t> shape);
    /// `provenance`: as of the value; null for the model's own constants.
    ValueId addConstant(std::string valueName, DType dtype, std::vector<std::int64_t> shape,
                        std::shared_ptr<const ConstData> data, std::shared_ptr<const Provenance> provenance = nullptr);
    /// Appends; output shapes must be set by the caller or by inferShapes (shape_inference.h).
    NodeId addNode(Node node);
    const std::string& outputName(std::size_t output) const;
    /// What a run must compute: the outputs, then the counts of their extents. By value.
    std::vector<ValueId> results() const;
    bool isResult(ValueId id) const; ///< one of those
    std::vector<std::vector<NodeId>> consumers() const; ///< by value
};

/// Owned constant from host values.
std::shared_ptr<const ConstData> makeConst(const void* data, std::size_t bytes);
/// A constant that is made when it is looked at, from one that takes `steps` itself.
std::shared_ptr<const ConstData> makeConstLater(std::size_t bytes, int steps,
                                                std::function<Result<std::vector<std::byte>>()> make);

/// Attribute access with a default; a wrong type is Internal (importers and builders check).
std::int64_t attrInt(const Node& node, std::string_view key, std::int64_t fallback);
double attrFloat(const Node& node, std::string_view key, double fallback);
std::string attrString(const Node& node, std::string_view key, std::string_view fallback);
std::vector<std::int64_t> attrInts(const Node& node, std::string_view key, std::vector<std::int64_t> fallback = {});

/// Checks ids, order, uniqueness of producers and names, acyclicity, and bodies likewise. Errors: BadFile naming the
/// node.
Result<> verify(const Graph& graph);

/// Text, a node a line, for goldens.
std::string print(const Graph& graph);

} // namespace lathe::graph
