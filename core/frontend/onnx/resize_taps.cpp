#include "core/frontend/onnx/resize_taps.h"

#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::frontend::onnx_detail {
namespace {

/// Where output o lies in the input. Errors: Unsupported.
Result<double> sourceOf(const ResizeRule& rule, const ResizeAxis& axis, double o)
{
    const auto in = static_cast<double>(axis.in);
    const double length = axis.scale * in; // of the output, before it is cut to whole pixels
    const double halfPixel = (o + 0.5) / axis.scale - 0.5;
    if (rule.coordinates == "half_pixel")
        return halfPixel;
    if (rule.coordinates == "pytorch_half_pixel")
        return length == 1 ? -0.5 : halfPixel;
    if (rule.coordinates == "asymmetric")
        return o / axis.scale;
    if (rule.coordinates == "align_corners") {
        // The standard's own cases divide by the length before it was cut, where it shrinks; ONNX Runtime and the
        // exporters' networks by the whole one, as the standard's text can be read. Where it grows we follow these.
        const double last = axis.scale >= 1 ? static_cast<double>(axis.out) : length;
        return last == 1 ? 0.0 : o * (in - 1) / (last - 1);
    }
    if (rule.coordinates == "half_pixel_symmetric")
        return in / 2 * (1 - static_cast<double>(axis.out) / length) + halfPixel;
    if (rule.coordinates == "tf_crop_and_resize") {
        const double reach = (axis.roiEnd - axis.roiBegin) * (in - 1);
        return axis.roiBegin * (in - 1) + (length == 1 ? reach / 2 : o * reach / (length - 1));
    }
    return makeError(Errc::Unsupported,
                     say(Msg::NeedsAttributeValue, "coordinate_transformation_mode", rule.coordinates.substr(0, 40)));
}

double cubicWeight(double distance, double a)
{
    const double x = std::abs(distance);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0.0;
}

/// 0: the pixel at the left, 1: the pixel at the right of a place that is `fraction` (in (0, 1]) beyond the left one.
Result<std::int64_t> nearestSide(const std::string& rounding, double fraction)
{
    if (fraction == 1) // on the right one
        return 1;
    if (rounding == "round_prefer_floor")
        return fraction > 0.5 ? 1 : 0;
    if (rounding == "round_prefer_ceil")
        return fraction >= 0.5 ? 1 : 0;
    if (rounding == "floor")
        return 0;
    if (rounding == "ceil")
        return 1;
    return makeError(Errc::Unsupported, say(Msg::NeedsAttributeValue, "nearest_mode", rounding.substr(0, 40)));
}

} // namespace

Result<ResizeTaps> resizeTaps(const ResizeRule& rule, const ResizeAxis& axis)
{
    const bool nearest = rule.mode == "nearest";
    if (!nearest && rule.mode != "linear" && rule.mode != "cubic")
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeValue, "mode", rule.mode.substr(0, 40)));
    if (nearest && rule.antialias)
        return makeError(Errc::Unsupported, say(Msg::NeedsAntialias));
    // Filters are as wide as the pixels that they gather where antialiasing shrinks.
    const double shrink = rule.antialias ? std::min(axis.scale, 1.0) : 1.0;
    const double reach = (rule.mode == "cubic" ? 2.0 : 1.0) / shrink;
    const std::int64_t first = nearest ? 0 : static_cast<std::int64_t>(std::floor(-reach)) + 1;
    const std::int64_t count = nearest ? 1 : 2 - 2 * first;

    ResizeTaps taps;
    taps.positions.assign(static_cast<std::size_t>(count),
                          std::vector<std::int64_t>(static_cast<std::size_t>(axis.out)));
    taps.weights.assign(static_cast<std::size_t>(count), std::vector<double>(static_cast<std::size_t>(axis.out), 1.0));
    taps.outside.assign(static_cast<std::size_t>(axis.out), false);
    for (std::int64_t o = 0; o < axis.out; ++o) {
        const auto at = static_cast<std::size_t>(o);
        LATHE_TRY_ASSIGN(const double x, sourceOf(rule, axis, static_cast<double>(o)));
        taps.outside[at] = rule.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.in - 1));
        const double left = std::ceil(x) - 1;
        const double fraction = x - left;
        const auto clamped = [&](std::int64_t position) { return std::clamp<std::int64_t>(position, 0, axis.in - 1); };
        if (nearest) {
            LATHE_TRY_ASSIGN(const std::int64_t side, nearestSide(rule.rounding, fraction));
            taps.positions[0][at] = clamped(static_cast<std::int64_t>(left) + side);
            continue;
        }
        double sum = 0;
        for (std::int64_t t = 0; t < count; ++t) {
            const std::int64_t position = static_cast<std::int64_t>(left) + first + t;
            const double distance = (static_cast<double>(first + t) - fraction) * shrink;
            double weight = rule.mode == "cubic" ? cubicWeight(distance, rule.cubicA)
                                                 : std::max(1 - std::abs(distance), 0.0);
            if (rule.excludeOutside && position != clamped(position))
                weight = 0;
            taps.positions[static_cast<std::size_t>(t)][at] = clamped(position);
            taps.weights[static_cast<std::size_t>(t)][at] = weight;
            sum += weight;
        }
        for (std::int64_t t = 0; t < count && sum != 0; ++t)
            taps.weights[static_cast<std::size_t>(t)][at] /= sum;
    }
    return taps;
}

} // namespace lathe::frontend::onnx_detail
