#include "core/graph/rewrite.h"

#include "core/graph/operators/element.h"
#include "core/support/check.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lathe::graph {

void replaceUses(Graph& graph, ValueId from, ValueId to)
{
    for (Node& node : graph.nodes)
        std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    std::replace(graph.outputs.begin(), graph.outputs.end(), from, to);
    for (OutputExtent& extent : graph.outputExtents)
        extent.count = extent.count == from ? to : extent.count;
}

namespace {

enum class Mark : std::uint8_t
{
    New,
    Open,
    Done
};

/// Depth-first order of the nodes that the outputs need; without recursion, since networks may be deep.
Result<std::vector<NodeId>> neededOrder(const Graph& graph)
{
    struct Frame
    {
        NodeId node;
        std::size_t next = 0;
    };
    std::vector<Mark> marks(graph.nodes.size(), Mark::New);
    std::vector<NodeId> order;
    std::vector<Frame> stack;
    for (const ValueId output : graph.results()) {
        const NodeId root = graph.value(output).producer;
        if (root.valid() && marks[static_cast<std::size_t>(root.value)] == Mark::New) {
            marks[static_cast<std::size_t>(root.value)] = Mark::Open;
            stack.push_back({root});
        }
        while (!stack.empty()) {
            Frame& frame = stack.back();
            const Node& node = graph.node(frame.node);
            if (frame.next == node.inputs.size()) {
                marks[static_cast<std::size_t>(frame.node.value)] = Mark::Done;
                order.push_back(frame.node);
                stack.pop_back();
                continue;
            }
            const ValueId input = node.inputs[frame.next++];
            const NodeId producer = input.valid() ? graph.value(input).producer : NodeId();
            if (!producer.valid())
                continue;
            Mark& mark = marks[static_cast<std::size_t>(producer.value)];
            if (mark == Mark::Open)
                return makeError(Errc::Internal, fmt::format("nodes '{}' and '{}' are on a cycle", node.name,
                                                             graph.node(producer).name));
            if (mark == Mark::New) {
                mark = Mark::Open;
                stack.push_back({producer});
            }
        }
    }
    return order;
}

} // namespace

Result<Graph> compact(const Graph& graph)
{
    LATHE_CHECK(graph.regions.empty()) << "the flat form of control flow keeps its order";
    LATHE_TRY_ASSIGN(const std::vector<NodeId> order, neededOrder(graph));
    Graph result;
    result.name = graph.name;
    std::vector<ValueId> newIds(graph.values.size());
    const auto mapped = [&](ValueId old) {
        if (!old.valid())
            return ValueId();
        ValueId& id = newIds[static_cast<std::size_t>(old.value)];
        if (!id.valid()) {
            id = ValueId(static_cast<std::int64_t>(result.values.size()));
            result.values.push_back(graph.value(old));
            result.values.back().producer = NodeId();
        }
        return id;
    };
    for (const ValueId input : graph.inputs)
        result.inputs.push_back(mapped(input));
    for (const NodeId id : order) {
        Node node = graph.node(id);
        for (ValueId& input : node.inputs)
            input = mapped(input);
        for (ValueId& output : node.outputs)
            output = mapped(output);
        result.addNode(std::move(node));
    }
    for (const ValueId output : graph.outputs)
        result.outputs.push_back(mapped(output));
    result.outputNames = graph.outputNames;
    for (const OutputExtent& extent : graph.outputExtents)
        result.outputExtents.push_back({extent.output, extent.axis, mapped(extent.count)});
    return result;
}

std::string uniqueNodeName(const Graph& graph, const std::string& wanted)
{
    const auto taken = [&](const std::string& name) {
        return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return node.name == name; });
    };
    if (!taken(wanted))
        return wanted;
    for (int i = 1;; ++i) {
        std::string name = fmt::format("{}_{}", wanted, i);
        if (!taken(name))
            return name;
    }
}

ValueId append(Graph& graph, std::string name, std::string op, std::vector<ValueId> inputs, Attrs attrs, DType dtype,
               std::vector<std::int64_t> shape, std::string origin)
{
    Node node;
    node.name = uniqueNodeName(graph, name);
    node.op = std::move(op);
    node.attrs = std::move(attrs);
    node.inputs = std::move(inputs);
    node.origin = std::move(origin);
    const ValueId output = graph.addValue(node.name, dtype, std::move(shape));
    node.outputs.push_back(output);
    graph.addNode(std::move(node));
    return output;
}

ValueId reshaped(Graph& graph, ValueId id, const std::vector<std::int64_t>& shape, const std::string& name,
                 const std::string& origin)
{
    const Value value = graph.value(id);
    if (value.shape == shape)
        return id;
    if (value.constant)
        return graph.addConstant(value.name, value.dtype, shape, value.constant, derivedFrom(value, "reshape"));
    return append(graph, name, "reshape", {id}, {{"newshape", shape}}, value.dtype, shape, origin);
}

std::vector<std::int64_t> permutationOf(const Node& node, std::size_t rank)
{
    std::vector<std::int64_t> reversed(rank);
    for (std::size_t d = 0; d < rank; ++d)
        reversed[d] = static_cast<std::int64_t>(rank - 1 - d);
    std::vector<std::int64_t> axes = attrInts(node, "axes", reversed);
    for (std::int64_t& axis : axes)
        axis = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    return axes;
}

bool keepsOrder(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& axes)
{
    std::int64_t last = -1;
    for (const std::int64_t axis : axes) {
        if (shape[static_cast<std::size_t>(axis)] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}

std::vector<std::int32_t> useCounts(const Graph& graph)
{
    std::vector<std::int32_t> counts(graph.values.size(), 0);
    for (const Node& node : graph.nodes) {
        for (const ValueId input : node.inputs) {
            if (input.valid())
                ++counts[static_cast<std::size_t>(input.value)];
        }
    }
    for (const ValueId output : graph.results())
        ++counts[static_cast<std::size_t>(output.value)];
    return counts;
}

std::optional<std::vector<double>> constNumbers(const Value& value)
{
    if (!value.constant || !isFloat(value.dtype))
        return std::nullopt;
    const auto held = contentsOf(*value.constant);
    if (!held)
        return std::nullopt;
    return operators::readFloats(held->bytes.data(), value.dtype, static_cast<std::size_t>(elementCount(value.shape)));
}

bool isTrue(const Value& value)
{
    const auto held = value.constant ? contentsOf(*value.constant) : Result<ConstBytes>(ConstBytes());
    return held && held->bytes.size() == 1 && held->bytes[0] != std::byte{0};
}

ValueId addNumbers(Graph& graph, std::string name, DType dtype, std::vector<std::int64_t> shape,
                   std::span<const double> contents)
{
    LATHE_CHECK(elementCount(shape) == static_cast<std::int64_t>(contents.size()))
        << "constant " << name << " does not fit its shape";
    HostTensor tensor = HostTensor::zeros({dtype, shape});
    operators::writeFloats(tensor, contents);
    return graph.addConstant(std::move(name), dtype, std::move(shape), ownedConst(std::move(tensor.bytes)),
                             std::make_shared<const Provenance>());
}

ValueId addFloats(Graph& graph, std::string name, std::vector<std::int64_t> shape, std::vector<float> contents)
{
    LATHE_CHECK(elementCount(shape) == static_cast<std::int64_t>(contents.size()))
        << "constant " << name << " does not fit its shape";
    auto storage = std::make_shared<const std::vector<float>>(std::move(contents));
    auto data = std::make_shared<ConstData>();
    data->data = reinterpret_cast<const std::byte*>(storage->data());
    data->bytes = storage->size() * sizeof(float);
    data->owner = std::move(storage);
    return graph.addConstant(std::move(name), DType::F32, std::move(shape), std::move(data));
}

namespace {

/// Copies a permuted tensor row by row; `strides` are those of the source, in elements, in the order of the result.
template<typename T>
void copyPermuted(const std::byte* from, std::byte* to, const std::vector<std::int64_t>& extents,
                  const std::vector<std::int64_t>& strides)
{
    const std::size_t rank = extents.size();
    std::vector<std::int64_t> index(rank, 0);
    const std::int64_t inner = extents[rank - 1];
    const std::int64_t innerStride = strides[rank - 1];
    std::int64_t offset = 0;
    const std::int64_t rows = elementCount(extents) / std::max<std::int64_t>(inner, 1);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t i = 0; i < inner; ++i) {
            std::memcpy(to, from + (offset + i * innerStride) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
            to += sizeof(T);
        }
        for (std::size_t d = rank - 1; d-- > 0;) {
            offset += strides[d];
            if (++index[d] < extents[d])
                break;
            offset -= strides[d] * extents[d];
            index[d] = 0;
        }
    }
}

/// `source` with its dimensions in another order; both shapes as of copyPermuted.
std::vector<std::byte> permuted(std::span<const std::byte> source, std::int64_t elementBytes,
                                const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides)
{
    std::vector<std::byte> result(source.size());
    if (source.empty())
        return result;
    switch (elementBytes) {
    case 1: copyPermuted<std::uint8_t>(source.data(), result.data(), extents, strides); break;
    case 2: copyPermuted<std::uint16_t>(source.data(), result.data(), extents, strides); break;
    case 4: copyPermuted<std::uint32_t>(source.data(), result.data(), extents, strides); break;
    default: copyPermuted<std::uint64_t>(source.data(), result.data(), extents, strides); break;
    }
    return result;
}

} // namespace

std::shared_ptr<const ConstData> ownedConst(std::vector<std::byte> contents)
{
    auto storage = std::make_shared<const std::vector<std::byte>>(std::move(contents));
    auto result = std::make_shared<ConstData>();
    result->data = storage->data();
    result->bytes = storage->size();
    result->owner = std::move(storage);
    return result;
}

std::shared_ptr<const ConstData> permuteConst(const ConstData& contents, DType dtype,
                                              const std::vector<std::int64_t>& shape,
                                              const std::vector<std::int64_t>& axes)
{
    const std::size_t rank = shape.size();
    LATHE_CHECK(axes.size() == rank) << "permutation of rank " << axes.size() << " for a tensor of rank " << rank;
    if (rank == 0)
        return makeConst(contents.data, contents.bytes);
    std::vector<std::int64_t> sourceStrides(rank, 1);
    for (std::size_t d = rank - 1; d-- > 0;)
        sourceStrides[d] = sourceStrides[d + 1] * shape[d + 1];
    std::vector<std::int64_t> extents(rank);
    std::vector<std::int64_t> strides(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        extents[d] = shape[static_cast<std::size_t>(axes[d])];
        strides[d] = sourceStrides[static_cast<std::size_t>(axes[d])];
    }
    const std::int64_t elementBytes = sizeOf(dtype);
    if (contents.inFile() && contents.bytes >= kLargeConstant) {
        return makeConstLater(contents.bytes, contents.steps,
                              [contents, elementBytes, extents, strides]() -> Result<std::vector<std::byte>> {
                                  LATHE_TRY_ASSIGN(const ConstBytes source, contentsOf(contents));
                                  return permuted(source.bytes, elementBytes, extents, strides);
                              });
    }
    return ownedConst(permuted({contents.data, contents.bytes}, elementBytes, extents, strides));
}

std::vector<std::int64_t> padRank(const std::vector<std::int64_t>& shape, std::size_t rank)
{
    std::vector<std::int64_t> result(rank > shape.size() ? rank - shape.size() : 0, 1);
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
}

bool broadcastsAlong(const std::vector<std::int64_t>& shape, std::size_t rank, std::size_t axis, std::int64_t extent)
{
    if (shape.size() > rank || axis >= rank)
        return false;
    const std::vector<std::int64_t> full = padRank(shape, rank);
    for (std::size_t d = 0; d < rank; ++d) {
        if (full[d] != (d == axis ? extent : 1))
            return false;
    }
    return true;
}

} // namespace lathe::graph
