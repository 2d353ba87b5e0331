#pragma once

#include <QString>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace lathe::test {

/// How many points of each function are tested: 100,000, or what LATHE_MATH_POINTS says (tests/README.md).
inline std::int64_t mathPoints()
{
    bool given = false;
    const std::int64_t count = qEnvironmentVariable("LATHE_MATH_POINTS").toLongLong(&given);
    return given ? count : 100'000;
}

/// A function of the intermediate representation, what it is of numbers that are exact, and by how many units of the
/// last place it may be off (core/compute/README.md).
struct MathFunction
{
    const char* name;
    long double (*exact)(long double);
    double bound32, bound64; ///< of f32, of f64
};
inline constexpr MathFunction kMathFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, 1.1, 1.1},
    {"exp2", [](long double x) { return std::exp2(x); }, 1.1, 1.1},
    {"expm1", [](long double x) { return std::expm1(x); }, 2.5, 2.5},
    {"log", [](long double x) { return std::log(x); }, 1.1, 1.1},
    {"log1p", [](long double x) { return std::log1p(x); }, 2.5, 2.5},
    {"log2", [](long double x) { return std::log2(x); }, 3, 3},
    {"tanh", [](long double x) { return std::tanh(x); }, 2, 2},
    {"sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.5, 2.5},
    {"erf", [](long double x) { return std::erf(x); }, 6, 4},
    {"sin", [](long double x) { return std::sin(x); }, 2, 2},
    {"cos", [](long double x) { return std::cos(x); }, 2, 2},
    {"tan", [](long double x) { return std::tan(x); }, 4, 4},
    {"atan", [](long double x) { return std::atan(x); }, 2.5, 2.5},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0.51, 0.51},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1.5, 1.5},
};

/// Numbers of every exponent and sign alike, subnormals among them; half of them where functions bend.
template<typename T>
std::vector<T> drawnPoints(std::mt19937_64& random, std::size_t count)
{
    std::vector<T> x(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint64_t bits = random();
        if constexpr (sizeof(T) == 4) {
            const auto narrow = static_cast<std::uint32_t>(bits);
            std::memcpy(&x[i], &narrow, sizeof(T));
        } else
            std::memcpy(&x[i], &bits, sizeof(T));
        if (i % 2 == 0) // 2^-12 to 2^12
            x[i] = static_cast<T>(
                       std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52, static_cast<int>(bits % 24) - 12))
                   * ((bits & 0x800) != 0 ? T{-1} : T{1});
    }
    return x;
}

/// Bases and exponents; every other pair has a result that is neither 0 nor infinite, of any base.
template<typename T>
void drawPowers(std::mt19937_64& random, std::vector<T>& x, std::vector<T>& y, std::size_t count)
{
    x = drawnPoints<T>(random, count);
    y = drawnPoints<T>(random, count);
    for (std::size_t i = 1; i < count; i += 2) {
        x[i] = std::abs(x[i]);
        if (std::isfinite(x[i]) && x[i] > 0)
            y[i] = static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * 745
                                  / std::log(static_cast<double>(x[i])));
    }
}

/// Distance in units of the last place of the wanted value.
template<typename T>
double ulps(T got, long double want)
{
    const T rounded = static_cast<T>(want);
    if (std::isinf(rounded) || std::isnan(rounded))
        return got == rounded || (std::isnan(got) && std::isnan(rounded)) ? 0 : 1e9;
    const T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
    const long double unit = static_cast<long double>(next) - std::abs(rounded);
    return static_cast<double>(std::abs(static_cast<long double>(got) - want) / unit);
}

} // namespace lathe::test
