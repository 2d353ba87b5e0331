// If, Loop and Scan. What they run becomes a graph of its own, which captures what it reads from around it. A Scan is a
// loop that counts the elements of its sequences and takes one of each.

#include "core/frontend/onnx/dynamic_size.h"
#include "core/frontend/onnx/schema.h"
#include "core/graph/node_types.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>
#include <limits>

namespace lathe::frontend::onnx_detail {
namespace {

using ::onnx::GraphProto;
using Values = std::vector<ValueId>;

constexpr std::int64_t kMostRows = std::int64_t{1} << 24; ///< that a loop may stack: trip counts beyond are no bounds

/// A body under construction, which is gone again if an error ends its converter.
class OpenBody
{
public:
    explicit OpenBody(Builder& b)
        : m_builder(b)
    {
        b.openBody();
    }
    ~OpenBody()
    {
        if (m_isOpen)
            m_builder.closeBody();
    }
    OpenBody(const OpenBody&) = delete;
    OpenBody& operator=(const OpenBody&) = delete;

    /// A value that goes in, under the name that the file has for it.
    Result<ValueId> addInput(const std::string& name, DType dtype, const Ints& shape)
    {
        const ValueId id = m_builder.graph().addValue(name, dtype, shape);
        m_builder.graph().inputs.push_back(id);
        LATHE_TRY(m_builder.bind(name, id));
        return id;
    }
    /// One number, which the file may declare as a vector of one.
    Result<> addNumber(const ::onnx::ValueInfoProto& info, DType dtype)
    {
        const ValueId id = m_builder.graph().addValue(info.name(), dtype, {});
        m_builder.graph().inputs.push_back(id);
        const auto& type = info.type().tensor_type();
        const bool isVector = type.has_shape() && type.shape().dim_size() == 1;
        LATHE_TRY_ASSIGN(const ValueId seen, isVector ? m_builder.reshape(id, {1}) : Result<ValueId>(id));
        return m_builder.bind(info.name(), seen);
    }
    Result<Builder::Body> close()
    {
        for (std::size_t i = 0; i < m_builder.graph().outputs.size(); ++i)
            if (!m_builder.dynamicAxes(m_builder.graph().outputs[i]).empty())
                return makeError(Errc::Unsupported, say(Msg::NeedsSizedResult, m_builder.graph().outputName(i)));
        m_isOpen = false;
        Builder::Body body = m_builder.closeBody();
        LATHE_TRY_ASSIGN(body.graph, graph::compact(body.graph));
        const auto isEmpty = [&](ValueId id) {
            return id.valid() && std::ranges::find(body.graph.value(id).shape, 0) != body.graph.value(id).shape.end();
        };
        for (const graph::Node& node : body.graph.nodes)
            if (std::ranges::any_of(node.inputs, isEmpty) || std::ranges::any_of(node.outputs, isEmpty))
                return makeError(Errc::Unsupported, say(Msg::NodeOnEmptyTensor, node.origin, node.op));
        return body;
    }

private:
    Builder& m_builder;
    bool m_isOpen = true;
};

graph::TensorType typeOf(const graph::Graph& graph, ValueId id)
{
    return {graph.value(id).dtype, graph.value(id).shape};
}

Result<> needOne(const Builder& b, ValueId id, DType dtype, std::string_view what)
{
    const Ints& shape = b.shape(id);
    if (b.dtype(id) != dtype || elementCount(shape) != 1)
        return makeError(Errc::BadFile,
                         say(Msg::MustBeOne, what, toString(dtype), graph::typeText({b.dtype(id), shape})));
    return {};
}

/// What is known of one that must be one I64.
std::optional<std::int64_t> knownNumber(Builder& b, ValueId id)
{
    const graph::Value& value = b.graph().value(id);
    const auto tensor = value.constant ? graph::tensorOf(value) : Result<graph::HostTensor>(graph::HostTensor());
    return tensor && tensor->bytes.size() == sizeof(std::int64_t) ? std::optional(tensor->as<std::int64_t>()[0])
                                                                  : std::nullopt;
}

/// The node itself.
Values addNode(Builder& b, const std::string& label, std::string_view op, Attrs attrs, Values inputs,
               std::vector<graph::Graph> bodies, const std::vector<graph::TensorType>& types)
{
    graph::Node node;
    node.name = b.uniqueName(label);
    node.origin = label;
    node.op = op;
    node.attrs = std::move(attrs);
    node.inputs = std::move(inputs);
    for (graph::Graph& body : bodies)
        node.bodies.push_back(std::make_shared<const graph::Graph>(std::move(body)));
    for (std::size_t i = 0; i < types.size(); ++i)
        node.outputs.push_back(
            b.graph().addValue(node.name + ":out" + std::to_string(i), types[i].dtype, types[i].shape));
    Values outputs = node.outputs;
    b.graph().addNode(std::move(node));
    return outputs;
}

// ---- If

/// Both take all that either captures.
Values joinCaptures(Builder& b, Builder::Body& one, Builder::Body& other)
{
    Values all = one.captured;
    for (const ValueId id : other.captured)
        if (std::ranges::find(all, id) == all.end())
            all.push_back(id);
    for (Builder::Body* body : {&one, &other}) {
        Values inputs;
        for (const ValueId id : all) {
            const auto found = std::ranges::find(body->captured, id);
            const graph::Value& value = b.graph().value(id);
            inputs.push_back(found != body->captured.end()
                                 ? body->graph.inputs[static_cast<std::size_t>(found - body->captured.begin())]
                                 : body->graph.addValue(value.name, value.dtype, value.shape));
        }
        body->graph.inputs = std::move(inputs);
    }
    return all;
}

Result<std::optional<Values>> convertIf(Builder& b, NodeReader& node, BodyReader& bodies, const std::string& label)
{
    LATHE_TRY_ASSIGN(const ValueId condition, b.input(node, 0));
    LATHE_TRY(needOne(b, condition, DType::Bool, "the condition"));
    std::vector<Builder::Body> read;
    bool isComplete = true;
    for (const char* const branch : {"then_branch", "else_branch"}) {
        LATHE_TRY_ASSIGN(GraphProto* const proto, node.graph(branch));
        if (!proto)
            return makeError(Errc::BadFile, say(Msg::BodyAbsent, branch));
        if (proto->output_size() < node.outputCount())
            return makeError(Errc::BadFile,
                             say(Msg::BodyOutputs, proto->name(), proto->output_size(), node.outputCount()));
        OpenBody open(b);
        LATHE_TRY_ASSIGN(const bool isRead, bodies.read(*proto, label + "/"));
        isComplete = isComplete && isRead;
        if (!isRead)
            continue;
        LATHE_TRY_ASSIGN(Builder::Body body, open.close());
        read.push_back(std::move(body));
    }
    if (!isComplete)
        return std::optional<Values>();
    std::vector<graph::TensorType> types;
    for (std::size_t i = 0; i < static_cast<std::size_t>(node.outputCount()); ++i) {
        types.push_back(typeOf(read[0].graph, read[0].graph.outputs[i]));
        const graph::TensorType other = typeOf(read[1].graph, read[1].graph.outputs[i]);
        if (types.back() != other)
            return makeError(Errc::Unsupported, say(Msg::NeedsBranchTypes, graph::typeText(types.back()),
                                                    graph::typeText(other), node.proto().output(static_cast<int>(i))));
    }
    Values inputs = {condition};
    const Values captured = joinCaptures(b, read[0], read[1]);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    for (Builder::Body& body : read) {
        body.graph.outputs.resize(types.size());
        body.graph.outputNames.resize(types.size());
    }
    return std::optional(
        addNode(b, label, "if", {}, std::move(inputs), {std::move(read[0].graph), std::move(read[1].graph)}, types));
}

// ---- loops

/// A loop whose body was read.
struct Loop
{
    ValueId trips, condition;
    Values initial; ///< of what is carried
    std::vector<std::string> names; ///< of the body's results but the first: what is carried, rows
    Builder::Body body; ///< gives the next condition, what is carried, rows
};

/// What is carried at the end, the stacked rows, the number of iterations.
Result<Values> addLoop(Builder& b, Loop loop, const std::string& label)
{
    const graph::Graph& body = loop.body.graph;
    const auto carried = static_cast<std::int64_t>(loop.initial.size());
    Attrs attrs = {{"carried", carried}};
    std::vector<graph::TensorType> types;
    for (std::size_t i = 0; i < loop.initial.size(); ++i) {
        types.push_back(typeOf(b.graph(), loop.initial[i]));
        const graph::TensorType after = typeOf(body, body.outputs[1 + i]);
        if (types.back() != after)
            return makeError(Errc::Unsupported, say(Msg::NeedsCarriedType, loop.names[i], graph::typeText(types.back()),
                                                    graph::typeText(after)));
    }
    const std::optional<std::int64_t> trips = knownNumber(b, loop.trips);
    const auto numbers = trips ? std::nullopt : numbersOf(b, loop.trips); // made of a size that depends on data
    const ShapeNumber counted = numbers && numbers->size() == 1 ? (*numbers)[0] : ShapeNumber{kMostRows + 1, {}};
    if (body.outputs.size() > types.size() + 1) {
        const std::int64_t most = std::max<std::int64_t>(trips.value_or(counted.most), 0);
        if (most > kMostRows)
            return makeError(Errc::Unsupported, say(Msg::NeedsTripBound, loop.names[types.size()]));
        attrs["most"] = most;
        for (std::size_t i = 1 + loop.initial.size(); i < body.outputs.size(); ++i) {
            types.push_back(typeOf(body, body.outputs[i]));
            types.back().shape.insert(types.back().shape.begin(), most);
        }
    }
    if (trips && *trips <= 0) { // never runs
        Values results = loop.initial;
        for (std::size_t i = results.size(); i < types.size(); ++i)
            results.push_back(b.addConstant({}, {types[i].dtype, types[i].shape, graph::makeConst(nullptr, 0)}));
        results.push_back(b.constant(DType::I64, {}, std::vector<double>{0}));
        return results;
    }
    types.push_back({DType::I64, {}});
    const bool endsEarly = !graph::isTrue(b.graph().value(loop.condition))
                           || !(graph::isTrue(body.value(body.outputs[0])) || body.outputs[0] == body.inputs[1]);
    Values inputs = {loop.trips, loop.condition};
    inputs.insert(inputs.end(), loop.initial.begin(), loop.initial.end());
    inputs.insert(inputs.end(), loop.body.captured.begin(), loop.body.captured.end());
    Values results = addNode(b, label, "loop", std::move(attrs), std::move(inputs), {std::move(loop.body.graph)},
                             types);
    for (std::size_t i = loop.initial.size(); i + 1 < results.size() && (endsEarly || !trips); ++i)
        b.setDynamicAxes(results[i], {{0, endsEarly || counted.least < 0 ? results.back() : counted.count}});
    return results;
}

Result<ValueId> inputOfKnownSize(Builder& b, NodeReader& node, std::int64_t index)
{
    LATHE_TRY_ASSIGN(const ValueId id, b.input(node, index));
    if (!b.dynamicAxes(id).empty())
        return sizedInput(node, static_cast<std::size_t>(index));
    return id;
}

ValueId number(Builder& b, std::int64_t value)
{
    return b.addConstant({}, {DType::I64, {}, graph::makeConst(&value, sizeof value)});
}

Result<std::optional<Values>> convertLoop(Builder& b, NodeReader& node, BodyReader& bodies, const std::string& label)
{
    Loop loop;
    LATHE_TRY_ASSIGN(loop.trips, node.hasInput(0)
                                     ? b.input(node, 0)
                                     : Result<ValueId>(number(b, std::numeric_limits<std::int64_t>::max())));
    LATHE_TRY(needOne(b, loop.trips, DType::I64, "the trip count"));
    LATHE_TRY_ASSIGN(loop.condition, node.hasInput(1) ? b.input(node, 1) : Result<ValueId>(b.scalar(DType::Bool, 1)));
    LATHE_TRY(needOne(b, loop.condition, DType::Bool, "the condition"));
    for (std::int64_t i = 2; i < node.inputCount(); ++i) {
        LATHE_TRY_ASSIGN(const ValueId id, inputOfKnownSize(b, node, i));
        loop.initial.push_back(id);
    }
    LATHE_TRY_ASSIGN(GraphProto* const proto, node.graph("body"));
    if (!proto)
        return makeError(Errc::BadFile, say(Msg::BodyAbsent, "body"));
    const auto carried = static_cast<int>(loop.initial.size());
    if (proto->input_size() != 2 + carried)
        return makeError(Errc::BadFile, say(Msg::BodyInputs, proto->name(), proto->input_size(), 2 + carried));
    if (proto->output_size() < 1 + carried)
        return makeError(Errc::BadFile, say(Msg::BodyOutputs, proto->name(), proto->output_size(), 1 + carried));
    std::vector<graph::TensorType> types;
    for (const ValueId id : loop.initial)
        types.push_back(typeOf(b.graph(), id));
    OpenBody open(b);
    LATHE_TRY(open.addNumber(proto->input(0), DType::I64));
    LATHE_TRY(open.addNumber(proto->input(1), DType::Bool));
    for (int i = 0; i < carried; ++i)
        LATHE_TRY(open.addInput(proto->input(2 + i).name(), types[static_cast<std::size_t>(i)].dtype,
                                types[static_cast<std::size_t>(i)].shape));
    LATHE_TRY_ASSIGN(const bool isRead, bodies.read(*proto, label + "/"));
    if (!isRead)
        return std::optional<Values>();
    LATHE_TRY(needOne(b, b.graph().outputs[0], DType::Bool, "the body's condition"));
    for (int i = 0; i < carried; ++i)
        loop.names.push_back(proto->input(2 + i).name());
    for (int i = 1 + carried; i < proto->output_size(); ++i)
        loop.names.push_back(proto->output(i).name());
    LATHE_TRY_ASSIGN(loop.body, open.close());
    b.begin(label);
    LATHE_TRY_ASSIGN(Values results, addLoop(b, std::move(loop), label));
    results.pop_back(); // the number of iterations
    return std::optional(std::move(results));
}

// ---- Scan

struct Sequences
{
    Values values;
    Ints axes, backward;
    std::int64_t length = 0;
};

/// A list with an entry for each of `count` sequences.
Result<Ints> perSequence(NodeReader& node, std::string_view attribute, std::int64_t count)
{
    LATHE_TRY_ASSIGN(Ints list, node.integers(attribute));
    if (list.empty())
        list.assign(static_cast<std::size_t>(count), 0);
    if (static_cast<std::int64_t>(list.size()) != count)
        return makeError(Errc::BadFile, say(Msg::MustBeOne, attribute, "number for each sequence", list.size()));
    return list;
}

/// The body, into a loop over the elements of the sequences. Nothing: it has what is not supported.
Result<std::optional<Loop>> scanLoop(Builder& b, BodyReader& bodies, GraphProto& proto, Values initial,
                                     const Sequences& sequences, const std::string& label)
{
    const std::size_t states = initial.size(), count = sequences.values.size();
    if (static_cast<std::size_t>(proto.input_size()) != states + count)
        return makeError(Errc::BadFile, say(Msg::BodyInputs, proto.name(), proto.input_size(), states + count));
    if (static_cast<std::size_t>(proto.output_size()) < states)
        return makeError(Errc::BadFile, say(Msg::BodyOutputs, proto.name(), proto.output_size(), states));
    Loop loop;
    loop.trips = number(b, sequences.length);
    loop.condition = b.scalar(DType::Bool, 1);
    std::vector<graph::TensorType> types;
    for (const ValueId id : initial)
        types.push_back(typeOf(b.graph(), id));
    loop.initial = std::move(initial);
    OpenBody open(b);
    graph::Graph& body = b.graph();
    const ValueId iteration = body.addValue(label + ":iteration", DType::I64, {});
    const ValueId condition = body.addValue(label + ":condition", DType::Bool, {});
    body.inputs = {iteration, condition};
    for (std::size_t i = 0; i < states; ++i) {
        LATHE_TRY(open.addInput(proto.input(static_cast<int>(i)).name(), types[i].dtype, types[i].shape));
        loop.names.push_back(proto.input(static_cast<int>(i)).name());
    }
    Composer c(b);
    for (std::size_t k = 0; k < count; ++k) {
        const ValueId place = sequences.backward[k] != 0 ? c.sub(number(b, sequences.length - 1), iteration)
                                                         : iteration;
        const ValueId element = c.op("take", {b.capture(sequences.values[k]), place}, {{"axis", sequences.axes[k]}});
        LATHE_TRY(c.finish({}));
        LATHE_TRY(b.bind(proto.input(static_cast<int>(states + k)).name(), element));
    }
    LATHE_TRY_ASSIGN(const bool isRead, bodies.read(proto, label + "/"));
    if (!isRead)
        return std::optional<Loop>();
    b.graph().outputs.insert(b.graph().outputs.begin(), condition);
    b.graph().outputNames.insert(b.graph().outputNames.begin(), label + ":condition");
    for (int i = static_cast<int>(states); i < proto.output_size(); ++i)
        loop.names.push_back(proto.output(i).name());
    LATHE_TRY_ASSIGN(loop.body, open.close());
    b.begin(label);
    return std::optional(std::move(loop));
}

/// Rows, which lie along a new first dimension, along `axis` and in the wanted order.
ValueId placed(Composer& c, ValueId rows, std::int64_t axis, bool backward)
{
    const std::int64_t rank = c.rank(rows), length = c.extent(rows, 0);
    if (backward)
        rows = c.op("take", {rows, c.range(length, true)}, {{"axis", std::int64_t{0}}});
    if (axis == 0)
        return rows;
    Ints order;
    for (std::int64_t d = 1; d < rank; ++d)
        order.push_back(d);
    order.insert(order.begin() + axis, 0);
    return c.transpose(rows, order);
}

/// Of opset 8: with a batch, and lengths in front.
Result<std::optional<Values>> convertOldScan(Builder& b, NodeReader& node, BodyReader& bodies, const std::string& label)
{
    if (node.hasInput(0))
        return makeError(Errc::Unsupported, say(Msg::NeedsScanLens));
    LATHE_TRY_ASSIGN(const std::int64_t count, node.integer("num_scan_inputs", 0));
    LATHE_TRY_ASSIGN(GraphProto* const proto, node.graph("body"));
    if (!proto || count < 1 || count > node.inputCount() - 1)
        return makeError(Errc::BadFile, say(Msg::BodyAbsent, proto ? "num_scan_inputs" : "body"));
    Sequences sequences;
    LATHE_TRY_ASSIGN(sequences.backward, perSequence(node, "directions", count));
    sequences.axes.assign(static_cast<std::size_t>(count), 0);
    Values initial;
    for (std::int64_t i = 1; i < node.inputCount(); ++i) {
        LATHE_TRY_ASSIGN(ValueId id, inputOfKnownSize(b, node, i));
        Ints shape = b.shape(id);
        if (shape.empty() || shape[0] != 1)
            return makeError(Errc::Unsupported, say(Msg::NeedsScanBatch, shape.empty() ? 0 : shape[0]));
        shape.erase(shape.begin());
        LATHE_TRY_ASSIGN(id, b.reshape(id, shape));
        if (i < node.inputCount() - count) {
            initial.push_back(id);
            continue;
        }
        if (shape.empty() || (sequences.length != 0 && shape[0] != sequences.length))
            return makeError(Errc::BadFile, say(Msg::ScanLengths, sequences.length, shape.empty() ? 0 : shape[0]));
        sequences.length = shape[0];
        sequences.values.push_back(id);
    }
    LATHE_TRY_ASSIGN(std::optional<Loop> loop, scanLoop(b, bodies, *proto, std::move(initial), sequences, label));
    if (!loop)
        return std::optional<Values>();
    LATHE_TRY_ASSIGN(Values results, addLoop(b, *std::move(loop), label));
    results.pop_back();
    for (ValueId& id : results) {
        Ints shape = b.shape(id);
        shape.insert(shape.begin(), 1);
        LATHE_TRY_ASSIGN(id, b.reshape(id, shape));
    }
    return std::optional(std::move(results));
}

Result<std::optional<Values>> convertScan(Builder& b, NodeReader& node, BodyReader& bodies, const std::string& label)
{
    if (b.opset() < 9)
        return convertOldScan(b, node, bodies, label);
    LATHE_TRY_ASSIGN(const std::int64_t count, node.integer("num_scan_inputs", 0));
    LATHE_TRY_ASSIGN(GraphProto* const proto, node.graph("body"));
    if (!proto || count < 1 || count > node.inputCount())
        return makeError(Errc::BadFile, say(Msg::BodyAbsent, proto ? "num_scan_inputs" : "body"));
    Sequences sequences;
    LATHE_TRY_ASSIGN(sequences.backward, perSequence(node, "scan_input_directions", count));
    LATHE_TRY_ASSIGN(sequences.axes, perSequence(node, "scan_input_axes", count));
    Values initial;
    for (std::int64_t i = 0; i < node.inputCount(); ++i) {
        LATHE_TRY_ASSIGN(const ValueId id, inputOfKnownSize(b, node, i));
        if (i < node.inputCount() - count) {
            initial.push_back(id);
            continue;
        }
        std::int64_t& axis = sequences.axes[sequences.values.size()];
        LATHE_TRY_ASSIGN(axis, frontAxis(axis, b.rank(id)));
        const std::int64_t length = b.shape(id)[static_cast<std::size_t>(axis)];
        if (!sequences.values.empty() && length != sequences.length)
            return makeError(Errc::BadFile, say(Msg::ScanLengths, sequences.length, length));
        sequences.length = length;
        sequences.values.push_back(id);
    }
    const std::size_t states = initial.size();
    const std::int64_t rows = std::max<std::int64_t>(0, proto->output_size() - static_cast<std::int64_t>(states));
    LATHE_TRY_ASSIGN(const Ints axes, perSequence(node, "scan_output_axes", rows));
    LATHE_TRY_ASSIGN(const Ints backward, perSequence(node, "scan_output_directions", rows));
    LATHE_TRY_ASSIGN(std::optional<Loop> loop, scanLoop(b, bodies, *proto, std::move(initial), sequences, label));
    if (!loop)
        return std::optional<Values>();
    LATHE_TRY_ASSIGN(Values results, addLoop(b, *std::move(loop), label));
    results.pop_back();
    Composer c(b);
    for (std::size_t k = states; k < results.size(); ++k) {
        LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(axes[k - states], b.rank(results[k])));
        results[k] = placed(c, results[k], axis, backward[k - states] != 0);
    }
    LATHE_TRY_ASSIGN(results, c.finish(std::move(results)));
    return std::optional(std::move(results));
}

} // namespace

ControlConverter findControlConverter(std::string_view op)
{
    return op == "If" ? convertIf : op == "Loop" ? convertLoop : op == "Scan" ? convertScan : nullptr;
}

} // namespace lathe::frontend::onnx_detail
