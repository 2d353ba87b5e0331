#pragma once

#include "core/compute/dag.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace lathe::compute {

/// Functions of one value. Floating point input unless said otherwise.
enum class Unary : std::uint8_t
{
    Relu, ///< any number type
    Negative, ///< any signed type
    Abs, ///< any signed type
    Sign, ///< any signed type
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Tanh,
    Erf,
    Sigmoid,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Floor,
    Ceil,
    Round, ///< halves to even, as ONNX
    Softplus, ///< log(1 + exp(x)), without overflow
    Silu, ///< x * sigmoid(x)
    Gelu, ///< x/2 * (1 + erf(x / sqrt 2))
    GeluTanh, ///< the tanh approximation
    HardSwish, ///< x * clip(x/6 + 1/2, 0, 1)
    Mish, ///< x * tanh(softplus(x))
    LogicalNot, ///< bool
    IsNan ///< gives bool
};

Tensor unary(DagBuilder& b, Unary op, Tensor x);
/// The same on an expression, for definitions that inline it.
ir::Expr applyUnary(Unary op, const ir::Expr& x);

/// max(min(x, high), low), either end may be absent.
Tensor clip(DagBuilder& b, Tensor x, std::optional<double> low, std::optional<double> high);
Tensor leakyRelu(DagBuilder& b, Tensor x, double alpha); ///< x > 0 ? x : alpha * x
Tensor elu(DagBuilder& b, Tensor x, double alpha); ///< x > 0 ? x : alpha * (exp(x) - 1)
Tensor selu(DagBuilder& b, Tensor x, double alpha, double gamma);
Tensor celu(DagBuilder& b, Tensor x, double alpha);
Tensor hardSigmoid(DagBuilder& b, Tensor x, double alpha, double beta); ///< clip(alpha * x + beta, 0, 1)
Tensor thresholdedRelu(DagBuilder& b, Tensor x, double alpha); ///< x > alpha ? x : 0
Tensor prelu(DagBuilder& b, Tensor x, Tensor slope); ///< slope broadcasts as in numpy
/// To another type. Floats to integers truncate towards zero; to bool: x != 0.
Tensor cast(DagBuilder& b, Tensor x, DType dtype);

/// Functions of two values, broadcasting as in numpy. Both operands have one dtype; comparisons and logic give bool.
enum class Binary : std::uint8_t
{
    Add,
    Subtract,
    Multiply,
    Divide, ///< floats; integers truncate towards zero, as ONNX
    Maximum,
    Minimum,
    Power,
    Mod, ///< sign of the divisor for integers, of the dividend (fmod) for floats
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    BitAnd, ///< any integer type
    BitOr,
    BitXor,
    ShiftLeft, ///< unsigned types; by the type's width or more: 0
    ShiftRight
};

Tensor binary(DagBuilder& b, Binary op, Tensor x, Tensor y);
ir::Expr applyBinary(Binary op, const ir::Expr& x, const ir::Expr& y);

/// condition ? x : y, all three broadcast together; condition is bool.
Tensor where(DagBuilder& b, Tensor condition, Tensor x, Tensor y);

/// x op constant (or constant op x when `constantFirst`), the constant of x's dtype.
Tensor binaryScalar(DagBuilder& b, Binary op, Tensor x, double constant, bool constantFirst = false);

/// Shape of the broadcast of two shapes. Precondition: compatible (type inference checks).
std::vector<std::int64_t> broadcastShape(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y);
/// Load of `t` at the point `axes` of a result of `shape`, into which it broadcasts: stretched dimensions are read at
/// 0.
ir::Expr broadcastLoad(const DagBuilder& b, Tensor t, const std::vector<ir::Expr>& axes,
                       const std::vector<std::int64_t>& shape);

} // namespace lathe::compute
