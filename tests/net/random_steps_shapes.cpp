// Steps on shapes and images: moving, joining, picking, padding; convolutions, pools, normalisations.

#include "core/graph/operators/element.h"
#include "tests/net/network_maker.h"
#include "tests/net/test_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lathe::net {

using graph::HostTensor;

void NetworkMaker::move()
{
    const auto x = pick([](const NetworkValue&) { return true; });
    const NetworkValue v = m_values[*x];
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

void NetworkMaker::join()
{
    const auto x = pick([](const NetworkValue& v) { return !v.shape.empty(); });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
    const std::uint64_t axis = below(v.shape.size());
    Shape other = v.shape;
    other[axis] = pickExtent();
    const auto found = pick([&](const NetworkValue& w) {
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

void NetworkMaker::part()
{
    const auto x = pick([](const NetworkValue& v) { return !v.shape.empty(); });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
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

void NetworkMaker::gather()
{
    const auto x = pick([](const NetworkValue& v) { return !v.shape.empty(); });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
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

void NetworkMaker::pad()
{
    static const std::vector<std::string> kModes = {"constant", "edge", "reflect"};
    const auto x = pick([](const NetworkValue& v) { return !v.shape.empty() && v.dtype != DType::F16; });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
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

std::optional<std::size_t> NetworkMaker::image()
{
    return pick([](const NetworkValue& v) {
        return v.shape.size() == 4 && (v.dtype == DType::F32 || v.dtype == DType::F16 || v.dtype == DType::F64)
               && v.shape[2] >= 2 && v.shape[3] >= 2;
    });
}

std::optional<std::size_t> NetworkMaker::madeImage()
{
    if (const auto found = image())
        return found;
    const auto x = pick(
        [](const NetworkValue& v) { return isFloat(v.dtype) && countOf(v.shape) >= 16 && countOf(v.shape) % 4 == 0; });
    if (!x)
        return std::nullopt;
    const NetworkValue v = m_values[*x];
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

void NetworkMaker::convolve()
{
    const auto x = madeImage();
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
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

void NetworkMaker::pool()
{
    const auto x = madeImage();
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
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

void NetworkMaker::normalize()
{
    const auto x = pick(
        [](const NetworkValue& v) { return v.shape.size() >= 3 && (v.dtype == DType::F32 || v.dtype == DType::F64); });
    if (!x)
        return;
    const NetworkValue v = m_values[*x];
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

} // namespace lathe::net
