#include "core/graph/operators/element.h"

#include <bit>
#include <cmath>
#include <limits>

namespace lathe::graph::operators {
namespace {

struct Half
{
    std::uint16_t bits;
    explicit operator double() const { return halfToFloat(bits); }
    static Half from(double value) { return {floatToHalf(static_cast<float>(value))}; }
};

struct Bfloat
{
    std::uint16_t bits;
    explicit operator double() const { return bfloatToFloat(bits); }
    static Bfloat from(double value) { return {floatToBfloat(static_cast<float>(value))}; }
};

/// Calls f with a value of the storage type of `dtype`.
template<typename F>
void withStorage(DType dtype, F&& f)
{
    switch (dtype) {
    case DType::Bool:
    case DType::U8: f(std::uint8_t{}); return;
    case DType::I8: f(std::int8_t{}); return;
    case DType::I16: f(std::int16_t{}); return;
    case DType::U16: f(std::uint16_t{}); return;
    case DType::I32: f(std::int32_t{}); return;
    case DType::U32: f(std::uint32_t{}); return;
    case DType::I64: f(std::int64_t{}); return;
    case DType::U64: f(std::uint64_t{}); return;
    case DType::F16: f(Half{}); return;
    case DType::BF16: f(Bfloat{}); return;
    case DType::F32: f(float{}); return;
    case DType::F64: f(double{}); return;
    }
}

template<typename T>
T loadAs(const std::byte* data, std::size_t index)
{
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T)); // constants mapped from files need not be aligned
    return value;
}

template<typename T>
T fromDouble(double value)
{
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value);
    } else if constexpr (std::is_integral_v<T>) {
        // Out of range conversions are undefined in C++: saturate, NaN becomes 0.
        if (std::isnan(value))
            return 0;
        if (value <= static_cast<double>(std::numeric_limits<T>::min()))
            return std::numeric_limits<T>::min();
        if (value >= static_cast<double>(std::numeric_limits<T>::max()))
            return std::numeric_limits<T>::max();
        return static_cast<T>(value);
    } else {
        return T::from(value);
    }
}

template<typename Unit>
void gatherUnits(const HostTensor& in, std::int64_t offset, const std::vector<std::int64_t>& strides, HostTensor& out)
{
    const auto* source = reinterpret_cast<const Unit*>(in.bytes.data()) + offset;
    auto* target = reinterpret_cast<Unit*>(out.bytes.data());
    const std::int64_t step = rowStride(strides);
    const std::int64_t length = rowLength(out.type.shape);
    forEachRow<1>(out.type.shape, {strides}, [&](std::int64_t position, const std::array<std::int64_t, 1>& offsets) {
        for (std::int64_t i = 0; i < length; ++i)
            target[position + i] = source[offsets[0] + i * step];
    });
}

template<typename Unit>
void scatterUnits(const HostTensor& in, std::int64_t offset, const std::vector<std::int64_t>& strides, HostTensor& out)
{
    const auto* source = reinterpret_cast<const Unit*>(in.bytes.data());
    auto* target = reinterpret_cast<Unit*>(out.bytes.data()) + offset;
    const std::int64_t step = rowStride(strides);
    const std::int64_t length = rowLength(in.type.shape);
    forEachRow<1>(in.type.shape, {strides}, [&](std::int64_t position, const std::array<std::int64_t, 1>& offsets) {
        for (std::int64_t i = 0; i < length; ++i)
            target[offsets[0] + i * step] = source[position + i];
    });
}

} // namespace

float halfToFloat(std::uint16_t bits)
{
    const bool negative = (bits & 0x8000) != 0;
    const int exponent = (bits >> 10) & 0x1f;
    const int mantissa = bits & 0x3ff;
    float magnitude = 0;
    if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    else if (exponent == 31)
        magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    else
        magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    return negative ? -magnitude : magnitude;
}

std::uint16_t floatToHalf(float value)
{
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(sign | 0x7e00);
    const float magnitude = std::fabs(value);
    if (magnitude >= 65520.0F) // halfway between the largest half and infinity rounds up
        return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude == 0) // has no exponent
        return sign;
    int exponent = 0;
    std::frexp(magnitude, &exponent); // magnitude in [2^(exponent-1), 2^exponent)
    const int quantum = std::max(exponent - 11, -24); // weight of the last bit; -24 for subnormals
    const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -quantum)));
    // `steps` counts quanta: a full mantissa of 2048 steps carries into the exponent by itself.
    const std::uint32_t bits = quantum == -24 ? steps : steps - 1024 + (static_cast<std::uint32_t>(quantum + 25) << 10);
    return static_cast<std::uint16_t>(sign | bits);
}

float bfloatToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t floatToBfloat(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>((bits >> 16) | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

std::vector<double> readFloats(const std::byte* data, DType dtype, std::size_t count)
{
    std::vector<double> values(count);
    withStorage(dtype, [&](auto tag) {
        for (std::size_t i = 0; i < count; ++i)
            values[i] = static_cast<double>(loadAs<decltype(tag)>(data, i));
    });
    return values;
}

std::vector<std::int64_t> readInts(const std::byte* data, DType dtype, std::size_t count)
{
    std::vector<std::int64_t> values(count);
    withStorage(dtype, [&](auto tag) {
        using T = decltype(tag);
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (std::is_integral_v<T>)
                values[i] = static_cast<std::int64_t>(loadAs<T>(data, i));
            else
                values[i] = fromDouble<std::int64_t>(static_cast<double>(loadAs<T>(data, i)));
        }
    });
    return values;
}

void writeFloats(HostTensor& tensor, std::span<const double> values)
{
    withStorage(tensor.type.dtype, [&](auto tag) {
        using T = decltype(tag);
        auto* out = reinterpret_cast<T*>(tensor.bytes.data());
        for (std::size_t i = 0; i < values.size(); ++i)
            out[i] = fromDouble<T>(values[i]);
    });
}

void writeInts(HostTensor& tensor, std::span<const std::int64_t> values)
{
    withStorage(tensor.type.dtype, [&](auto tag) {
        using T = decltype(tag);
        auto* out = reinterpret_cast<T*>(tensor.bytes.data());
        for (std::size_t i = 0; i < values.size(); ++i) {
            if constexpr (std::is_integral_v<T>)
                out[i] = static_cast<T>(values[i]);
            else
                out[i] = fromDouble<T>(static_cast<double>(values[i]));
        }
    });
}

void writeFloat(std::byte* data, DType dtype, std::int64_t index, double value)
{
    withStorage(dtype, [&](auto tag) {
        using T = decltype(tag);
        reinterpret_cast<T*>(data)[index] = fromDouble<T>(value);
    });
}

void writeInt(std::byte* data, DType dtype, std::int64_t index, std::int64_t value)
{
    withStorage(dtype, [&](auto tag) {
        using T = decltype(tag);
        if constexpr (std::is_integral_v<T>)
            reinterpret_cast<T*>(data)[index] = static_cast<T>(value);
        else
            reinterpret_cast<T*>(data)[index] = fromDouble<T>(static_cast<double>(value));
    });
}

std::vector<std::int64_t> denseStrides(std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i > 1; --i)
        strides[i - 2] = strides[i - 1] * shape[i - 1];
    return strides;
}

std::vector<std::int64_t> broadcastStrides(std::span<const std::int64_t> shape, std::span<const std::int64_t> outShape)
{
    const std::vector<std::int64_t> dense = denseStrides(shape);
    std::vector<std::int64_t> strides(outShape.size(), 0);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[shape.size() - 1 - i] != 1)
            strides[strides.size() - 1 - i] = dense[dense.size() - 1 - i];
    }
    return strides;
}

void gatherStrided(const HostTensor& in, std::int64_t offset, const std::vector<std::int64_t>& strides, HostTensor& out)
{
    switch (sizeOf(in.type.dtype)) {
    case 1: gatherUnits<std::uint8_t>(in, offset, strides, out); return;
    case 2: gatherUnits<std::uint16_t>(in, offset, strides, out); return;
    case 4: gatherUnits<std::uint32_t>(in, offset, strides, out); return;
    default: gatherUnits<std::uint64_t>(in, offset, strides, out); return;
    }
}

void scatterStrided(const HostTensor& in, std::int64_t offset, const std::vector<std::int64_t>& strides,
                    HostTensor& out)
{
    switch (sizeOf(in.type.dtype)) {
    case 1: scatterUnits<std::uint8_t>(in, offset, strides, out); return;
    case 2: scatterUnits<std::uint16_t>(in, offset, strides, out); return;
    case 4: scatterUnits<std::uint32_t>(in, offset, strides, out); return;
    default: scatterUnits<std::uint64_t>(in, offset, strides, out); return;
    }
}

} // namespace lathe::graph::operators
