#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::frontend::onnx_detail {

/// How ONNX's Resize samples.
struct ResizeRule
{
    std::string mode = "nearest"; ///< nearest, linear, cubic
    std::string coordinates = "half_pixel";
    std::string rounding = "round_prefer_floor"; ///< of nearest
    double cubicA = -0.75;
    bool antialias = false;
    bool excludeOutside = false;
};

/// One dimension that is resampled.
struct ResizeAxis
{
    std::int64_t in = 1, out = 1;
    double scale = 1; ///< output / input as asked for, not rounded to whole pixels
    double roiBegin = 0, roiEnd = 1; ///< of tf_crop_and_resize
};

/// Which inputs make each output, and with what weight: the same number of taps for all outputs.
struct ResizeTaps
{
    std::vector<std::vector<std::int64_t>> positions; ///< [tap][output], inside of the input
    std::vector<std::vector<double>> weights; ///< [tap][output]
    std::vector<bool> outside; ///< [output]: beyond the region, takes the extrapolation value
};

/// Errors: Unsupported naming a mode that is not known.
Result<ResizeTaps> resizeTaps(const ResizeRule& rule, const ResizeAxis& axis);

} // namespace lathe::frontend::onnx_detail
