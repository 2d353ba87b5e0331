#pragma once

#include "core/compute/float_bits.h"
#include "core/compute/interpret_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

/// What the interpreter's values are: how they divide, wrap, round, and go from a buffer of any type into wide lanes
/// and back.
namespace lathe::compute {

inline std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    if (b == 0)
        return 0;
    if (b == -1) // the quotient of the lowest value would overflow
        return static_cast<std::int64_t>(0u - static_cast<std::uint64_t>(a));
    const std::int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

inline std::int64_t floorModulo(std::int64_t a, std::int64_t b)
{
    if (b == 0 || b == -1)
        return 0;
    const std::int64_t r = a % b;
    return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

inline double roundTo(DType type, double v)
{
    switch (type) {
    case DType::F16: return static_cast<double>(halfToFloat(floatToHalf(v)));
    case DType::BF16: return static_cast<double>(brainToFloat(floatToBrain(v)));
    case DType::F32: return static_cast<double>(static_cast<float>(v));
    default: return v;
    }
}

template<typename T>
T readAs(const std::byte* data, std::int64_t element)
{
    T value;
    std::memcpy(&value, data + static_cast<std::size_t>(element) * sizeof(T), sizeof(T));
    return value;
}

/// Where the values of an operation lie: a caller's buffer in its own type, or a wide one of ours.
struct Source
{
    const std::byte* data = nullptr;
    DType stored = DType::F64; ///< F64 or I64 for wide buffers
    std::vector<LaneBlock> wide;
};

inline void gather(const Source& source, const std::int64_t* offsets, const bool* active, std::size_t lanes,
                   LaneBlock& out)
{
    const auto each = [&](auto read) {
        for (std::size_t l = 0; l < lanes; ++l)
            read(l, offsets[l]);
    };
    const auto floats = [&](auto value) {
        each([&](std::size_t l, std::int64_t o) { out.f[l] = active[l] ? static_cast<double>(value(o)) : 0.0; });
    };
    const auto ints = [&](auto value) {
        each([&](std::size_t l, std::int64_t o) { out.i[l] = active[l] ? static_cast<std::int64_t>(value(o)) : 0; });
    };
    const std::byte* d = source.data;
    switch (source.stored) {
    case DType::Bool: ints([&](std::int64_t o) { return readAs<std::uint8_t>(d, o) != 0 ? 1 : 0; }); break;
    case DType::I8: ints([&](std::int64_t o) { return readAs<std::int8_t>(d, o); }); break;
    case DType::U8: ints([&](std::int64_t o) { return readAs<std::uint8_t>(d, o); }); break;
    case DType::I16: ints([&](std::int64_t o) { return readAs<std::int16_t>(d, o); }); break;
    case DType::U16: ints([&](std::int64_t o) { return readAs<std::uint16_t>(d, o); }); break;
    case DType::I32: ints([&](std::int64_t o) { return readAs<std::int32_t>(d, o); }); break;
    case DType::U32: ints([&](std::int64_t o) { return readAs<std::uint32_t>(d, o); }); break;
    case DType::I64:
    case DType::U64: ints([&](std::int64_t o) { return readAs<std::int64_t>(d, o); }); break;
    case DType::F16: floats([&](std::int64_t o) { return halfToFloat(readAs<std::uint16_t>(d, o)); }); break;
    case DType::BF16: floats([&](std::int64_t o) { return brainToFloat(readAs<std::uint16_t>(d, o)); }); break;
    case DType::F32: floats([&](std::int64_t o) { return readAs<float>(d, o); }); break;
    case DType::F64: floats([&](std::int64_t o) { return readAs<double>(d, o); }); break;
    }
}

inline void store(DType type, double f, std::int64_t i, std::byte* at)
{
    const auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
    switch (type) {
    case DType::Bool: put(static_cast<std::uint8_t>(i != 0 ? 1 : 0)); break;
    case DType::I8:
    case DType::U8: put(static_cast<std::uint8_t>(i)); break;
    case DType::I16:
    case DType::U16: put(static_cast<std::uint16_t>(i)); break;
    case DType::I32:
    case DType::U32: put(static_cast<std::uint32_t>(i)); break;
    case DType::I64:
    case DType::U64: put(i); break;
    case DType::F16: put(floatToHalf(f)); break;
    case DType::BF16: put(floatToBrain(f)); break;
    case DType::F32: put(static_cast<float>(f)); break;
    case DType::F64: put(f); break;
    }
}

} // namespace lathe::compute
