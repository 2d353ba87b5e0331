// Windows laid out and put back: what a deformable convolution multiplies, and images added up from columns.

#include "core/compute/definitions/sampling.h"
#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::graph::operators {
namespace {

using Arguments = std::span<const HostTensor* const>;
using Tensors = std::span<const compute::Tensor>;

Result<compute::WindowParams> windowsOf(const Node& node, std::size_t dims)
{
    compute::WindowParams p;
    LATHE_TRY_ASSIGN(p.kernel, sizedAttr(node, "kernel_size", dims, 1, {}));
    LATHE_TRY_ASSIGN(p.strides, sizedAttr(node, "strides", dims, 1, Shape(dims, 1)));
    LATHE_TRY_ASSIGN(p.dilations, sizedAttr(node, "dilations", dims, 1, Shape(dims, 1)));
    LATHE_TRY_ASSIGN(p.padding, sizedAttr(node, "padding", 2 * dims, 0, Shape(2 * dims, 0)));
    return p;
}

/// How many windows an image has along each dimension.
Result<Shape> windowCounts(const compute::WindowParams& p, std::span<const std::int64_t> image)
{
    Shape counts;
    for (std::size_t d = 0; d < image.size(); ++d) {
        const std::int64_t room = image[d] + p.padding[d] + p.padding[d + image.size()]
                                  - (p.kernel[d] - 1) * p.dilations[d] - 1;
        if (room < 0)
            return brokenRule(fmt::format("a window reaches beyond the {} padded entries of dimension {}",
                                          image[d] + p.padding[d] + p.padding[d + image.size()], d));
        counts.push_back(room / p.strides[d] + 1);
    }
    return counts;
}

// ---- deformed windows

Result<Types> inferDeformed(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needRank(inputs[0], 4, "data"));
    LATHE_TRY(needRank(inputs[1], 4, "offsets"));
    LATHE_TRY(needFloat(inputs[0]));
    LATHE_TRY(needSameType(inputs));
    const Shape &data = inputs[0].shape, &offsets = inputs[1].shape;
    if (elementCount(data) == 0)
        return brokenRule(fmt::format("data {} must not be empty", shapeText(data)));
    LATHE_TRY_ASSIGN(const compute::WindowParams p, windowsOf(node, 2));
    LATHE_TRY_ASSIGN(const Shape counts, windowCounts(p, std::span(data).subspan(2)));
    const std::int64_t taps = elementCount(p.kernel), groups = offsets[1] / (2 * taps);
    if (offsets[0] != data[0] || groups < 1 || offsets[1] != groups * 2 * taps || data[1] % groups != 0
        || offsets[2] != counts[0] || offsets[3] != counts[1])
        return brokenRule(fmt::format("the offsets {} must have two numbers for each of {} taps in each group of the "
                                      "channels of data {}, at {} by {} windows",
                                      shapeText(offsets), taps, shapeText(data), counts[0], counts[1]));
    if (inputs.size() == 3 && inputs[2].shape != Shape{data[0], groups * taps, counts[0], counts[1]})
        return brokenRule(fmt::format("the mask {} must have a number for each tap of the offsets {}",
                                      shapeText(inputs[2].shape), shapeText(offsets)));
    return Types{{inputs[0].dtype, {data[0], data[1], taps, counts[0], counts[1]}}};
}

Result<> evaluateDeformed(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const compute::WindowParams p, windowsOf(node, 2));
    const Shape &in = inputs[0]->type.shape, &out = outputs[0].type.shape;
    const DType type = inputs[1]->type.dtype;
    const std::vector<double> data = readFloats(*inputs[0]), offsets = readFloats(*inputs[1]);
    const std::vector<double> mask = inputs.size() == 3 ? readFloats(*inputs[2]) : std::vector<double>();
    const std::int64_t taps = out[2], windows = out[3] * out[4];
    const std::int64_t groups = inputs[1]->type.shape[1] / (2 * taps), perGroup = in[1] / groups;
    const auto pixel = [&](std::int64_t first, double y, double x) {
        const bool inside = y >= 0 && x >= 0 && y <= static_cast<double>(in[2] - 1)
                            && x <= static_cast<double>(in[3] - 1);
        return inside ? data[static_cast<std::size_t>(first + static_cast<std::int64_t>(y) * in[3]
                                                      + static_cast<std::int64_t>(x))]
                      : 0.0;
    };
    std::int64_t target = 0;
    for (std::int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
        const std::int64_t group = plane / in[1] * groups + plane % in[1] / perGroup; // counted over the batch
        const std::int64_t first = plane * in[2] * in[3];
        for (std::int64_t tap = 0; tap < taps; ++tap) {
            for (std::int64_t w = 0; w < windows; ++w) {
                std::array<double, 2> place{};
                for (std::size_t side = 0; side < 2; ++side) {
                    const std::int64_t step = side == 0 ? tap / p.kernel[1] : tap % p.kernel[1];
                    const std::int64_t window = side == 0 ? w / out[4] : w % out[4];
                    const auto whole = static_cast<double>(window * p.strides[side] + step * p.dilations[side]
                                                           - p.padding[side]);
                    place[side] = whole
                                  + offsets[static_cast<std::size_t>(
                                      (2 * (group * taps + tap) + static_cast<std::int64_t>(side)) * windows + w)];
                    if (type != DType::F64) // as kernels have it: a place may lie on a pixel
                        place[side] = static_cast<double>(static_cast<float>(place[side]));
                }
                const double y = std::floor(place[0]), x = std::floor(place[1]);
                const double dy = place[0] - y, dx = place[1] - x;
                const auto part = [&](double down, double right) {
                    const double weight = (down == 0 ? 1 - dy : dy) * (right == 0 ? 1 - dx : dx);
                    const double value = pixel(first, y + down, x + right);
                    const bool inside = y + down >= 0 && y + down < static_cast<double>(in[2]) && x + right >= 0
                                        && x + right < static_cast<double>(in[3]);
                    return inside ? weight * value : 0.0;
                };
                double value = part(0, 0) + part(0, 1) + part(1, 0) + part(1, 1);
                if (!mask.empty())
                    value *= mask[static_cast<std::size_t>((group * taps + tap) * windows + w)];
                writeFloat(outputs[0].bytes.data(), inputs[0]->type.dtype, target++, value);
            }
        }
    }
    return {};
}

Result<compute::Tensor> computeDeformed(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const compute::WindowParams p, windowsOf(node, 2));
    return compute::deformedColumns(context.builder, inputs[0], inputs[1], inputs.size() == 3 ? &inputs[2] : nullptr,
                                    p);
}

// ---- columns

Result<Shape> imageShape(const Node& node)
{
    LATHE_TRY_ASSIGN(const Shape given, intsAttr(node, "image_shape", {}));
    if (given.empty() || given.size() > 4)
        return brokenRule(fmt::format("the image must have from 1 to 4 dimensions, it has {}", given.size()));
    return sizedAttr(node, "image_shape", given.size(), 1, {});
}

Result<Types> inferColumns(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needRank(inputs[0], 3, "columns"));
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("columns must be numbers");
    LATHE_TRY_ASSIGN(const Shape image, imageShape(node));
    LATHE_TRY_ASSIGN(const compute::WindowParams p, windowsOf(node, image.size()));
    LATHE_TRY_ASSIGN(const Shape counts, windowCounts(p, image));
    const Shape& in = inputs[0].shape;
    LATHE_TRY_ASSIGN(const std::int64_t taps, needElementCount(p.kernel));
    LATHE_TRY_ASSIGN(const std::int64_t windows, needElementCount(counts));
    LATHE_TRY(needElementCount(image));
    if (in[1] % taps != 0 || in[2] != windows)
        return brokenRule(
            fmt::format("columns {} must have a multiple of {} rows and {} columns", shapeText(in), taps, windows));
    Shape shape{in[0], in[1] / taps};
    shape.insert(shape.end(), image.begin(), image.end());
    return Types{{inputs[0].dtype, std::move(shape)}};
}

Result<> evaluateColumns(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Shape image, imageShape(node));
    LATHE_TRY_ASSIGN(const compute::WindowParams p, windowsOf(node, image.size()));
    LATHE_TRY_ASSIGN(const Shape counts, windowCounts(p, image));
    const std::int64_t taps = elementCount(p.kernel), windows = elementCount(counts), pixels = elementCount(image);
    const std::int64_t planes = elementCount(outputs[0].type.shape) / std::max<std::int64_t>(pixels, 1);
    const auto run = [&](const auto& columns) {
        std::decay_t<decltype(columns)> sums(static_cast<std::size_t>(planes * pixels), 0);
        for (std::int64_t tap = 0; tap < taps; ++tap) {
            for (std::int64_t w = 0; w < windows; ++w) {
                std::int64_t restTap = tap, restWindow = w, place = 0, step = 1;
                bool inside = true;
                for (std::size_t d = image.size(); d-- > 0;) {
                    const std::int64_t x = restWindow % counts[d] * p.strides[d]
                                           + restTap % p.kernel[d] * p.dilations[d] - p.padding[d];
                    inside = inside && x >= 0 && x < image[d];
                    place += x * step;
                    step *= image[d];
                    restTap /= p.kernel[d];
                    restWindow /= counts[d];
                }
                for (std::int64_t plane = 0; inside && plane < planes; ++plane) {
                    auto& sum = sums[static_cast<std::size_t>(plane * pixels + place)];
                    const auto one = columns[static_cast<std::size_t>((plane * taps + tap) * windows + w)];
                    if constexpr (std::is_integral_v<std::decay_t<decltype(one)>>)
                        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum)
                                                        + static_cast<std::uint64_t>(one)); // wraps
                    else
                        sum += one;
                }
            }
        }
        return sums;
    };
    if (isFloat(inputs[0]->type.dtype))
        writeFloats(outputs[0], run(readFloats(*inputs[0])));
    else
        writeInts(outputs[0], run(readInts(*inputs[0])));
    return {};
}

Result<compute::Tensor> computeColumns(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const Shape image, imageShape(node));
    LATHE_TRY_ASSIGN(const compute::WindowParams p, windowsOf(node, image.size()));
    return compute::columnsToImage(context.builder, inputs[0], image, p);
}

} // namespace

std::span<const OpDef> windowOperators()
{
    static const std::vector<OpDef> table = {
        {"deformed_columns",
         Pattern::Opaque,
         2,
         3,
         inferDeformed,
         computeDeformed,
         evaluateDeformed,
         {.cost = Cost::Movement,
          .sums = true,
          .demands = [](const DemandQuestion& q) { return q.operand == 0 ? q.results : Demand(); }}},
        {"columns_to_image",
         Pattern::Opaque,
         1,
         1,
         inferColumns,
         computeColumns,
         evaluateColumns,
         {.cost = Cost::Reduction, .sums = true, .demands = noDemands()}},
    };
    return table;
}

} // namespace lathe::graph::operators
