#pragma once

#include "core/compute/dag.h"
#include "core/compute/definitions/layout.h"
#include "core/compute/name_era.h"

#include <array>
#include <optional>

namespace lathe::compute {

struct Conv3dParams
{
    ImageLayout layout = ImageLayout::Nchw;
    std::array<std::int64_t, 3> strides{1, 1, 1}; ///< depth, height, width
    std::array<std::int64_t, 6> padding{}; ///< front, top, left, back, bottom, right
    std::array<std::int64_t, 3> dilation{1, 1, 1};
    std::int64_t groups = 1;
    std::optional<DType> outType; ///< accumulator and result; default: the data's type
};

/// Direct convolution of volumes. Weight: NCDHW -> OIDHW [CO, CI/groups, KD, KH, KW], NDHWC -> DHWIO [KD, KH, KW,
/// CI/groups, CO]. Precondition (checked by type inference): matching channels, positive output size.
Tensor conv3d(DagBuilder& b, Tensor data, Tensor weight, const Conv3dParams& p, NameEra era);

} // namespace lathe::compute
