#include "core/frontend/onnx/importer.h"
#include "core/frontend/onnx/schema.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kFoldLimit = std::int64_t{1} << 20;

std::int64_t bytesOf(const graph::TensorType& type)
{
    return elementCount(type.shape) * sizeOf(type.dtype);
}

Result<graph::HostTensor> contents(const graph::Value& value, std::string_view what)
{
    if (std::ranges::find(value.shape, 0) != value.shape.end()) // known, be it an input
        return graph::HostTensor::zeros({value.dtype, value.shape});
    if (!value.constant)
        return makeError(Errc::Unsupported, say(Msg::NeedsFromInputs, what));
    return graph::tensorOf(value);
}

} // namespace

Result<ValueId> Builder::input(const NodeReader& node, std::int64_t index)
{
    if (!node.hasInput(index))
        return makeError(Errc::BadFile, say(Msg::InputAbsent, index));
    const ValueId id = find(node.proto().input(static_cast<int>(index)));
    if (!id.valid())
        return makeError(Errc::BadFile, say(Msg::InputNotThere, node.proto().input(static_cast<int>(index))));
    const auto by = m_here.standIns.find(id.value);
    return by == m_here.standIns.end() ? id : by->second;
}

Result<Ints> Builder::constantInts(const NodeReader& node, std::int64_t index, std::string_view what)
{
    LATHE_TRY_ASSIGN(const ValueId id, input(node, index));
    if (!isInteger(dtype(id)))
        return makeError(Errc::BadFile, say(Msg::MustBeIntegers, what, toString(dtype(id))));
    LATHE_TRY_ASSIGN(const graph::HostTensor tensor, contents(m_here.graph.value(id), what));
    return graph::operators::readInts(tensor);
}

Result<std::vector<double>> Builder::constantNumbers(const NodeReader& node, std::int64_t index, std::string_view what)
{
    LATHE_TRY_ASSIGN(const ValueId id, input(node, index));
    LATHE_TRY_ASSIGN(const graph::HostTensor tensor, contents(m_here.graph.value(id), what));
    return graph::operators::readFloats(tensor);
}

ValueId Builder::constant(DType dtype, std::vector<std::int64_t> shape, std::span<const double> values)
{
    graph::HostTensor tensor = graph::HostTensor::zeros({dtype, shape});
    graph::operators::writeFloats(tensor, values);
    return addConstant({}, {dtype, std::move(shape), graph::makeConst(tensor.bytes.data(), tensor.bytes.size())});
}

ValueId Builder::ints(const Ints& values)
{
    return addConstant({}, {DType::I64,
                            {static_cast<std::int64_t>(values.size())},
                            graph::makeConst(values.data(), values.size() * sizeof(std::int64_t))});
}

bool Builder::isEmpty(ValueId id) const
{
    return std::ranges::find(shape(id), 0) != shape(id).end();
}

ValueId Builder::emptyConstant(graph::TensorType type)
{
    return addConstant({}, {type.dtype, std::move(type.shape), graph::makeConst(nullptr, 0)});
}

ValueId Builder::addConstant(std::string name, ConstTensor tensor)
{
    if (name.empty() && tensor.provenance == nullptr)
        tensor.provenance = std::make_shared<const graph::Provenance>();
    if (name.empty())
        name = uniqueName(m_current.empty() ? "constant" : m_current + "_constant");
    return m_here.graph.addConstant(std::move(name), tensor.dtype, std::move(tensor.shape), std::move(tensor.data),
                                    std::move(tensor.provenance));
}

Result<> Builder::charge(std::int64_t bytes)
{
    // A few times what was read: weights may be widened from 8 bits to 32, and go through several hands on the way.
    constexpr std::int64_t kFree = std::int64_t{256} << 20, kTimesRead = 16;
    if (bytes > kFree + kTimesRead * (m_fileBytes + m_reader.externalBytes()) - m_charged)
        return makeError(Errc::BadFile, say(Msg::ConstantsTooLarge));
    m_charged += bytes;
    return {};
}

void Builder::begin(std::string name)
{
    m_current = std::move(name);
}

std::string Builder::uniqueName(const std::string& base)
{
    std::string name = base;
    while (!m_names.insert(name).second)
        name = fmt::format("{}_{}", base, ++m_suffixes[base]);
    return name;
}

Result<std::vector<ValueId>> Builder::emitMany(std::string_view op, Attrs attrs, std::vector<ValueId> inputs,
                                               std::size_t outputs)
{
    graph::Node node;
    node.op = op;
    node.attrs = std::move(attrs);
    node.origin = m_current;
    node.name = m_current;
    std::vector<graph::TensorType> types;
    std::vector<const graph::ConstData*> constants;
    const bool anyEmpty = std::ranges::any_of(inputs, [this](ValueId id) { return isEmpty(id); });
    for (ValueId& id : inputs) { // what has no elements is known, wherever it comes from
        if (isEmpty(id) && !isConstant(id))
            id = emptyConstant({dtype(id), shape(id)});
    }
    bool allConstant = !inputs.empty();
    std::int64_t inputBytes = 0;
    for (const ValueId id : inputs) {
        const graph::Value& value = m_here.graph.value(id);
        types.push_back({value.dtype, value.shape});
        constants.push_back(value.constant.get());
        allConstant = allConstant && value.constant;
        inputBytes += value.constant ? static_cast<std::int64_t>(value.constant->bytes) : 0;
    }
    node.outputs.resize(outputs);
    LATHE_TRY_ASSIGN(std::vector<graph::TensorType> results, graph::nodeTypes(node, types, constants));
    node.outputs.clear();

    std::int64_t outputBytes = 0;
    for (const graph::TensorType& type : results)
        outputBytes += bytesOf(type);
    std::vector<ValueId> ids;
    if (outputBytes == 0) { // nothing is left to compute
        for (graph::TensorType& type : results)
            ids.push_back(emptyConstant(std::move(type)));
        return ids;
    }
    std::vector<const graph::Value*> operands;
    for (const ValueId id : inputs)
        operands.push_back(&m_here.graph.value(id));
    const auto provenance = allConstant ? graph::derivedFrom(operands, op) : nullptr;
    if (allConstant && results.size() == 1) {
        if (auto later = graph::foldLater(node, operands, results[0]))
            return std::vector{addConstant({}, {results[0].dtype, results[0].shape, std::move(later), provenance})};
    }
    if (allConstant
        && (anyEmpty || graph::traitsOf(node).foldsLarge || outputBytes <= std::max(kFoldLimit, inputBytes))) {
        LATHE_TRY(charge(outputBytes));
        std::vector<graph::HostTensor> tensors;
        for (const ValueId id : inputs) {
            LATHE_TRY_ASSIGN(graph::HostTensor tensor, graph::tensorOf(m_here.graph.value(id)));
            tensors.push_back(std::move(tensor));
        }
        std::vector<const graph::HostTensor*> pointers;
        for (const graph::HostTensor& tensor : tensors)
            pointers.push_back(&tensor);
        node.outputs.resize(outputs);
        LATHE_TRY_ASSIGN(const std::vector<graph::HostTensor> folded, graph::evaluateNode(node, pointers));
        for (const graph::HostTensor& tensor : folded)
            ids.push_back(addConstant({}, {tensor.type.dtype, tensor.type.shape,
                                           graph::makeConst(tensor.bytes.data(), tensor.bytes.size()), provenance}));
        return ids;
    }
    node.name = uniqueName(m_current);
    node.inputs = std::move(inputs);
    for (std::size_t i = 0; i < results.size(); ++i) {
        ids.push_back(
            m_here.graph.addValue(results.size() == 1 ? node.name + ":out" : fmt::format("{}:out{}", node.name, i),
                                  results[i].dtype, std::move(results[i].shape)));
    }
    node.outputs = ids;
    m_here.graph.addNode(std::move(node));
    return ids;
}

Result<ValueId> Builder::emit(std::string_view op, Attrs attrs, std::vector<ValueId> inputs)
{
    if (const graph::OpDef* const joins = graph::findOperator(op);
        joins && joins->traits.layout == graph::LayoutRule::Join
        && std::ranges::any_of(inputs, [this](ValueId id) { return isEmpty(id); })) {
        // Parts without elements add nothing, where there are others.
        std::vector<ValueId> parts;
        std::ranges::copy_if(inputs, std::back_inserter(parts), [this](ValueId id) { return !isEmpty(id); });
        std::vector<graph::TensorType> types;
        for (const ValueId id : inputs)
            types.push_back({dtype(id), shape(id)});
        if (!parts.empty()) {
            graph::Node whole; // the parts that go must fit all the same
            whole.op = op;
            whole.attrs = attrs;
            whole.outputs.resize(1);
            const std::vector<const graph::ConstData*> unknown(inputs.size(), nullptr);
            LATHE_TRY(graph::nodeTypes(whole, types, unknown));
            if (parts.size() == 1)
                return parts[0];
            inputs = std::move(parts);
        }
    }
    // Half floats are stored, not summed: kernels of float32 are as fast and lose nothing on the way.
    const DType stored = inputs.empty() ? DType::F32 : dtype(inputs[0]);
    const graph::OpDef* const entry = graph::findOperator(op);
    if ((stored == DType::F16 || stored == DType::BF16) && entry && entry->traits.sums) {
        for (ValueId& input : inputs) {
            if (dtype(input) == stored) {
                LATHE_TRY_ASSIGN(input, cast(input, DType::F32));
            }
        }
        LATHE_TRY_ASSIGN(const ValueId wide, emit(op, std::move(attrs), std::move(inputs)));
        return cast(wide, stored);
    }
    LATHE_TRY_ASSIGN(const std::vector<ValueId> outputs, emitMany(op, std::move(attrs), std::move(inputs), 1));
    return outputs[0];
}

Result<ValueId> Builder::cast(ValueId value, DType dtype)
{
    if (this->dtype(value) == dtype)
        return value;
    return emit("cast", {{"dtype", std::string(toString(dtype))}}, {value});
}

Result<ValueId> Builder::reshape(ValueId value, Ints target)
{
    if (shape(value) == target)
        return value;
    return emit("reshape", {{"newshape", std::move(target)}}, {value});
}

const std::vector<DynamicAxis>& Builder::dynamicAxes(ValueId id) const
{
    static const std::vector<DynamicAxis> none;
    const auto found = m_here.dynamicAxes.find(id.value);
    return found == m_here.dynamicAxes.end() ? none : found->second;
}

ValueId Builder::countAlong(ValueId id, std::int64_t axis) const
{
    const auto& axes = dynamicAxes(id);
    const auto found = std::ranges::find(axes, axis, &DynamicAxis::axis);
    return found == axes.end() ? ValueId() : found->count;
}

void Builder::setDynamicAxes(ValueId id, std::vector<DynamicAxis> axes)
{
    std::ranges::sort(axes, {}, &DynamicAxis::axis);
    if (!axes.empty())
        m_here.dynamicAxes[id.value] = std::move(axes);
}

const std::vector<ShapeNumber>* Builder::shapeNumbers(ValueId id) const
{
    const auto found = m_here.shapeNumbers.find(id.value);
    return found == m_here.shapeNumbers.end() ? nullptr : &found->second;
}

void Builder::setShapeNumbers(ValueId id, std::vector<ShapeNumber> numbers)
{
    m_here.shapeNumbers[id.value] = std::move(numbers);
}

void Builder::standIn(ValueId id, ValueId by)
{
    if (by.valid())
        m_here.standIns[id.value] = by;
    else
        m_here.standIns.erase(id.value);
}

Result<> Builder::bind(const std::string& name, ValueId value)
{
    if (!m_here.names.values.emplace(name, value).second)
        return makeError(Errc::BadFile, say(Msg::ValueDefinedTwice, name));
    m_here.names.bound.push_back(name);
    // Values that converters made carry made-up names until the file's name is known. Names inside of functions come
    // back with every call.
    graph::Value& stored = m_here.graph.value(value);
    if (!m_here.names.ofFunction && stored.producer.valid() && stored.name.find(":out") != std::string::npos)
        stored.name = name;
    return {};
}

std::size_t Builder::openScope() const
{
    return m_here.names.bound.size();
}

void Builder::closeScope(std::size_t scope)
{
    for (std::size_t i = scope; i < m_here.names.bound.size(); ++i)
        m_here.names.values.erase(m_here.names.bound[i]);
    m_here.names.bound.resize(scope);
}

Builder::Names Builder::exchangeNames(Names names)
{
    return std::exchange(m_here.names, std::move(names));
}

bool Builder::knows(const std::string& name) const
{
    if (m_here.names.values.contains(name))
        return true;
    bool isClosed = m_here.names.ofFunction;
    for (std::size_t depth = m_around.size(); depth > 0 && !isClosed; --depth) {
        const Names& names = m_around[depth - 1].names;
        if (names.values.contains(name))
            return true;
        isClosed = names.ofFunction;
    }
    return false;
}

ValueId Builder::find(const std::string& name)
{
    return knows(name) ? comeInto(m_around.size(), name) : ValueId();
}

/// The value in the graph at that depth. It is known there or around.
ValueId Builder::comeInto(std::size_t depth, const std::string& name)
{
    auto& values = frameAt(depth).names.values;
    if (const auto found = values.find(name); found != values.end())
        return found->second;
    const ValueId inside = captureInto(depth, comeInto(depth - 1, name));
    values.emplace(name, inside); // not among the bound: it stays known when a scope is closed
    return inside;
}

ValueId Builder::capture(ValueId outside)
{
    return captureInto(m_around.size(), outside);
}

/// A constant stays one. What counts the elements of a value comes along, and what is known of its numbers. A value may
/// have several names, and what counts it may count others: it comes in once.
ValueId Builder::captureInto(std::size_t depth, ValueId outside)
{
    Frame& frame = frameAt(depth);
    if (const auto found = frame.inside.find(outside.value); found != frame.inside.end())
        return found->second;
    Frame& around = m_around[depth - 1];
    const graph::Value value = around.graph.value(outside);
    if (value.constant)
        return frame.inside[outside.value] = frame.graph.addConstant(value.name, value.dtype, value.shape,
                                                                     value.constant, value.provenance);
    const ValueId inside = frame.graph.addValue(value.name, value.dtype, value.shape);
    frame.inside[outside.value] = inside;
    frame.graph.inputs.push_back(inside);
    frame.captured.push_back(outside);
    if (const auto dynamic = around.dynamicAxes.find(outside.value); dynamic != around.dynamicAxes.end()) {
        std::vector<DynamicAxis> axes = dynamic->second;
        for (DynamicAxis& axis : axes)
            axis.count = captureInto(depth, axis.count);
        frame.dynamicAxes[inside.value] = std::move(axes);
    }
    if (const auto known = around.shapeNumbers.find(outside.value); known != around.shapeNumbers.end()) {
        std::vector<ShapeNumber> numbers = known->second;
        for (ShapeNumber& number : numbers)
            if (number.count.valid())
                number.count = captureInto(depth, number.count);
        frame.shapeNumbers[inside.value] = std::move(numbers);
    }
    return inside;
}

void Builder::openBody()
{
    Frame frame;
    frame.names.opset = opset();
    frame.names.ofFunction = false;
    m_around.push_back(std::exchange(m_here, std::move(frame)));
}

Builder::Body Builder::closeBody()
{
    Frame body = std::exchange(m_here, std::move(m_around.back()));
    m_around.pop_back();
    return {std::move(body.graph), std::move(body.captured)};
}

namespace {

/// Operators of com.microsoft that are the standard's.
constexpr std::string_view kSameAsStandard[] = {"DequantizeLinear", "Gelu", "Pad", "QuantizeLinear"};

Converter findIn(std::initializer_list<std::span<const ConverterEntry>> tables, std::string_view op)
{
    for (const auto table : tables) {
        const auto found = std::ranges::find(table, op, &ConverterEntry::op);
        if (found != table.end())
            return found->convert;
    }
    return nullptr;
}

} // namespace

Converter findConverter(std::string_view domain, std::string_view op)
{
    if (domain == "com.microsoft" && std::ranges::find(kSameAsStandard, op) == std::end(kSameAsStandard))
        return findIn({contribAttentionConverters(), contribFusedConverters(), contribNormConverters(),
                       contribQuantizeConverters()},
                      op);
    if (!domain.empty() && domain != "com.microsoft")
        return nullptr;
    return findIn({attentionConverters(), countedConverters(), einsumConverters(), imageConverters(), indexConverters(),
                   lossConverters(), mathConverters(), matrixConverters(), normConverters(), quantizeConverters(),
                   recurrentConverters(), resizeConverters(), sampleConverters(), shapeConverters(), signalConverters(),
                   sliceConverters(), textConverters()},
                  op);
}

Result<std::optional<Ints>> attributeOrInput(Builder& b, NodeReader& node, std::string_view attribute,
                                             std::int64_t input)
{
    if (node.has(attribute)) {
        LATHE_TRY_ASSIGN(Ints values, node.integers(attribute));
        return std::optional(std::move(values));
    }
    if (!node.hasInput(input))
        return std::optional<Ints>();
    LATHE_TRY_ASSIGN(Ints values, b.constantInts(node, input, attribute));
    return std::optional(std::move(values));
}

} // namespace lathe::frontend::onnx_detail
