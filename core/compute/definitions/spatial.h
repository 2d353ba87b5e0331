#pragma once

#include "core/compute/dag.h"
#include "core/compute/definitions/layout.h"

#include <array>
#include <string>
#include <vector>

namespace lathe::compute {

/// Helpers that the definitions of convolutions and pools share.

/// Positions of the height and width dimensions of an image tensor.
struct ImageAxes
{
    std::size_t channel = 1;
    std::size_t height = 2;
    std::size_t width = 3;
};

constexpr ImageAxes imageAxes(ImageLayout layout)
{
    return layout == ImageLayout::Nchw ? ImageAxes{1, 2, 3} : ImageAxes{3, 1, 2};
}

/// Positions of the N spatial dimensions of images and volumes, outermost first.
template<std::size_t N>
constexpr std::array<std::size_t, N> spatialAxes(ImageLayout layout)
{
    std::array<std::size_t, N> axes{};
    for (std::size_t d = 0; d < N; ++d)
        axes[d] = d + (layout == ImageLayout::Nchw ? 2 : 1);
    return axes;
}

/// ax0, ax1 ...: the iterators of a tensor whose dimensions have no names of their own.
std::vector<std::string> axisNames(std::size_t rank);

/// Zero of a type.
ir::Expr zero(DType dtype);
/// A constant of a type.
ir::Expr constant(double value, DType dtype);

/// Above so many summands a sum of f32 is kept in f64. In f32 its error would grow with their number, and hang on the
/// order that a schedule gives them: 4e7 ones would sum to 1.7e7.
constexpr std::int64_t kLongSum = 65'536;
/// The type that sums of products are kept in: f32 for half floats, else the type itself.
DType sumType(DType type);
/// A sum in the type that it is asked for: no stage if it has that.
Tensor rounded(DagBuilder& b, Tensor sum, DType type);
/// One of `count` summands, in the type that the sum is kept in: f64 for long ones, f32 for those of half floats.
ir::Expr summand(const ir::Expr& value, std::int64_t count);

/// Copies `data` into a larger image with zeros around it; always adds a stage, even where nothing is padded.
template<std::size_t N>
Tensor padSpatial(DagBuilder& b, Tensor data, ImageLayout layout, const std::array<std::int64_t, 2 * N>& padding,
                  const std::string& name);

inline Tensor padImage(DagBuilder& b, Tensor data, ImageLayout layout, const std::array<std::int64_t, 4>& padding,
                       const std::string& name)
{
    return padSpatial<2>(b, data, layout, padding, name);
}

/// Marks `weight` as an input of `t` whose memory layout the schedule may choose, if it is a placeholder.
void markLayoutFree(DagBuilder& b, Tensor t, Tensor weight);

/// Output extent of a convolution along one dimension.
constexpr std::int64_t convExtent(std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                                  std::int64_t after, std::int64_t dilation)
{
    return (n + before + after - dilation * (kernel - 1) - 1) / stride + 1;
}

inline ir::Expr index(std::int64_t value)
{
    return ir::intImm(value);
}

} // namespace lathe::compute
