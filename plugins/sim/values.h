#pragma once

#include "plugins/sim/program.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace lathe::sim {

/// One value: `f` if its node's dtype is a float, else `i`.
union Value
{
    double f;
    std::int64_t i;
};

inline Value ofInt(std::int64_t i)
{
    Value v;
    v.i = i;
    return v;
}

inline Value ofFloat(double f, DType dtype)
{
    Value v;
    v.f = dtype == DType::F32 ? static_cast<double>(static_cast<float>(f)) : f;
    return v;
}

inline std::int64_t wrap(std::int64_t i, DType dtype)
{
    switch (dtype) {
    case DType::Bool: return i != 0;
    case DType::I8: return static_cast<std::int8_t>(i);
    case DType::U8: return static_cast<std::uint8_t>(i);
    case DType::I16: return static_cast<std::int16_t>(i);
    case DType::U16: return static_cast<std::uint16_t>(i);
    case DType::I32: return static_cast<std::int32_t>(i);
    case DType::U32: return static_cast<std::uint32_t>(i);
    default: return i;
    }
}

/// A float as an integer of the type: cut towards zero, beyond the type's ends its ends, of NaN 0.
inline std::int64_t toWhole(double f, DType dtype)
{
    if (std::isnan(f))
        return 0;
    const int bits = static_cast<int>(sizeOf(dtype)) * 8;
    const double low = isSigned(dtype) ? -std::ldexp(1.0, bits - 1) : 0;
    const double beyond = std::ldexp(1.0, isSigned(dtype) ? bits - 1 : bits); // the first that does not fit
    if (f >= beyond) // of 64 bits the double beyond is no integer of ours; without a sign all bits are set
        return bits < 64 ? static_cast<std::int64_t>(beyond) - 1 : isSigned(dtype) ? INT64_MAX : -1;
    f = std::fmax(f, low);
    return dtype == DType::U64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(f))
                               : static_cast<std::int64_t>(f);
}

template<typename T>
T get(const char* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template<typename T>
void put(char* at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

inline std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    if (b == 0)
        return 0;
    const std::int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

inline double callFunction(Function function, const double* x)
{
    switch (function) {
    case Function::Exp: return std::exp(x[0]);
    case Function::Log: return std::log(x[0]);
    case Function::Sqrt: return std::sqrt(x[0]);
    case Function::Rsqrt: return 1 / std::sqrt(x[0]);
    case Function::Tanh: return std::tanh(x[0]);
    case Function::Erf: return std::erf(x[0]);
    case Function::Sigmoid: return 1 / (1 + std::exp(-x[0]));
    case Function::Pow: return std::pow(x[0], x[1]);
    case Function::Floor: return std::floor(x[0]);
    case Function::Ceil: return std::ceil(x[0]);
    case Function::Round: return std::nearbyint(x[0]);
    case Function::Trunc: return std::trunc(x[0]);
    case Function::Abs: return std::fabs(x[0]);
    case Function::Fma: return std::fma(x[0], x[1], x[2]);
    case Function::Sin: return std::sin(x[0]);
    case Function::Cos: return std::cos(x[0]);
    case Function::Expm1: return std::expm1(x[0]);
    case Function::Log1p: return std::log1p(x[0]);
    }
    return 0;
}

} // namespace lathe::sim
