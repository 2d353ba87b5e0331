#pragma once

#include "core/compute/definitions/conv2d.h"

#include <vector>

namespace lathe::compute {

/// Transformation matrices of Winograd's F(m x m, 3 x 3), row-major: Y = A^T [(G g G^T) . (B^T d B)] A.
struct WinogradMatrices
{
    std::int64_t m = 2;
    std::int64_t alpha = 4; ///< m + 2
    std::vector<double> a; ///< alpha x m
    std::vector<double> b; ///< alpha x alpha
    std::vector<double> g; ///< alpha x 3
};

/// m is 2 or 4.
WinogradMatrices winogradMatrices(std::int64_t m);

/// True for 3x3, stride 1, dilation 1, one group, floating point.
bool winogradApplies(DType dtype, std::int64_t kernelHeight, std::int64_t kernelWidth, const Conv2dParams& p);

/// 3x3 stride-1 convolution of `data` by the transformed weight [alpha, alpha, CO, CI]. NHWC or NCHW by p.layout.
/// `split`: the transforms of data and result in two passes, rows ("data_rows", "inverse_rows") and then columns; else
/// in one, as the reference writes them. Precondition: winogradApplies.
Tensor conv2dWinograd(DagBuilder& b, Tensor data, Tensor transformedWeight, std::int64_t m, const Conv2dParams& p,
                      NameEra era, bool split = false);

/// Recipe: the DAG with one placeholder, the weight (`weightShape` as of conv2d: OIHW for NCHW, HWIO for NHWC), whose
/// output is the transformed weight [alpha, alpha, CO, CI].
Result<DagPtr> winogradWeightRecipe(const std::vector<std::int64_t>& weightShape, DType dtype, std::int64_t m,
                                    ImageLayout layout);

} // namespace lathe::compute
