// Pooling over windows and over whole images.

#include "core/compute/definitions/pool.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::graph::operators {
namespace {

struct Geometry
{
    ImageAxes axes;
    Window window;
    std::int64_t batch = 0, channels = 0;
    std::int64_t in[2] = {0, 0};
    std::int64_t out[2] = {0, 0};
};

Result<Geometry> geometryOf(const Node& node, const TensorType& data, bool whole)
{
    LATHE_TRY(needRank(data, 4, "data"));
    Geometry g;
    LATHE_TRY_ASSIGN(const std::string layout, stringAttr(node, "layout", "NCHW"));
    LATHE_TRY_ASSIGN(g.axes, imageAxes(layout));
    g.batch = data.shape[g.axes.n];
    g.channels = data.shape[g.axes.c];
    g.in[0] = data.shape[g.axes.h];
    g.in[1] = data.shape[g.axes.w];
    if (data.dtype == DType::Bool)
        return brokenRule("data must be numbers");
    if (g.in[0] < 1 || g.in[1] < 1)
        return brokenRule(fmt::format("data {} must not be empty", shapeText(data.shape)));
    if (whole) {
        g.window = {{g.in[0], g.in[1]}, {1, 1}, {0, 0, 0, 0}, {1, 1}};
        g.out[0] = g.out[1] = 1;
        return g;
    }
    LATHE_TRY_ASSIGN(Shape size, sizedAttr(node, "pool_size", 2, 1, {}));
    LATHE_TRY_ASSIGN(g.window, windowOf(node, std::move(size)));
    LATHE_TRY_ASSIGN(const bool ceilMode, boolAttr(node, "ceil_mode", false));
    for (std::size_t d = 0; d < 2; ++d) {
        const std::int64_t before = g.window.padding[d];
        const std::int64_t pads = before + g.window.padding[d + 2];
        const std::int64_t reach = (g.window.size[d] - 1) * g.window.dilations[d] + 1;
        // A window of padding alone has no largest element and no mean.
        if (before >= reach || g.window.padding[d + 2] >= reach)
            return brokenRule(fmt::format("padding {} must be smaller than the pool, which reaches over {}", shapeText(g.window.padding), reach));
        if (g.in[d] + pads < reach)
            return brokenRule(fmt::format("the pool reaches over {} {}, the padded data has {}", reach, d == 0 ? "rows" : "columns", g.in[d] + pads));
        const std::int64_t free = g.in[d] + pads - reach;
        const std::int64_t stride = g.window.strides[d];
        g.out[d] = (ceilMode ? (free + stride - 1) / stride : free / stride) + 1;
        // Rounding up must not add a window that begins behind the data.
        if (ceilMode && (g.out[d] - 1) * stride >= g.in[d] + before)
            --g.out[d];
    }
    return g;
}

template<bool Whole>
Result<Types> inferPool(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, inputs[0], Whole));
    Shape shape(4);
    shape[g.axes.n] = g.batch;
    shape[g.axes.c] = g.channels;
    shape[g.axes.h] = g.out[0];
    shape[g.axes.w] = g.out[1];
    return Types{{inputs[0].dtype, std::move(shape)}};
}

template<bool Whole, bool Average>
Result<> evaluatePool(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& data = *inputs[0];
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data.type, Whole));
    LATHE_TRY_ASSIGN(const bool countPadding, boolAttr(node, "count_include_pad", false));
    const auto inStrides = denseStrides(data.type.shape);
    const auto outStrides = denseStrides(outputs[0].type.shape);
    const std::vector<double> image = readFloats(data);
    const Window& w = g.window;

    // Taps of one window along one dimension that lie inside the data, and inside data with padding.
    const auto inside = [&](std::size_t d, std::int64_t begin, std::int64_t low, std::int64_t high) {
        std::int64_t count = 0;
        for (std::int64_t k = 0; k < w.size[d]; ++k) {
            const std::int64_t at = begin + k * w.dilations[d];
            count += at >= low && at < high ? 1 : 0;
        }
        return count;
    };
    for (std::int64_t n = 0; n < g.batch; ++n) {
        for (std::int64_t c = 0; c < g.channels; ++c) {
            const std::int64_t in = n * inStrides[g.axes.n] + c * inStrides[g.axes.c];
            const std::int64_t out = n * outStrides[g.axes.n] + c * outStrides[g.axes.c];
            for (std::int64_t oy = 0; oy < g.out[0]; ++oy) {
                const std::int64_t y0 = oy * w.strides[0] - w.padding[0];
                for (std::int64_t ox = 0; ox < g.out[1]; ++ox) {
                    const std::int64_t x0 = ox * w.strides[1] - w.padding[1];
                    double value = Average ? 0.0 : -std::numeric_limits<double>::infinity();
                    for (std::int64_t ky = 0; ky < w.size[0]; ++ky) {
                        const std::int64_t y = y0 + ky * w.dilations[0];
                        if (y < 0 || y >= g.in[0])
                            continue;
                        for (std::int64_t kx = 0; kx < w.size[1]; ++kx) {
                            const std::int64_t x = x0 + kx * w.dilations[1];
                            if (x < 0 || x >= g.in[1])
                                continue;
                            const double element = image[in + y * inStrides[g.axes.h] + x * inStrides[g.axes.w]];
                            if constexpr (Average)
                                value += element;
                            else if (!std::isnan(value) && !(element <= value)) // a NaN wins
                                value = element;
                        }
                    }
                    if constexpr (Average) {
                        const std::int64_t area = countPadding
                            ? inside(0, y0, -w.padding[0], g.in[0] + w.padding[2]) * inside(1, x0, -w.padding[1], g.in[1] + w.padding[3])
                            : inside(0, y0, 0, g.in[0]) * inside(1, x0, 0, g.in[1]);
                        value /= static_cast<double>(std::max<std::int64_t>(area, 1));
                    }
                    writeFloat(outputs[0].bytes.data(), data.type.dtype, out + oy * outStrides[g.axes.h] + ox * outStrides[g.axes.w], value);
                }
            }
        }
    }
    return {};
}

template<bool Whole, bool Average>
Result<compute::Tensor> computePool(const Node& node, std::span<const compute::Tensor> inputs, ComputeContext& context)
{
    constexpr auto kKind = Average ? compute::PoolKind::Average : compute::PoolKind::Max;
    const TensorType data{context.builder.dtype(inputs[0]), context.builder.shape(inputs[0])};
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data, Whole));
    const auto layout = g.axes.c == 1 ? compute::ImageLayout::Nchw : compute::ImageLayout::Nhwc;
    if (Whole)
        return compute::globalPool2d(context.builder, inputs[0], kKind, layout);
    const Window& w = g.window;
    compute::Pool2dParams p;
    p.layout = layout;
    p.kernel = {w.size[0], w.size[1]};
    p.strides = {w.strides[0], w.strides[1]};
    p.padding = {w.padding[0], w.padding[1], w.padding[2], w.padding[3]};
    p.dilation = {w.dilations[0], w.dilations[1]};
    LATHE_TRY_ASSIGN(p.ceilMode, boolAttr(node, "ceil_mode", false));
    LATHE_TRY_ASSIGN(p.countIncludePad, boolAttr(node, "count_include_pad", false));
    return compute::pool2d(context.builder, inputs[0], kKind, p);
}

} // namespace

std::span<const OpDef> poolOperators()
{
    static const std::vector<OpDef> table = {
        {"max_pool2d", Pattern::OutElementwiseFusable, 1, 1, inferPool<false>, computePool<false, false>, evaluatePool<false, false>},
        {"avg_pool2d", Pattern::OutElementwiseFusable, 1, 1, inferPool<false>, computePool<false, true>, evaluatePool<false, true>},
        {"global_max_pool2d", Pattern::OutElementwiseFusable, 1, 1, inferPool<true>, computePool<true, false>, evaluatePool<true, false>},
        {"global_avg_pool2d", Pattern::OutElementwiseFusable, 1, 1, inferPool<true>, computePool<true, true>, evaluatePool<true, true>},
    };
    return table;
}

} // namespace lathe::graph::operators
