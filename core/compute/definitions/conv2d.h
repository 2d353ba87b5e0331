#pragma once

#include "core/compute/dag.h"
#include "core/compute/definitions/layout.h"
#include "core/compute/name_era.h"

#include <array>
#include <optional>

namespace lathe::compute {

struct Conv2dParams
{
    ImageLayout layout = ImageLayout::Nchw;
    std::array<std::int64_t, 2> strides{1, 1}; ///< height, width
    std::array<std::int64_t, 4> padding{}; ///< top, left, bottom, right
    std::array<std::int64_t, 2> dilation{1, 1};
    std::int64_t groups = 1;
    std::optional<DType> outType; ///< accumulator and result; default: the data's type
};

/// Direct convolution. Weight: NCHW -> OIHW [CO, CI/groups, KH, KW], NHWC -> HWIO [KH, KW, CI/groups, CO].
/// Precondition (checked by type inference): matching channels, positive output size.
Tensor conv2d(DagBuilder& b, Tensor data, Tensor weight, const Conv2dParams& p, NameEra era);

/// Depthwise. Weight: NCHW -> [C, M, KH, KW], NHWC -> HWOI [KH, KW, C, M]; C * M output channels. `groups` is ignored.
Tensor depthwiseConv2d(DagBuilder& b, Tensor data, Tensor weight, const Conv2dParams& p, NameEra era);

} // namespace lathe::compute
