// Steps that compute: functions, arithmetic, comparisons, sums, products.

#include "tests/net/network_maker.h"
#include "tests/net/test_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lathe::net {

using graph::HostTensor;

void NetworkMaker::unary()
{
    static const std::vector<std::string> kSmooth = {
        "Sigmoid",   "Tanh",       "Exp", "Sqrt", "Log",  "Erf",      "Softplus",  "Elu",  "Selu", "HardSigmoid",
        "LeakyRelu", "Reciprocal", "Sin", "Cos",  "Atan", "Softsign", "HardSwish", "Celu", "Sinh", "Asinh"};
    static const std::vector<std::string> kExact = {"Abs", "Neg", "Relu", "Identity"};
    const bool exact = below(3) == 0;
    const auto x = pick([&](const NetworkValue& v) { return exact ? isSigned(v.dtype) : isFloat(v.dtype); });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    const std::string op = oneOf(exact ? kExact : kSmooth);
    if (op == "Celu" && v.dtype != DType::F32)
        return;
    emit(op, {*x}, v.dtype, v.shape, exact ? v.exactSteps : 0);
}

void NetworkMaker::jump()
{
    static const std::vector<std::string> kJumps = {"Floor", "Ceil", "Round", "Sign"};
    if (const auto x = pick([](const NetworkValue& v) { return isFloat(v.dtype) && v.exactSteps > 0; }))
        emit(oneOf(kJumps), {*x}, m_values[*x].dtype, m_values[*x].shape, m_values[*x].exactSteps);
}

std::size_t NetworkMaker::partner(std::size_t x, bool exact)
{
    const NetworkValue v = m_values[x];
    if (const auto y = pick([&](const NetworkValue& w) { return w.dtype == v.dtype && w.shape == v.shape; });
        y && below(2) == 0)
        return *y;
    Shape shape = v.shape;
    for (std::int64_t& extent : shape)
        extent = below(3) == 0 ? 1 : extent;
    const std::uint64_t dropped = shape.empty() ? 0 : below(shape.size() + 1);
    shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dropped));
    return constant(v.dtype, shape, exact);
}

void NetworkMaker::binary()
{
    const auto x = pick([](const NetworkValue& v) { return v.dtype != DType::Bool; });
    if (!x)
        return;
    static const std::vector<std::string> kAny = {"Add", "Sub", "Mul", "Max", "Min"};
    static const std::vector<std::string> kFloat = {"Div", "Add", "Mul", "Sub", "PRelu"};
    const NetworkValue v = m_values[*x];
    const std::string op = oneOf(isFloat(v.dtype) && below(2) == 0 ? kFloat : kAny);
    if ((op == "Max" || op == "Min") && (v.dtype == DType::I8 || v.dtype == DType::U8))
        return; // ONNX Runtime has none
    if ((op == "Add" || op == "Sub" || op == "Mul") && (v.dtype == DType::I8 || v.dtype == DType::U8))
        return;
    const std::size_t y = partner(*x, v.exactSteps > 0);
    const NetworkValue w = m_values[y];
    if (op == "PRelu" && (w.shape.size() != v.shape.size() || v.dtype == DType::F16))
        return;
    const bool chooses = op == "Max" || op == "Min";
    const int steps = std::min(v.exactSteps, w.exactSteps) - (chooses || !isFloat(v.dtype) ? 0 : op == "Mul" ? 2 : 1);
    const bool keeps = op != "Div" && op != "PRelu";
    emit(op, {*x, y}, v.dtype, v.shape, keeps ? std::max(steps, 0) : 0);
}

void NetworkMaker::compare()
{
    static const std::vector<std::string> kComparisons = {"Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"};
    static const std::vector<std::string> kLogic = {"And", "Or", "Xor"};
    const auto x = pick([](const NetworkValue& v) { return v.exactSteps > 0; });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    if (v.dtype == DType::I8 || v.dtype == DType::U8)
        return;
    const std::size_t y = partner(*x, true);
    if (m_values[y].exactSteps == 0)
        return;
    emit(oneOf(v.dtype == DType::Bool ? kLogic : kComparisons), {*x, y}, DType::Bool, v.shape, 1000);
}

void NetworkMaker::choose()
{
    const auto condition = pick([](const NetworkValue& v) { return v.dtype == DType::Bool; });
    if (!condition)
        return;
    const Shape shape = m_values[*condition].shape;
    const auto x = pick(
        [&](const NetworkValue& v) { return v.shape == shape && v.dtype != DType::Bool && v.dtype != DType::I8; });
    if (!x)
        return;
    const std::size_t y = partner(*x, m_values[*x].exactSteps > 0);
    emit("Where", {*condition, *x, y}, m_values[*x].dtype, shape,
         std::min(m_values[*x].exactSteps, m_values[y].exactSteps));
}

void NetworkMaker::reduce()
{
    static const std::vector<std::string> kReductions = {"ReduceSum", "ReduceMean",      "ReduceMax",
                                                         "ReduceMin", "ReduceProd",      "ReduceL1",
                                                         "ReduceL2",  "ReduceSumSquare", "ReduceLogSumExp"};
    static const std::vector<std::string> kOfIntegers = {"ReduceSum", "ReduceMax", "ReduceMin"};
    const auto x = pick([](const NetworkValue& v) {
        return !v.shape.empty() && (isFloat(v.dtype) || v.dtype == DType::I32 || v.dtype == DType::I64);
    });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    const std::string op = oneOf(isFloat(v.dtype) ? kReductions : kOfIntegers);
    const std::uint64_t axis = below(v.shape.size());
    const bool keep = below(2) == 0;
    Shape shape = v.shape;
    if (keep)
        shape[axis] = 1;
    else
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    const bool chooses = op == "ReduceMax" || op == "ReduceMin" || !isFloat(v.dtype);
    const Shape axes{static_cast<std::int64_t>(axis)};
    const std::string keeps = wire::intAttribute("keepdims", keep ? 1 : 0);
    if (op == "ReduceSum")
        emit(op, {*x}, v.dtype, shape, chooses ? v.exactSteps : 0, keeps, {ints(axes)});
    else
        emit(op, {*x}, v.dtype, shape, chooses ? v.exactSteps : 0, keeps + wire::intsAttribute("axes", axes));
}

void NetworkMaker::softmax()
{
    const auto x = pick([](const NetworkValue& v) { return isFloat(v.dtype) && !v.shape.empty(); });
    if (!x)
        return;
    const auto axis = static_cast<std::int64_t>(below(m_values[*x].shape.size()));
    emit(below(2) == 0 ? "Softmax" : "LogSoftmax", {*x}, m_values[*x].dtype, m_values[*x].shape, 0,
         wire::intAttribute("axis", axis));
}

void NetworkMaker::product()
{
    const auto x = pick([](const NetworkValue& v) {
        return v.shape.size() >= 2 && (isFloat(v.dtype) || v.dtype == DType::I32 || v.dtype == DType::I64);
    });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    const std::int64_t columns = pickExtent();
    Shape shape = v.shape;
    shape.back() = columns;
    if (countOf(shape) > kMostElements)
        return;
    if (v.shape.size() == 2 && isFloat(v.dtype) && below(2) == 0) {
        const std::size_t w = constant(v.dtype, {columns, v.shape[1]}), bias = constant(v.dtype, {columns});
        emit("Gemm", {*x, w, bias}, v.dtype, shape, 0, wire::intAttribute("transB", 1));
        return;
    }
    const std::size_t w = constant(v.dtype, {v.shape.back(), columns});
    emit("MatMul", {*x, w}, v.dtype, shape, isFloat(v.dtype) ? 0 : v.exactSteps);
}

void NetworkMaker::convert()
{
    static const std::vector<DType> kTypes = {DType::F32, DType::F64, DType::F16, DType::I32, DType::I64, DType::Bool};
    const DType to = oneOf(kTypes);
    const auto x = pick([&](const NetworkValue& v) { return v.dtype != to && (isFloat(to) || v.exactSteps > 0); });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    // Integers may be larger than the digits of a float.
    emit("Cast", {*x}, to, v.shape,
         isFloat(v.dtype) ? std::min(v.exactSteps, stepsOf(to, true))
         : isFloat(to)    ? 0
                          : 1000,
         wire::intAttribute("to", wireType(to)));
}

void NetworkMaker::rank()
{
    const auto x = pick([](const NetworkValue& v) {
        return !v.shape.empty() && v.exactSteps > 0 && (v.dtype == DType::F32 || v.dtype == DType::I32);
    });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    const std::uint64_t axis = below(v.shape.size());
    Shape shape = v.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    emit(below(2) == 0 ? "ArgMax" : "ArgMin", {*x}, DType::I64, shape, 1000,
         wire::intAttribute("axis", static_cast<std::int64_t>(axis)) + wire::intAttribute("keepdims", 0));
}

void NetworkMaker::runningSum()
{
    const auto x = pick([](const NetworkValue& v) {
        return !v.shape.empty()
               && (v.dtype == DType::F32 || v.dtype == DType::F64 || v.dtype == DType::I32 || v.dtype == DType::I64);
    });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    const std::string axis = scalarInt(static_cast<std::int64_t>(below(v.shape.size())));
    emit("CumSum", {*x}, v.dtype, v.shape, isFloat(v.dtype) ? 0 : v.exactSteps,
         wire::intAttribute("reverse", static_cast<std::int64_t>(below(2))), {axis});
}

} // namespace lathe::net
