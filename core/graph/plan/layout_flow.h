#pragma once

#include "core/graph/graph.h"
#include "core/graph/task.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::graph::plan {

/// Whether the node gives its result in whatever layout its operands come in, when their dimensions are called `order`:
/// elementwise work, pooling, joins, padding of other dimensions than the channels. Operators that look at places or
/// at the order of elements do not, and neither does what is blocked by channel and mixes channels (softmax).
bool passesLayouts(const Graph& graph, const Node& node, std::string_view order);

/// As what the kernel of a fused group reads one of its inputs.
enum class Reads : std::uint8_t
{
    Data, ///< the data of the anchor: in the input layout of the candidate
    Result, ///< index for index with the group's result, as a residual is: in the candidate's output layout
    Plain ///< as the graph has it, whatever the candidate
};

struct GroupInput
{
    ValueId value; ///< may be there twice: a group that adds its own data to its result reads it in two ways
    Reads reads = Reads::Plain;
};

/// How layouts go through a fused group.
struct GroupFlow
{
    std::string order; ///< what dimensions of the anchor's result are called: "NCHW"; empty: nobody knows
    bool plainResult = false; ///< something behind the anchor needs another order: the result is plain
    std::vector<GroupInput> inputs; ///< without constants, in the order of the group's inputs
};

/// Of a group that `anchor` is tuned in.
GroupFlow flowOf(const Graph& graph, const Subgraph& group, NodeId anchor);

/// Channels of the parts that the group joins along the channels. A block that does not divide all of them goes across
/// the seam: such a join has to be plain.
std::vector<std::int64_t> joinedChannels(const Graph& graph, const Subgraph& group, std::string_view order);

} // namespace lathe::graph::plan
