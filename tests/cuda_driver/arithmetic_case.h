#pragma once

#include "tests/cuda_driver/kernel_run.h"

#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>

namespace lathe::ptx::testing {

// One thread for each triple (a, b, c) of operands, in registers %d1 to %d3, and as seen by narrower types in %r1, %h1,
// %f1, %g1 and so on. The instruction leaves its result in %d9, %r9, %h9, %f9, %g9 or %p9.

using Bits = uint64_t;
using Expected = std::function<Bits(Bits a, Bits b, Bits c)>;

template<typename T>
T as(Bits bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}
template<typename T>
Bits bitsOf(T value)
{
    Bits bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

/// f of two or three values of type T.
template<typename T, typename F>
Expected of(F f)
{
    return [f](Bits a, Bits b, Bits c) {
        if constexpr (std::is_invocable_v<F, T, T, T>)
            return bitsOf(f(as<T>(a), as<T>(b), as<T>(c)));
        else if constexpr (std::is_invocable_v<F, T, T>)
            return bitsOf(f(as<T>(a), as<T>(b)));
        else
            return bitsOf(f(as<T>(a)));
    };
}

template<typename F>
auto rounded(int mode, F f)
{
    return [=](auto... values) -> decltype(f(values...)) {
        std::fesetround(mode);
        volatile auto result = f(values...);
        std::fesetround(FE_TONEAREST);
        return result;
    };
}

enum class Samples
{
    Integers,
    Floats,
    Doubles,
    Halves,
    Bfloats,
};

inline std::vector<Bits> samplesOf(Samples kind)
{
    std::vector<Bits> made;
    switch (kind) {
    case Samples::Integers:
        return {0,
                1,
                2,
                3,
                7,
                31,
                32,
                33,
                0x7f,
                0x80,
                0xff,
                0x7fff,
                0x8000,
                0xffff,
                0x12345678,
                0x7fffffff,
                0x80000000,
                0xffffffff,
                0xfffffffffffffff9,
                0x7fffffffffffffff,
                0x8000000000000000,
                0x0123456789abcdef};
    case Samples::Floats:
        for (const float v :
             {0.0F, -0.0F, 1.0F, -1.0F, 0.5F, 1.5F, 2.5F, -2.5F, 3.14159F, 1e-3F, -7.7e8F, 3e9F, 1e30F, 1e-40F, 255.5F,
              std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")})
            made.push_back(bitsOf(v));
        return made;
    case Samples::Doubles:
        for (const double v : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 3.141592653589793, 1e-3, -7.7e8, 3e10, 1e300,
                               1e-310, 1e19, std::numeric_limits<double>::infinity(), std::nan("")})
            made.push_back(bitsOf(v));
        return made;
    case Samples::Halves:
        return {0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x4248, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0xfc00, 0x7e00, 0x3555};
    case Samples::Bfloats:
        return {0, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0x4049, 0x7f7f, 0x0001, 0x007f, 0x7f80, 0xff80, 0x7fc0, 0x3eab};
    }
    return made;
}

struct Case
{
    std::string instruction;
    Samples samples;
    Expected expected;
    double tolerance = 0; // relative; 0: bits, but any NaN for a NaN
};

} // namespace lathe::ptx::testing
