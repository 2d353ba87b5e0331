#pragma once

#include "core/graph/operators/element.h"
#include "core/graph/operators/rules.h"

#include <array>

namespace lathe::graph::operators {

/// Positions of output channel, input channel, and depth, height and width in the kernel's shape.
struct KernelAxes
{
    std::size_t o = 0, i = 1;
    std::array<std::size_t, 3> taps{}; ///< that of a depth that is not there is unused
};

struct ConvolutionGeometry
{
    ImageAxes data;
    KernelAxes kernel;
    WindowSides sides;
    std::int64_t groups = 1;
    std::int64_t batch = 0, inChannels = 0, outChannels = 0;
    Shape outputPadding; ///< [dims], transposed only
    DType outType = DType::F32;
};

/// What a convolution node over `dims` spatial dimensions computes. Errors: InvalidArgument naming the rule that is
/// broken.
Result<ConvolutionGeometry> convolutionGeometry(const Node& node, const TensorType& data, const TensorType& weight,
                                                std::size_t dims, bool transposed);

// For 2 and 3 spatial dimensions.
template<std::size_t Dims>
Result<> evaluateConvolution(const Node& node, std::span<const HostTensor* const> inputs,
                             std::span<HostTensor> outputs);
template<std::size_t Dims>
Result<> evaluateTransposedConvolution(const Node& node, std::span<const HostTensor* const> inputs,
                                       std::span<HostTensor> outputs);

} // namespace lathe::graph::operators
