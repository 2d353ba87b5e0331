// Steps with control flow: branches, loops, scans. Bodies are made of the other steps, and read what is around them.

#include "core/graph/operators/element.h"
#include "tests/net/network_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lathe::net {

using graph::HostTensor;

namespace {

constexpr int kDeepest = 2; // bodies in bodies
constexpr std::uint64_t kMostTrips = 4;

std::string graphAttribute(const std::string& name, const std::string& graph)
{
    return wire::bytes(5, wire::bytes(1, name) + wire::bytes(6, graph) + wire::number(20, 5));
}

std::string infoOf(const NetworkValue& value)
{
    return wire::info(value.name, {value.shape.begin(), value.shape.end()}, wireType(value.dtype));
}

std::string graphOf(const std::string& name, const std::vector<std::string>& nodes,
                    const std::vector<NetworkValue>& inputs, const std::vector<NetworkValue>& outputs)
{
    std::string graph;
    for (const std::string& node : nodes)
        graph += wire::bytes(1, node);
    graph += wire::bytes(2, name);
    for (const NetworkValue& input : inputs)
        graph += wire::bytes(11, infoOf(input));
    for (const NetworkValue& output : outputs)
        graph += wire::bytes(12, infoOf(output));
    return graph;
}

} // namespace

std::size_t NetworkMaker::scalarInput(DType dtype, std::int64_t number)
{
    HostTensor tensor = HostTensor::zeros({dtype, {}});
    graph::operators::writeInts(tensor, std::array{number});
    const std::string name = fmt::format("{}_x{}", m_prefix, m_network.inputNames.size());
    m_network.inputs.push_back(wire::info(name, {}, wireType(dtype)));
    m_network.inputNames.push_back(name);
    m_network.values.push_back(std::move(tensor));
    m_values.push_back({name, dtype, {}, stepsOf(dtype, true)});
    return m_values.size() - 1;
}

std::size_t NetworkMaker::condition()
{
    const std::uint64_t kind = below(4);
    const auto x = pick([](const NetworkValue& v) {
        return v.exactSteps > 0 && (v.dtype == DType::F32 || v.dtype == DType::I32 || v.dtype == DType::I64);
    });
    if (kind >= 2 && x) { // of data
        const NetworkValue v = m_values[*x];
        std::size_t largest = *x;
        if (!v.shape.empty()) {
            emit("ReduceMax", {*x}, v.dtype, {}, v.exactSteps, wire::intAttribute("keepdims", 0));
            largest = m_values.size() - 1;
        }
        const std::size_t limit = constant(v.dtype, {}, true);
        emit(below(2) == 0 ? "Less" : "Greater", {largest, limit}, DType::Bool, {}, 1000);
        return m_values.size() - 1;
    }
    const auto yes = static_cast<std::int64_t>(below(2));
    if (kind != 0)
        return scalarInput(DType::Bool, yes);
    HostTensor tensor = HostTensor::zeros({DType::Bool, {}});
    graph::operators::writeInts(tensor, std::array{yes});
    return addConstant(tensor, true);
}

NetworkMaker::Around NetworkMaker::beginBody()
{
    ++m_depth;
    return {std::exchange(m_network.nodes, {}), m_values.size()};
}

std::string NetworkMaker::endBody(Around around, const std::vector<std::size_t>& inputs,
                                  const std::vector<std::size_t>& outputs)
{
    const auto valuesOf = [this](const std::vector<std::size_t>& places) {
        std::vector<NetworkValue> values;
        for (const std::size_t place : places)
            values.push_back(m_values[place]);
        return values;
    };
    std::string graph = graphOf(fmt::format("{}_body{}", m_prefix, m_count++), m_network.nodes, valuesOf(inputs),
                                valuesOf(outputs));
    --m_depth;
    m_network.nodes = std::move(around.nodes);
    m_values.resize(around.values);
    return graph;
}

std::size_t NetworkMaker::bodyInput(DType dtype, const Shape& shape)
{
    // Its steps may be repeated: numbers of floats do not stay exact.
    m_values.push_back({fmt::format("{}_b{}", m_prefix, m_count++), dtype, shape, stepsOf(dtype, false)});
    return m_values.size() - 1;
}

void NetworkMaker::bodySteps(std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i)
        if (below(6) == 0)
            tryControl();
        else
            tryStep();
}

std::size_t NetworkMaker::bodyResult(std::size_t from)
{
    for (std::size_t i = m_values.size(); i-- > from;)
        if (isMade(m_values[i]) && !m_values[i].open && countOf(m_values[i].shape) > 0)
            return i;
    const auto x = pick([](const NetworkValue&) { return true; });
    emit("Identity", {*x}, m_values[*x].dtype, m_values[*x].shape, m_values[*x].exactSteps);
    return m_values.size() - 1;
}

std::size_t NetworkMaker::bodyResult(std::size_t from, DType dtype, const Shape& shape)
{
    const auto fits = [&](const NetworkValue& v) { return !v.open && v.dtype == dtype && v.shape == shape; };
    for (std::size_t i = m_values.size(); i-- > from;)
        if (isMade(m_values[i]) && fits(m_values[i]) && below(4) != 0)
            return i;
    auto x = pick(fits);
    if (!x)
        x = constant(dtype, shape);
    if (dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I32 || dtype == DType::I64) {
        const std::size_t y = constant(dtype, below(2) == 0 ? shape : Shape{});
        emit(below(2) == 0 ? "Add" : "Mul", {*x, y}, dtype, shape, isFloat(dtype) ? 0 : 1000);
    } else {
        emit("Identity", {*x}, dtype, shape, m_values[*x].exactSteps);
    }
    return m_values.size() - 1;
}

void NetworkMaker::emitControl(const std::string& op, const std::vector<std::string>& operands,
                               const std::vector<NetworkValue>& results, const std::string& attributes)
{
    std::vector<std::string> names;
    for (const NetworkValue& result : results) {
        m_values.push_back(result);
        names.push_back(m_values.back().name = fresh());
        m_values.back().used = false;
    }
    m_network.nodes.push_back(wire::node(op, operands, names, names[0] + "_node", attributes));
}

void NetworkMaker::branch()
{
    if (m_depth >= kDeepest)
        return;
    const std::size_t asked = condition();
    m_values[asked].used = true;
    const std::string name = m_values[asked].name;
    std::vector<NetworkValue> results;
    Around around = beginBody();
    std::vector<std::size_t> outputs;
    const std::uint64_t count = 1 + below(2);
    for (std::uint64_t i = 0; i < count; ++i) {
        bodySteps(1 + below(2));
        outputs.push_back(bodyResult(around.values));
        results.push_back(m_values[outputs.back()]);
    }
    if (count == 2 && outputs[0] == outputs[1]) { // each branch gives two values
        emit("Identity", {outputs[0]}, results[0].dtype, results[0].shape, results[0].exactSteps);
        outputs[1] = m_values.size() - 1;
    }
    const std::string yes = endBody(std::move(around), {}, outputs);
    around = beginBody();
    outputs.clear();
    bodySteps(below(3));
    for (NetworkValue& result : results) {
        std::size_t other = bodyResult(around.values, result.dtype, result.shape);
        if (std::ranges::find(outputs, other) != outputs.end()) {
            emit("Identity", {other}, result.dtype, result.shape, m_values[other].exactSteps);
            other = m_values.size() - 1;
        }
        outputs.push_back(other);
        result.exactSteps = std::min(result.exactSteps, m_values[other].exactSteps);
    }
    const std::string no = endBody(std::move(around), {}, outputs);
    emitControl("If", {name}, results, graphAttribute("then_branch", yes) + graphAttribute("else_branch", no));
}

void NetworkMaker::loop()
{
    if (m_depth >= kDeepest)
        return;
    enum Trips : std::uint64_t
    {
        Known,
        Given, // by an input
        Any // the condition alone ends it
    };
    const std::uint64_t trips = below(3);
    const auto most = static_cast<std::int64_t>(1 + below(kMostTrips));
    std::vector<std::string> operands;
    if (trips == Known)
        operands.push_back(scalarInt(most));
    else if (trips == Given)
        operands.push_back(m_values[scalarInput(DType::I64, static_cast<std::int64_t>(below(kMostTrips + 1)))].name);
    else
        operands.emplace_back();
    const bool asks = below(3) == 0; // whether it begins at all
    if (asks) {
        const std::size_t asked = condition();
        m_values[asked].used = true;
        operands.push_back(m_values[asked].name);
    } else {
        operands.emplace_back();
    }
    std::vector<NetworkValue> results;
    const std::uint64_t count = 1 + below(2);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto x = pick([](const NetworkValue&) { return true; });
        if (!x)
            return;
        m_values[*x].used = true;
        operands.push_back(m_values[*x].name);
        results.push_back({{}, m_values[*x].dtype, m_values[*x].shape, isFloat(m_values[*x].dtype) ? 0 : 1000});
    }
    const auto limit = static_cast<std::int64_t>(below(kMostTrips));
    const bool limited = trips == Any || below(3) == 0;
    const std::string end = !limited        ? std::string()
                            : below(2) == 0 ? scalarInt(limit)
                                            : m_values[scalarInput(DType::I64, limit)].name;

    Around around = beginBody();
    std::vector<std::size_t> inputs{bodyInput(DType::I64, {}), bodyInput(DType::Bool, {})}, outputs;
    for (const NetworkValue& result : results)
        inputs.push_back(bodyInput(result.dtype, result.shape));
    bodySteps(1 + below(3));
    if (limited)
        emit("Less", {inputs[0]}, DType::Bool, {}, 1000, {}, {end});
    else
        emit("Identity", {inputs[1]}, DType::Bool, {}, 1000);
    outputs.push_back(m_values.size() - 1);
    const std::size_t from = inputs.back() + 1;
    for (const NetworkValue& result : results) {
        std::size_t next = bodyResult(from, result.dtype, result.shape);
        if (std::ranges::find(outputs, next) != outputs.end()) {
            emit("Identity", {next}, result.dtype, result.shape, m_values[next].exactSteps);
            next = m_values.size() - 1;
        }
        outputs.push_back(next);
    }
    const bool open = limited || asks; // known when it has run
    if (trips == Known && (!open || m_depth == 1) && below(2) == 0) { // a row of each iteration
        std::size_t row = bodyResult(from);
        if (countOf(m_values[row].shape) * most > kMostElements)
            row = inputs[0];
        emit("Identity", {row}, m_values[row].dtype, m_values[row].shape, m_values[row].exactSteps);
        outputs.push_back(m_values.size() - 1);
        results.push_back(m_values.back());
        results.back().shape.insert(results.back().shape.begin(), most);
        results.back().open = open;
    }
    const std::string body = endBody(std::move(around), inputs, outputs);
    emitControl("Loop", operands, results, graphAttribute("body", body));
}

void NetworkMaker::scan()
{
    if (m_depth >= kDeepest)
        return;
    const auto x = pick([](const NetworkValue& v) { return !v.shape.empty(); });
    const auto state = pick([](const NetworkValue&) { return true; });
    if (!x || !state)
        return;
    const NetworkValue sliced = m_values[*x];
    m_values[*x].used = m_values[*state].used = true;
    const std::uint64_t axis = below(sliced.shape.size());
    const std::int64_t extent = sliced.shape[axis];
    Shape slice = sliced.shape;
    slice.erase(slice.begin() + static_cast<std::ptrdiff_t>(axis));
    const std::vector<std::string> operands{m_values[*state].name, sliced.name};
    std::vector<NetworkValue> results{
        {{}, m_values[*state].dtype, m_values[*state].shape, isFloat(m_values[*state].dtype) ? 0 : 1000}};

    Around around = beginBody();
    const std::vector<std::size_t> inputs{bodyInput(results[0].dtype, results[0].shape),
                                          bodyInput(sliced.dtype, slice)};
    m_values[inputs[1]].exactSteps = sliced.exactSteps;
    bodySteps(1 + below(3));
    const std::size_t from = inputs.back() + 1;
    std::vector<std::size_t> outputs{bodyResult(from, results[0].dtype, results[0].shape)};
    std::size_t row = bodyResult(from);
    if (countOf(m_values[row].shape) * extent > kMostElements)
        row = inputs[1];
    emit("Identity", {row}, m_values[row].dtype, m_values[row].shape, m_values[row].exactSteps);
    outputs.push_back(m_values.size() - 1);
    results.push_back(m_values.back());
    results.back().shape.insert(results.back().shape.begin(), extent);
    const std::string body = endBody(std::move(around), inputs, outputs);
    emitControl("Scan", operands, results,
                graphAttribute("body", body) + wire::intAttribute("num_scan_inputs", 1)
                    + wire::intsAttribute("scan_input_axes", {static_cast<std::int64_t>(axis)})
                    + wire::intsAttribute("scan_input_directions", {static_cast<std::int64_t>(below(2))})
                    + wire::intsAttribute("scan_output_directions", {static_cast<std::int64_t>(below(2))}));
}

} // namespace lathe::net
