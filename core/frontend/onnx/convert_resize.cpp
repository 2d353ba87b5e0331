// Resampling: a dimension at a time, with positions and weights that are known at import.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/resize_taps.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 20;
constexpr std::size_t kMaxTaps = 8; ///< beyond, a product with a matrix of weights is the shorter way

/// A vector along `axis` that broadcasts against x.
ValueId along(Builder& b, Composer& c, ValueId x, std::int64_t axis, DType dtype, const std::vector<double>& values)
{
    Ints shape(static_cast<std::size_t>(c.rank(x) - axis), 1);
    shape[0] = static_cast<std::int64_t>(values.size());
    return b.constant(dtype, shape, values);
}

/// Each element k times in a row.
ValueId repeatEach(Composer& c, ValueId x, std::int64_t axis, std::int64_t k)
{
    Ints apart = c.shape(x), out = apart;
    apart.insert(apart.begin() + axis + 1, 1);
    Ints wide = apart;
    wide[static_cast<std::size_t>(axis + 1)] = k;
    out[static_cast<std::size_t>(axis)] *= k;
    return c.reshape(c.broadcast(c.reshape(x, apart), wide), out);
}

ValueId byMatrix(Builder& b, Composer& c, ValueId x, std::int64_t axis, const ResizeTaps& taps, std::int64_t in)
{
    const auto out = static_cast<std::int64_t>(taps.outside.size());
    std::vector<double> matrix(static_cast<std::size_t>(in * out), 0.0);
    for (std::size_t t = 0; t < taps.positions.size(); ++t) {
        for (std::int64_t o = 0; o < out; ++o)
            matrix[static_cast<std::size_t>(taps.positions[t][static_cast<std::size_t>(o)] * out + o)] +=
                taps.weights[t][static_cast<std::size_t>(o)];
    }
    Ints swapped(static_cast<std::size_t>(c.rank(x)));
    std::iota(swapped.begin(), swapped.end(), 0);
    std::swap(swapped[static_cast<std::size_t>(axis)], swapped.back());
    return c.transpose(c.matmul(c.transpose(x, swapped), b.constant(c.dtype(x), {in, out}, matrix)), swapped);
}

ValueId resample(Builder& b, Composer& c, ValueId x, std::int64_t axis, const ResizeTaps& taps, double extrapolation)
{
    const std::int64_t in = c.extent(x, axis);
    const auto out = static_cast<std::int64_t>(taps.outside.size());
    ValueId y;
    if (taps.positions.size() == 1) {
        const Ints& positions = taps.positions[0];
        const std::int64_t k = in > 0 ? out / in : 0;
        bool repeats = k > 0 && k * in == out;
        for (std::int64_t o = 0; repeats && o < out; ++o)
            repeats = positions[static_cast<std::size_t>(o)] == o / k;
        y = repeats ? (k == 1 ? x : repeatEach(c, x, axis, k)) : c.take(x, positions, axis);
    } else if (taps.positions.size() > kMaxTaps && c.rank(x) >= 2) {
        y = byMatrix(b, c, x, axis, taps, in);
    } else {
        for (std::size_t t = 0; t < taps.positions.size(); ++t) {
            const ValueId part = c.mul(c.take(x, taps.positions[t], axis),
                                       along(b, c, x, axis, c.dtype(x), taps.weights[t]));
            y = y.valid() ? c.add(y, part) : part;
        }
    }
    if (std::ranges::find(taps.outside, true) != taps.outside.end()) {
        const std::vector<double> mask(taps.outside.begin(), taps.outside.end());
        y = c.where(along(b, c, x, axis, DType::Bool, mask), c.like(x, extrapolation), y);
    }
    return y;
}

struct Request
{
    std::vector<double> scales; ///< empty: by sizes
    Ints sizes;
    std::vector<double> roi;
    Ints axes;
    std::string policy = "stretch";
};

Result<Request> requestOf(Builder& b, NodeReader& node, const Ints& shape)
{
    Request r;
    const auto rank = static_cast<std::int64_t>(shape.size());
    for (std::int64_t i = 0; i < rank; ++i)
        r.axes.push_back(i);
    LATHE_TRY_ASSIGN(r.axes, node.integers("axes", r.axes));
    for (std::int64_t& axis : r.axes) {
        if (axis < -rank || axis >= rank)
            return makeError(Errc::BadFile, say(Msg::AxesNameOutside, axis, rank));
        axis = axis < 0 ? axis + rank : axis;
    }
    LATHE_TRY_ASSIGN(r.policy, node.text("keep_aspect_ratio_policy", "stretch"));
    const bool oldForm = node.op() == "Upsample" || b.opset() < 11; // X, scales
    if (node.op() == "Upsample" && node.has("height_scale")) { // opset 1 to 6
        LATHE_TRY_ASSIGN(const double height, node.number("height_scale", 1));
        LATHE_TRY_ASSIGN(const double width, node.number("width_scale", 1));
        r.scales = {1, 1, height, width};
    }
    if (node.op() == "Upsample" && node.has("scales")) {
        LATHE_TRY_ASSIGN(r.scales, node.numbers("scales"));
    }
    const std::int64_t scales = oldForm ? 1 : 2;
    if (!oldForm && node.hasInput(1)) {
        LATHE_TRY_ASSIGN(r.roi, b.constantNumbers(node, 1, "roi"));
    }
    if (node.hasInput(scales)) {
        LATHE_TRY_ASSIGN(r.scales, b.constantNumbers(node, scales, "scales"));
    }
    if (!oldForm && node.hasInput(3)) {
        LATHE_TRY_ASSIGN(r.sizes, b.constantInts(node, 3, "sizes"));
    }
    if (!r.sizes.empty())
        r.scales.clear(); // files written for opset 11 give both, the scales empty
    if ((r.scales.empty() ? r.sizes.size() : r.scales.size()) != r.axes.size())
        return makeError(Errc::BadFile, say(Msg::ScalesOrSizes));
    return r;
}

/// Fills sizes and scales of the resized dimensions, in the order of request.axes.
Result<std::vector<ResizeAxis>> axesOf(const Request& r, const Ints& shape)
{
    std::vector<ResizeAxis> axes;
    for (std::size_t i = 0; i < r.axes.size(); ++i) {
        ResizeAxis axis;
        axis.in = shape[static_cast<std::size_t>(r.axes[i])];
        if (r.scales.empty()) {
            axis.out = r.sizes[i];
            axis.scale = static_cast<double>(axis.out) / static_cast<double>(axis.in);
        } else {
            axis.scale = r.scales[i];
            // In f32, as scales are: 100 entries by 0.29 are 29, though 0.29f is less than 0.29.
            const auto wanted = static_cast<double>(
                std::floor(static_cast<float>(axis.in) * static_cast<float>(axis.scale)));
            if (!(wanted >= 1 && wanted <= static_cast<double>(kMaxExtent)))
                return makeError(Errc::BadFile, say(Msg::ScaleOutOfRange, axis.scale, axis.in));
            axis.out = static_cast<std::int64_t>(wanted);
        }
        if (r.roi.size() == 2 * r.axes.size()) {
            axis.roiBegin = r.roi[i];
            axis.roiEnd = r.roi[i + r.axes.size()];
        }
        axes.push_back(axis);
    }
    if (r.scales.empty() && r.policy != "stretch") {
        if (r.policy != "not_larger" && r.policy != "not_smaller")
            return makeError(Errc::Unsupported,
                             say(Msg::NeedsAttributeValue, "keep_aspect_ratio_policy", r.policy.substr(0, 40)));
        double scale = axes.empty() ? 1 : axes[0].scale;
        for (const ResizeAxis& axis : axes)
            scale = r.policy == "not_larger" ? std::min(scale, axis.scale) : std::max(scale, axis.scale);
        for (ResizeAxis& axis : axes) {
            axis.scale = scale;
            axis.out = static_cast<std::int64_t>(scale * static_cast<double>(axis.in) + 0.5);
        }
    }
    for (const ResizeAxis& axis : axes) {
        if (axis.out < 1 || axis.out > kMaxExtent || !(axis.scale > 0))
            return makeError(Errc::BadFile, say(Msg::NotResizedTo, axis.in, axis.out));
    }
    return axes;
}

Result<std::vector<ValueId>> convertResize(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    const bool upsample = node.op() == "Upsample";
    ResizeRule rule;
    LATHE_TRY_ASSIGN(rule.mode, node.text("mode", "nearest"));
    if (upsample || b.opset() < 11) { // both are asymmetric and cut
        rule.coordinates = "asymmetric";
        rule.rounding = "floor";
    } else {
        LATHE_TRY_ASSIGN(rule.coordinates, node.text("coordinate_transformation_mode", "half_pixel"));
        LATHE_TRY_ASSIGN(rule.rounding, node.text("nearest_mode", "round_prefer_floor"));
    }
    LATHE_TRY_ASSIGN(rule.cubicA, node.number("cubic_coeff_a", -0.75));
    LATHE_TRY_ASSIGN(const std::int64_t antialias, node.integer("antialias", 0));
    LATHE_TRY_ASSIGN(const std::int64_t exclude, node.integer("exclude_outside", 0));
    LATHE_TRY_ASSIGN(const double extrapolation, node.number("extrapolation_value", 0));
    rule.antialias = antialias != 0;
    rule.excludeOutside = exclude != 0;
    if (rule.mode == "bilinear") // Upsample's old name
        rule.mode = "linear";
    if (rule.mode != "nearest" && !isFloat(b.dtype(x)))
        return makeError(Errc::Unsupported, say(Msg::NeedsModeOn, rule.mode.substr(0, 40), toString(b.dtype(x))));
    LATHE_TRY_ASSIGN(const Request request, requestOf(b, node, b.shape(x)));
    LATHE_TRY_ASSIGN(const std::vector<ResizeAxis> axes, axesOf(request, b.shape(x)));
    Composer c(b);
    ValueId y = x;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const bool crops = rule.coordinates == "tf_crop_and_resize";
        if (axes[i].in == axes[i].out && axes[i].scale == 1 && !crops)
            continue;
        LATHE_TRY_ASSIGN(const ResizeTaps taps, resizeTaps(rule, axes[i]));
        LATHE_TRY(b.charge(static_cast<std::int64_t>(taps.positions.size()) * axes[i].out * 16));
        y = resample(b, c, y, request.axes[i], taps, extrapolation);
    }
    return c.finish({y});
}

/// Cuts or pads dimensions to a wanted size, as much before as behind (one more behind).
Result<std::vector<ValueId>> convertCenterCropPad(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Ints wanted, b.constantInts(node, 1, "shape"));
    const std::int64_t rank = b.rank(x);
    Ints axes;
    for (std::int64_t i = 0; i < rank; ++i)
        axes.push_back(i);
    LATHE_TRY_ASSIGN(axes, node.integers("axes", axes));
    if (axes.size() != wanted.size())
        return makeError(Errc::BadFile, say(Msg::SizesForAxes, wanted.size(), axes.size()));
    Composer c(b);
    ValueId y = x;
    Ints widths(static_cast<std::size_t>(2 * rank), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank || wanted[i] < 1 || wanted[i] > kMaxExtent)
            return makeError(Errc::BadFile, say(Msg::AxisSizeOutside, axes[i], wanted[i]));
        const std::int64_t have = b.shape(x)[static_cast<std::size_t>(axis)];
        if (wanted[i] < have) {
            const std::int64_t begin = (have - wanted[i]) / 2;
            y = c.slice(y, axis, begin, begin + wanted[i]);
        } else {
            widths[static_cast<std::size_t>(2 * axis)] = (wanted[i] - have) / 2;
            widths[static_cast<std::size_t>(2 * axis + 1)] = wanted[i] - have - (wanted[i] - have) / 2;
        }
    }
    return c.finish({c.pad(y, widths)});
}

} // namespace

std::span<const ConverterEntry> resizeConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"CenterCropPad", convertCenterCropPad}, {"Resize", convertResize}, {"Upsample", convertResize}};
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
