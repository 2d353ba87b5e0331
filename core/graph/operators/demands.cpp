#include "core/graph/operators/demands.h"

#include "core/graph/operators/rules.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::graph::operators {

namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

using compute::Binary;
using Question = DemandQuestion;

bool isWhole(const Question& q)
{
    const DType dtype = q.graph.value(q.node.inputs[q.operand]).dtype;
    return isInteger(dtype) && dtype != DType::Bool;
}

std::optional<ValueRange> otherOperand(const Question& q)
{
    return q.constant(q.node.inputs[1 - q.operand]);
}

/// The whole numbers inside, for operands that are whole.
ValueRange wholeIn(const Question& q, const ValueRange& range)
{
    return isWhole(q) ? ValueRange{std::ceil(range.low), std::floor(range.high)} : range;
}

/// x + y, where neither is known: each takes its half.
Demand addDemands(const Question& q)
{
    const std::optional<ValueRange> c = otherOperand(q);
    return q.results.mapped([&](const ValueRange& r) {
        if (c)
            return ValueRange{r.low - c->low, r.high - c->high};
        return ValueRange{std::trunc(r.low / 2), std::trunc(r.high / 2)};
    });
}

Demand subtractDemands(const Question& q)
{
    const std::optional<ValueRange> c = otherOperand(q);
    return q.results.mapped([&](const ValueRange& r) {
        if (c && q.operand == 0)
            return ValueRange{r.low + c->high, r.high + c->low};
        if (c)
            return ValueRange{c->high - r.high, c->low - r.low};
        if (!std::isfinite(r.low) || !std::isfinite(r.high))
            return r;
        const double middle = std::trunc((r.high - r.low) / 2); // x from there on, y up to there
        return q.operand == 0 ? ValueRange{r.low + middle, r.high} : ValueRange{0, middle};
    });
}

/// The factors x for which x * c lies inside, for all c > 0 of a range.
ValueRange dividedBy(const ValueRange& r, const ValueRange& c)
{
    return {r.low > 0 ? r.low / c.low : r.low / c.high, r.high < 0 ? r.high / c.low : r.high / c.high};
}

Demand multiplyDemands(const Question& q)
{
    constexpr double kMaskScale = 1000; // what puts elements out of a softmax is -10000 or much less
    const std::optional<ValueRange> c = otherOperand(q);
    Demand demand = q.results.mapped([&](const ValueRange& r) {
        if (c && c->low > 0)
            return wholeIn(q, dividedBy(r, *c));
        if (c && c->high < 0)
            return wholeIn(q, dividedBy({-r.high, -r.low}, {-c->high, -c->low}));
        const double most = std::min(std::abs(r.low), std::abs(r.high)); // of either sign, or 0 among them
        if (c)
            return r.low <= 0 && r.high >= 0
                       ? wholeIn(q, dividedBy({-most, most}, {1, std::max({1.0, -c->low, c->high})}))
                       : ValueRange{1, 0};
        return ValueRange{r.low < 0 ? -std::floor(std::sqrt(most)) : 0.0, std::floor(std::sqrt(r.high))};
    });
    if (c && !isWhole(q) && std::min(std::abs(c->low), std::abs(c->high)) >= kMaskScale)
        demand.add({.usual = ValueRange{0, 1}});
    return demand;
}

/// Integers are not divided by zero.
Demand divisorDemand(const Question& q)
{
    return isWhole(q) ? Demand{.needed = ValueRange{1, kEndless}} : Demand();
}

Demand divideDemands(const Question& q)
{
    if (q.operand == 1)
        return divisorDemand(q);
    const std::optional<ValueRange> c = otherOperand(q);
    if (!c || c->low <= 0)
        return {};
    return q.results.mapped([&](const ValueRange& r) {
        const double rest = isWhole(q) ? c->low - 1 : 0; // is cut off
        return ValueRange{r.low * (r.low > 0 ? c->high : c->low), r.high * (r.high > 0 ? c->low : c->high) + rest};
    });
}

Demand modDemands(const Question& q)
{
    if (q.operand == 1) {
        Demand demand = divisorDemand(q);
        demand.add(q.results.mapped([](const ValueRange& r) { return ValueRange{1, r.high + 1}; }));
        return demand;
    }
    const std::optional<ValueRange> c = otherOperand(q);
    return q.results.mapped([&](const ValueRange& r) {
        if (c && isWhole(q) && c->low > 0 && r.holds({0, c->high - 1}))
            return ValueRange{-kEndless, kEndless};
        return r;
    });
}

/// What is larger (or smaller) than a constant needs no care on that side.
Demand limitDemands(const Question& q, bool largest)
{
    const std::optional<ValueRange> c = otherOperand(q);
    return q.results.mapped([&](ValueRange r) {
        if (c && largest && c->low >= r.low)
            r.low = -kEndless;
        if (c && !largest && c->high <= r.high)
            r.high = kEndless;
        return r;
    });
}

/// Numbers on both sides of what they are compared with. `below`: the relation tells what lies below a constant from
/// the constant itself, else what lies above.
Demand relationDemands(const Question& q, bool below)
{
    const std::optional<ValueRange> c = otherOperand(q);
    if (!c || !isWhole(q))
        return {};
    return {.guarded = below ? ValueRange{c->low - 1, c->high} : ValueRange{c->low, c->high + 1}};
}

Demand equalityDemands(const Question& q)
{
    const std::optional<ValueRange> c = otherOperand(q);
    if (!c || !isWhole(q))
        return {};
    return {.usual = ValueRange{c->low, std::max(c->high, c->low + 1)}};
}

/// What is asked through one branch of a selection may be kept away by the condition.
Demand guardedBy(Demand demand)
{
    demand.add({.guarded = demand.needed ? demand.needed : demand.usual});
    demand.needed.reset();
    demand.usual.reset();
    return demand;
}

std::int64_t sizeOfOperand(const Question& q, graph::ValueId id)
{
    return elementCount(q.graph.value(id).shape);
}

} // namespace

Demands binaryDemands(Binary binary)
{
    switch (binary) {
    case Binary::Add: return addDemands;
    case Binary::Subtract: return subtractDemands;
    case Binary::Multiply: return multiplyDemands;
    case Binary::Divide: return divideDemands;
    case Binary::Mod: return modDemands;
    case Binary::Maximum: return [](const Question& q) { return limitDemands(q, true); };
    case Binary::Minimum: return [](const Question& q) { return limitDemands(q, false); };
    case Binary::Equal:
    case Binary::NotEqual: return equalityDemands;
    // x < c, x >= c, c > x, c <= x split at c itself; x > c, x <= c, c < x, c >= x behind it.
    case Binary::Less:
    case Binary::GreaterEqual: return [](const Question& q) { return relationDemands(q, q.operand == 0); };
    case Binary::Greater:
    case Binary::LessEqual: return [](const Question& q) { return relationDemands(q, q.operand == 1); };
    default: return nullptr;
    }
}

Demands negativeDemands()
{
    return [](const Question& q) {
        return q.results.mapped([](const ValueRange& r) { return ValueRange{-r.high, -r.low}; });
    };
}

Demands absDemands()
{
    return [](const Question& q) {
        return q.results.mapped([](const ValueRange& r) {
            return r.low > 0 ? ValueRange{r.low, r.high} : ValueRange{-r.high, r.high};
        });
    };
}

Demands sameDemands()
{
    return [](const Question& q) {
        if (q.graph.value(q.node.outputs[0]).dtype == DType::Bool && isWhole(q))
            return Demand{.usual = ValueRange{0, 1}};
        return q.results;
    };
}

Demands clipDemands()
{
    return [](const Question& q) {
        const double low = attrFloat(q.node, "min", -kEndless), high = attrFloat(q.node, "max", kEndless);
        return q.results.mapped([&](ValueRange r) {
            if (low >= r.low)
                r.low = -kEndless;
            if (high <= r.high)
                r.high = kEndless;
            return r;
        });
    };
}

Demands selectionDemands()
{
    return [](const Question& q) { return q.operand == 0 ? Demand() : guardedBy(q.results); };
}

Demands sumDemands()
{
    return [](const Question& q) {
        const std::int64_t whole = sizeOfOperand(q, q.node.inputs[0]), parts = sizeOfOperand(q, q.node.outputs[0]);
        const auto& shape = q.graph.value(q.node.inputs[0]).shape;
        std::int64_t count = parts > 0 ? std::max<std::int64_t>(1, whole / parts) : 1;
        if (whole == parts) // a running sum
            if (const auto axis = normalAxis(attrInt(q.node, "axis", 0), shape.size());
                axis && q.node.attrs.contains("axis"))
                count = std::max<std::int64_t>(1, shape[static_cast<std::size_t>(*axis)]);
        return q.results.mapped([&](const ValueRange& r) {
            const ValueRange each{r.low / static_cast<double>(count), r.high / static_cast<double>(count)};
            return isWhole(q) ? ValueRange{std::trunc(each.low), std::trunc(each.high)} : each;
        });
    };
}

Demands noDemands()
{
    return [](const Question&) { return Demand(); };
}

Demands scatterDemands()
{
    return [](const Question& q) { return q.operand == 1 ? Demand{.distinct = true} : q.results; };
}

} // namespace lathe::graph::operators
