#pragma once

#include "core/compute/dag.h"

#include <array>

namespace lathe::compute {

// Images and volumes read at places that are computed, channels first. Places are computed in F64 where they come as
// that, in F32 else; places that are not-a-number read as those outside.

enum class SampleMode : std::uint8_t
{
    Nearest, ///< halves to even
    Linear,
    Cubic ///< Keys' kernel with a = -0.75; images only
};

enum class SamplePadding : std::uint8_t
{
    Zeros,
    Border, ///< the nearest pixel
    Reflection ///< mirrored at the outer pixels' centers (alignCorners) or edges
};

struct GridSampleParams
{
    SampleMode mode = SampleMode::Linear;
    SamplePadding padding = SamplePadding::Zeros;
    bool alignCorners = false; ///< -1 and 1 are the outer pixels' centers, else their edges
};

/// data [N, C, D1 ... Dk], grid [N, O1 ... Ok, k] with the place along the last dimension first: [N, C, O1 ... Ok].
/// Padding applies to each pixel that is mixed, as PyTorch and ONNX Runtime have it.
Tensor gridSample(DagBuilder& b, Tensor data, Tensor grid, const GridSampleParams& p);

struct RoiParams
{
    std::int64_t height = 1, width = 1; ///< of the result
    double scale = 1; ///< from a region's coordinates to pixels
    std::int64_t samples = 0; ///< along each side of a bin; 0: as many as the bin has pixels, rounded up
    bool halfPixel = true; ///< centers of pixels lie at halves
    bool maximum = false; ///< of the four weighted pixels of all samples, else their mean
};

/// data [N, C, H, W], rois [R, 4] (x1, y1, x2, y2), image [R] (which of the N): [R, C, height, width]. With samples = 0
/// there is the mean alone.
Tensor roiAlign(DagBuilder& b, Tensor data, Tensor rois, Tensor image, const RoiParams& p);

/// Maxima of the pixels in each bin. data [N, C, H, W], rois [R, 5] (image, x1, y1, x2, y2), ends included:
/// [R, C, height, width]; 0 where a bin has no pixel.
Tensor roiMaxPool(DagBuilder& b, Tensor data, Tensor rois, const RoiParams& p);

struct WindowParams
{
    std::vector<std::int64_t> kernel, strides, dilations; ///< per spatial dimension
    std::vector<std::int64_t> padding; ///< before each, then behind each
};

/// What a deformable convolution multiplies: data [N, C, H, W], offsets [N, 2 G K, OH, OW] (down, right for each of K
/// taps in each of G groups of channels), mask [N, G K, OH, OW] or absent: [N, C, K, OH, OW].
Tensor deformedColumns(DagBuilder& b, Tensor data, Tensor offsets, const Tensor* mask, const WindowParams& p);

/// ONNX Col2Im: columns [N, C K, L] added up into images of shape [N, C, image ...]; L counts the windows.
Tensor columnsToImage(DagBuilder& b, Tensor columns, const std::vector<std::int64_t>& image, const WindowParams& p);

} // namespace lathe::compute
