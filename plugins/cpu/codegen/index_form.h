#pragma once

#include <cstdint>
#include <vector>

namespace lathe::cpu {

inline constexpr std::int64_t kUnknownRange = std::int64_t{1} << 40; ///< stands for "no bound known"

/// An integer index while code is emitted: constant + sum of coefficient * atom, plus a constant offset per vector
/// lane. Atoms are scalar values that the function computes (loop variables, quotients that do not simplify); they are
/// numbered by the emitter. Addresses are made from such forms, so that unrolled iterations share one base pointer and
/// differ by a constant displacement alone.
struct IndexForm
{
    struct Term
    {
        std::int32_t atom = 0;
        std::int64_t coefficient = 0;
        friend bool operator==(const Term&, const Term&) = default;
    };

    std::int64_t constant = 0;
    std::vector<Term> terms; ///< by ascending atom, no zero coefficients
    std::vector<std::int64_t> lanes; ///< empty: the same in every lane

    bool isConstant() const { return terms.empty() && lanes.empty(); }
    bool isUniform() const { return lanes.empty(); }
    /// Distance between neighbouring lanes, if it is one and the same: 0 for a uniform form.
    bool laneStride(std::int64_t& stride) const;
    void normalize(); ///< a lane table of equal entries moves into the constant
};

struct IndexRange
{
    std::int64_t low = -kUnknownRange;
    std::int64_t high = kUnknownRange; ///< inclusive
    bool isKnown() const { return low > -kUnknownRange && high < kUnknownRange; }
};

IndexForm add(const IndexForm& a, const IndexForm& b, std::int64_t scaleB = 1);
IndexForm scale(const IndexForm& a, std::int64_t factor);
std::int64_t floorDivide(std::int64_t a, std::int64_t b); ///< b > 0

/// a = quotient * divisor + remainder, where `quotient` takes what certainly divides. The remainder is not yet reduced.
struct DividedForm
{
    IndexForm quotient;
    IndexForm remainder;
};
DividedForm divideExactPart(const IndexForm& a, std::int64_t divisor);

} // namespace lathe::cpu
