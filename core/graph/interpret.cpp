#include "core/graph/interpreter.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/rules.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lathe::graph {
namespace {

/// Tensors beyond this are refused before memory is asked for: 64 GiB.
constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 36;

/// The elements that lie inside of `shape`.
HostTensor cutTo(HostTensor tensor, const std::vector<std::int64_t>& shape)
{
    if (tensor.type.shape == shape)
        return tensor;
    HostTensor cut = HostTensor::zeros({tensor.type.dtype, shape});
    operators::gatherStrided(tensor, 0, operators::denseStrides(tensor.type.shape), cut);
    return cut;
}

} // namespace

Result<HostTensor> tensorOf(const Value& constant)
{
    LATHE_TRY_ASSIGN(const std::int64_t elements, operators::needElementCount(constant.shape));
    const auto bytes = static_cast<std::size_t>(elements * sizeOf(constant.dtype));
    if (!constant.constant || constant.constant->bytes != bytes) {
        return makeError(Errc::InvalidArgument,
                         fmt::format("constant \"{}\" of type {} must hold {} bytes, it holds {}", constant.name,
                                     typeText({constant.dtype, constant.shape}), bytes,
                                     constant.constant ? constant.constant->bytes : 0));
    }
    HostTensor tensor{{constant.dtype, constant.shape}, {}};
    if (constant.constant->make) {
        LATHE_TRY_ASSIGN(tensor.bytes, constant.constant->make());
        if (tensor.bytes.size() != bytes)
            return makeError(Errc::Internal, fmt::format("constant \"{}\" of {} bytes came out with {}", constant.name,
                                                         bytes, tensor.bytes.size()));
        return tensor;
    }
    tensor.bytes.assign(constant.constant->data, constant.constant->data + bytes);
    LATHE_TRY(stillThere(*constant.constant));
    return tensor;
}

std::shared_ptr<const ConstData> foldLater(const Node& node, std::span<const Value* const> inputs,
                                           const TensorType& output)
{
    if (inputs.size() == 1 && costOf(node) == Cost::Free)
        return inputs[0]->constant;
    constexpr int kMostSteps = 8; // each look takes all of them again
    const std::int64_t bytes = elementCount(output.shape) * sizeOf(output.dtype);
    const LateFolding late = traitsOf(node).lateFolding;
    const bool mayWait = late == LateFolding::Always || (late == LateFolding::OfFloats && isFloat(output.dtype));
    if (!mayWait || bytes < static_cast<std::int64_t>(kLargeConstant) || bytes > kMaxTensorBytes)
        return nullptr;
    bool inFile = false;
    int steps = 0;
    std::vector<Value> operands;
    for (const Value* input : inputs) {
        inFile = inFile || (input->constant->inFile() && input->constant->bytes >= kLargeConstant);
        steps = std::max(steps, input->constant->steps);
        operands.push_back(*input);
    }
    if (!inFile || steps >= kMostSteps)
        return nullptr;
    Node alone = node;
    alone.outputs.resize(1);
    return makeConstLater(static_cast<std::size_t>(bytes), steps,
                          [alone, operands]() -> Result<std::vector<std::byte>> {
                              std::vector<HostTensor> tensors;
                              std::vector<const HostTensor*> views;
                              for (const Value& operand : operands) {
                                  LATHE_TRY_ASSIGN(HostTensor tensor, tensorOf(operand));
                                  tensors.push_back(std::move(tensor));
                              }
                              for (const HostTensor& tensor : tensors)
                                  views.push_back(&tensor);
                              LATHE_TRY_ASSIGN(std::vector<HostTensor> results, evaluateNode(alone, views));
                              return std::move(results[0].bytes);
                          });
}

Result<std::vector<HostTensor>> evaluateNode(const Node& node, std::span<const HostTensor* const> inputs)
{
    std::vector<TensorType> types;
    for (const HostTensor* input : inputs)
        types.push_back(input->type);
    const std::vector<const ConstData*> constants(inputs.size(), nullptr);
    LATHE_TRY_ASSIGN(const std::vector<TensorType> outputTypes, nodeTypes(node, types, constants));
    std::vector<HostTensor> outputs;
    for (const TensorType& type : outputTypes) {
        LATHE_TRY_ASSIGN(const std::int64_t elements, operators::needElementCount(type.shape));
        if (elements * sizeOf(type.dtype) > kMaxTensorBytes)
            return makeError(Errc::Unsupported, fmt::format("{} \"{}\": its result {} is too large to evaluate",
                                                            node.op, node.name, typeText(type)));
        outputs.push_back(HostTensor::zeros(type));
    }
    if (auto done = findOperator(node.op)->evaluate(node, inputs, outputs); !done)
        return std::move(done).error().note(fmt::format("{} \"{}\"", node.op, node.name));
    return outputs;
}

Interpreter::Interpreter(const Graph& graph, Constants constants)
    : m_graph(graph)
    , m_keepsConstants(constants == Constants::Kept)
    , m_slots(graph.values.size())
{
}

Result<> Interpreter::makeReady(ValueId id)
{
    Slot& slot = m_slots[static_cast<std::size_t>(id.value)];
    if (slot.tensor)
        return {};
    const Value& value = m_graph.value(id);
    if (!value.constant)
        return makeError(Errc::InvalidArgument, fmt::format("value \"{}\" is used before it is computed", value.name));
    LATHE_TRY_ASSIGN(slot.own, tensorOf(value));
    slot.tensor = &*slot.own;
    return {};
}

/// One read less is to come.
void Interpreter::drop(ValueId id)
{
    if (--m_uses[static_cast<std::size_t>(id.value)] == 0 && !(m_keepsConstants && m_graph.value(id).constant))
        m_slots[static_cast<std::size_t>(id.value)] = Slot();
}

Result<std::vector<HostTensor>> Interpreter::run(std::span<const HostTensor* const> inputs)
{
    if (inputs.size() != m_graph.inputs.size())
        return makeError(Errc::InvalidArgument, fmt::format("the network takes {} inputs, {} were given",
                                                            m_graph.inputs.size(), inputs.size()));
    m_uses = useCounts(m_graph);
    for (std::size_t i = 0; i < m_slots.size(); ++i)
        if (!(m_keepsConstants && m_graph.values[i].constant))
            m_slots[i] = Slot(); // an earlier run may have ended early
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Value& value = m_graph.value(m_graph.inputs[i]);
        const TensorType wanted{value.dtype, value.shape};
        if (inputs[i]->type != wanted) {
            return makeError(Errc::InvalidArgument, fmt::format("input \"{}\" must be {}, it is {}", value.name,
                                                                typeText(wanted), typeText(inputs[i]->type)));
        }
        m_slots[static_cast<std::size_t>(m_graph.inputs[i].value)].tensor = inputs[i];
    }
    for (const Node& node : m_graph.nodes) {
        std::vector<const HostTensor*> arguments;
        for (const ValueId id : node.inputs) {
            LATHE_TRY(makeReady(id));
            arguments.push_back(m_slots[static_cast<std::size_t>(id.value)].tensor);
        }
        LATHE_TRY_ASSIGN(std::vector<HostTensor> results, evaluateNode(node, arguments));
        for (const ValueId id : node.inputs)
            drop(id);
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (m_uses[static_cast<std::size_t>(node.outputs[i].value)] == 0)
                continue;
            Slot& slot = m_slots[static_cast<std::size_t>(node.outputs[i].value)];
            slot.own = std::move(results[i]);
            slot.tensor = &*slot.own;
        }
    }
    std::vector<HostTensor> outputs;
    for (const ValueId id : m_graph.outputs) {
        LATHE_TRY(makeReady(id));
        Slot& slot = m_slots[static_cast<std::size_t>(id.value)];
        const bool last = m_uses[static_cast<std::size_t>(id.value)] == 1; // a value may be an output twice
        if (last && slot.own && !(m_keepsConstants && m_graph.value(id).constant))
            outputs.push_back(*std::move(slot.own));
        else
            outputs.push_back(*slot.tensor);
        drop(id);
    }
    std::vector<std::vector<std::int64_t>> shapes;
    for (const HostTensor& output : outputs)
        shapes.push_back(output.type.shape);
    for (const OutputExtent& extent : m_graph.outputExtents) {
        LATHE_TRY(makeReady(extent.count));
        const std::int64_t count = m_slots[static_cast<std::size_t>(extent.count.value)].tensor->as<std::int64_t>()[0];
        std::int64_t& place = shapes[static_cast<std::size_t>(extent.output)][static_cast<std::size_t>(extent.axis)];
        if (count < 0 || count > place)
            return makeError(Errc::Internal,
                             say(Msg::ExtentBeyond, extent.axis,
                                 m_graph.outputName(static_cast<std::size_t>(extent.output)), count, place));
        place = count;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
        outputs[i] = cutTo(std::move(outputs[i]), shapes[i]);
    return outputs;
}

Result<std::vector<HostTensor>> interpret(const Graph& graph, std::vector<HostTensor> inputs)
{
    std::vector<const HostTensor*> views;
    for (const HostTensor& input : inputs)
        views.push_back(&input);
    return Interpreter(graph, Interpreter::Constants::Dropped).run(views);
}

} // namespace lathe::graph
