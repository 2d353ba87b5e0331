#pragma once

#include "core/graph/operator.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace lathe::graph::operators {

// How the reference executor reads and writes elements: floating tensors as double, all others as int64.

float halfToFloat(std::uint16_t bits);
std::uint16_t floatToHalf(float value); ///< to nearest even
float bfloatToFloat(std::uint16_t bits);
std::uint16_t floatToBfloat(float value); ///< to nearest even

std::vector<double> readFloats(const std::byte* data, DType dtype, std::size_t count); ///< integers are converted
std::vector<std::int64_t> readInts(const std::byte* data, DType dtype,
                                   std::size_t count); ///< floats truncate, saturating
inline std::vector<double> readFloats(const HostTensor& tensor)
{
    return readFloats(tensor.bytes.data(), tensor.type.dtype,
                      tensor.bytes.size() / static_cast<std::size_t>(sizeOf(tensor.type.dtype)));
}
inline std::vector<std::int64_t> readInts(const HostTensor& tensor)
{
    return readInts(tensor.bytes.data(), tensor.type.dtype,
                    tensor.bytes.size() / static_cast<std::size_t>(sizeOf(tensor.type.dtype)));
}

void writeFloats(HostTensor& tensor, std::span<const double> values); ///< rounds once, to the tensor's type
void writeInts(HostTensor& tensor, std::span<const std::int64_t> values); ///< wraps to the tensor's width
void writeFloat(std::byte* data, DType dtype, std::int64_t index, double value);
void writeInt(std::byte* data, DType dtype, std::int64_t index, std::int64_t value); ///< wraps to the type's width

/// Numbers that sums and products are made of: double for floats, integers that wrap around for all others.
using Wrapping = std::uint64_t;
template<typename T>
std::vector<T> readNumbers(const std::byte* data, DType dtype, std::size_t count)
{
    if constexpr (std::is_same_v<T, double>) {
        return readFloats(data, dtype, count);
    } else {
        const std::vector<std::int64_t> values = readInts(data, dtype, count);
        return {values.begin(), values.end()};
    }
}
template<typename T>
std::vector<T> readNumbers(const HostTensor& tensor)
{
    return readNumbers<T>(tensor.bytes.data(), tensor.type.dtype,
                          tensor.bytes.size() / static_cast<std::size_t>(sizeOf(tensor.type.dtype)));
}
inline void writeNumber(std::byte* data, DType dtype, std::int64_t index, double value)
{
    writeFloat(data, dtype, index, value);
}
inline void writeNumber(std::byte* data, DType dtype, std::int64_t index, Wrapping value)
{
    writeInt(data, dtype, index, static_cast<std::int64_t>(value));
}

/// Row-major strides in elements.
std::vector<std::int64_t> denseStrides(std::span<const std::int64_t> shape);
/// Strides of a tensor of `shape` walked in `outShape` (aligned at the back): 0 where it is repeated.
std::vector<std::int64_t> broadcastStrides(std::span<const std::int64_t> shape, std::span<const std::int64_t> outShape);

/// Walks `shape` in row-major order, a row (last dimension) at a time: row(position, offsets) where position counts
/// elements of `shape` and offsets[k] = sum of index * strides[k]; within the row advance by strides[k].back().
template<std::size_t K, typename Row>
void forEachRow(std::span<const std::int64_t> shape, const std::array<std::vector<std::int64_t>, K>& strides, Row&& row)
{
    for (const std::int64_t extent : shape) {
        if (extent == 0)
            return;
    }
    const std::size_t outer = shape.empty() ? 0 : shape.size() - 1;
    const std::int64_t length = shape.empty() ? 1 : shape.back();
    std::vector<std::int64_t> index(outer, 0);
    std::array<std::int64_t, K> offsets{};
    for (std::int64_t position = 0;; position += length) {
        row(position, std::as_const(offsets));
        std::size_t d = outer;
        for (; d > 0; --d) {
            for (std::size_t k = 0; k < K; ++k)
                offsets[k] += strides[k][d - 1];
            if (++index[d - 1] < shape[d - 1])
                break;
            for (std::size_t k = 0; k < K; ++k)
                offsets[k] -= strides[k][d - 1] * shape[d - 1];
            index[d - 1] = 0;
        }
        if (d == 0)
            return;
    }
}

inline std::int64_t rowStride(const std::vector<std::int64_t>& strides)
{
    return strides.empty() ? 0 : strides.back();
}
inline std::int64_t rowLength(std::span<const std::int64_t> shape)
{
    return shape.empty() ? 1 : shape.back();
}

/// Copies elements of any type: out[i] = in[offset + sum of index * strides], walked in the shape of `out`.
void gatherStrided(const HostTensor& in, std::int64_t offset, const std::vector<std::int64_t>& strides,
                   HostTensor& out);
/// The other way round: out[offset + ...] = in[i], walked in the shape of `in`.
void scatterStrided(const HostTensor& in, std::int64_t offset, const std::vector<std::int64_t>& strides,
                    HostTensor& out);

} // namespace lathe::graph::operators
