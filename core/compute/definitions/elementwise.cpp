#include "core/compute/definitions/elementwise.h"

#include "core/compute/definitions/spatial.h"
#include "core/support/check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

ir::Expr intrinsic(const char* name, const ir::Expr& x)
{
    return ir::call(name, x->dtype, {x});
}

ir::Expr lit(double value, const ir::Expr& like)
{
    return constant(value, like->dtype);
}

/// As lit(); of integers within the ends of their type.
ir::Expr bound(double value, const ir::Expr& like)
{
    const DType t = like->dtype;
    if (isFloat(t))
        return lit(value, like);
    const int bits = static_cast<int>(sizeOf(t) * 8) - (isSigned(t) ? 1 : 0);
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits);
    if (value >= std::ldexp(1.0, bits))
        return ir::intImm(static_cast<std::int64_t>(largest), t);
    if (value <= (isSigned(t) ? -std::ldexp(1.0, bits) : 0.0))
        return ir::intImm(isSigned(t) ? static_cast<std::int64_t>(~largest) : 0, t);
    return ir::intImm(
        value < 0 ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(static_cast<std::uint64_t>(value)), t);
}

/// min(max(x, low), high) of constants.
ir::Expr clamp(const ir::Expr& x, double low, double high)
{
    return ir::max(ir::min(x, lit(high, x)), lit(low, x));
}

const char* unaryName(Unary op)
{
    switch (op) {
    case Unary::Relu: return "T_relu";
    case Unary::Negative: return "T_negative";
    case Unary::Abs: return "T_abs";
    case Unary::Sign: return "T_sign";
    case Unary::Exp: return "T_exp";
    case Unary::Log: return "T_log";
    case Unary::Sqrt: return "T_sqrt";
    case Unary::Rsqrt: return "T_rsqrt";
    case Unary::Reciprocal: return "T_reciprocal";
    case Unary::Tanh: return "T_tanh";
    case Unary::Erf: return "T_erf";
    case Unary::Sigmoid: return "T_sigmoid";
    case Unary::Sin: return "T_sin";
    case Unary::Cos: return "T_cos";
    case Unary::Tan: return "T_tan";
    case Unary::Asin: return "T_asin";
    case Unary::Acos: return "T_acos";
    case Unary::Atan: return "T_atan";
    case Unary::Sinh: return "T_sinh";
    case Unary::Cosh: return "T_cosh";
    case Unary::Asinh: return "T_asinh";
    case Unary::Acosh: return "T_acosh";
    case Unary::Atanh: return "T_atanh";
    case Unary::Floor: return "T_floor";
    case Unary::Ceil: return "T_ceil";
    case Unary::Round: return "T_round";
    case Unary::Softplus: return "T_softplus";
    case Unary::Silu: return "T_silu";
    case Unary::Gelu: return "T_gelu";
    case Unary::GeluTanh: return "T_gelu_tanh";
    case Unary::HardSwish: return "T_hard_swish";
    case Unary::Mish: return "T_mish";
    case Unary::LogicalNot: return "T_logical_not";
    case Unary::IsNan: return "T_is_nan";
    }
    return "T_unary";
}

const char* binaryName(Binary op)
{
    switch (op) {
    case Binary::Add: return "T_add";
    case Binary::Subtract: return "T_subtract";
    case Binary::Multiply: return "T_multiply";
    case Binary::Divide: return "T_divide";
    case Binary::Maximum: return "T_maximum";
    case Binary::Minimum: return "T_minimum";
    case Binary::Power: return "T_power";
    case Binary::Mod: return "T_mod";
    case Binary::Equal: return "T_equal";
    case Binary::NotEqual: return "T_not_equal";
    case Binary::Less: return "T_less";
    case Binary::LessEqual: return "T_less_equal";
    case Binary::Greater: return "T_greater";
    case Binary::GreaterEqual: return "T_greater_equal";
    case Binary::LogicalAnd: return "T_logical_and";
    case Binary::LogicalOr: return "T_logical_or";
    case Binary::LogicalXor: return "T_logical_xor";
    case Binary::BitAnd: return "T_bitwise_and";
    case Binary::BitOr: return "T_bitwise_or";
    case Binary::BitXor: return "T_bitwise_xor";
    case Binary::ShiftLeft: return "T_left_shift";
    case Binary::ShiftRight: return "T_right_shift";
    }
    return "T_binary";
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
ir::Expr softplus(const ir::Expr& x)
{
    const ir::Expr decay = intrinsic("exp", lit(0, x) - intrinsic("fabs", x));
    return ir::max(x, lit(0, x)) + intrinsic("log1p", decay);
}

/// An odd function by its value at |x|. Where x is so small that the function is x, to the last digit, it is x with its
/// sign.
ir::Expr odd(const ir::Expr& x, const ir::Expr& ofSize)
{
    const double small = x->dtype == DType::F64 ? 1e-9 : 1e-4;
    return ir::select(intrinsic("fabs", x) < lit(small, x), x, ir::select(x < lit(0, x), lit(0, x) - ofSize, ofSize));
}

/// From here on x^2 + 1 and x^2 - 1 are x^2, to the last digit.
double largeOf(const ir::Expr& x)
{
    return x->dtype == DType::F64 ? 1e9 : 1e4;
}

ir::Expr sinh(const ir::Expr& x)
{
    // (e^x - e^-x) / 2 by e^x - 1, where digits would cancel; by e^(x/2), where e^x alone overflows.
    const ir::Expr size = intrinsic("fabs", x), grown = intrinsic("expm1", size);
    const ir::Expr near = (grown + ir::div(grown, grown + lit(1, x))) * lit(0.5, x);
    const ir::Expr root = intrinsic("exp", size * lit(0.5, x));
    return odd(x, ir::select(size < lit(20, x), near, root * lit(0.5, x) * root));
}

ir::Expr cosh(const ir::Expr& x)
{
    const ir::Expr root = intrinsic("exp", intrinsic("fabs", x) * lit(0.5, x)); // e^x overflows before cosh x
    return root * lit(0.5, x) * root + ir::div(ir::div(lit(0.5, x), root), root);
}

ir::Expr asinh(const ir::Expr& x)
{
    const ir::Expr size = intrinsic("fabs", x), square = x * x;
    const ir::Expr near = intrinsic("log1p", size + ir::div(square, intrinsic("sqrt", square + lit(1, x)) + lit(1, x)));
    const ir::Expr far = intrinsic("log", size) + lit(std::numbers::ln2, x);
    return odd(x, ir::select(size < lit(largeOf(x), x), near, far));
}

ir::Expr acosh(const ir::Expr& x)
{
    const ir::Expr above = x - lit(1, x);
    const ir::Expr root = intrinsic("sqrt", above) * intrinsic("sqrt", above + lit(2, x)); // NaN below 1
    const ir::Expr near = intrinsic("log1p", above + root);
    const ir::Expr far = intrinsic("log", x) + lit(std::numbers::ln2, x);
    return ir::select(x > lit(largeOf(x), x), far, near);
}

ir::Expr atanh(const ir::Expr& x)
{
    const ir::Expr size = intrinsic("fabs", x);
    return odd(x, intrinsic("log1p", ir::div(size * lit(2, x), lit(1, x) - size)) * lit(0.5, x));
}

ir::Expr divide(const ir::Expr& x, const ir::Expr& y)
{
    if (isFloat(x->dtype))
        return ir::div(x, y);
    if (!isSigned(x->dtype))
        return ir::floorDiv(x, y);
    // Towards zero: one up from the floor where the quotient is negative and not exact.
    const ir::Expr quotient = ir::floorDiv(x, y);
    const ir::Expr inexact = ir::ne(ir::floorMod(x, y), lit(0, x));
    const ir::Expr negative = quotient < lit(0, x);
    return quotient + ir::select(inexact && negative, lit(1, x), lit(0, x));
}

ir::Expr applySteps(Unary op, const ir::Expr& x);

/// Whether a function takes several operations, of which each would round.
bool hasSteps(Unary op)
{
    switch (op) {
    case Unary::Tan:
    case Unary::Asin:
    case Unary::Acos:
    case Unary::Sinh:
    case Unary::Cosh:
    case Unary::Asinh:
    case Unary::Acosh:
    case Unary::Atanh:
    case Unary::Softplus:
    case Unary::Silu:
    case Unary::Gelu:
    case Unary::GeluTanh:
    case Unary::HardSwish:
    case Unary::Mish: return true;
    default: return false;
    }
}

/// Of half floats in f32, rounded once at the end.
template<typename Function>
ir::Expr inSteps(const ir::Expr& x, Function&& function)
{
    return ir::cast(x->dtype, function(ir::cast(sumType(x->dtype), x)));
}

/// A stage with the shape of x, a value per element.
template<typename Body>
Tensor elementwise(DagBuilder& b, const char* name, Tensor x, Body&& body)
{
    const std::vector<std::int64_t> shape = b.shape(x);
    return b.compute(name, shape, axisNames(shape.size()), "elemwise",
                     [&](const Exprs& a) { return body(b.at(x, a)); });
}

} // namespace

ir::Expr applyUnary(Unary op, const ir::Expr& x)
{
    if (hasSteps(op))
        return inSteps(x, [op](const ir::Expr& v) { return applySteps(op, v); });
    return applySteps(op, x);
}

namespace {

ir::Expr applySteps(Unary op, const ir::Expr& x)
{
    switch (op) {
    case Unary::Relu: return ir::max(x, lit(0, x));
    case Unary::Negative: return lit(isFloat(x->dtype) ? -0.0 : 0, x) - x; // 0 - 0 has no sign
    case Unary::Abs: return isFloat(x->dtype) ? intrinsic("fabs", x) : ir::select(x < lit(0, x), lit(0, x) - x, x);
    case Unary::Sign: {
        const ir::Expr rest = isFloat(x->dtype) ? ir::select(ir::eq(x, x), lit(0, x), x) : lit(0, x); // NaN stays
        return ir::select(x < lit(0, x), lit(-1, x), ir::select(x > lit(0, x), lit(1, x), rest));
    }
    case Unary::Exp: return intrinsic("exp", x);
    case Unary::Log: return intrinsic("log", x);
    case Unary::Sqrt: return intrinsic("sqrt", x);
    case Unary::Rsqrt: return intrinsic("rsqrt", x);
    case Unary::Reciprocal: return ir::div(lit(1, x), x);
    case Unary::Tanh: return intrinsic("tanh", x);
    case Unary::Erf: return intrinsic("erf", x);
    case Unary::Sigmoid: return intrinsic("sigmoid", x);
    case Unary::Sin: return intrinsic("sin", x);
    case Unary::Cos: return intrinsic("cos", x);
    case Unary::Tan: return intrinsic("tan", x);
    case Unary::Asin: return intrinsic("atan", ir::div(x, intrinsic("sqrt", (lit(1, x) - x) * (lit(1, x) + x))));
    case Unary::Acos: return lit(2, x) * intrinsic("atan", intrinsic("sqrt", ir::div(lit(1, x) - x, lit(1, x) + x)));
    case Unary::Atan: return intrinsic("atan", x);
    case Unary::Sinh: return sinh(x);
    case Unary::Cosh: return cosh(x);
    case Unary::Asinh: return asinh(x);
    case Unary::Acosh: return acosh(x);
    case Unary::Atanh: return atanh(x);
    case Unary::Floor: return intrinsic("floor", x);
    case Unary::Ceil: return intrinsic("ceil", x);
    case Unary::Round: return intrinsic("round", x);
    case Unary::Softplus: return softplus(x);
    case Unary::Silu: return x * intrinsic("sigmoid", x);
    case Unary::Gelu: return x * lit(0.5, x) * (intrinsic("erf", x * lit(0.70710678118654752440, x)) + lit(1, x));
    case Unary::GeluTanh: {
        const ir::Expr cubic = x + x * x * x * lit(0.044715, x);
        return x * lit(0.5, x) * (intrinsic("tanh", cubic * lit(0.79788456080286535588, x)) + lit(1, x));
    }
    case Unary::HardSwish: return x * clamp(x * lit(1.0 / 6, x) + lit(0.5, x), 0, 1);
    case Unary::Mish: return x * intrinsic("tanh", softplus(x));
    case Unary::LogicalNot: return !x;
    case Unary::IsNan: return !(x < lit(0, x) || x >= lit(0, x)); // neither
    }
    return x;
}

} // namespace

ir::Expr applyBinary(Binary op, const ir::Expr& x, const ir::Expr& y)
{
    switch (op) {
    case Binary::Add: return x + y;
    case Binary::Subtract: return x - y;
    case Binary::Multiply: return x * y;
    case Binary::Divide: return divide(x, y);
    case Binary::Maximum: return ir::max(x, y);
    case Binary::Minimum: return ir::min(x, y);
    case Binary::Power: return ir::call("pow", x->dtype, {x, y}); // of integers too: they wrap around
    case Binary::Mod: return isFloat(x->dtype) ? ir::call("fmod", x->dtype, {x, y}) : ir::floorMod(x, y);
    case Binary::Equal: return ir::eq(x, y);
    case Binary::NotEqual: return ir::ne(x, y);
    case Binary::Less: return x < y;
    case Binary::LessEqual: return x <= y;
    case Binary::Greater: return x > y;
    case Binary::GreaterEqual: return x >= y;
    case Binary::LogicalAnd: return x && y;
    case Binary::LogicalOr: return x || y;
    case Binary::LogicalXor: return ir::ne(x, y);
    case Binary::BitAnd: return ir::call("bit_and", x->dtype, {x, y});
    case Binary::BitOr: return ir::call("bit_or", x->dtype, {x, y});
    case Binary::BitXor: return ir::call("bit_xor", x->dtype, {x, y});
    case Binary::ShiftLeft: return ir::call("shift_left", x->dtype, {x, y});
    case Binary::ShiftRight: return ir::call("shift_right", x->dtype, {x, y});
    }
    return x;
}

Tensor unary(DagBuilder& b, Unary op, Tensor x)
{
    return elementwise(b, unaryName(op), x, [&](const ir::Expr& v) { return applyUnary(op, v); });
}

Tensor clip(DagBuilder& b, Tensor x, std::optional<double> low, std::optional<double> high)
{
    if (low && high && *low > *high)
        low = high; // an empty interval gives its upper end
    return elementwise(b, "T_clip", x, [&](const ir::Expr& v) {
        ir::Expr result = v;
        if (high)
            result = ir::min(result, bound(*high, v));
        return low ? ir::max(result, bound(*low, v)) : result;
    });
}

Tensor leakyRelu(DagBuilder& b, Tensor x, double alpha)
{
    return elementwise(b, "T_leaky_relu", x, [&](const ir::Expr& one) {
        return inSteps(one, [&](const ir::Expr& v) { return ir::select(v > lit(0, v), v, v * lit(alpha, v)); });
    });
}

Tensor elu(DagBuilder& b, Tensor x, double alpha)
{
    return elementwise(b, "T_elu", x, [&](const ir::Expr& one) {
        return inSteps(one, [&](const ir::Expr& v) {
            return ir::select(v > lit(0, v), v, intrinsic("expm1", v) * lit(alpha, v));
        });
    });
}

Tensor selu(DagBuilder& b, Tensor x, double alpha, double gamma)
{
    return elementwise(b, "T_selu", x, [&](const ir::Expr& one) {
        return inSteps(one, [&](const ir::Expr& v) {
            return ir::select(v > lit(0, v), v * lit(gamma, v), intrinsic("expm1", v) * lit(alpha * gamma, v));
        });
    });
}

Tensor celu(DagBuilder& b, Tensor x, double alpha)
{
    return elementwise(b, "T_celu", x, [&](const ir::Expr& one) {
        return inSteps(one, [&](const ir::Expr& v) {
            return ir::max(v, lit(0, v))
                   + ir::min(intrinsic("expm1", v * lit(1 / alpha, v)) * lit(alpha, v), lit(0, v));
        });
    });
}

Tensor hardSigmoid(DagBuilder& b, Tensor x, double alpha, double beta)
{
    return elementwise(b, "T_hard_sigmoid", x, [&](const ir::Expr& one) {
        return inSteps(one, [&](const ir::Expr& v) { return clamp(v * lit(alpha, v) + lit(beta, v), 0, 1); });
    });
}

Tensor thresholdedRelu(DagBuilder& b, Tensor x, double alpha)
{
    return elementwise(b, "T_thresholded_relu", x,
                       [&](const ir::Expr& v) { return ir::select(v > lit(alpha, v), v, lit(0, v)); });
}

Tensor prelu(DagBuilder& b, Tensor x, Tensor slope)
{
    const std::vector<std::int64_t> shape = b.shape(x);
    return b.compute("T_prelu", shape, axisNames(shape.size()), "broadcast", [&](const Exprs& a) {
        const ir::Expr v = b.at(x, a);
        return ir::select(v < lit(0, v), v * broadcastLoad(b, slope, a, shape), v); // 0 stays 0 with any slope
    });
}

Tensor cast(DagBuilder& b, Tensor x, DType dtype)
{
    return elementwise(b, "T_cast", x, [&](const ir::Expr& v) {
        return dtype == DType::Bool && v->dtype != DType::Bool ? ir::ne(v, lit(0, v)) : ir::cast(dtype, v);
    });
}

std::vector<std::int64_t> broadcastShape(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y)
{
    std::vector<std::int64_t> result(std::max(x.size(), y.size()), 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::int64_t xd = i < x.size() ? x[x.size() - 1 - i] : 1;
        const std::int64_t yd = i < y.size() ? y[y.size() - 1 - i] : 1;
        LATHE_CHECK(xd == yd || xd == 1 || yd == 1) << "extents " << xd << " and " << yd << " do not broadcast";
        result[result.size() - 1 - i] = xd == 1 ? yd : xd;
    }
    return result;
}

ir::Expr broadcastLoad(const DagBuilder& b, Tensor t, const std::vector<ir::Expr>& axes,
                       const std::vector<std::int64_t>& shape)
{
    const std::vector<std::int64_t>& own = b.shape(t);
    const std::size_t skip = shape.size() - own.size();
    Exprs at;
    for (std::size_t i = 0; i < own.size(); ++i)
        at.push_back(own[i] == shape[skip + i] ? axes[skip + i] : index(0));
    return b.at(t, at);
}

Tensor binary(DagBuilder& b, Binary op, Tensor x, Tensor y)
{
    const std::vector<std::int64_t> shape = broadcastShape(b.shape(x), b.shape(y));
    return b.compute(binaryName(op), shape, axisNames(shape.size()), "broadcast", [&](const Exprs& a) {
        return applyBinary(op, broadcastLoad(b, x, a, shape), broadcastLoad(b, y, a, shape));
    });
}

Tensor where(DagBuilder& b, Tensor condition, Tensor x, Tensor y)
{
    const std::vector<std::int64_t> shape = broadcastShape(b.shape(condition), broadcastShape(b.shape(x), b.shape(y)));
    return b.compute("T_where", shape, axisNames(shape.size()), "broadcast", [&](const Exprs& a) {
        return ir::select(broadcastLoad(b, condition, a, shape), broadcastLoad(b, x, a, shape),
                          broadcastLoad(b, y, a, shape));
    });
}

Tensor binaryScalar(DagBuilder& b, Binary op, Tensor x, double value, bool constantFirst)
{
    return elementwise(b, binaryName(op), x, [&](const ir::Expr& v) {
        return constantFirst ? applyBinary(op, lit(value, v), v) : applyBinary(op, v, lit(value, v));
    });
}

} // namespace lathe::compute
