#include "tests/net/random_network.h"

#include "core/graph/operators/element.h"
#include "core/support/random.h"
#include "tests/core/frontend/wire_writer.h"
#include "tests/net/test_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

namespace lathe::net {

namespace {

using graph::HostTensor;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kOpset = 17;
constexpr std::int64_t kMostElements = 400;

wire::DataType wireType(DType dtype)
{
    constexpr int kNumbers[] = {9, 3, 2, 5, 4, 6, 12, 7, 13, 10, 16, 1, 11}; // of the published schema, by DType
    return static_cast<wire::DataType>(kNumbers[static_cast<int>(dtype)]);
}

std::int64_t countOf(const Shape& shape)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

struct Value
{
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    /// Steps of arithmetic that still keep its numbers exact: multiples of a power of two that few digits hold.
    int exactSteps = 0;
    bool used = false;
};

class Maker
{
public:
    Maker(std::uint64_t seed, std::string prefix)
        : m_random(seed)
        , m_prefix(std::move(prefix))
    {
        m_network.seed = seed;
    }

    RandomNetwork make()
    {
        const std::uint64_t inputs = 1 + below(3);
        const DType first = pickType();
        for (std::uint64_t i = 0; i < inputs; ++i)
            addInput(below(3) == 0 ? pickType() : first);
        const std::uint64_t steps = 2 + below(7);
        for (std::uint64_t i = 0; i < steps * 4 && m_network.nodes.size() < steps; ++i)
            tryStep();
        if (m_network.nodes.empty())
            emit("Identity", {0}, m_values[0].dtype, m_values[0].shape, m_values[0].exactSteps);
        for (const Value& value : m_values)
            if (!value.used && value.name.find("_v") != std::string::npos) {
                m_network.outputs.push_back(
                    wire::info(value.name, {value.shape.begin(), value.shape.end()}, wireType(value.dtype)));
                m_network.outputNames.push_back(value.name);
            }
        return std::move(m_network);
    }

private:
    std::uint64_t below(std::uint64_t n) { return m_random.below(n); }
    template<typename T>
    const T& oneOf(const std::vector<T>& all)
    {
        return all[below(all.size())];
    }

    DType pickType()
    {
        static const std::vector<DType> kTypes = {DType::F32, DType::F32, DType::F32, DType::F32,
                                                  DType::F32, DType::F16, DType::F64, DType::I32,
                                                  DType::I64, DType::U8,  DType::I8,  DType::Bool};
        return oneOf(kTypes);
    }
    std::int64_t pickExtent()
    {
        static const Shape kExtents = {1, 2, 3, 4, 5, 7, 8, 15, 17};
        return oneOf(kExtents);
    }
    Shape pickShape()
    {
        for (;;) {
            Shape shape(below(5));
            for (std::int64_t& extent : shape)
                extent = pickExtent();
            if (countOf(shape) <= kMostElements)
                return shape;
        }
    }

    HostTensor drawn(DType dtype, const Shape& shape, bool exact)
    {
        HostTensor tensor = HostTensor::zeros({dtype, shape});
        fill(tensor, exact || !isFloat(dtype) ? Values::Halves : Values::Smooth, {}, m_random);
        return tensor;
    }

    void addInput(DType dtype)
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
    static int stepsOf(DType dtype, bool exact)
    {
        if (!isFloat(dtype))
            return 1000;
        return !exact ? 0 : dtype == DType::F32 || dtype == DType::F64 ? 3 : 1;
    }

    std::size_t addConstant(const HostTensor& tensor, bool exact)
    {
        const std::string name = fmt::format("{}_c{}", m_prefix, m_network.initializers.size());
        m_network.initializers.push_back(initializerOf(name, tensor));
        m_values.push_back({name, tensor.type.dtype, tensor.type.shape, stepsOf(tensor.type.dtype, exact), true});
        return m_values.size() - 1;
    }
    std::size_t constant(DType dtype, const Shape& shape, bool exact = false)
    {
        return addConstant(drawn(dtype, shape, exact), exact);
    }
    std::string ints(const Shape& numbers) // an input that describes
    {
        HostTensor tensor = HostTensor::zeros({DType::I64, {static_cast<std::int64_t>(numbers.size())}});
        graph::operators::writeInts(tensor, numbers);
        return m_values[addConstant(tensor, true)].name;
    }
    std::string scalarInt(std::int64_t number)
    {
        HostTensor tensor = HostTensor::zeros({DType::I64, {}});
        graph::operators::writeInts(tensor, std::array{number});
        return m_values[addConstant(tensor, true)].name;
    }

    std::string fresh() { return fmt::format("{}_v{}", m_prefix, m_count++); }

    void emit(const std::string& op, const std::vector<std::size_t>& operands, DType dtype, const Shape& shape,
              int exactSteps, const std::string& attributes = {}, const std::vector<std::string>& more = {})
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

    std::optional<std::size_t> pick(const std::function<bool(const Value&)>& fits)
    {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < m_values.size(); ++i)
            if (fits(m_values[i]))
                found.push_back(i);
        if (found.empty())
            return std::nullopt;
        // The latest ones, so that chains grow.
        return below(2) == 0 ? found.back() : found[below(found.size())];
    }

    void tryStep()
    {
        using Step = void (Maker::*)();
        static const std::vector<Step> kSteps = {
            &Maker::unary,     &Maker::unary,   &Maker::jump,    &Maker::binary,  &Maker::binary,   &Maker::binary,
            &Maker::compare,   &Maker::choose,  &Maker::move,    &Maker::move,    &Maker::join,     &Maker::part,
            &Maker::reduce,    &Maker::reduce,  &Maker::softmax, &Maker::product, &Maker::convolve, &Maker::pool,
            &Maker::normalize, &Maker::convert, &Maker::gather,  &Maker::pad,     &Maker::rank,     &Maker::runningSum};
        (this->*oneOf(kSteps))();
    }

    void unary()
    {
        static const std::vector<std::string> kSmooth = {
            "Sigmoid",   "Tanh",       "Exp", "Sqrt", "Log",  "Erf",      "Softplus",  "Elu",  "Selu", "HardSigmoid",
            "LeakyRelu", "Reciprocal", "Sin", "Cos",  "Atan", "Softsign", "HardSwish", "Celu", "Sinh", "Asinh"};
        static const std::vector<std::string> kExact = {"Abs", "Neg", "Relu", "Identity"};
        const bool exact = below(3) == 0;
        const auto x = pick([&](const Value& v) { return exact ? isSigned(v.dtype) : isFloat(v.dtype); });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::string op = oneOf(exact ? kExact : kSmooth);
        if (op == "Celu" && v.dtype != DType::F32)
            return;
        emit(op, {*x}, v.dtype, v.shape, exact ? v.exactSteps : 0);
    }

    void jump()
    {
        static const std::vector<std::string> kJumps = {"Floor", "Ceil", "Round", "Sign"};
        if (const auto x = pick([](const Value& v) { return isFloat(v.dtype) && v.exactSteps > 0; }))
            emit(oneOf(kJumps), {*x}, m_values[*x].dtype, m_values[*x].shape, m_values[*x].exactSteps);
    }

    /// A second operand that broadcasts with the first, or into it.
    std::size_t partner(std::size_t x, bool exact)
    {
        const Value v = m_values[x];
        if (const auto y = pick([&](const Value& w) { return w.dtype == v.dtype && w.shape == v.shape; });
            y && below(2) == 0)
            return *y;
        Shape shape = v.shape;
        for (std::int64_t& extent : shape)
            extent = below(3) == 0 ? 1 : extent;
        const std::uint64_t dropped = shape.empty() ? 0 : below(shape.size() + 1);
        shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dropped));
        return constant(v.dtype, shape, exact);
    }

    void binary()
    {
        const auto x = pick([](const Value& v) { return v.dtype != DType::Bool; });
        if (!x)
            return;
        static const std::vector<std::string> kAny = {"Add", "Sub", "Mul", "Max", "Min"};
        static const std::vector<std::string> kFloat = {"Div", "Add", "Mul", "Sub", "PRelu"};
        const Value v = m_values[*x];
        const std::string op = oneOf(isFloat(v.dtype) && below(2) == 0 ? kFloat : kAny);
        if ((op == "Max" || op == "Min") && (v.dtype == DType::I8 || v.dtype == DType::U8))
            return; // ONNX Runtime has none
        if ((op == "Add" || op == "Sub" || op == "Mul") && (v.dtype == DType::I8 || v.dtype == DType::U8))
            return;
        const std::size_t y = partner(*x, v.exactSteps > 0);
        const Value w = m_values[y];
        if (op == "PRelu" && (w.shape.size() != v.shape.size() || v.dtype == DType::F16))
            return;
        const bool chooses = op == "Max" || op == "Min";
        const int steps = std::min(v.exactSteps, w.exactSteps)
                          - (chooses || !isFloat(v.dtype) ? 0
                             : op == "Mul"                ? 2
                                                          : 1);
        const bool keeps = op != "Div" && op != "PRelu";
        emit(op, {*x, y}, v.dtype, v.shape, keeps ? std::max(steps, 0) : 0);
    }

    void compare()
    {
        static const std::vector<std::string> kComparisons = {"Less", "Greater", "Equal", "LessOrEqual",
                                                              "GreaterOrEqual"};
        static const std::vector<std::string> kLogic = {"And", "Or", "Xor"};
        const auto x = pick([](const Value& v) { return v.exactSteps > 0; });
        if (!x)
            return;
        const Value v = m_values[*x];
        if (v.dtype == DType::I8 || v.dtype == DType::U8)
            return;
        const std::size_t y = partner(*x, true);
        if (m_values[y].exactSteps == 0)
            return;
        emit(oneOf(v.dtype == DType::Bool ? kLogic : kComparisons), {*x, y}, DType::Bool, v.shape, 1000);
    }

    void choose()
    {
        const auto condition = pick([](const Value& v) { return v.dtype == DType::Bool; });
        if (!condition)
            return;
        const Shape shape = m_values[*condition].shape;
        const auto x = pick(
            [&](const Value& v) { return v.shape == shape && v.dtype != DType::Bool && v.dtype != DType::I8; });
        if (!x)
            return;
        const std::size_t y = partner(*x, m_values[*x].exactSteps > 0);
        emit("Where", {*condition, *x, y}, m_values[*x].dtype, shape,
             std::min(m_values[*x].exactSteps, m_values[y].exactSteps));
    }

    void move()
    {
        const auto x = pick([](const Value&) { return true; });
        const Value v = m_values[*x];
        const auto rank = static_cast<std::int64_t>(v.shape.size());
        switch (below(5)) {
        case 0: { // any order
            Shape order(v.shape.size()), shape;
            for (std::size_t i = 0; i < order.size(); ++i)
                order[i] = static_cast<std::int64_t>(i);
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[below(i)]);
            for (const std::int64_t from : order)
                shape.push_back(v.shape[static_cast<std::size_t>(from)]);
            if (rank > 0)
                emit("Transpose", {*x}, v.dtype, shape, v.exactSteps, wire::intsAttribute("perm", order));
            return;
        }
        case 1: { // merge, or split by a factor
            Shape shape = v.shape;
            if (rank >= 2) {
                const std::uint64_t at = below(static_cast<std::uint64_t>(rank - 1));
                shape[at] *= shape[at + 1];
                shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
            } else {
                shape = {-1};
            }
            const std::string wanted = ints(shape);
            emit("Reshape", {*x}, v.dtype, shape == Shape{-1} ? Shape{countOf(v.shape)} : shape, v.exactSteps, {},
                 {wanted});
            return;
        }
        case 2: {
            const std::int64_t at = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(rank + 1)));
            Shape shape = v.shape;
            shape.insert(shape.begin() + at, 1);
            const std::string axes = ints({at});
            if (shape.size() <= 5)
                emit("Unsqueeze", {*x}, v.dtype, shape, v.exactSteps, {}, {axes});
            return;
        }
        case 3: {
            Shape shape = v.shape;
            for (std::int64_t& extent : shape)
                extent = extent == 1 ? static_cast<std::int64_t>(1 + below(4)) : extent;
            const std::string wanted = ints(shape);
            if (countOf(shape) <= kMostElements)
                emit("Expand", {*x}, v.dtype, shape, v.exactSteps, {}, {wanted});
            return;
        }
        default: {
            Shape repeats(v.shape.size()), shape = v.shape;
            for (std::size_t i = 0; i < repeats.size(); ++i)
                shape[i] *= repeats[i] = static_cast<std::int64_t>(1 + below(2));
            const std::string wanted = ints(repeats);
            if (countOf(shape) <= kMostElements && rank > 0)
                emit("Tile", {*x}, v.dtype, shape, v.exactSteps, {}, {wanted});
        }
        }
    }

    void join()
    {
        const auto x = pick([](const Value& v) { return !v.shape.empty(); });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::uint64_t axis = below(v.shape.size());
        Shape other = v.shape;
        other[axis] = pickExtent();
        const auto found = pick([&](const Value& w) {
            Shape same = w.shape;
            if (same.size() != v.shape.size() || w.dtype != v.dtype)
                return false;
            same[axis] = v.shape[axis];
            return same == v.shape;
        });
        const std::size_t y = found && below(2) == 0 ? *found : constant(v.dtype, other, v.exactSteps > 0);
        Shape shape = v.shape;
        shape[axis] += m_values[y].shape[axis];
        if (countOf(shape) <= kMostElements)
            emit("Concat", {*x, y}, v.dtype, shape, std::min(v.exactSteps, m_values[y].exactSteps),
                 wire::intAttribute("axis", static_cast<std::int64_t>(axis)));
    }

    void part()
    {
        const auto x = pick([](const Value& v) { return !v.shape.empty(); });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::uint64_t axis = below(v.shape.size());
        const std::int64_t extent = v.shape[axis];
        const auto begin = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(extent)));
        const bool back = below(3) == 0;
        const auto step = static_cast<std::int64_t>(1 + below(2)) * (back ? -1 : 1);
        const std::int64_t end = back ? -extent - 1 : extent;
        Shape shape = v.shape;
        shape[axis] = back ? begin / -step + 1 : (extent - begin + step - 1) / step;
        const std::string starts = ints({begin}), ends = ints({end}), axes = ints({static_cast<std::int64_t>(axis)}),
                          steps = ints({step});
        emit("Slice", {*x}, v.dtype, shape, v.exactSteps, {}, {starts, ends, axes, steps});
    }

    void reduce()
    {
        static const std::vector<std::string> kReductions = {"ReduceSum", "ReduceMean",      "ReduceMax",
                                                             "ReduceMin", "ReduceProd",      "ReduceL1",
                                                             "ReduceL2",  "ReduceSumSquare", "ReduceLogSumExp"};
        static const std::vector<std::string> kOfIntegers = {"ReduceSum", "ReduceMax", "ReduceMin"};
        const auto x = pick([](const Value& v) {
            return !v.shape.empty() && (isFloat(v.dtype) || v.dtype == DType::I32 || v.dtype == DType::I64);
        });
        if (!x)
            return;
        const Value v = m_values[*x];
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

    void softmax()
    {
        const auto x = pick([](const Value& v) { return isFloat(v.dtype) && !v.shape.empty(); });
        if (!x)
            return;
        const auto axis = static_cast<std::int64_t>(below(m_values[*x].shape.size()));
        emit(below(2) == 0 ? "Softmax" : "LogSoftmax", {*x}, m_values[*x].dtype, m_values[*x].shape, 0,
             wire::intAttribute("axis", axis));
    }

    void product()
    {
        const auto x = pick([](const Value& v) {
            return v.shape.size() >= 2 && (isFloat(v.dtype) || v.dtype == DType::I32 || v.dtype == DType::I64);
        });
        if (!x)
            return;
        const Value v = m_values[*x];
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

    std::optional<std::size_t> image()
    {
        return pick([](const Value& v) {
            return v.shape.size() == 4 && (v.dtype == DType::F32 || v.dtype == DType::F16 || v.dtype == DType::F64)
                   && v.shape[2] >= 2 && v.shape[3] >= 2;
        });
    }
    /// An image of what there is, by a reshape, so that convolutions are not rare.
    std::optional<std::size_t> madeImage()
    {
        if (const auto found = image())
            return found;
        const auto x = pick(
            [](const Value& v) { return isFloat(v.dtype) && countOf(v.shape) >= 16 && countOf(v.shape) % 4 == 0; });
        if (!x)
            return std::nullopt;
        const Value v = m_values[*x];
        const std::int64_t rest = countOf(v.shape) / 4;
        std::int64_t rows = 1;
        for (const std::int64_t divisor : {7, 5, 4, 3, 2})
            if (rest % divisor == 0) {
                rows = divisor;
                break;
            }
        if (rows == 1 || rest / rows < 2)
            return std::nullopt;
        const Shape shape{1, 4, rows, rest / rows};
        const std::string wanted = ints(shape);
        emit("Reshape", {*x}, v.dtype, shape, v.exactSteps, {}, {wanted});
        return m_values.size() - 1;
    }

    void convolve()
    {
        const auto x = madeImage();
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::int64_t channels = v.shape[1];
        const std::int64_t groups = below(3) == 0 ? channels : channels % 2 == 0 && below(3) == 0 ? 2 : 1;
        const std::int64_t out = groups * static_cast<std::int64_t>(1 + below(groups == 1 ? 9 : 2));
        const auto kernel = static_cast<std::int64_t>(1 + below(3)), stride = static_cast<std::int64_t>(1 + below(2)),
                   pad = static_cast<std::int64_t>(below(2)), dilation = static_cast<std::int64_t>(1 + below(2));
        Shape shape{v.shape[0], out, 0, 0};
        for (std::size_t d = 2; d < 4; ++d) {
            const std::int64_t room = v.shape[d] + 2 * pad - dilation * (kernel - 1) - 1;
            if (room < 0)
                return;
            shape[d] = room / stride + 1;
        }
        if (countOf(shape) > kMostElements)
            return;
        const std::size_t w = constant(v.dtype, {out, channels / groups, kernel, kernel});
        std::vector<std::size_t> operands{*x, w};
        if (below(2) == 0)
            operands.push_back(constant(v.dtype, {out}));
        emit("Conv", operands, v.dtype, shape, 0,
             wire::intsAttribute("kernel_shape", {kernel, kernel}) + wire::intsAttribute("strides", {stride, stride})
                 + wire::intsAttribute("pads", {pad, pad, pad, pad})
                 + wire::intsAttribute("dilations", {dilation, dilation}) + wire::intAttribute("group", groups));
    }

    void pool()
    {
        const auto x = madeImage();
        if (!x)
            return;
        const Value v = m_values[*x];
        if (below(4) == 0) {
            emit("GlobalAveragePool", {*x}, v.dtype, {v.shape[0], v.shape[1], 1, 1}, 0);
            return;
        }
        const auto kernel = static_cast<std::int64_t>(2 + below(2)), stride = static_cast<std::int64_t>(1 + below(2)),
                   pad = static_cast<std::int64_t>(below(2));
        Shape shape = v.shape;
        for (std::size_t d = 2; d < 4; ++d) {
            const std::int64_t room = v.shape[d] + 2 * pad - kernel;
            if (room < 0)
                return;
            shape[d] = room / stride + 1;
        }
        const bool largest = below(2) == 0;
        std::string attributes = wire::intsAttribute("kernel_shape", {kernel, kernel})
                                 + wire::intsAttribute("strides", {stride, stride})
                                 + wire::intsAttribute("pads", {pad, pad, pad, pad});
        if (!largest)
            attributes += wire::intAttribute("count_include_pad", static_cast<std::int64_t>(below(2)));
        emit(largest ? "MaxPool" : "AveragePool", {*x}, v.dtype, shape, largest ? v.exactSteps : 0, attributes);
    }

    void normalize()
    {
        const auto x = pick(
            [](const Value& v) { return v.shape.size() >= 3 && (v.dtype == DType::F32 || v.dtype == DType::F64); });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::size_t scale = constant(v.dtype, {v.shape[1]}), bias = constant(v.dtype, {v.shape[1]});
        switch (below(3)) {
        case 0: {
            const std::size_t mean = constant(v.dtype, {v.shape[1]});
            HostTensor variance = drawn(v.dtype, {v.shape[1]}, false);
            std::vector<double> numbers = graph::operators::readFloats(variance);
            for (double& number : numbers)
                number = std::abs(number) + 0.25;
            graph::operators::writeFloats(variance, numbers);
            const std::size_t var = addConstant(variance, false);
            emit("BatchNormalization", {*x, scale, bias, mean, var}, v.dtype, v.shape, 0);
            return;
        }
        case 1: emit("InstanceNormalization", {*x, scale, bias}, v.dtype, v.shape, 0); return;
        default: {
            const std::size_t last = constant(v.dtype, {v.shape.back()}), shift = constant(v.dtype, {v.shape.back()});
            emit("LayerNormalization", {*x, last, shift}, v.dtype, v.shape, 0);
        }
        }
    }

    void convert()
    {
        static const std::vector<DType> kTypes = {DType::F32, DType::F64, DType::F16,
                                                  DType::I32, DType::I64, DType::Bool};
        const DType to = oneOf(kTypes);
        const auto x = pick([&](const Value& v) { return v.dtype != to && (isFloat(to) || v.exactSteps > 0); });
        if (!x)
            return;
        const Value v = m_values[*x];
        // Integers may be larger than the digits of a float.
        emit("Cast", {*x}, to, v.shape,
             isFloat(v.dtype) ? std::min(v.exactSteps, stepsOf(to, true))
             : isFloat(to)    ? 0
                              : 1000,
             wire::intAttribute("to", wireType(to)));
    }

    void gather()
    {
        const auto x = pick([](const Value& v) { return !v.shape.empty(); });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::uint64_t axis = below(v.shape.size());
        const Shape picks = below(2) == 0 ? Shape{static_cast<std::int64_t>(1 + below(4))} : Shape{};
        HostTensor places = HostTensor::zeros({DType::I64, picks});
        fillPlaces(places, v.shape[axis], m_random);
        const std::size_t indices = addConstant(places, true);
        Shape shape(v.shape.begin(), v.shape.begin() + static_cast<std::ptrdiff_t>(axis));
        shape.insert(shape.end(), picks.begin(), picks.end());
        shape.insert(shape.end(), v.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, v.shape.end());
        if (countOf(shape) <= kMostElements)
            emit("Gather", {*x, indices}, v.dtype, shape, v.exactSteps,
                 wire::intAttribute("axis", static_cast<std::int64_t>(axis)));
    }

    void pad()
    {
        static const std::vector<std::string> kModes = {"constant", "edge", "reflect"};
        const auto x = pick([](const Value& v) { return !v.shape.empty() && v.dtype != DType::F16; });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::string mode = v.dtype == DType::Bool ? "constant" : oneOf(kModes);
        Shape amounts(2 * v.shape.size()), shape = v.shape;
        for (std::size_t i = 0; i < amounts.size(); ++i) {
            const std::size_t d = i % v.shape.size();
            amounts[i] = mode == "reflect" ? static_cast<std::int64_t>(
                             below(static_cast<std::uint64_t>(std::min<std::int64_t>(3, v.shape[d]))))
                                           : static_cast<std::int64_t>(below(3));
            shape[d] += amounts[i];
        }
        const std::string pads = ints(amounts);
        if (countOf(shape) <= kMostElements)
            emit("Pad", {*x}, v.dtype, shape, v.exactSteps, wire::textAttribute("mode", mode), {pads});
    }

    void rank()
    {
        const auto x = pick([](const Value& v) {
            return !v.shape.empty() && v.exactSteps > 0 && (v.dtype == DType::F32 || v.dtype == DType::I32);
        });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::uint64_t axis = below(v.shape.size());
        Shape shape = v.shape;
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
        emit(below(2) == 0 ? "ArgMax" : "ArgMin", {*x}, DType::I64, shape, 1000,
             wire::intAttribute("axis", static_cast<std::int64_t>(axis)) + wire::intAttribute("keepdims", 0));
    }

    void runningSum()
    {
        const auto x = pick([](const Value& v) {
            return !v.shape.empty()
                   && (v.dtype == DType::F32 || v.dtype == DType::F64 || v.dtype == DType::I32
                       || v.dtype == DType::I64);
        });
        if (!x)
            return;
        const Value v = m_values[*x];
        const std::string axis = scalarInt(static_cast<std::int64_t>(below(v.shape.size())));
        emit("CumSum", {*x}, v.dtype, v.shape, isFloat(v.dtype) ? 0 : v.exactSteps,
             wire::intAttribute("reverse", static_cast<std::int64_t>(below(2))), {axis});
    }

    Random m_random;
    std::string m_prefix;
    RandomNetwork m_network;
    std::vector<Value> m_values;
    int m_count = 0;
};

} // namespace

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
    return Maker(seed, prefix).make();
}

} // namespace lathe::net
