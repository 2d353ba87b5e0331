#pragma once

#include "core/ir/bounds.h"
#include "core/ir/expr.h"

#include <vector>

namespace lathe::ir {

/// constant + sum of coefficient * atom: the canonical shape of index arithmetic. Atoms are variables and what is not
/// linear (floordiv, floormod, min, loads ...), all different, in the order in which they were met; no coefficient is
/// 0.
struct LinearForm
{
    struct Term
    {
        Expr atom;
        std::int64_t coefficient = 0;
    };

    std::int64_t constant = 0;
    DType dtype = DType::I32;
    std::vector<Term> terms;

    bool isConstant() const { return terms.empty(); }
    void add(const Expr& atom, std::int64_t coefficient);
    void add(const LinearForm& other, std::int64_t factor);
    void scale(std::int64_t factor);
    /// Of the atom; 0 if it has no term of its own (it may still stand inside another atom).
    std::int64_t coefficientOf(const Expr& atom) const;
};

/// What index arithmetic is made of: the types whose linear forms exist.
inline bool isIndexType(DType t)
{
    return t == DType::I32 || t == DType::I64;
}

/// Linear form of an I32 or I64 expression, its atoms simplified under `ranges`.
LinearForm linearForm(const Expr& e, const Ranges& ranges);
Expr toExpr(const LinearForm& form);
/// Of its value in machine arithmetic, which wraps around: all, where it may.
Interval boundsOf(const LinearForm& form, const Ranges& ranges);
/// Of the sum itself.
Interval exactBoundsOf(const LinearForm& form, const Ranges& ranges);

/// Whether machine arithmetic may give another value than the sum: where atoms are data (loads, calls), which go to the
/// ends of their type. Variables of loops and what is computed from them never wrap around.
bool mayWrap(const LinearForm& form, const Ranges& ranges);
/// Whether `e` takes a value from memory or from a function of floats.
bool holdsData(const Expr& e);

/// A comparison of integers (Lt, Le, Gt, Ge) as form >= 0, coefficients without a common divisor. False if `e` is none,
/// or one of data that may wrap around.
bool asInequality(const Expr& e, const Ranges& ranges, LinearForm& form);
/// The comparison that form >= 0 is: positive terms on the left.
Expr inequalityToExpr(const LinearForm& form);

} // namespace lathe::ir
