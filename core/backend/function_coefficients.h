#pragma once

namespace lathe::backend {

/// Polynomials, coefficients in rising order, that more than one back end computes functions by. They are near-minimax,
/// by Chebyshev interpolation in 40 digits.

/// tanh(x) = x + x^3 P(x^2) where x^2 < kTanhNear, else 1 - 2 / (e^2|x| + 1) with the sign of x.
inline constexpr double kTanhNear = 0.4;
inline constexpr double kTanh32[] = {-0.3333333314937450713, 0.1333330014618891471,    -0.05395846162745220143,
                                     0.02176250290735926388, -0.008323187058278774515, 0.002269501684162353986};
inline constexpr double kTanh64[] = {-0.3333333333333333331,    0.1333333333333331699,      -0.05396825396823102659,
                                     0.02186948853488775748,    -0.008863235493441450841,   0.003592127410695316183,
                                     -0.001455827466845426599,  0.00058997591921439729,     -0.0002388646478854995136,
                                     0.00009597236318160513073, -0.00003696052230333825706, 0.00001208868722621689826,
                                     -2.385579311170425163e-6};

inline constexpr double kErfFlat = 3.92;
/// erf(x) = x P(x^2) / Q(x^2) on [-kErfFlat, kErfFlat], where it is within half a unit of 1: least relative
/// error 1.9e-8 before rounding.
inline constexpr double kErfP32[] = {1.1283791461946575,    0.19040543938208956,    0.05274858607871606,
                                     0.0037655714914232273, 0.00028488150220110623, 2.0500932898283806e-06};
inline constexpr double kErfQ32[] = {
    1.0, 0.5020751684974137, 0.11410868563124243, 0.014969127140695124, 0.00116252402202166, 3.809171159826593e-05};

} // namespace lathe::backend
