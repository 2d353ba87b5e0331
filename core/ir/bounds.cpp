#include "core/ir/bounds.h"

#include "core/ir/linear_form.h"

#include <algorithm>
#include <limits>

namespace lathe::ir {

namespace {

constexpr std::int64_t kInf = Interval::kUnbounded;

std::int64_t clampToBounds(std::int64_t v)
{
    return std::clamp(v, -kInf, kInf);
}

std::int64_t addSaturated(std::int64_t a, std::int64_t b)
{
    // An unbounded end stays unbounded whatever is added.
    if (a >= kInf || b >= kInf)
        return kInf;
    if (a <= -kInf || b <= -kInf)
        return -kInf;
    return clampToBounds(a + b);
}

std::int64_t mulSaturated(std::int64_t a, std::int64_t b)
{
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) != (b < 0) ? -kInf : kInf;
    return clampToBounds(product);
}

std::int64_t divSaturated(std::int64_t a, std::int64_t b)
{
    return a >= kInf || a <= -kInf ? (b > 0 ? a : -a) : floorDivide(a, b);
}

Interval typeRange(DType t)
{
    switch (t) {
    case DType::Bool: return {0, 1};
    case DType::I8: return {-128, 127};
    case DType::U8: return {0, 255};
    case DType::I16: return {-32768, 32767};
    case DType::U16: return {0, 65535};
    case DType::U32: return {0, 0xffffffff};
    default: return Interval::all();
    }
}

Interval comparison(const Expr& e, const Ranges& ranges)
{
    if (isFloat(e->operands[0]->dtype))
        return {0, 1};
    LinearForm difference = linearForm(e->operands[0], ranges);
    const LinearForm other = linearForm(e->operands[1], ranges);
    if (mayWrap(difference, ranges) || mayWrap(other, ranges))
        return {0, 1};
    difference.add(other, -1);
    const Interval d = exactBoundsOf(difference, ranges);
    const auto decided = [](bool isTrue, bool isFalse) {
        return isTrue ? Interval::point(1) : isFalse ? Interval::point(0) : Interval{0, 1};
    };
    const bool never0 = d.lo > 0 || d.hi < 0;
    const bool always0 = d.lo == 0 && d.hi == 0;
    switch (e->kind) {
    case ExprKind::Eq: return decided(always0, never0);
    case ExprKind::Ne: return decided(never0, always0);
    case ExprKind::Lt: return decided(d.hi < 0, d.lo >= 0);
    case ExprKind::Le: return decided(d.hi <= 0, d.lo > 0);
    case ExprKind::Gt: return decided(d.lo > 0, d.hi <= 0);
    default: return decided(d.lo >= 0, d.hi < 0);
    }
}

/// Bounds of what is no sum: an atom of a linear form, or a bool.
Interval atomBounds(const Expr& e, const Ranges& ranges)
{
    const auto of = [&](std::size_t i) { return boundsOf(e->operands[i], ranges); };
    switch (e->kind) {
    case ExprKind::IntImm: return Interval::point(e->intValue);
    case ExprKind::Var: return ranges.of(e.get());
    case ExprKind::Mul: {
        const Interval product = of(0) * of(1);
        return holdsData(e) && !fitsType(product, e->dtype) ? typeRange(e->dtype) : product;
    }
    case ExprKind::FloorDiv: {
        const Interval a = of(0);
        const Interval b = of(1);
        if (!b.isPoint() || b.lo == 0)
            return Interval::all();
        const std::int64_t x = divSaturated(a.lo, b.lo);
        const std::int64_t y = divSaturated(a.hi, b.lo);
        return {std::min(x, y), std::max(x, y)};
    }
    case ExprKind::FloorMod: {
        const Interval a = of(0);
        const Interval b = of(1);
        if (!b.isPoint() || b.lo <= 0)
            return Interval::all();
        if (a.lo > -kInf && a.hi < kInf && floorDivide(a.lo, b.lo) == floorDivide(a.hi, b.lo))
            return {floorModulo(a.lo, b.lo), floorModulo(a.hi, b.lo)};
        return {0, b.lo - 1};
    }
    case ExprKind::Min: {
        const Interval a = of(0);
        const Interval b = of(1);
        return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    case ExprKind::Max: {
        const Interval a = of(0);
        const Interval b = of(1);
        return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    case ExprKind::Select:
    case ExprKind::IfThenElse: {
        const Interval c = of(0);
        return c.lo == 1 ? of(1) : c.hi == 0 ? of(2) : unite(of(1), of(2));
    }
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Gt:
    case ExprKind::Ge: return comparison(e, ranges);
    case ExprKind::And: {
        const Interval a = of(0);
        const Interval b = of(1);
        return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    case ExprKind::Or: {
        const Interval a = of(0);
        const Interval b = of(1);
        return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    case ExprKind::Not: {
        const Interval a = of(0);
        return {1 - a.hi, 1 - a.lo};
    }
    case ExprKind::Cast: {
        const Interval type = typeRange(e->dtype);
        if (isFloat(e->operands[0]->dtype))
            return type;
        const Interval a = of(0);
        return fitsType(a, e->dtype) ? a : type;
    }
    default: return typeRange(e->dtype);
    }
}

} // namespace

bool fitsType(Interval values, DType t)
{
    switch (t) {
    case DType::I32:
        return values.lo >= std::numeric_limits<std::int32_t>::min()
               && values.hi <= std::numeric_limits<std::int32_t>::max();
    case DType::I64: return values.lo > -kInf && values.hi < kInf;
    case DType::U64: return values.lo >= 0 && values.hi < kInf;
    default: return typeRange(t).contains(values);
    }
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    const std::int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t floorModulo(std::int64_t a, std::int64_t b)
{
    return a - floorDivide(a, b) * b;
}

std::int64_t ceilDivide(std::int64_t a, std::int64_t b)
{
    return -floorDivide(-a, b);
}

Interval operator+(Interval a, Interval b)
{
    return {addSaturated(a.lo, b.lo), addSaturated(a.hi, b.hi)};
}

Interval operator-(Interval a, Interval b)
{
    return {addSaturated(a.lo, -b.hi), addSaturated(a.hi, -b.lo)};
}

Interval operator*(Interval a, std::int64_t factor)
{
    const std::int64_t x = mulSaturated(a.lo, factor);
    const std::int64_t y = mulSaturated(a.hi, factor);
    return {std::min(x, y), std::max(x, y)};
}

Interval operator*(Interval a, Interval b)
{
    const Interval x = a * b.lo;
    const Interval y = a * b.hi;
    return unite(x, y);
}

Interval unite(Interval a, Interval b)
{
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval boundsOf(const LinearForm& form, const Ranges& ranges)
{
    const Interval exact = exactBoundsOf(form, ranges);
    const bool plain = form.terms.size() == 1 && form.terms[0].coefficient == 1 && form.constant == 0;
    const auto isData = [](const LinearForm::Term& term) { return holdsData(term.atom); };
    if (plain || fitsType(exact, form.dtype) || std::none_of(form.terms.begin(), form.terms.end(), isData))
        return exact;
    return Interval::all(); // see mayWrap()
}

Interval exactBoundsOf(const LinearForm& form, const Ranges& ranges)
{
    Interval sum = Interval::point(form.constant);
    for (const LinearForm::Term& term : form.terms)
        sum = sum + atomBounds(term.atom, ranges) * term.coefficient;
    return sum;
}

Interval boundsOf(const Expr& e, const Ranges& ranges)
{
    if (e->kind == ExprKind::Var || e->kind == ExprKind::IntImm)
        return atomBounds(e, ranges);
    if (e->dtype == DType::I32 || e->dtype == DType::I64)
        return boundsOf(linearForm(e, ranges), ranges);
    return atomBounds(e, ranges);
}

} // namespace lathe::ir
