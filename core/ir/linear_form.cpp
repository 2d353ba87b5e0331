#include "core/ir/linear_form.h"

#include "core/ir/simplify.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lathe::ir {

namespace {

// Data wraps around in machine arithmetic, and so do coefficients here.
std::int64_t sum(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t product(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

} // namespace

void LinearForm::add(const Expr& atom, std::int64_t coefficient)
{
    for (auto it = terms.begin(); it != terms.end(); ++it) {
        if (!equal(it->atom, atom))
            continue;
        it->coefficient = sum(it->coefficient, coefficient);
        if (it->coefficient == 0)
            terms.erase(it);
        return;
    }
    if (coefficient != 0)
        terms.push_back({atom, coefficient});
}

void LinearForm::add(const LinearForm& other, std::int64_t factor)
{
    constant = sum(constant, product(other.constant, factor));
    for (const Term& term : other.terms)
        add(term.atom, product(term.coefficient, factor));
}

void LinearForm::scale(std::int64_t factor)
{
    constant = product(constant, factor);
    for (Term& term : terms)
        term.coefficient = product(term.coefficient, factor);
    std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
}

std::int64_t LinearForm::coefficientOf(const Expr& atom) const
{
    for (const Term& term : terms)
        if (equal(term.atom, atom))
            return term.coefficient;
    return 0;
}

bool holdsData(const Expr& e)
{
    if (e->kind == ExprKind::Load || e->kind == ExprKind::Call || isFloat(e->dtype))
        return true;
    return std::any_of(e->operands.begin(), e->operands.end(), &holdsData);
}

namespace {

LinearForm constantForm(std::int64_t value, DType dtype)
{
    return {value, dtype, {}};
}

LinearForm atomForm(Expr atom)
{
    LinearForm form;
    form.dtype = atom->dtype;
    form.terms.push_back({std::move(atom), 1});
    return form;
}

bool holdsData(const LinearForm& form)
{
    return std::any_of(form.terms.begin(), form.terms.end(),
                       [](const LinearForm::Term& t) { return holdsData(t.atom); });
}

/// Whether both sides of the comparison that inequalityToExpr() writes can be computed.
bool sidesFit(const LinearForm& form, const Ranges& ranges)
{
    if (!holdsData(form))
        return true;
    LinearForm left{0, form.dtype, {}}, right{0, form.dtype, {}};
    for (const LinearForm::Term& term : form.terms)
        (term.coefficient > 0 ? left : right).terms.push_back(term);
    left.constant = form.constant;
    const Interval l = exactBoundsOf(left, ranges), r = exactBoundsOf(right, ranges);
    left.constant = 0;
    right.constant = form.constant;
    return fitsType(l, form.dtype) && fitsType(r, form.dtype) && fitsType(exactBoundsOf(left, ranges), form.dtype)
           && fitsType(exactBoundsOf(right, ranges), form.dtype);
}

/// form = quotient * divisor + rest, coefficient by coefficient; the rest's constant lies in [0, divisor).
void splitByDivisor(const LinearForm& form, std::int64_t divisor, LinearForm& quotient, LinearForm& rest)
{
    quotient.dtype = rest.dtype = form.dtype;
    quotient.constant = floorDivide(form.constant, divisor);
    rest.constant = floorModulo(form.constant, divisor);
    for (const LinearForm::Term& term : form.terms) {
        const std::int64_t q = floorDivide(term.coefficient, divisor);
        if (term.coefficient == q * divisor)
            quotient.terms.push_back({term.atom, q});
        else if (term.coefficient > divisor) {
            quotient.terms.push_back({term.atom, q});
            rest.terms.push_back({term.atom, term.coefficient - q * divisor});
        } else
            rest.terms.push_back(term);
    }
}

std::int64_t commonDivisor(const LinearForm& form)
{
    std::int64_t g = 0;
    for (const LinearForm::Term& term : form.terms)
        g = std::gcd(g, term.coefficient);
    return g;
}

/// rest's terms have a common divisor g with the divisor: floor((g*x + k) / (g*d)) = floor((x + floor(k/g)) / d).
/// Divides both in place; returns what was lost of the constant, k mod g.
std::int64_t reduceFraction(LinearForm& rest, std::int64_t& divisor, std::int64_t& g)
{
    g = std::gcd(commonDivisor(rest), divisor);
    if (g <= 1) {
        g = 1;
        return 0;
    }
    const std::int64_t lost = floorModulo(rest.constant, g);
    rest.constant = floorDivide(rest.constant, g);
    for (LinearForm::Term& term : rest.terms)
        term.coefficient /= g;
    divisor /= g;
    return lost;
}

/// Takes out of `rest` what never reaches from one multiple of g to the next, where g divides the divisor (0: any does)
/// and all that stays: floor((g*x + small) / (g*d)) = floor(x / d) for small in [0, g). A thread's lanes are such a
/// part of its number.
LinearForm takeSmall(LinearForm& rest, std::int64_t divisor, const Ranges& ranges)
{
    const auto sizeOf = [](const LinearForm::Term& term) {
        return std::max(term.coefficient, -std::max(term.coefficient, -std::numeric_limits<std::int64_t>::max()));
    };
    std::vector<std::int64_t> sizes;
    sizes.reserve(rest.terms.size());
    for (const LinearForm::Term& term : rest.terms)
        sizes.push_back(sizeOf(term));
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    // The fewest that stay first: they have the largest divisor.
    for (std::size_t i = sizes.size(); i-- > 1;) {
        LinearForm stays{0, rest.dtype, {}}, small{0, rest.dtype, {}};
        for (const LinearForm::Term& term : rest.terms)
            (sizeOf(term) >= sizes[i] ? stays : small).terms.push_back(term);
        const std::int64_t g = std::gcd(commonDivisor(stays), divisor);
        if (g <= 1)
            continue;
        small.constant = floorModulo(rest.constant, g);
        stays.constant = rest.constant - small.constant;
        const Interval range = boundsOf(small, ranges);
        if (range.lo < 0 || range.hi >= g)
            continue;
        rest = std::move(stays);
        return small;
    }
    return constantForm(0, rest.dtype);
}

/// Value of floordiv(rest, divisor) if it is one and the same over the whole range.
bool constantQuotient(const LinearForm& rest, std::int64_t divisor, const Ranges& ranges, std::int64_t& quotient)
{
    const Interval b = boundsOf(rest, ranges);
    if (b.lo <= -Interval::kUnbounded || b.hi >= Interval::kUnbounded)
        return false;
    quotient = floorDivide(b.lo, divisor);
    return quotient == floorDivide(b.hi, divisor);
}

LinearForm divide(const LinearForm& form, std::int64_t divisor, const Ranges& ranges)
{
    if (mayWrap(form, ranges))
        return atomForm(floorDiv(toExpr(form), intImm(divisor, form.dtype)));
    LinearForm quotient;
    LinearForm rest;
    splitByDivisor(form, divisor, quotient, rest);
    std::int64_t whole = 0;
    if (constantQuotient(rest, divisor, ranges, whole)) {
        quotient.constant += whole;
        return quotient;
    }
    takeSmall(rest, divisor, ranges);
    std::int64_t g = 1;
    reduceFraction(rest, divisor, g);
    // floordiv(floordiv(x, a), b) = floordiv(x, a*b)
    if (rest.constant == 0 && rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
        const Expr& atom = rest.terms[0].atom;
        if (atom->kind == ExprKind::FloorDiv && atom->operands[1]->kind == ExprKind::IntImm) {
            std::int64_t both = 0;
            if (!__builtin_mul_overflow(atom->operands[1]->intValue, divisor, &both)
                && fitsType(Interval::point(both), form.dtype)) {
                quotient.add(divide(linearForm(atom->operands[0], ranges), both, ranges), 1);
                return quotient;
            }
        }
    }
    quotient.add(floorDiv(toExpr(rest), intImm(divisor, rest.dtype)), 1);
    return quotient;
}

LinearForm modulo(const LinearForm& form, std::int64_t divisor, const Ranges& ranges)
{
    if (mayWrap(form, ranges))
        return atomForm(floorMod(toExpr(form), intImm(divisor, form.dtype)));
    LinearForm quotient;
    LinearForm rest;
    splitByDivisor(form, divisor, quotient, rest);
    std::int64_t whole = 0;
    if (constantQuotient(rest, divisor, ranges, whole)) {
        rest.constant -= whole * divisor;
        return rest;
    }
    LinearForm result = takeSmall(rest, divisor, ranges);
    std::int64_t g = 1;
    result.constant += reduceFraction(rest, divisor, g);
    if (rest.constant == 0 && rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
        const Expr& atom = rest.terms[0].atom;
        // floormod(floormod(x, a*b), b) = floormod(x, b)
        if (atom->kind == ExprKind::FloorMod && atom->operands[1]->kind == ExprKind::IntImm
            && atom->operands[1]->intValue % divisor == 0) {
            result.add(modulo(linearForm(atom->operands[0], ranges), divisor, ranges), g);
            return result;
        }
    }
    result.add(floorMod(toExpr(rest), intImm(divisor, rest.dtype)), g);
    return result;
}

/// floordiv(x, c)*c*k + floormod(x, c)*k = x*k: what fusing and splitting again leaves behind.
void recombine(LinearForm& form, const Ranges& ranges)
{
    const auto isQuotient = [](const LinearForm::Term& term) { return term.atom->kind == ExprKind::FloorDiv; };
    if (std::none_of(form.terms.begin(), form.terms.end(), isQuotient))
        return;
    for (std::size_t m = 0; m < form.terms.size(); ++m) {
        const LinearForm::Term mod = form.terms[m];
        if (mod.atom->kind != ExprKind::FloorMod || mod.atom->operands[1]->kind != ExprKind::IntImm)
            continue;
        const std::int64_t divisor = mod.atom->operands[1]->intValue;
        const LinearForm quotient = divide(linearForm(mod.atom->operands[0], ranges), divisor, ranges);
        if (quotient.terms.size() != 1 || quotient.terms[0].coefficient != 1 || quotient.constant != 0
            || form.coefficientOf(quotient.terms[0].atom) != product(mod.coefficient, divisor))
            continue;
        LinearForm inner = linearForm(mod.atom->operands[0], ranges);
        form.add(quotient.terms[0].atom, product(product(mod.coefficient, divisor), -1));
        form.add(mod.atom, product(mod.coefficient, -1));
        form.add(inner, mod.coefficient);
        m = static_cast<std::size_t>(-1);
    }
}

/// min or max of two forms, decided where the bounds of their difference allow.
LinearForm extremum(const Expr& e, const Ranges& ranges)
{
    const LinearForm a = linearForm(e->operands[0], ranges);
    const LinearForm b = linearForm(e->operands[1], ranges);
    if (mayWrap(a, ranges) || mayWrap(b, ranges))
        return atomForm(binary(e->kind, toExpr(a), toExpr(b)));
    LinearForm difference = a;
    difference.add(b, -1);
    const Interval d = exactBoundsOf(difference, ranges);
    const bool isMin = e->kind == ExprKind::Min;
    if (d.hi <= 0)
        return isMin ? a : b;
    if (d.lo >= 0)
        return isMin ? b : a;
    return atomForm(binary(e->kind, toExpr(a), toExpr(b)));
}

} // namespace

bool mayWrap(const LinearForm& form, const Ranges& ranges)
{
    const bool plain = form.terms.size() == 1 && form.terms[0].coefficient == 1 && form.constant == 0;
    return !plain && holdsData(form) && !fitsType(exactBoundsOf(form, ranges), form.dtype);
}

LinearForm linearForm(const Expr& e, const Ranges& ranges)
{
    switch (e->kind) {
    case ExprKind::IntImm: return constantForm(e->intValue, e->dtype);
    case ExprKind::Var: {
        const Interval range = ranges.of(e.get());
        return range.isPoint() ? constantForm(range.lo, e->dtype) : atomForm(e);
    }
    case ExprKind::Add:
    case ExprKind::Sub: {
        LinearForm sum = linearForm(e->operands[0], ranges);
        sum.add(linearForm(e->operands[1], ranges), e->kind == ExprKind::Add ? 1 : -1);
        recombine(sum, ranges);
        return sum;
    }
    case ExprKind::Mul: {
        LinearForm a = linearForm(e->operands[0], ranges);
        LinearForm b = linearForm(e->operands[1], ranges);
        if (!b.isConstant())
            std::swap(a, b);
        if (b.isConstant()) {
            a.scale(b.constant);
            return a;
        }
        return atomForm(toExpr(b) * toExpr(a));
    }
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: {
        const LinearForm a = linearForm(e->operands[0], ranges);
        const LinearForm b = linearForm(e->operands[1], ranges);
        if (b.isConstant() && b.constant > 0)
            return e->kind == ExprKind::FloorDiv ? divide(a, b.constant, ranges) : modulo(a, b.constant, ranges);
        return atomForm(binary(e->kind, toExpr(a), toExpr(b)));
    }
    case ExprKind::Min:
    case ExprKind::Max: return extremum(e, ranges);
    case ExprKind::Cast:
        if (isIndexType(e->operands[0]->dtype) && sizeOf(e->operands[0]->dtype) <= sizeOf(e->dtype)) {
            LinearForm inner = linearForm(e->operands[0], ranges);
            if (mayWrap(inner, ranges))
                return atomForm(cast(e->dtype, toExpr(inner)));
            inner.dtype = e->dtype;
            for (LinearForm::Term& term : inner.terms)
                term.atom = cast(e->dtype, term.atom);
            return inner;
        }
        break;
    default: break;
    }
    const Expr simple = simplify(e, ranges);
    if (simple->kind == ExprKind::IntImm)
        return constantForm(simple->intValue, e->dtype);
    if (simple->kind != e->kind)
        return linearForm(simple, ranges);
    return atomForm(simple);
}

Expr toExpr(const LinearForm& form)
{
    Expr sum;
    const auto typed = [&form](const Expr& e) { return cast(form.dtype, e); };
    const auto scaled = [&](const LinearForm::Term& term, std::int64_t factor) {
        return typed(term.atom) * intImm(factor, form.dtype);
    };
    // A sum opens with a positive term where there is one, so that it prints without a leading 0.
    for (const LinearForm::Term& term : form.terms)
        if (term.coefficient > 0)
            sum = sum ? sum + scaled(term, term.coefficient) : scaled(term, term.coefficient);
    if (sum.get() == nullptr) {
        sum = intImm(form.constant, form.dtype);
        for (const LinearForm::Term& term : form.terms)
            sum = sum - scaled(term, -term.coefficient);
        return sum;
    }
    for (const LinearForm::Term& term : form.terms)
        if (term.coefficient < 0)
            sum = sum - scaled(term, -term.coefficient);
    if (form.constant < 0 && form.constant != std::numeric_limits<std::int64_t>::min())
        return sum - intImm(-form.constant, form.dtype);
    return sum + intImm(form.constant, form.dtype);
}

bool asInequality(const Expr& e, const Ranges& ranges, LinearForm& form)
{
    if (e->kind < ExprKind::Lt || e->kind > ExprKind::Ge || !isIndexType(e->operands[0]->dtype))
        return false;
    const LinearForm a = linearForm(e->operands[0], ranges);
    const LinearForm b = linearForm(e->operands[1], ranges);
    if (mayWrap(a, ranges) || mayWrap(b, ranges))
        return false;
    const bool less = e->kind == ExprKind::Lt || e->kind == ExprKind::Le;
    form = less ? b : a;
    form.add(less ? a : b, -1);
    if (e->kind == ExprKind::Lt || e->kind == ExprKind::Gt)
        form.constant = sum(form.constant, -1);
    if (!sidesFit(form, ranges))
        return false;
    const std::int64_t g = commonDivisor(form);
    if (g > 1) {
        form.constant = floorDivide(form.constant, g);
        for (LinearForm::Term& term : form.terms)
            term.coefficient /= g;
    }
    // What is small never decides: g*x + small >= 0 where x >= 0 is.
    LinearForm stays = form;
    if (const LinearForm small = takeSmall(stays, 0, ranges); !small.isConstant()) {
        const std::int64_t unit = commonDivisor(stays);
        stays.constant /= unit;
        for (LinearForm::Term& term : stays.terms)
            term.coefficient /= unit;
        form = std::move(stays);
    }
    return true;
}

Expr inequalityToExpr(const LinearForm& form)
{
    LinearForm left{0, form.dtype, {}};
    LinearForm right{0, form.dtype, {}};
    for (const LinearForm::Term& term : form.terms) {
        if (term.coefficient > 0)
            left.terms.push_back(term);
        else
            right.terms.push_back({term.atom, -term.coefficient});
    }
    if (form.terms.empty())
        return boolImm(form.constant >= 0);
    if (left.terms.empty()) { // c - x >= 0  <=>  x < c + 1
        return toExpr(right) < intImm(form.constant + 1, form.dtype);
    }
    right.constant = -form.constant;
    return toExpr(left) >= toExpr(right);
}

} // namespace lathe::ir
