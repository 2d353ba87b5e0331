#pragma once

#include "core/compute/dag.h"
#include "core/compute/definitions/layout.h"
#include "core/compute/name_era.h"

#include <array>

namespace lathe::compute {

/// Of N spatial dimensions, outermost first.
template<std::size_t N>
struct ConvTransposeParams
{
    ConvTransposeParams()
    {
        strides.fill(1);
        dilation.fill(1);
    }

    ImageLayout layout = ImageLayout::Nchw;
    std::array<std::int64_t, N> strides;
    std::array<std::int64_t, 2 * N> padding{}; ///< before each dimension, then behind each: cut from the full result
    std::array<std::int64_t, N> outputPadding{};
    std::array<std::int64_t, N> dilation;
    std::int64_t groups = 1;
};

/// Weight: channels first -> [CI, CO/groups, kernel...]; channels last -> [kernel..., CI, CO/groups].
/// Output extent (n-1)*s - before - behind + d*(k-1) + 1 + outputPadding.
template<std::size_t N>
Tensor convTranspose(DagBuilder& b, Tensor data, Tensor weight, const ConvTransposeParams<N>& p);

} // namespace lathe::compute
