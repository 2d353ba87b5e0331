#pragma once

#include "core/compute/dag.h"
#include "core/compute/definitions/layout.h"

#include <array>

namespace lathe::compute {

enum class ResizeMode : std::uint8_t
{
    Nearest,
    Linear
};

/// How an output coordinate maps to the input (ONNX Resize).
enum class CoordinateMode : std::uint8_t
{
    HalfPixel,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric
};

enum class NearestRounding : std::uint8_t
{
    RoundPreferFloor,
    RoundPreferCeil,
    Floor,
    Ceil
};

struct Resize2dParams
{
    ImageLayout layout = ImageLayout::Nchw;
    std::array<std::int64_t, 2> size{}; ///< output height, width
    std::array<double, 2> scale{}; ///< output / input; 0: derived from the sizes
    ResizeMode mode = ResizeMode::Nearest;
    CoordinateMode coordinates = CoordinateMode::HalfPixel;
    NearestRounding rounding = NearestRounding::RoundPreferFloor;
};

Tensor resize2d(DagBuilder& b, Tensor data, const Resize2dParams& p);

} // namespace lathe::compute
