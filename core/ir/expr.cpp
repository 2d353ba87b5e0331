#include "core/ir/expr.h"

#include "core/ir/bounds.h"
#include "core/ir/scalar.h"
#include "core/support/check.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lathe::ir {

namespace {

bool isInt(const Expr& e)
{
    return e->kind == ExprKind::IntImm;
}

bool isComparison(ExprKind kind)
{
    return kind >= ExprKind::Eq && kind <= ExprKind::Ge;
}

template<typename T>
bool compare(ExprKind kind, T a, T b)
{
    switch (kind) {
    case ExprKind::Eq: return a == b;
    case ExprKind::Ne: return a != b;
    case ExprKind::Lt: return a < b;
    case ExprKind::Le: return a <= b;
    case ExprKind::Gt: return a > b;
    default: return a >= b;
    }
}

/// Literals adopt the other side's type, narrower integers widen; anything else must agree already.
void unify(Expr& a, Expr& b)
{
    const DType ta = a->dtype;
    const DType tb = b->dtype;
    if (ta == tb)
        return;
    if (isInt(b) && tb == DType::I32)
        b = cast(ta, b);
    else if (isInt(a) && ta == DType::I32)
        a = cast(tb, a);
    else if (isInteger(ta) && isInteger(tb)) {
        const DType wide = sizeOf(ta) >= sizeOf(tb) ? ta : tb;
        a = cast(wide, a);
        b = cast(wide, b);
    }
    LATHE_CHECK(a->dtype == b->dtype) << "operands of types " << toString(ta) << " and " << toString(tb);
}

Expr makeNode(ExprKind kind, DType dtype, std::vector<Expr> operands)
{
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->dtype = dtype;
    node->operands = std::move(operands);
    return Expr(std::move(node));
}

/// As the machine holds it.
std::int64_t wrapped(std::uint64_t value, DType t)
{
    return wrap(static_cast<std::int64_t>(value), t);
}

/// The literal or operand that `a kind b` is, or an empty Expr. Integers only: floats round, and their zero has a sign.
Expr foldInteger(ExprKind kind, const Expr& a, const Expr& b)
{
    const DType t = a->dtype;
    if (isInt(a) && isInt(b)) {
        const std::int64_t x = a->intValue, y = b->intValue;
        const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
        const bool isWide = t == DType::U64; // whose upper half is negative here
        if (isWide && (x < 0 || y < 0) && (kind == ExprKind::FloorDiv || kind == ExprKind::FloorMod))
            return {};
        switch (kind) {
        case ExprKind::Add: return intImm(wrapped(ux + uy, t), t);
        case ExprKind::Sub: return intImm(wrapped(ux - uy, t), t);
        case ExprKind::Mul: return intImm(wrapped(ux * uy, t), t);
        case ExprKind::FloorDiv:
            if (y == -1) // the quotient of the lowest value wraps around
                return intImm(wrapped(0 - ux, t), t);
            return y != 0 ? intImm(floorDivide(x, y), t) : Expr();
        case ExprKind::FloorMod: return y == -1 ? intImm(0, t) : y != 0 ? intImm(floorModulo(x, y), t) : Expr();
        case ExprKind::Min: return isWide ? (ux < uy ? a : b) : (x < y ? a : b);
        case ExprKind::Max: return isWide ? (ux > uy ? a : b) : (x > y ? a : b);
        default:
            if (!isComparison(kind))
                return {};
            return boolImm(isWide ? compare(kind, ux, uy) : compare(kind, x, y));
        }
    }
    switch (kind) {
    case ExprKind::Add:
        if (isConst(b, 0))
            return a;
        return isConst(a, 0) ? b : Expr();
    case ExprKind::Sub: return isConst(b, 0) ? a : Expr();
    case ExprKind::Mul:
        if (isConst(b, 1) || isConst(a, 0))
            return a;
        return isConst(a, 1) || isConst(b, 0) ? b : Expr();
    case ExprKind::FloorDiv: return isConst(b, 1) || isConst(a, 0) ? a : Expr();
    case ExprKind::FloorMod: return isConst(b, 1) ? intImm(0, t) : Expr();
    default: return {};
    }
}

} // namespace

Expr::Expr(int value)
    : Expr(intImm(value))
{
}

Expr intImm(std::int64_t value, DType dtype)
{
    auto node = std::make_shared<Node>();
    node->kind = ExprKind::IntImm;
    node->dtype = dtype;
    node->intValue = value;
    return Expr(std::move(node));
}

Expr floatImm(double value, DType dtype)
{
    auto node = std::make_shared<Node>();
    node->kind = ExprKind::FloatImm;
    node->dtype = dtype;
    node->floatValue = dtype == DType::F32 ? static_cast<double>(static_cast<float>(value)) : value;
    return Expr(std::move(node));
}

Expr boolImm(bool value)
{
    return intImm(value ? 1 : 0, DType::Bool);
}

Expr var(std::string name, DType dtype)
{
    auto node = std::make_shared<Node>();
    node->kind = ExprKind::Var;
    node->dtype = dtype;
    node->name = std::move(name);
    return Expr(std::move(node));
}

Expr binary(ExprKind kind, Expr a, Expr b)
{
    LATHE_CHECK(a.get() != nullptr && b.get() != nullptr) << "binary expression without operands";
    unify(a, b);
    if (kind == ExprKind::And || kind == ExprKind::Or) {
        LATHE_CHECK(a->dtype == DType::Bool) << "logical operator on " << toString(a->dtype);
        const bool absorbing = kind == ExprKind::Or;
        for (const auto& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}})
            if (isInt(*one))
                return ((*one)->intValue != 0) == absorbing ? *one : *other;
        return makeNode(kind, DType::Bool, {std::move(a), std::move(b)});
    }
    LATHE_CHECK(kind >= ExprKind::Add && kind <= ExprKind::Ge) << "not a binary operator";
    const DType t = a->dtype;
    if (!isFloat(t)) {
        LATHE_CHECK(kind != ExprKind::Div) << "integers divide by floorDiv";
        if (Expr folded = foldInteger(kind, a, b))
            return folded;
    } else
        LATHE_CHECK(kind != ExprKind::FloorDiv && kind != ExprKind::FloorMod) << "floats divide by div";
    return makeNode(kind, isComparison(kind) ? DType::Bool : t, {std::move(a), std::move(b)});
}

Expr operator+(Expr a, Expr b)
{
    return binary(ExprKind::Add, std::move(a), std::move(b));
}
Expr operator-(Expr a, Expr b)
{
    return binary(ExprKind::Sub, std::move(a), std::move(b));
}
Expr operator*(Expr a, Expr b)
{
    return binary(ExprKind::Mul, std::move(a), std::move(b));
}
Expr floorDiv(Expr a, Expr b)
{
    return binary(ExprKind::FloorDiv, std::move(a), std::move(b));
}
Expr floorMod(Expr a, Expr b)
{
    return binary(ExprKind::FloorMod, std::move(a), std::move(b));
}
Expr div(Expr a, Expr b)
{
    return binary(ExprKind::Div, std::move(a), std::move(b));
}
Expr min(Expr a, Expr b)
{
    return binary(ExprKind::Min, std::move(a), std::move(b));
}
Expr max(Expr a, Expr b)
{
    return binary(ExprKind::Max, std::move(a), std::move(b));
}
Expr operator<(Expr a, Expr b)
{
    return binary(ExprKind::Lt, std::move(a), std::move(b));
}
Expr operator<=(Expr a, Expr b)
{
    return binary(ExprKind::Le, std::move(a), std::move(b));
}
Expr operator>(Expr a, Expr b)
{
    return binary(ExprKind::Gt, std::move(a), std::move(b));
}
Expr operator>=(Expr a, Expr b)
{
    return binary(ExprKind::Ge, std::move(a), std::move(b));
}
Expr eq(Expr a, Expr b)
{
    return binary(ExprKind::Eq, std::move(a), std::move(b));
}
Expr ne(Expr a, Expr b)
{
    return binary(ExprKind::Ne, std::move(a), std::move(b));
}
Expr operator&&(Expr a, Expr b)
{
    return binary(ExprKind::And, std::move(a), std::move(b));
}
Expr operator||(Expr a, Expr b)
{
    return binary(ExprKind::Or, std::move(a), std::move(b));
}

Expr operator!(Expr a)
{
    LATHE_CHECK(a->dtype == DType::Bool) << "logical not of " << toString(a->dtype);
    if (isInt(a))
        return boolImm(a->intValue == 0);
    return makeNode(ExprKind::Not, DType::Bool, {std::move(a)});
}

namespace {

Expr choose(ExprKind kind, Expr condition, Expr ifTrue, Expr ifFalse)
{
    LATHE_CHECK(condition->dtype == DType::Bool) << "condition of type " << toString(condition->dtype);
    unify(ifTrue, ifFalse);
    if (isInt(condition))
        return condition->intValue != 0 ? ifTrue : ifFalse;
    const DType t = ifTrue->dtype;
    return makeNode(kind, t, {std::move(condition), std::move(ifTrue), std::move(ifFalse)});
}

} // namespace

Expr select(Expr condition, Expr ifTrue, Expr ifFalse)
{
    return choose(ExprKind::Select, std::move(condition), std::move(ifTrue), std::move(ifFalse));
}

Expr ifThenElse(Expr condition, Expr ifTrue, Expr ifFalse)
{
    return choose(ExprKind::IfThenElse, std::move(condition), std::move(ifTrue), std::move(ifFalse));
}

Expr cast(DType dtype, Expr value)
{
    if (value->dtype == dtype)
        return value;
    if (isInt(value) && isFloat(dtype))
        return floatImm(value->dtype == DType::U64 ? static_cast<double>(static_cast<std::uint64_t>(value->intValue))
                                                   : static_cast<double>(value->intValue),
                        dtype);
    if (isInt(value) && (dtype == DType::I32 || dtype == DType::I64))
        return intImm(dtype == DType::I32 ? static_cast<std::int32_t>(value->intValue) : value->intValue, dtype);
    // Narrow literals keep their value where it fits; a cast that wraps is left to be evaluated.
    if (isInt(value) && isInteger(dtype) && value->intValue >= 0 && value->intValue < 128)
        return intImm(value->intValue, dtype);
    if (value->kind == ExprKind::FloatImm && (dtype == DType::F32 || dtype == DType::F64))
        return floatImm(value->floatValue, dtype);
    return makeNode(ExprKind::Cast, dtype, {std::move(value)});
}

Expr call(std::string name, DType dtype, std::vector<Expr> arguments)
{
    auto node = std::make_shared<Node>();
    node->kind = ExprKind::Call;
    node->dtype = dtype;
    node->name = std::move(name);
    node->operands = std::move(arguments);
    return Expr(std::move(node));
}

Expr load(std::int32_t source, DType dtype, std::vector<Expr> indices, std::int32_t output)
{
    auto node = std::make_shared<Node>();
    node->kind = ExprKind::Load;
    node->dtype = dtype;
    node->source = source;
    node->output = output;
    node->operands = std::move(indices);
    return Expr(std::move(node));
}

Expr reduce(Combiner combiner, Expr sourceValue, Expr identity, std::vector<Expr> axes)
{
    auto node = std::make_shared<Node>();
    node->kind = ExprKind::Reduce;
    node->dtype = identity->dtype;
    node->combiner = combiner;
    node->operands = {std::move(sourceValue), std::move(identity)};
    node->axes = std::move(axes);
    return Expr(std::move(node));
}

bool equal(const Expr& a, const Expr& b)
{
    if (a.same(b))
        return true;
    if (a.get() == nullptr || b.get() == nullptr || a->kind != b->kind || a->dtype != b->dtype
        || a->kind == ExprKind::Var)
        return false;
    if (a->intValue != b->intValue || a->source != b->source || a->output != b->output || a->combiner != b->combiner
        || a->operands.size() != b->operands.size() || a->axes.size() != b->axes.size() || a->name != b->name)
        return false;
    if (a->kind == ExprKind::FloatImm)
        return a->floatValue == b->floatValue ? std::signbit(a->floatValue) == std::signbit(b->floatValue)
                                              : std::isnan(a->floatValue) && std::isnan(b->floatValue);
    return std::equal(a->operands.begin(), a->operands.end(), b->operands.begin(), &equal)
           && std::equal(a->axes.begin(), a->axes.end(), b->axes.begin(), &equal);
}

Expr vanishingZero(DType dtype)
{
    auto node = std::make_shared<Node>(*floatImm(0, dtype));
    node->intValue = 1;
    return Expr(std::move(node));
}

bool isVanishingZero(const Expr& e)
{
    return e->kind == ExprKind::FloatImm && e->intValue != 0;
}

bool isConst(const Expr& e, std::int64_t value)
{
    return isInt(e) && e->intValue == value;
}

} // namespace lathe::ir
