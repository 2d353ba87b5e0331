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

struct Pool2dParams
{
    ImageLayout layout = ImageLayout::Nchw;
    std::array<std::int64_t, 2> kernel{1, 1};
    std::array<std::int64_t, 2> strides{1, 1};
    std::array<std::int64_t, 4> padding{}; ///< top, left, bottom, right
    std::array<std::int64_t, 2> dilation{1, 1};
    bool ceilMode = false;
    bool countIncludePad = false; ///< average only
};

/// Output extent of one dimension: floor or ceil of ((n + before + after - d*(k-1) - 1) / s) + 1; with ceilMode a last window that
/// would start in the far padding is dropped.
std::int64_t pooledExtent(std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t before, std::int64_t after, std::int64_t dilation, bool ceilMode);

Tensor pool2d(DagBuilder& b, Tensor data, PoolKind kind, const Pool2dParams& p);

/// Output 1x1.
Tensor globalPool2d(DagBuilder& b, Tensor data, PoolKind kind, ImageLayout layout);

/// Output `size` (height, width), windows of varying width as PyTorch's adaptive pooling.
Tensor adaptivePool2d(DagBuilder& b, Tensor data, PoolKind kind, ImageLayout layout, std::array<std::int64_t, 2> size);

} // namespace lathe::compute
