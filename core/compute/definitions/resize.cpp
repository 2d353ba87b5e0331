#include "core/compute/definitions/resize.h"

#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

struct Axis
{
    std::int64_t in = 1;
    std::int64_t out = 1;
    double scale = 1; ///< output / input
};

/// Where output position o lies in the input, as F32. Whole factors of asymmetric nearest stay in integers elsewhere.
ir::Expr sourcePosition(const ir::Expr& o, const Axis& axis, CoordinateMode mode)
{
    const ir::Expr x = ir::cast(DType::F32, o);
    const auto lit = [](double v) { return ir::floatImm(v, DType::F32); };
    const double step = 1.0 / axis.scale;
    switch (mode) {
    case CoordinateMode::Asymmetric: return x * lit(step);
    case CoordinateMode::AlignCorners:
        return axis.out == 1 ? lit(0) : x * lit(static_cast<double>(axis.in - 1) / static_cast<double>(axis.out - 1));
    case CoordinateMode::PytorchHalfPixel:
        if (axis.out == 1)
            return lit(0);
        [[fallthrough]];
    case CoordinateMode::HalfPixel: return (x + lit(0.5)) * lit(step) - lit(0.5);
    }
    return x;
}

ir::Expr clampIndex(const ir::Expr& i, std::int64_t extent)
{
    return ir::max(ir::min(i, index(extent - 1)), index(0));
}

ir::Expr toIndex(const char* rounding, const ir::Expr& x)
{
    return ir::cast(DType::I32, ir::call(rounding, DType::F32, {x}));
}

ir::Expr nearestIndex(const ir::Expr& o, const Axis& axis, const Resize2dParams& p)
{
    if (axis.in == axis.out)
        return o;
    // Upsampling by a whole factor, as networks do it: integer arithmetic gives better loops and no rounding doubts.
    const bool halves = p.coordinates == CoordinateMode::HalfPixel || p.coordinates == CoordinateMode::PytorchHalfPixel;
    const bool wholeFactor = axis.out % axis.in == 0
                             && axis.scale == static_cast<double>(axis.out) / static_cast<double>(axis.in);
    if (wholeFactor
        && ((p.coordinates == CoordinateMode::Asymmetric && p.rounding == NearestRounding::Floor)
            || (halves && p.rounding == NearestRounding::RoundPreferFloor && axis.out > 1)))
        return ir::floorDiv(o, index(axis.out / axis.in));
    const ir::Expr x = sourcePosition(o, axis, p.coordinates);
    const ir::Expr half = ir::floatImm(0.5, DType::F32);
    switch (p.rounding) {
    case NearestRounding::RoundPreferFloor: return clampIndex(toIndex("ceil", x - half), axis.in);
    case NearestRounding::RoundPreferCeil: return clampIndex(toIndex("floor", x + half), axis.in);
    case NearestRounding::Floor: return clampIndex(toIndex("floor", x), axis.in);
    case NearestRounding::Ceil: return clampIndex(toIndex("ceil", x), axis.in);
    }
    return o;
}

} // namespace

Tensor resize2d(DagBuilder& b, Tensor data, const Resize2dParams& p)
{
    const ImageAxes dims = imageAxes(p.layout);
    const std::array<std::size_t, 2> spatial{dims.height, dims.width};
    std::vector<std::int64_t> shape = b.shape(data);
    std::array<Axis, 2> axes;
    for (std::size_t i = 0; i < 2; ++i) {
        axes[i] = {shape[spatial[i]], p.size[i],
                   p.scale[i] > 0 ? p.scale[i]
                                  : static_cast<double>(p.size[i]) / static_cast<double>(shape[spatial[i]])};
        shape[spatial[i]] = p.size[i];
    }
    const DType type = b.dtype(data);
    return b.compute("resize", shape, {}, "resize", [&](const Exprs& a) {
        if (p.mode == ResizeMode::Nearest) {
            Exprs at = a;
            for (std::size_t i = 0; i < 2; ++i)
                at[spatial[i]] = nearestIndex(a[spatial[i]], axes[i], p);
            return b.at(data, at);
        }
        std::array<std::array<ir::Expr, 2>, 2> positions; // [dimension][lower, upper]
        std::array<ir::Expr, 2> fraction;
        for (std::size_t i = 0; i < 2; ++i) {
            const ir::Expr x = sourcePosition(a[spatial[i]], axes[i], p.coordinates);
            const ir::Expr below = ir::call("floor", DType::F32, {x});
            const ir::Expr low = ir::cast(DType::I32, below);
            positions[i] = {clampIndex(low, axes[i].in), clampIndex(low + index(1), axes[i].in)};
            fraction[i] = ir::cast(type, x - below);
        }
        const auto corner = [&](std::size_t y, std::size_t x) {
            Exprs at = a;
            at[spatial[0]] = positions[0][y];
            at[spatial[1]] = positions[1][x];
            return b.at(data, at);
        };
        const auto mix = [&](const ir::Expr& low, const ir::Expr& high, const ir::Expr& t) {
            return low + (high - low) * t;
        };
        return mix(mix(corner(0, 0), corner(0, 1), fraction[1]), mix(corner(1, 0), corner(1, 1), fraction[1]),
                   fraction[0]);
    });
}

} // namespace lathe::compute
