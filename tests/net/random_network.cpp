#include "core/graph/operators/element.h"
#include "tests/net/network_maker.h"
#include "tests/net/test_values.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace lathe::net {

using graph::HostTensor;

namespace {

constexpr std::int64_t kOpset = 17;

} // namespace

wire::DataType wireType(DType dtype)
{
    constexpr int kNumbers[] = {9, 3, 2, 5, 4, 6, 12, 7, 13, 10, 16, 1, 11}; // by DType
    return static_cast<wire::DataType>(kNumbers[static_cast<int>(dtype)]);
}

std::int64_t NetworkMaker::countOf(const Shape& shape)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

std::string NetworkMaker::fresh()
{
    return fmt::format("{}_v{}", m_prefix, m_count++);
}

RandomNetwork NetworkMaker::make()
{
    const std::uint64_t inputs = 1 + below(3);
    const DType first = pickType();
    for (std::uint64_t i = 0; i < inputs; ++i)
        addInput(below(3) == 0 ? pickType() : first);
    const std::uint64_t steps = 2 + below(7);
    for (std::uint64_t i = 0; i < steps * 4 && m_network.nodes.size() < steps; ++i)
        if (m_network.seed % kWithControl == 0 && below(3) == 0)
            tryControl();
        else
            tryStep();
    if (m_network.nodes.empty())
        emit("Identity", {0}, m_values[0].dtype, m_values[0].shape, m_values[0].exactSteps);
    for (const NetworkValue& value : m_values)
        if (!value.used && isMade(value)) {
            std::vector<wire::Dim> dims(value.shape.begin(), value.shape.end());
            if (value.open)
                dims[0] = wire::Dim(value.name.c_str());
            m_network.outputs.push_back(wire::info(value.name, dims, wireType(value.dtype)));
            m_network.outputNames.push_back(value.name);
        }
    return std::move(m_network);
}

DType NetworkMaker::pickType()
{
    static const std::vector<DType> kTypes = {DType::F32, DType::F32, DType::F32, DType::F32, DType::F32, DType::F16,
                                              DType::F64, DType::I32, DType::I64, DType::U8,  DType::I8,  DType::Bool};
    return oneOf(kTypes);
}

std::int64_t NetworkMaker::pickExtent()
{
    static const Shape kExtents = {1, 2, 3, 4, 5, 7, 8, 15, 17};
    return oneOf(kExtents);
}

NetworkMaker::Shape NetworkMaker::pickShape()
{
    for (;;) {
        Shape shape(below(5));
        for (std::int64_t& extent : shape)
            extent = pickExtent();
        if (countOf(shape) <= kMostElements)
            return shape;
    }
}

HostTensor NetworkMaker::drawn(DType dtype, const Shape& shape, bool exact)
{
    HostTensor tensor = HostTensor::zeros({dtype, shape});
    fill(tensor, exact || !isFloat(dtype) ? Values::Halves : Values::Smooth, {}, m_random);
    return tensor;
}

void NetworkMaker::addInput(DType dtype)
{
    const bool exact = below(2) == 0;
    const std::string name = fmt::format("{}_x{}", m_prefix, m_network.inputNames.size());
    // One of the shapes that are there, so that operands meet.
    const Shape shape = m_values.empty() || below(2) == 0 ? pickShape() : m_values[below(m_values.size())].shape;
    m_network.inputs.push_back(wire::info(name, {shape.begin(), shape.end()}, wireType(dtype)));
    m_network.inputNames.push_back(name);
    m_network.values.push_back(drawn(dtype, shape, exact));
    m_values.push_back({name, dtype, shape, stepsOf(dtype, exact)});
}

int NetworkMaker::stepsOf(DType dtype, bool exact)
{
    if (!isFloat(dtype))
        return 1000;
    return !exact ? 0 : dtype == DType::F32 || dtype == DType::F64 ? 3 : 1;
}

std::size_t NetworkMaker::addConstant(const HostTensor& tensor, bool exact)
{
    const std::string name = fmt::format("{}_c{}", m_prefix, m_network.initializers.size());
    m_network.initializers.push_back(initializerOf(name, tensor));
    m_values.push_back({name, tensor.type.dtype, tensor.type.shape, stepsOf(tensor.type.dtype, exact), true});
    return m_values.size() - 1;
}

std::size_t NetworkMaker::constant(DType dtype, const Shape& shape, bool exact)
{
    return addConstant(drawn(dtype, shape, exact), exact);
}

std::string NetworkMaker::ints(const Shape& numbers)
{
    HostTensor tensor = HostTensor::zeros({DType::I64, {static_cast<std::int64_t>(numbers.size())}});
    graph::operators::writeInts(tensor, numbers);
    return m_values[addConstant(tensor, true)].name;
}

std::string NetworkMaker::scalarInt(std::int64_t number)
{
    HostTensor tensor = HostTensor::zeros({DType::I64, {}});
    graph::operators::writeInts(tensor, std::array{number});
    return m_values[addConstant(tensor, true)].name;
}

void NetworkMaker::emit(const std::string& op, const std::vector<std::size_t>& operands, DType dtype,
                        const Shape& shape, int exactSteps, const std::string& attributes,
                        const std::vector<std::string>& more)
{
    std::vector<std::string> names;
    for (const std::size_t operand : operands) {
        names.push_back(m_values[operand].name);
        m_values[operand].used = true;
    }
    names.insert(names.end(), more.begin(), more.end());
    const std::string result = fresh();
    m_network.nodes.push_back(wire::node(op, names, {result}, result + "_node", attributes));
    m_values.push_back({result, dtype, shape, exactSteps});
}

std::optional<std::size_t> NetworkMaker::pick(const std::function<bool(const NetworkValue&)>& fits)
{
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < m_values.size(); ++i)
        if (countOf(m_values[i].shape) > 0 && !m_values[i].open
            && fits(m_values[i])) // what describes a rank of 0 has no elements
            found.push_back(i);
    if (found.empty())
        return std::nullopt;
    // The latest ones, so that chains grow.
    return below(2) == 0 ? found.back() : found[below(found.size())];
}

void NetworkMaker::tryStep()
{
    using Step = void (NetworkMaker::*)();
    static const std::vector<Step> kSteps = {
        &NetworkMaker::unary,    &NetworkMaker::unary,  &NetworkMaker::jump,      &NetworkMaker::binary,
        &NetworkMaker::binary,   &NetworkMaker::binary, &NetworkMaker::compare,   &NetworkMaker::choose,
        &NetworkMaker::move,     &NetworkMaker::move,   &NetworkMaker::join,      &NetworkMaker::part,
        &NetworkMaker::reduce,   &NetworkMaker::reduce, &NetworkMaker::softmax,   &NetworkMaker::product,
        &NetworkMaker::convolve, &NetworkMaker::pool,   &NetworkMaker::normalize, &NetworkMaker::convert,
        &NetworkMaker::gather,   &NetworkMaker::pad,    &NetworkMaker::rank,      &NetworkMaker::runningSum};
    (this->*oneOf(kSteps))();
}

void NetworkMaker::tryControl()
{
    using Step = void (NetworkMaker::*)();
    static const std::vector<Step> kSteps = {&NetworkMaker::branch, &NetworkMaker::loop, &NetworkMaker::scan};
    (this->*oneOf(kSteps))();
}

std::string initializerOf(const std::string& name, const HostTensor& tensor)
{
    return wire::tensor(name, wireType(tensor.type.dtype), tensor.type.shape,
                        {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
}

std::string joinedModel(const std::vector<RandomNetwork>& networks)
{
    wire::Model model;
    model.opset = kOpset;
    for (const RandomNetwork& network : networks) {
        model.nodes.insert(model.nodes.end(), network.nodes.begin(), network.nodes.end());
        model.initializers.insert(model.initializers.end(), network.initializers.begin(), network.initializers.end());
        model.inputs.insert(model.inputs.end(), network.inputs.begin(), network.inputs.end());
        model.outputs.insert(model.outputs.end(), network.outputs.begin(), network.outputs.end());
    }
    return model.write();
}

std::string RandomNetwork::model() const
{
    return joinedModel({*this});
}

RandomNetwork randomNetwork(std::uint64_t seed, const std::string& prefix)
{
    return NetworkMaker(seed, prefix).make();
}

} // namespace lathe::net
