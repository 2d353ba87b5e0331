// Images and volumes read at places that are computed: grids, regions of interest, deformed and folded windows.

#include "core/compute/definitions/sampling.h"

#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::graph::operators {
namespace {

using Arguments = std::span<const HostTensor* const>;
using Tensors = std::span<const compute::Tensor>;

/// Places are computed in the precision of kernels: on which side of a border a place lies must not differ.
double inPrecision(DType type, double x)
{
    return type == DType::F64 ? x : static_cast<double>(static_cast<float>(x));
}

Result<> needElements(const TensorType& type, std::string_view what)
{
    if (elementCount(type.shape) == 0)
        return brokenRule(fmt::format("{} {} must not be empty", what, shapeText(type.shape)));
    return {};
}

// ---- grids

Result<compute::GridSampleParams> gridParams(const Node& node)
{
    compute::GridSampleParams p;
    LATHE_TRY_ASSIGN(const std::string mode, stringAttr(node, "mode", "linear"));
    LATHE_TRY_ASSIGN(const std::string padding, stringAttr(node, "padding_mode", "zeros"));
    LATHE_TRY_ASSIGN(p.alignCorners, boolAttr(node, "align_corners", false));
    if (mode != "nearest" && mode != "linear" && mode != "cubic")
        return brokenRule(fmt::format("mode must be nearest, linear or cubic, it is \"{}\"", mode));
    if (padding != "zeros" && padding != "border" && padding != "reflection")
        return brokenRule(fmt::format("padding_mode must be zeros, border or reflection, it is \"{}\"", padding));
    p.mode = mode == "nearest"  ? compute::SampleMode::Nearest
             : mode == "linear" ? compute::SampleMode::Linear
                                : compute::SampleMode::Cubic;
    p.padding = padding == "zeros"    ? compute::SamplePadding::Zeros
                : padding == "border" ? compute::SamplePadding::Border
                                      : compute::SamplePadding::Reflection;
    return p;
}

Result<Types> inferGridSample(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const compute::GridSampleParams p, gridParams(node));
    const Shape &data = inputs[0].shape, &grid = inputs[1].shape;
    if (data.size() < 3 || data.size() > 5)
        return brokenRule(fmt::format("data must have 1 to 3 spatial dimensions, it is {}", shapeText(data)));
    LATHE_TRY(needElements(inputs[0], "data"));
    LATHE_TRY(needFloat(inputs[1]));
    if (grid.size() != data.size() || grid[0] != data[0] || grid.back() != static_cast<std::int64_t>(data.size()) - 2)
        return brokenRule(fmt::format("the grid {} must have a place of {} coordinates for each point, and the batch "
                                      "of data {}",
                                      shapeText(grid), data.size() - 2, shapeText(data)));
    if (p.mode != compute::SampleMode::Nearest)
        LATHE_TRY(needFloat(inputs[0]));
    if (p.mode == compute::SampleMode::Cubic && data.size() != 4)
        return brokenRule("mode cubic is for images alone");
    Shape shape{data[0], data[1]};
    shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
    return Types{{inputs[0].dtype, std::move(shape)}};
}

/// The pixels that one place mixes along one dimension, -1 for one that is not there, and what each counts.
struct GridTaps
{
    std::vector<std::int64_t> pixels;
    std::vector<double> weights;
};

template<typename T>
GridTaps gridTaps(T given, std::int64_t extent, const compute::GridSampleParams& p)
{
    const auto n = static_cast<T>(extent);
    // Beyond 2^24 floats do not have every place: the last one that they have, and none behind the end.
    const T last = static_cast<std::int64_t>(n - 1) < extent ? n - 1 : std::nextafter(n - 1, T{0});
    const T place = p.alignCorners ? (given + 1) * T{0.5} * (n - 1) : ((given + 1) * n - 1) * T{0.5};
    const auto pixelAt = [&](T x) -> std::int64_t {
        if (p.padding == compute::SamplePadding::Zeros)
            return x >= 0 && x <= last ? static_cast<std::int64_t>(x) : -1;
        if (p.padding == compute::SamplePadding::Reflection) {
            const T low = p.alignCorners ? T{0} : T{-0.5}, high = p.alignCorners ? n - 1 : n - T{0.5};
            const T range = high - low;
            if (range <= 0)
                return 0;
            if (x < low || x > high) {
                const T beyond = std::fmod(x < low ? low - x : x - high, 2 * range);
                const T back = beyond < range ? beyond : 2 * range - beyond;
                x = x < low ? low + back : high - back;
            }
        }
        return std::isnan(x) ? 0 : static_cast<std::int64_t>(std::clamp(x, T{0}, last));
    };
    if (p.mode == compute::SampleMode::Nearest)
        return {{pixelAt(std::nearbyint(place))}, {1.0}};
    const T low = std::floor(place);
    const double t = static_cast<double>(place - low);
    if (p.mode == compute::SampleMode::Linear)
        return {{pixelAt(low), pixelAt(low + 1)}, {1 - t, t}};
    constexpr double kA = -0.75;
    const auto kernel = [](double distance) {
        const double d = std::abs(distance);
        return d <= 1 ? ((kA + 2) * d - (kA + 3)) * d * d + 1 : ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA;
    };
    GridTaps taps;
    for (int k = -1; k <= 2; ++k) {
        taps.pixels.push_back(pixelAt(low + static_cast<T>(k)));
        taps.weights.push_back(kernel(t - k));
    }
    return taps;
}

Result<> evaluateGridSample(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const compute::GridSampleParams p, gridParams(node));
    const Shape &in = inputs[0]->type.shape, &out = outputs[0].type.shape;
    const std::size_t dims = in.size() - 2;
    const DType dtype = inputs[0]->type.dtype;
    const std::int64_t places = elementCount(std::span(out).subspan(2)),
                       pixels = elementCount(std::span(in).subspan(2));
    const Shape strides = denseStrides(in);
    const std::vector<double> grid = readFloats(*inputs[1]);
    const std::vector<double> values = isFloat(dtype) ? readFloats(*inputs[0]) : std::vector<double>();
    const auto size = static_cast<std::size_t>(sizeOf(dtype));
    for (std::int64_t n = 0; n < in[0]; ++n) {
        for (std::int64_t q = 0; q < places; ++q) {
            std::vector<GridTaps> taps(dims);
            for (std::size_t d = 0; d < dims; ++d) {
                const double x = grid[static_cast<std::size_t>(n * places + q) * dims + (dims - 1 - d)];
                taps[d] = inputs[1]->type.dtype == DType::F64 ? gridTaps(x, in[d + 2], p)
                                                              : gridTaps(static_cast<float>(x), in[d + 2], p);
            }
            for (std::int64_t c = 0; c < in[1]; ++c) {
                const std::int64_t image = (n * in[1] + c) * pixels, target = (n * in[1] + c) * places + q;
                double sum = -0.0; // so that a pixel alone keeps its sign
                std::vector<std::size_t> tap(dims, 0);
                for (bool more = true; more;) {
                    std::int64_t at = image;
                    double weight = 1;
                    bool inside = true;
                    for (std::size_t d = 0; d < dims; ++d) {
                        const std::int64_t pixel = taps[d].pixels[tap[d]];
                        inside = inside && pixel >= 0;
                        at += pixel * strides[d + 2];
                        weight *= taps[d].weights[tap[d]];
                    }
                    if (!isFloat(dtype)) {
                        if (inside)
                            std::memcpy(outputs[0].bytes.data() + static_cast<std::size_t>(target) * size,
                                        inputs[0]->bytes.data() + static_cast<std::size_t>(at) * size, size);
                    } else {
                        sum += weight * (inside ? values[static_cast<std::size_t>(at)] : 0.0);
                    }
                    more = false;
                    for (std::size_t d = dims; d-- > 0 && !more;) {
                        more = ++tap[d] < taps[d].pixels.size();
                        if (!more)
                            tap[d] = 0;
                    }
                }
                if (isFloat(dtype))
                    writeFloat(outputs[0].bytes.data(), dtype, target, sum);
            }
        }
    }
    return {};
}

Result<compute::Tensor> computeGridSample(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const compute::GridSampleParams p, gridParams(node));
    return compute::gridSample(context.builder, inputs[0], inputs[1], p);
}

// ---- regions

Result<compute::RoiParams> roiParams(const Node& node)
{
    compute::RoiParams p;
    constexpr std::int64_t kMost = 1 << 16;
    LATHE_TRY_ASSIGN(p.height, intAttr(node, "output_height", 1));
    LATHE_TRY_ASSIGN(p.width, intAttr(node, "output_width", 1));
    LATHE_TRY_ASSIGN(p.samples, intAttr(node, "sampling_ratio", 0));
    LATHE_TRY_ASSIGN(p.scale, floatAttr(node, "spatial_scale", 1.0));
    LATHE_TRY_ASSIGN(p.halfPixel, boolAttr(node, "half_pixel", true));
    LATHE_TRY_ASSIGN(p.maximum, boolAttr(node, "maximum", false));
    if (p.height < 1 || p.width < 1 || p.samples < 0 || std::max({p.height, p.width, p.samples}) > kMost)
        return brokenRule(
            fmt::format("the result must have from 1 to {} rows and columns, and as many samples at most, "
                        "it has {} by {} with {}",
                        kMost, p.height, p.width, p.samples));
    return p;
}

Result<Types> inferRegions(const Node& node, InputTypes inputs, std::int64_t words)
{
    LATHE_TRY_ASSIGN(const compute::RoiParams p, roiParams(node));
    LATHE_TRY(needRank(inputs[0], 4, "data"));
    LATHE_TRY(needFloat(inputs[0]));
    LATHE_TRY(needSameType(inputs.first(2)));
    LATHE_TRY(needElements(inputs[0], "data"));
    LATHE_TRY(needRank(inputs[1], 2, "rois"));
    if (inputs[1].shape[1] != words)
        return brokenRule(fmt::format("rois {} must have {} columns", shapeText(inputs[1].shape), words));
    return Types{{inputs[0].dtype, {inputs[1].shape[0], inputs[0].shape[1], p.height, p.width}}};
}

Result<Types> inferRoiAlign(const Node& node, InputTypes inputs, Constants constants)
{
    LATHE_TRY_ASSIGN(Types types, inferRegions(node, inputs, 4));
    LATHE_TRY_ASSIGN(const compute::RoiParams p, roiParams(node));
    if (p.maximum && p.samples == 0)
        return brokenRule("the maximum of samples needs their number");
    if ((inputs[2].dtype != DType::I32 && inputs[2].dtype != DType::I64)
        || inputs[2].shape != Shape{inputs[1].shape[0]})
        return brokenRule(fmt::format("the images must be {} integers of 32 or 64 bits, they are {} {}",
                                      inputs[1].shape[0], toString(inputs[2].dtype), shapeText(inputs[2].shape)));
    LATHE_TRY(needPlaces(constants[2], inputs[2].dtype, std::span(inputs[0].shape).first(1)));
    return types;
}

Result<Types> inferRoiMaxPool(const Node& node, InputTypes inputs, Constants)
{
    return inferRegions(node, inputs, 5);
}

/// Where the samples of one bin lie that are on the image, up to a pixel beyond it, and how many there are in all.
struct BinSamples
{
    std::vector<double> places;
    double count = 0;
};

BinSamples binSamples(double start, double length, std::int64_t bin, std::int64_t samples, std::int64_t extent,
                      DType type)
{
    BinSamples result;
    result.count = samples > 0 ? static_cast<double>(samples) : std::max(std::ceil(length), 0.0);
    const auto narrow = [type](double v) { return inPrecision(type, v); };
    const double first = narrow(start + narrow(static_cast<double>(bin) * length)), step = length / result.count;
    if (!std::isfinite(first) || !std::isfinite(step) || !(result.count >= 1))
        return result;
    // Of a region far larger than the image only those that may lie on it are looked at.
    const double last = result.count - 1, edge = static_cast<double>(extent);
    const double ends[] = {(-1 - first) / step, (edge - first) / step};
    const bool all = samples > 0 || step == 0;
    const double begin = all ? 0 : std::clamp(std::floor(std::min(ends[0], ends[1])) - 2, 0.0, last);
    const double end = all ? last : std::clamp(std::ceil(std::max(ends[0], ends[1])) + 2, 0.0, last);
    // Steps are longer than half a pixel; where numbers are too large to be counted on, they still end.
    const auto most = static_cast<std::int64_t>(all ? end : std::min(end - begin, 4 * edge + 16));
    for (std::int64_t i = 0; i <= most; ++i) {
        const double sample = narrow(begin + static_cast<double>(i) + 0.5);
        const double place = narrow(first + narrow(narrow(sample * length) / result.count));
        if (place >= -1 && place <= edge)
            result.places.push_back(place);
    }
    return result;
}

/// A sample's four pixels, joined. `skips`: a pixel of weight 0 takes no part, whatever it is.
double sampleOf(const std::vector<double>& image, std::int64_t first, std::int64_t height, std::int64_t width, double y,
                double x, bool maximum, bool skips)
{
    const auto split = [](double v, std::int64_t extent) {
        v = std::clamp(v, 0.0, static_cast<double>(extent - 1));
        const auto low = static_cast<std::int64_t>(v);
        return std::tuple(low, std::min(low + 1, extent - 1), v - static_cast<double>(low));
    };
    const auto [top, bottom, dy] = split(y, height);
    const auto [left, right, dx] = split(x, width);
    const auto part = [&](std::int64_t row, std::int64_t column, double down, double across) {
        if (skips && (down == 0 || across == 0))
            return 0.0;
        return down * across * image[static_cast<std::size_t>(first + row * width + column)];
    };
    const std::array parts{part(top, left, 1 - dy, 1 - dx), part(top, right, 1 - dy, dx),
                           part(bottom, left, dy, 1 - dx), part(bottom, right, dy, dx)};
    if (!maximum)
        return parts[0] + parts[1] + parts[2] + parts[3];
    double largest = parts[0];
    for (const double one : parts)
        largest = std::isnan(largest) || one <= largest ? largest : one;
    return largest;
}

Result<> evaluateRoiAlign(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const compute::RoiParams p, roiParams(node));
    const Shape& in = inputs[0]->type.shape;
    const DType type = inputs[1]->type.dtype;
    const std::vector<double> data = readFloats(*inputs[0]), rois = readFloats(*inputs[1]);
    const std::vector<std::int64_t> images = readInts(*inputs[2]);
    const auto narrow = [type](double v) { return inPrecision(type, v); };
    std::int64_t target = 0;
    for (std::size_t r = 0; r < images.size(); ++r) {
        const std::int64_t n = images[r] < 0 ? images[r] + in[0] : images[r];
        if (n < 0 || n >= in[0])
            return brokenRule(fmt::format("index {} is outside of {} images", images[r], in[0]));
        const auto side = [&](std::size_t from, std::int64_t bins) { // where the first bin starts, how long each is
            const auto coordinate = [&](std::size_t k) {
                const double scaled = narrow(rois[4 * r + k] * narrow(p.scale));
                return p.halfPixel ? narrow(scaled - 0.5) : scaled;
            };
            const double start = coordinate(from), size = narrow(coordinate(from + 2) - start);
            return std::pair(start, narrow((p.halfPixel ? size : std::max(size, 1.0)) / static_cast<double>(bins)));
        };
        const auto [top, down] = side(1, p.height);
        const auto [left, right] = side(0, p.width);
        for (std::int64_t c = 0; c < in[1]; ++c) {
            for (std::int64_t ph = 0; ph < p.height; ++ph) {
                const BinSamples rows = binSamples(top, down, ph, p.samples, in[2], type);
                for (std::int64_t pw = 0; pw < p.width; ++pw) {
                    const BinSamples columns = binSamples(left, right, pw, p.samples, in[3], type);
                    // A sample that is off the image is 0, for a maximum too.
                    const double sampled = static_cast<double>(rows.places.size() * columns.places.size());
                    bool any = sampled < rows.count * columns.count;
                    double result = 0;
                    for (const double y : rows.places) {
                        for (const double x : columns.places) {
                            const double one = sampleOf(data, (n * in[1] + c) * in[2] * in[3], in[2], in[3], y, x,
                                                        p.maximum, p.samples == 0);
                            if (!p.maximum)
                                result += one;
                            else if (!any || (!std::isnan(result) && !(one <= result)))
                                result = one;
                            any = true;
                        }
                    }
                    if (!p.maximum)
                        result /= std::max(rows.count * columns.count, 1.0);
                    writeFloat(outputs[0].bytes.data(), inputs[0]->type.dtype, target++, result);
                }
            }
        }
    }
    return {};
}

Result<> evaluateRoiMaxPool(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const compute::RoiParams p, roiParams(node));
    const Shape& in = inputs[0]->type.shape;
    const DType type = inputs[1]->type.dtype;
    const std::vector<double> data = readFloats(*inputs[0]), rois = readFloats(*inputs[1]);
    const auto narrow = [type](double v) { return inPrecision(type, v); };
    std::int64_t target = 0;
    for (std::int64_t r = 0; r < inputs[1]->type.shape[0]; ++r) {
        const double* roi = rois.data() + 5 * r;
        // A float that names no image, unlike an integer, is cut as kernels cut it.
        const double image = std::isnan(roi[0]) ? 0 : std::clamp(roi[0], 0.0, static_cast<double>(in[0] - 1));
        const auto n = static_cast<std::int64_t>(image);
        const auto range = [&](std::size_t side, std::int64_t bin, std::int64_t bins, std::int64_t extent) {
            const double start = std::round(narrow(roi[2 - side] * narrow(p.scale)));
            const double end = std::round(narrow(roi[4 - side] * narrow(p.scale)));
            const double length = narrow(std::max(end - start + 1, 1.0) / static_cast<double>(bins));
            const auto pixel = [&](double edge) {
                return static_cast<std::int64_t>(std::clamp(start + edge, 0.0, static_cast<double>(extent)));
            };
            return std::pair(pixel(std::floor(narrow(static_cast<double>(bin) * length))),
                             pixel(std::ceil(narrow(static_cast<double>(bin + 1) * length))));
        };
        for (std::int64_t c = 0; c < in[1]; ++c) {
            for (std::int64_t ph = 0; ph < p.height; ++ph) {
                const auto [top, bottom] = range(0, ph, p.height, in[2]);
                for (std::int64_t pw = 0; pw < p.width; ++pw) {
                    const auto [left, right] = range(1, pw, p.width, in[3]);
                    double largest = -std::numeric_limits<double>::infinity();
                    for (std::int64_t y = top; y < bottom; ++y) {
                        for (std::int64_t x = left; x < right; ++x) {
                            const double one =
                                data[static_cast<std::size_t>(((n * in[1] + c) * in[2] + y) * in[3] + x)];
                            largest = std::isnan(largest) || one <= largest ? largest : one;
                        }
                    }
                    writeFloat(outputs[0].bytes.data(), inputs[0]->type.dtype, target++,
                               bottom <= top || right <= left ? 0 : largest);
                }
            }
        }
    }
    return {};
}

/// Boxes lie in the image; what samples as finely as a box is large takes long for one that does not.
Demand demandsOfRois(const DemandQuestion& question)
{
    const Shape& data = question.graph.value(question.node.inputs[0]).shape;
    const auto params = roiParams(question.node);
    if (question.operand == 0)
        return question.results;
    if (question.operand == 2)
        return {.needed = ValueRange{0, static_cast<double>(data[0] - 1)}};
    const double scale = params && params->scale > 0 ? params->scale : 1;
    return {.guarded = ValueRange{0, static_cast<double>(std::max(data[2], data[3])) / scale}};
}

Result<compute::Tensor> computeRoiAlign(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const compute::RoiParams p, roiParams(node));
    return compute::roiAlign(context.builder, inputs[0], inputs[1], inputs[2], p);
}

Result<compute::Tensor> computeRoiMaxPool(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const compute::RoiParams p, roiParams(node));
    return compute::roiMaxPool(context.builder, inputs[0], inputs[1], p);
}

/// Places may be any; the pixels are what comes out.
Demand pixelDemands(const DemandQuestion& question)
{
    return question.operand == 0 ? question.results : Demand();
}

} // namespace

std::span<const OpDef> samplingOperators()
{
    // Each has stages of its own in front: nothing is fused into them.
    static const std::vector<OpDef> table = {
        {"grid_sample",
         Pattern::Opaque,
         2,
         2,
         inferGridSample,
         computeGridSample,
         evaluateGridSample,
         {.cost = Cost::Movement, .sums = true, .demands = pixelDemands}},
        {"roi_align",
         Pattern::Opaque,
         3,
         3,
         inferRoiAlign,
         computeRoiAlign,
         evaluateRoiAlign,
         {.sums = true, .countsBatch = false, .demands = demandsOfRois}},
        {"roi_max_pool",
         Pattern::Opaque,
         2,
         2,
         inferRoiMaxPool,
         computeRoiMaxPool,
         evaluateRoiMaxPool,
         {.countsBatch = false, .demands = demandsOfRois}},
    };
    return table;
}

} // namespace lathe::graph::operators
