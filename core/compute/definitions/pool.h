#pragma once

#include "core/compute/dag.h"
#include "core/compute/definitions/layout.h"

#include <array>

namespace lathe::compute {

enum class PoolKind : std::uint8_t
{
    Max,
    Average
};

/// Of N spatial dimensions, outermost first.
template<std::size_t N>
struct PoolParams
{
    PoolParams()
    {
        kernel.fill(1);
        strides.fill(1);
        dilation.fill(1);
    }

    ImageLayout layout = ImageLayout::Nchw;
    std::array<std::int64_t, N> kernel;
    std::array<std::int64_t, N> strides;
    std::array<std::int64_t, 2 * N> padding{}; ///< before each dimension, then behind each
    std::array<std::int64_t, N> dilation;
    bool ceilMode = false;
    bool countIncludePad = false; ///< average only
};

/// Output extent of one dimension: floor or ceil of ((n + before + after - d*(k-1) - 1) / s) + 1; with ceilMode a last
/// window that would start in the far padding is dropped.
std::int64_t pooledExtent(std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                          std::int64_t after, std::int64_t dilation, bool ceilMode);

// All exist for 2 and 3 spatial dimensions.

template<std::size_t N>
Tensor pool(DagBuilder& b, Tensor data, PoolKind kind, const PoolParams<N>& p);

/// Output `size`, windows of varying width as PyTorch's adaptive pooling.
template<std::size_t N>
Tensor adaptivePool(DagBuilder& b, Tensor data, PoolKind kind, ImageLayout layout, std::array<std::int64_t, N> size);

/// Of a maximum pool: where each maximum stands in `data` (channels first), row by row, the first of equal ones; I64.
/// `byColumn`: counted within an image down its columns instead.
template<std::size_t N>
Tensor poolPositions(DagBuilder& b, Tensor data, const PoolParams<N>& p, bool byColumn);

/// Output 1 in each dimension.
template<std::size_t N>
Tensor globalPool(DagBuilder& b, Tensor data, PoolKind kind, ImageLayout layout);

using Pool2dParams = PoolParams<2>;
inline Tensor pool2d(DagBuilder& b, Tensor data, PoolKind kind, const Pool2dParams& p)
{
    return pool<2>(b, data, kind, p);
}

} // namespace lathe::compute
