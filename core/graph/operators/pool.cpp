// Pooling over windows and over whole images and volumes.

#include "core/compute/definitions/pool.h"

#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/labels.h"
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
    WindowSides sides;
    std::int64_t batch = 0, channels = 0;
};

/// Finds `out`. Rounding up must not add a window that begins behind the data.
Result<> fit(WindowSide& s, std::size_t side, bool ceilMode)
{
    const std::int64_t pads = s.before + s.after;
    // A window of padding alone has no largest element and no mean.
    if (s.before >= s.reach() || s.after >= s.reach())
        return brokenRule(fmt::format("padding {} and {} must be smaller than the pool, which reaches over {}",
                                      s.before, s.after, s.reach()));
    if (s.in + pads < s.reach())
        return brokenRule(
            fmt::format("the pool reaches over {} {}, the padded data has {}", s.reach(), sideWord(side), s.in + pads));
    const std::int64_t free = s.in + pads - s.reach();
    s.out = (ceilMode ? (free + s.stride - 1) / s.stride : free / s.stride) + 1;
    if (ceilMode && (s.out - 1) * s.stride >= s.in + s.before)
        --s.out;
    return {};
}

Result<Geometry> geometryOf(const Node& node, const TensorType& data, std::size_t dims, bool whole)
{
    LATHE_TRY(needRank(data, dims + 2, "data"));
    Geometry g;
    LATHE_TRY_ASSIGN(g.axes, imageAxes(node, dims));
    g.batch = data.shape[g.axes.n];
    g.channels = data.shape[g.axes.c];
    if (data.dtype == DType::Bool)
        return brokenRule("data must be numbers");
    for (std::size_t d = 0; d < dims; ++d) {
        const std::int64_t extent = data.shape[g.axes.firstSpatial + d];
        if (extent < 1)
            return brokenRule(fmt::format("data {} must not be empty", shapeText(data.shape)));
        g.sides[3 - dims + d].in = g.sides[3 - dims + d].size = extent;
    }
    if (whole)
        return g;
    LATHE_TRY_ASSIGN(const Shape size, sizedAttr(node, "pool_size", dims, 1, {}));
    LATHE_TRY_ASSIGN(g.sides, windowSides(node, g.axes, data.shape, size));
    LATHE_TRY_ASSIGN(const bool ceilMode, boolAttr(node, "ceil_mode", false));
    for (std::size_t side = 3 - dims; side < 3; ++side)
        LATHE_TRY(fit(g.sides[side], side, ceilMode));
    return g;
}

template<std::size_t Dims, bool Whole, bool Average>
Result<Types> inferPool(const Node& node, InputTypes inputs, Constants)
{
    if (Average)
        LATHE_TRY(needFloat(inputs[0]));
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, inputs[0], Dims, Whole));
    return Types{{inputs[0].dtype, g.axes.shape(g.batch, g.channels, g.sides)}};
}

/// The taps of the window at `out` that lie in [low, high): the first and one past the last.
struct Taps
{
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const { return std::max<std::int64_t>(end - begin, 0); }
};

Taps tapsWithin(const WindowSide& s, std::int64_t out, std::int64_t low, std::int64_t high)
{
    const std::int64_t start = out * s.stride - s.before;
    const auto upTo = [&](std::int64_t bound) { // taps before `bound`
        return std::clamp<std::int64_t>(bound > start ? (bound - start + s.dilation - 1) / s.dilation : 0, 0, s.size);
    };
    return {upTo(low), upTo(high)};
}

/// T: double, or an integer with the type's sign; averages are of floats alone.
template<std::size_t Dims, bool Whole, bool Average, typename T>
Result<> poolIn(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& data = *inputs[0];
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data.type, Dims, Whole));
    LATHE_TRY_ASSIGN(const bool countPadding, boolAttr(node, "count_include_pad", false));
    const auto inStrides = denseStrides(data.type.shape);
    const auto outStrides = denseStrides(outputs[0].type.shape);
    const std::array<std::int64_t, 3> inSteps = g.axes.steps(inStrides), outSteps = g.axes.steps(outStrides);
    const std::vector<T> image = [&] {
        if constexpr (std::is_same_v<T, double>) {
            return readFloats(data);
        } else {
            const std::vector<std::int64_t> bits = readInts(data);
            return std::vector<T>(bits.begin(), bits.end());
        }
    }();

    const auto evaluateWindow = [&](std::int64_t in, const std::array<std::int64_t, 3>& at) {
        std::array<Taps, 3> taps;
        std::int64_t area = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            const WindowSide& s = g.sides[d];
            taps[d] = tapsWithin(s, at[d], 0, s.in);
            area *= countPadding ? tapsWithin(s, at[d], -s.before, s.in + s.after).count() : taps[d].count();
        }
        const auto offset = [&](std::size_t d, std::int64_t tap) {
            return (at[d] * g.sides[d].stride - g.sides[d].before + tap * g.sides[d].dilation) * inSteps[d];
        };
        T value = Average                                ? T{0}
                  : std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                         : std::numeric_limits<T>::lowest();
        for (std::int64_t kd = taps[0].begin; kd < taps[0].end; ++kd) {
            for (std::int64_t ky = taps[1].begin; ky < taps[1].end; ++ky) {
                for (std::int64_t kx = taps[2].begin; kx < taps[2].end; ++kx) {
                    const T element = image[in + offset(0, kd) + offset(1, ky) + offset(2, kx)];
                    if constexpr (Average)
                        value += element;
                    else if (value == value && !(element <= value)) // a NaN wins
                        value = element;
                }
            }
        }
        return Average ? value / static_cast<T>(std::max<std::int64_t>(area, 1)) : value;
    };
    for (std::int64_t n = 0; n < g.batch; ++n) {
        for (std::int64_t c = 0; c < g.channels; ++c) {
            const std::int64_t in = n * inStrides[g.axes.n] + c * inStrides[g.axes.c];
            const std::int64_t out = n * outStrides[g.axes.n] + c * outStrides[g.axes.c];
            for (std::int64_t od = 0; od < g.sides[0].out; ++od) {
                for (std::int64_t oy = 0; oy < g.sides[1].out; ++oy) {
                    for (std::int64_t ox = 0; ox < g.sides[2].out; ++ox) {
                        const std::int64_t at = out + od * outSteps[0] + oy * outSteps[1] + ox * outSteps[2];
                        const T value = evaluateWindow(in, {od, oy, ox});
                        if constexpr (std::is_same_v<T, double>)
                            writeFloat(outputs[0].bytes.data(), data.type.dtype, at, value);
                        else
                            writeInt(outputs[0].bytes.data(), data.type.dtype, at, static_cast<std::int64_t>(value));
                    }
                }
            }
        }
    }
    return {};
}

template<std::size_t Dims>
compute::PoolParams<Dims> windowParams(const Geometry& g)
{
    compute::PoolParams<Dims> p;
    p.layout = g.axes.channelsLast() ? compute::ImageLayout::Nhwc : compute::ImageLayout::Nchw;
    for (std::size_t d = 0; d < Dims; ++d) {
        const WindowSide& s = g.sides[3 - Dims + d];
        p.kernel[d] = s.size;
        p.strides[d] = s.stride;
        p.padding[d] = s.before;
        p.padding[d + Dims] = s.after;
        p.dilation[d] = s.dilation;
    }
    return p;
}

template<std::size_t Dims, bool Whole, bool Average>
Result<> evaluatePool(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const DType dtype = inputs[0]->type.dtype;
    if (isFloat(dtype))
        return poolIn<Dims, Whole, Average, double>(node, inputs, outputs);
    return isSigned(dtype) ? poolIn<Dims, Whole, Average, std::int64_t>(node, inputs, outputs)
                           : poolIn<Dims, Whole, Average, std::uint64_t>(node, inputs, outputs);
}

template<std::size_t Dims, bool Whole, bool Average>
Result<compute::Tensor> computePool(const Node& node, std::span<const compute::Tensor> inputs, ComputeContext& context)
{
    constexpr auto kKind = Average ? compute::PoolKind::Average : compute::PoolKind::Max;
    const TensorType data{context.builder.dtype(inputs[0]), context.builder.shape(inputs[0])};
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data, Dims, Whole));
    const auto layout = g.axes.channelsLast() ? compute::ImageLayout::Nhwc : compute::ImageLayout::Nchw;
    if (Whole)
        return compute::globalPool<Dims>(context.builder, inputs[0], kKind, layout);
    compute::PoolParams<Dims> p = windowParams<Dims>(g);
    LATHE_TRY_ASSIGN(p.ceilMode, boolAttr(node, "ceil_mode", false));
    LATHE_TRY_ASSIGN(p.countIncludePad, boolAttr(node, "count_include_pad", false));
    return compute::pool<Dims>(context.builder, inputs[0], kKind, p);
}

template<std::size_t Dims>
Result<Types> inferPositions(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, inputs[0], Dims, false));
    if (g.axes.channelsLast())
        return brokenRule("positions are counted in images with the channels first");
    return Types{{DType::I64, g.axes.shape(g.batch, g.channels, g.sides)}};
}

/// Where the maxima of a pool stand, whichever they are: the first tap of each window that none after it exceeds.
template<std::size_t Dims>
Result<> evaluatePositions(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& data = *inputs[0];
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data.type, Dims, false));
    LATHE_TRY_ASSIGN(const std::int64_t order, intAttr(node, "storage_order", 0));
    const std::int64_t depth = g.sides[0].in, height = g.sides[1].in, width = g.sides[2].in;
    std::vector<std::int64_t> result;
    const auto search = [&](const auto& values) {
        for (std::int64_t plane = 0; plane < g.batch * g.channels; ++plane) {
            const auto findIn = [&](const std::array<std::int64_t, 3>& at) {
                std::array<Taps, 3> taps;
                for (std::size_t d = 0; d < 3; ++d)
                    taps[d] = tapsWithin(g.sides[d], at[d], 0, g.sides[d].in);
                const auto place = [&](std::size_t d, std::int64_t tap) {
                    return at[d] * g.sides[d].stride - g.sides[d].before + tap * g.sides[d].dilation;
                };
                std::int64_t best = std::numeric_limits<std::int64_t>::max();
                auto largest = values[0];
                bool any = false;
                for (std::int64_t kd = taps[0].begin; kd < taps[0].end; ++kd) {
                    for (std::int64_t ky = taps[1].begin; ky < taps[1].end; ++ky) {
                        for (std::int64_t kx = taps[2].begin; kx < taps[2].end; ++kx) {
                            const std::int64_t z = place(0, kd), y = place(1, ky), x = place(2, kx);
                            const auto value =
                                values[static_cast<std::size_t>(((plane * depth + z) * height + y) * width + x)];
                            const std::int64_t there = order == 0  ? (z * height + y) * width + x
                                                       : Dims == 2 ? y + x * height // down the columns
                                                                   : z + (y + x * height) * depth;
                            if (!any || (largest == largest && !(value <= largest))) { // a NaN stays
                                largest = value;
                                best = there + plane * depth * height * width;
                            }
                            any = true;
                        }
                    }
                }
                return best;
            };
            for (std::int64_t od = 0; od < g.sides[0].out; ++od) {
                for (std::int64_t oy = 0; oy < g.sides[1].out; ++oy) {
                    for (std::int64_t ox = 0; ox < g.sides[2].out; ++ox)
                        result.push_back(findIn({od, oy, ox}));
                }
            }
        }
    };
    if (isFloat(data.type.dtype)) {
        search(readFloats(data));
    } else if (data.type.dtype == DType::U64) {
        const std::vector<std::int64_t> bits = readInts(data);
        search(std::vector<std::uint64_t>(bits.begin(), bits.end()));
    } else {
        search(readInts(data));
    }
    writeInts(outputs[0], result);
    return {};
}

template<std::size_t Dims>
Result<compute::Tensor> computePositions(const Node& node, std::span<const compute::Tensor> inputs,
                                         ComputeContext& context)
{
    const TensorType data{context.builder.dtype(inputs[0]), context.builder.shape(inputs[0])};
    LATHE_TRY_ASSIGN(const Geometry g, geometryOf(node, data, Dims, false));
    LATHE_TRY_ASSIGN(const std::int64_t order, intAttr(node, "storage_order", 0));
    compute::PoolParams<Dims> params = windowParams<Dims>(g);
    LATHE_TRY_ASSIGN(params.ceilMode, boolAttr(node, "ceil_mode", false));
    return compute::poolPositions<Dims>(context.builder, inputs[0], params, order != 0);
}

template<std::size_t Dims>
OpDef positions(std::string_view name)
{
    return {name,
            Pattern::Opaque,
            1,
            1,
            inferPositions<Dims>,
            computePositions<Dims>,
            evaluatePositions<Dims>,
            {.cost = Cost::Reduction, .demands = noDemands()}};
}

template<std::size_t Dims, bool Whole, bool Average>
OpDef row(std::string_view name)
{
    return {name,
            Pattern::OutElementwiseFusable,
            1,
            1,
            inferPool<Dims, Whole, Average>,
            computePool<Dims, Whole, Average>,
            evaluatePool<Dims, Whole, Average>,
            {.layout = LayoutRule::Image,
             .cost = Cost::Reduction,
             .sums = Average,
             .label = Whole ? wholePoolLabel : poolLabel,
             .nnName = true}};
}

} // namespace

std::span<const OpDef> poolOperators()
{
    static const std::vector<OpDef> table = {
        row<2, false, false>("max_pool2d"),       row<2, false, true>("avg_pool2d"),
        row<2, true, false>("global_max_pool2d"), row<2, true, true>("global_avg_pool2d"),
        row<3, false, false>("max_pool3d"),       row<3, false, true>("avg_pool3d"),
        row<3, true, false>("global_max_pool3d"), row<3, true, true>("global_avg_pool3d"),
        positions<2>("max_pool_positions2d"),     positions<3>("max_pool_positions3d"),
    };
    return table;
}

} // namespace lathe::graph::operators
