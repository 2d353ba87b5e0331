#pragma once

#include "core/ir/expr.h"

#include <cstdint>
#include <limits>
#include <unordered_map>

namespace lathe::ir {

/// A closed range of integers; the ends saturate at +-kUnbounded.
struct Interval
{
    static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

    std::int64_t lo = -kUnbounded;
    std::int64_t hi = kUnbounded;

    static Interval point(std::int64_t v) { return {v, v}; }
    static Interval all() { return {}; }
    bool isPoint() const { return lo == hi; }
    bool contains(const Interval& o) const { return lo <= o.lo && o.hi <= hi; }
    friend bool operator==(const Interval&, const Interval&) = default;
};

Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, std::int64_t factor);
Interval operator*(Interval a, Interval b);
Interval unite(Interval a, Interval b);
/// Whether an integer type holds them all.
bool fitsType(Interval values, DType t);

std::int64_t floorDivide(std::int64_t a, std::int64_t b);
std::int64_t floorModulo(std::int64_t a, std::int64_t b);
std::int64_t ceilDivide(std::int64_t a, std::int64_t b);

/// What is known of variables: each lies in an interval. A variable of one value counts as that literal.
class Ranges
{
public:
    void set(const Expr& variable, Interval range) { m_ranges[variable.get()] = range; }
    void setExtent(const Expr& variable, std::int64_t extent) { set(variable, {0, extent - 1}); }
    void forget(const Expr& variable) { m_ranges.erase(variable.get()); }
    bool knows(const Node* variable) const { return m_ranges.contains(variable); }
    Interval of(const Node* variable) const
    {
        const auto found = m_ranges.find(variable);
        return found == m_ranges.end() ? Interval::all() : found->second;
    }

private:
    std::unordered_map<const Node*, Interval> m_ranges;
};

/// Narrows a variable for a while and restores what was known of it.
class RangeScope
{
public:
    RangeScope(Ranges& ranges, const Expr& variable, Interval range)
        : m_ranges(ranges)
        , m_variable(variable)
        , m_known(ranges.knows(variable.get()))
        , m_old(ranges.of(variable.get()))
    {
        ranges.set(variable, range);
    }
    ~RangeScope()
    {
        if (m_known)
            m_ranges.set(m_variable, m_old);
        else
            m_ranges.forget(m_variable);
    }
    RangeScope(const RangeScope&) = delete;
    RangeScope& operator=(const RangeScope&) = delete;

private:
    Ranges& m_ranges;
    Expr m_variable;
    bool m_known;
    Interval m_old;
};

/// Range of an integer or bool expression, by interval arithmetic on its linear form; never too narrow.
Interval boundsOf(const Expr& e, const Ranges& ranges);

} // namespace lathe::ir
