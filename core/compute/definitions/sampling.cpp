#include "core/compute/definitions/sampling.h"

#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/indexing.h"
#include "core/compute/definitions/spatial.h"

#include <cmath>
#include <limits>

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;
using Shape = std::vector<std::int64_t>;

DType placeType(DType given)
{
    return given == DType::F64 ? DType::F64 : DType::F32;
}

ir::Expr lit(double value, const ir::Expr& like)
{
    return ir::floatImm(value, like->dtype);
}

ir::Expr clampTo(const ir::Expr& x, double low, double high)
{
    return ir::max(ir::min(x, lit(high, x)), lit(low, x));
}

/// The last of `extent` places in the type of x. Floats of 32 bits do not have all that are beyond 2^24: then the one
/// before it, since rounding up would lead behind the end.
double lastPlace(const ir::Expr& x, std::int64_t extent)
{
    const auto last = static_cast<double>(extent - 1);
    if (x->dtype == DType::F64)
        return last;
    const auto single = static_cast<float>(last);
    return static_cast<double>(static_cast<double>(single) > last ? std::nextafter(single, 0.0F) : single);
}

ir::Expr toIndex(const ir::Expr& x, std::int64_t extent)
{
    return ir::cast(DType::I32, clampTo(x, 0, lastPlace(x, extent)));
}

ir::Expr floorOf(const ir::Expr& x)
{
    return ir::call("floor", x->dtype, {x});
}

/// A product that is rounded before anything is added to it: code would else join the two, and a place that lies on a
/// pixel or a border would lie beside it.
ir::Expr roundedProduct(const ir::Expr& x, const ir::Expr& y)
{
    return ir::call("fma", x->dtype, {x, y, lit(-0.0, x)});
}

/// One value per pixel that is mixed, in the type that it is mixed in.
ir::Expr mixed(const ir::Expr& pixel)
{
    return isFloat(pixel->dtype) && sizeOf(pixel->dtype) < sizeOf(DType::F32) ? ir::cast(DType::F32, pixel) : pixel;
}

// ---- grids

/// From [-1, 1] to pixels. The steps are those of the field, so that the same places are rounded the same way.
ir::Expr pixelPlace(const ir::Expr& x, std::int64_t extent, bool alignCorners)
{
    const auto n = static_cast<double>(extent);
    if (alignCorners)
        return roundedProduct((x + lit(1, x)) * lit(0.5, x), lit(n - 1, x));
    return roundedProduct(roundedProduct(x + lit(1, x), lit(n, x)) - lit(1, x), lit(0.5, x));
}

ir::Expr reflected(const ir::Expr& x, std::int64_t extent, bool alignCorners)
{
    const double low = alignCorners ? 0 : -0.5, high = static_cast<double>(extent - 1) + (alignCorners ? 0 : 0.5);
    if (high <= low)
        return lit(0, x);
    // How far beyond an end, to and fro.
    const ir::Expr below = lit(low, x) - x, above = x - lit(high, x);
    const ir::Expr beyond = ir::max(below, above);
    const ir::Expr rest = ir::call("fmod", x->dtype, {beyond, lit(2 * (high - low), x)});
    const ir::Expr back = ir::select(rest < lit(high - low, x), rest, lit(2 * (high - low), x) - rest);
    const ir::Expr mirrored = ir::select(below > above, lit(low, x) + back, lit(high, x) - back);
    return ir::select(beyond > lit(0, x), mirrored, x);
}

/// Which pixel stands at a whole place; -1: none, its value is 0.
ir::Expr pixelIndex(const ir::Expr& x, std::int64_t extent, const GridSampleParams& p)
{
    switch (p.padding) {
    case SamplePadding::Border: return toIndex(x, extent);
    case SamplePadding::Reflection: return toIndex(reflected(x, extent, p.alignCorners), extent);
    case SamplePadding::Zeros: break;
    }
    const ir::Expr inside = x >= lit(0, x) && x <= lit(lastPlace(x, extent), x);
    return ir::select(inside, toIndex(x, extent), index(-1));
}

ir::Expr cubicWeight(const ir::Expr& fraction, const ir::Expr& tap)
{
    constexpr double kA = -0.75;
    const auto near = [&](const ir::Expr& t) { // within one pixel
        return (lit(kA + 2, t) * t - lit(kA + 3, t)) * t * t + lit(1, t);
    };
    const auto far = [&](const ir::Expr& t) { // within two
        return ((lit(kA, t) * t - lit(5 * kA, t)) * t + lit(8 * kA, t)) * t - lit(4 * kA, t);
    };
    const ir::Expr rest = lit(1, fraction) - fraction;
    return ir::select(tap < index(2),
                      ir::select(ir::eq(tap, index(0)), far(fraction + lit(1, fraction)), near(fraction)),
                      ir::select(ir::eq(tap, index(2)), near(rest), far(rest + lit(1, fraction))));
}

} // namespace

Tensor gridSample(DagBuilder& b, Tensor data, Tensor grid, const GridSampleParams& p)
{
    const Shape in = b.shape(data), places = b.shape(grid);
    const std::size_t dims = in.size() - 2;
    const DType type = placeType(b.dtype(grid));
    const std::int64_t taps = p.mode == SampleMode::Nearest ? 1 : p.mode == SampleMode::Linear ? 2 : 4;
    Shape tapShape(places.begin(), places.end() - 1);
    tapShape.push_back(taps);

    // Pixels and weights along each dimension once, for all channels.
    std::vector<Tensor> pixels, weights;
    for (std::size_t d = 0; d < dims; ++d) {
        const std::int64_t extent = in[d + 2];
        const auto place = [&, d, extent](const Exprs& a) {
            Exprs at(a.begin(), a.end() - 1);
            at.push_back(index(static_cast<std::int64_t>(dims - 1 - d)));
            return pixelPlace(ir::cast(type, b.at(grid, at)), extent, p.alignCorners);
        };
        pixels.push_back(
            b.compute("grid_pixel", tapShape, axisNames(tapShape.size()), "injective", [&](const Exprs& a) {
                const ir::Expr x = place(a);
                if (p.mode == SampleMode::Nearest)
                    return pixelIndex(ir::call("round", type, {x}), extent, p);
                const ir::Expr first = floorOf(x) - lit(p.mode == SampleMode::Cubic ? 1 : 0, x);
                return pixelIndex(first + ir::cast(type, a.back()), extent, p);
            }));
        if (p.mode == SampleMode::Nearest)
            continue;
        weights.push_back(
            b.compute("grid_weight", tapShape, axisNames(tapShape.size()), "injective", [&](const Exprs& a) {
                const ir::Expr x = place(a), fraction = x - floorOf(x);
                if (p.mode == SampleMode::Cubic)
                    return cubicWeight(fraction, a.back());
                return ir::select(ir::eq(a.back(), index(0)), lit(1, x) - fraction, fraction);
            }));
    }

    Shape shape{in[0], in[1]};
    shape.insert(shape.end(), places.begin() + 1, places.end() - 1);
    const DType dtype = b.dtype(data);
    return b.compute("grid_sample", shape, axisNames(shape.size()), "injective", [&](const Exprs& a) {
        const auto tapAt = [&](std::int64_t tap) {
            Exprs at{a[0]};
            at.insert(at.end(), a.begin() + 2, a.end());
            at.push_back(index(tap));
            return at;
        };
        Exprs at{a[0], a[1]};
        // The pixel at `at`, 0 where a dimension has none.
        const std::function<ir::Expr(std::size_t, ir::Expr)> mix = [&](std::size_t d, const ir::Expr& inside) {
            if (d == dims) {
                const ir::Expr pixel = mixed(b.at(data, at));
                return inside ? ir::select(inside, pixel, constant(0, pixel->dtype)) : pixel;
            }
            ir::Expr sum;
            for (std::int64_t t = 0; t < taps; ++t) {
                const ir::Expr pixel = b.at(pixels[d], tapAt(t));
                ir::Expr within = inside;
                if (p.padding == SamplePadding::Zeros) {
                    within = pixel >= index(0);
                    within = inside ? inside && within : within;
                }
                at.push_back(ir::max(pixel, index(0)));
                const ir::Expr value = mix(d + 1, within);
                at.pop_back();
                const ir::Expr part = weights.empty() ? value
                                                      : value * ir::cast(value->dtype, b.at(weights[d], tapAt(t)));
                sum = sum ? sum + part : part;
            }
            return sum;
        };
        const ir::Expr result = mix(0, {});
        return result->dtype == dtype ? result : ir::cast(dtype, result);
    });
}

// ---- regions

namespace {

/// One side of the bins of regions: where it starts and how long a bin is, in pixels.
struct Bins
{
    ir::Expr start, length;
};

Bins binsOf(const DagBuilder& b, Tensor rois, const ir::Expr& region, std::size_t side, std::int64_t bins,
            const RoiParams& p)
{
    const DType type = placeType(b.dtype(rois));
    const auto coordinate = [&](std::size_t k) {
        const ir::Expr given = ir::cast(type, b.at(rois, {region, index(static_cast<std::int64_t>(k))}));
        const ir::Expr scaled = roundedProduct(given, lit(p.scale, given));
        return p.halfPixel ? scaled - lit(0.5, scaled) : scaled;
    };
    const ir::Expr start = coordinate(1 - side), end = coordinate(3 - side); // x stands before y
    const ir::Expr size = p.halfPixel ? end - start : ir::max(end - start, lit(1, start));
    return {start, ir::div(size, lit(static_cast<double>(bins), size))};
}

/// Where a bin's sample lies, of so many.
ir::Expr samplePlace(const Bins& bins, const ir::Expr& bin, const ir::Expr& sample, const ir::Expr& count)
{
    const ir::Expr first = bins.start + roundedProduct(ir::cast(bins.start->dtype, bin), bins.length);
    return first + ir::div((sample + lit(0.5, sample)) * bins.length, count);
}

/// Whether a sample lies on the image, up to one pixel beyond it; not-a-number does not.
ir::Expr isOnImage(const ir::Expr& x, std::int64_t extent)
{
    return x >= lit(-1, x) && x <= lit(static_cast<double>(extent), x);
}

/// The mean of samples as a sum of products: what each pixel of a side counts in each bin. A bin has as many samples as
/// pixels, rounded up, which only the region tells; but no more than four of them lie within one pixel of another, so
/// that eight are looked at from the first that may.
Tensor adaptiveWeights(DagBuilder& b, Tensor rois, std::size_t side, std::int64_t bins, std::int64_t extent,
                       const RoiParams& p)
{
    constexpr std::int64_t kSeen = 8;
    return b.reduce("roi_weight", {b.shape(rois)[0], bins, extent}, axisNames(3), "comm_reduce", ir::Combiner::Sum,
                    {{"k", kSeen}}, [&](const Exprs& a, const Exprs& r) {
                        const Bins bin = binsOf(b, rois, a[0], side, bins, p);
                        const DType type = bin.start->dtype;
                        const ir::Expr count = ir::call("ceil", type, {bin.length});
                        const ir::Expr samples = ir::max(count, lit(1, count)), none = lit(0, count);
                        const ir::Expr pixel = ir::cast(type, a[2]);
                        const ir::Expr reach = ir::div(pixel - lit(1, pixel) - samplePlace(bin, a[1], none, samples),
                                                       ir::div(bin.length, samples));
                        const ir::Expr begin = ir::max(ir::min(floorOf(reach) - lit(1, reach), count - lit(1, count)),
                                                       none);
                        const ir::Expr sample = begin + ir::cast(type, r[0]);
                        const ir::Expr place = samplePlace(bin, a[1], sample, samples);
                        const ir::Expr clamped = clampTo(place, 0, static_cast<double>(extent - 1));
                        const ir::Expr near = lit(1, place) - ir::call("fabs", type, {clamped - pixel});
                        const ir::Expr counts = isOnImage(place, extent) && sample < count && near > lit(0, near);
                        return ir::select(counts, ir::div(near, samples), lit(0, near));
                    });
}

Tensor adaptiveRoiMean(DagBuilder& b, Tensor data, Tensor rois, Tensor image, const RoiParams& p)
{
    const Shape in = b.shape(data);
    const std::int64_t regions = b.shape(rois)[0];
    const Tensor down = adaptiveWeights(b, rois, 0, p.height, in[2], p);
    const Tensor right = adaptiveWeights(b, rois, 1, p.width, in[3], p);
    // A pixel that does not count must not spoil the sum, whatever it is.
    const auto product = [](const ir::Expr& weight, const ir::Expr& value) {
        return ir::select(ir::ne(weight, lit(0, weight)), value * ir::cast(value->dtype, weight), lit(0, value));
    };
    const Tensor rows = b.reduce(
        "roi_rows", {regions, in[1], in[2], p.width}, axisNames(4), "comm_reduce", ir::Combiner::Sum, {{"w", in[3]}},
        [&](const Exprs& a, const Exprs& r) {
            const ir::Expr n = wrappedIndex(b.at(image, {a[0]}), in[0]);
            return product(b.at(right, {a[0], a[3], r[0]}), mixed(b.at(data, {n, a[1], a[2], r[0]})));
        });
    const Tensor mean = b.reduce(
        "roi_mean", {regions, in[1], p.height, p.width}, axisNames(4), "comm_reduce", ir::Combiner::Sum, {{"h", in[2]}},
        [&](const Exprs& a, const Exprs& r) {
            return product(b.at(down, {a[0], a[2], r[0]}), b.at(rows, {a[0], a[1], r[0], a[3]}));
        });
    return b.dtype(mean) == b.dtype(data) ? mean : cast(b, mean, b.dtype(data));
}

} // namespace

Tensor roiAlign(DagBuilder& b, Tensor data, Tensor rois, Tensor image, const RoiParams& p)
{
    if (p.samples == 0)
        return adaptiveRoiMean(b, data, rois, image, p);
    const Shape in = b.shape(data);
    const std::int64_t regions = b.shape(rois)[0];
    const std::array<std::int64_t, 2> bins{p.height, p.width};
    // Along each side: the pixel before each sample, -1 where it is off the image, and how far behind it lies.
    std::array<Tensor, 2> pixels, fractions;
    for (std::size_t side = 0; side < 2; ++side) {
        const std::int64_t extent = in[side + 2];
        const Shape shape{regions, bins[side], p.samples};
        const auto place = [&, side](const Exprs& a) {
            const Bins bin = binsOf(b, rois, a[0], side, bins[side], p);
            return samplePlace(bin, a[1], ir::cast(bin.start->dtype, a[2]),
                               lit(static_cast<double>(p.samples), bin.start));
        };
        pixels[side] = b.compute("roi_pixel", shape, axisNames(3), "injective", [&](const Exprs& a) {
            const ir::Expr x = place(a);
            return ir::select(isOnImage(x, extent), toIndex(x, extent), index(-1)); // a cast cuts
        });
        fractions[side] = b.compute("roi_fraction", shape, axisNames(3), "injective", [&](const Exprs& a) {
            const ir::Expr x = place(a), clamped = clampTo(x, 0, lastPlace(x, extent));
            return clamped - floorOf(clamped);
        });
    }
    const auto sampleAt = [&](const Exprs& a, const Exprs& r) {
        const ir::Expr n = wrappedIndex(b.at(image, {a[0]}), in[0]);
        std::array<std::array<ir::Expr, 2>, 2> at, weight;
        ir::Expr inside;
        for (std::size_t side = 0; side < 2; ++side) {
            const ir::Expr pixel = b.at(pixels[side], {a[0], a[2 + side], r[side]});
            const ir::Expr fraction = b.at(fractions[side], {a[0], a[2 + side], r[side]});
            const ir::Expr low = ir::max(pixel, index(0));
            at[side] = {low, ir::min(low + index(1), index(in[side + 2] - 1))};
            weight[side] = {lit(1, fraction) - fraction, fraction};
            inside = inside ? inside && pixel >= index(0) : pixel >= index(0);
        }
        ir::Expr result;
        for (const std::size_t y : {0U, 1U}) {
            for (const std::size_t x : {0U, 1U}) {
                const ir::Expr pixel = mixed(b.at(data, {n, a[1], at[0][y], at[1][x]}));
                const ir::Expr part = pixel * ir::cast(pixel->dtype, weight[0][y] * weight[1][x]);
                if (result)
                    result = p.maximum ? ir::max(result, part) : result + part;
                else
                    result = part;
            }
        }
        return ir::select(inside, result, lit(0, result));
    };
    Tensor result = b.reduce("roi_align", {regions, in[1], p.height, p.width}, axisNames(4), "comm_reduce",
                             p.maximum ? ir::Combiner::Max : ir::Combiner::Sum, {{"sy", p.samples}, {"sx", p.samples}},
                             sampleAt);
    if (!p.maximum)
        result = binaryScalar(b, Binary::Divide, result, static_cast<double>(p.samples * p.samples));
    return b.dtype(result) == b.dtype(data) ? result : cast(b, result, b.dtype(data));
}

Tensor roiMaxPool(DagBuilder& b, Tensor data, Tensor rois, const RoiParams& p)
{
    const Shape in = b.shape(data);
    const std::int64_t regions = b.shape(rois)[0];
    const DType type = placeType(b.dtype(rois)), dtype = b.dtype(data);
    const std::array<std::int64_t, 2> bins{p.height, p.width};
    // Pixels [begin, end) of each bin along each side: windows of varying size, one side after the other.
    std::array<std::array<Tensor, 2>, 2> ends;
    for (std::size_t side = 0; side < 2; ++side) {
        for (const std::size_t end : {0U, 1U}) {
            ends[side][end] = b.compute(
                "roi_end", {regions, bins[side]}, axisNames(2), "injective", [&](const Exprs& a) {
                    const auto rounded = [&](std::size_t k) { // halves away from zero
                        const ir::Expr given = ir::cast(type, b.at(rois, {a[0], index(static_cast<std::int64_t>(k))}));
                        const ir::Expr x = roundedProduct(given, lit(p.scale, given));
                        return ir::select(x < lit(0, x), ir::call("ceil", type, {x - lit(0.5, x)}),
                                          floorOf(x + lit(0.5, x)));
                    };
                    const ir::Expr start = rounded(2 - side);
                    const ir::Expr size = ir::max(rounded(4 - side) - start + lit(1, start), lit(1, start));
                    const ir::Expr length = ir::div(size, lit(static_cast<double>(bins[side]), size));
                    const ir::Expr edge = (ir::cast(type, a[1]) + lit(static_cast<double>(end), size)) * length;
                    const ir::Expr pixel = start + ir::call(end == 0 ? "floor" : "ceil", type, {edge});
                    return ir::cast(DType::I32, clampTo(pixel, 0, static_cast<double>(in[side + 2])));
                });
        }
    }
    const auto within = [&](std::size_t side, const ir::Expr& region, const ir::Expr& bin, const ir::Expr& x) {
        return x >= b.at(ends[side][0], {region, bin}) && x < b.at(ends[side][1], {region, bin});
    };
    const ir::Expr least = ir::floatImm(-std::numeric_limits<double>::infinity(), dtype);
    const Tensor rows = b.reduce(
        "roi_rows", {regions, in[1], in[2], p.width}, axisNames(4), "comm_reduce", ir::Combiner::Max, {{"w", in[3]}},
        [&](const Exprs& a, const Exprs& r) {
            const ir::Expr n = toIndex(ir::cast(type, b.at(rois, {a[0], index(0)})), in[0]);
            return ir::select(within(1, a[0], a[3], r[0]), b.at(data, {n, a[1], a[2], r[0]}), least);
        });
    const Tensor largest = b.reduce(
        "roi_max", {regions, in[1], p.height, p.width}, axisNames(4), "comm_reduce", ir::Combiner::Max, {{"h", in[2]}},
        [&](const Exprs& a, const Exprs& r) {
            return ir::select(within(0, a[0], a[2], r[0]), b.at(rows, {a[0], a[1], r[0], a[3]}), least);
        });
    return b.compute("roi_max_pool", {regions, in[1], p.height, p.width}, axisNames(4), "injective",
                     [&](const Exprs& a) {
                         ir::Expr empty;
                         for (std::size_t side = 0; side < 2; ++side) {
                             const ir::Expr none = b.at(ends[side][1], {a[0], a[2 + side]})
                                                   <= b.at(ends[side][0], {a[0], a[2 + side]});
                             empty = empty ? empty || none : none;
                         }
                         return ir::select(empty, zero(dtype), b.at(largest, a));
                     });
}

// ---- windows

Tensor deformedColumns(DagBuilder& b, Tensor data, Tensor offsets, const Tensor* mask, const WindowParams& p)
{
    const Shape in = b.shape(data), given = b.shape(offsets);
    const std::int64_t taps = p.kernel[0] * p.kernel[1], groups = given[1] / (2 * taps);
    const DType type = placeType(b.dtype(offsets)), dtype = b.dtype(data);
    std::array<Tensor, 2> places;
    for (std::size_t side = 0; side < 2; ++side) {
        places[side] = b.compute(
            "deformed_place", {in[0], groups, taps, given[2], given[3]}, axisNames(5), "injective",
            [&](const Exprs& a) {
                const ir::Expr tap = side == 0 ? ir::floorDiv(a[2], index(p.kernel[1]))
                                               : ir::floorMod(a[2], index(p.kernel[1]));
                const ir::Expr whole = a[3 + side] * index(p.strides[side]) + tap * index(p.dilations[side])
                                       - index(p.padding[side]);
                const ir::Expr channel = (a[1] * index(taps) + a[2]) * index(2)
                                         + index(static_cast<std::int64_t>(side));
                return ir::cast(type, whole) + ir::cast(type, b.at(offsets, {a[0], channel, a[3], a[4]}));
            });
    }
    const std::int64_t perGroup = in[1] / groups;
    return b.compute(
        "deformed_columns", {in[0], in[1], taps, given[2], given[3]}, axisNames(5), "injective", [&](const Exprs& a) {
            const ir::Expr group = ir::floorDiv(a[1], index(perGroup));
            ir::Expr sum;
            for (const int down : {0, 1}) {
                for (const int right : {0, 1}) {
                    ir::Expr weight, inside;
                    Exprs at{a[0], a[1]};
                    for (std::size_t side = 0; side < 2; ++side) {
                        const ir::Expr x = b.at(places[side], {a[0], group, a[2], a[3], a[4]});
                        const ir::Expr low = floorOf(x), fraction = x - low;
                        const bool behind = (side == 0 ? down : right) != 0;
                        const ir::Expr pixel = behind ? low + lit(1, x) : low;
                        const ir::Expr part = behind ? fraction : lit(1, x) - fraction;
                        const ir::Expr on = pixel >= lit(0, x) && pixel <= lit(lastPlace(x, in[side + 2]), x);
                        weight = weight ? weight * part : part;
                        inside = inside ? inside && on : on;
                        at.push_back(toIndex(pixel, in[side + 2]));
                    }
                    const ir::Expr pixel = mixed(b.at(data, at));
                    const ir::Expr part = ir::select(inside, pixel * ir::cast(pixel->dtype, weight), lit(0, pixel));
                    sum = sum ? sum + part : part;
                }
            }
            if (mask != nullptr) {
                const ir::Expr m = b.at(*mask, {a[0], group * index(taps) + a[2], a[3], a[4]});
                sum = sum * ir::cast(sum->dtype, m);
            }
            return sum->dtype == dtype ? sum : ir::cast(dtype, sum);
        });
}

Tensor columnsToImage(DagBuilder& b, Tensor columns, const std::vector<std::int64_t>& image, const WindowParams& p)
{
    const Shape in = b.shape(columns);
    const std::size_t dims = image.size();
    std::int64_t taps = 1;
    std::vector<std::pair<std::string, std::int64_t>> reduceAxes;
    Shape windows(dims);
    for (std::size_t d = 0; d < dims; ++d) {
        taps *= p.kernel[d];
        reduceAxes.emplace_back("k" + std::to_string(d), p.kernel[d]);
        windows[d] = convExtent(image[d], p.kernel[d], p.strides[d], p.padding[d], p.padding[d + dims], p.dilations[d]);
    }
    Shape shape{in[0], in[1] / taps};
    shape.insert(shape.end(), image.begin(), image.end());
    const DType dtype = b.dtype(columns);
    const Tensor sum = b.reduce("col2im", shape, axisNames(shape.size()), "comm_reduce", ir::Combiner::Sum, reduceAxes,
                                [&](const Exprs& a, const Exprs& r) {
                                    ir::Expr channel = a[1], column = index(0), inside;
                                    for (std::size_t d = 0; d < dims; ++d) {
                                        const ir::Expr from = a[d + 2] + index(p.padding[d])
                                                              - r[d] * index(p.dilations[d]);
                                        const ir::Expr window = ir::floorDiv(from, index(p.strides[d]));
                                        ir::Expr hit = window >= index(0) && window < index(windows[d]);
                                        if (p.strides[d] > 1)
                                            hit = hit && ir::eq(ir::floorMod(from, index(p.strides[d])), index(0));
                                        inside = inside ? inside && hit : hit;
                                        channel = channel * index(p.kernel[d]) + r[d];
                                        column = column * index(windows[d]) + window;
                                    }
                                    const ir::Expr value = b.at(columns, {a[0], channel, column});
                                    return summand(ir::ifThenElse(inside, value, zero(dtype)), taps);
                                });
    return b.dtype(sum) == dtype ? sum : cast(b, sum, dtype);
}

} // namespace lathe::compute
