#include "core/schedule/thread_tree.h"

#include <utility>

namespace lathe::schedule {

using ir::Expr;
using ir::Stmt;

Expr combine(ir::Combiner combiner, const Expr& a, const Expr& b)
{
    switch (combiner) {
    case ir::Combiner::Prod: return a * b;
    case ir::Combiner::Max: return ir::max(a, b);
    case ir::Combiner::Min: return ir::min(a, b);
    default: return a + b;
    }
}

namespace {

Stmt pairOfSums(const HandOver& part, ir::Combiner combiner, const Expr& t, const Expr& partner, const Expr& hasPartner)
{
    const Expr first = ir::load(part.from, part.dtype, {t}), second = ir::load(part.from, part.dtype, {partner});
    const Expr sum = combine(combiner, first, second);
    return ir::makeStore(part.to, {t}, hasPartner ? ir::ifThenElse(hasPartner, sum, first) : sum);
}

/// Conditions stand in the values that are stored, not around the stores: threads without a pair do neither.
Stmt pairOfPlaces(const HandOver& value, const HandOver& place, ir::Combiner combiner, const Expr& t,
                  const Expr& partner, const Expr& hasPartner)
{
    const auto of = [](const HandOver& part, const Expr& at) { return ir::load(part.from, part.dtype, {at}); };
    const Expr first = of(value, t), second = of(value, partner);
    const Expr better = (combiner == ir::Combiner::ArgMax ? second > first : second < first)
                        || (ir::eq(second, first) && of(place, partner) < of(place, t));
    const auto store = [&](const HandOver& part) {
        const Expr chosen = ir::ifThenElse(better, of(part, partner), of(part, t));
        return ir::makeStore(part.to, {t}, hasPartner ? ir::ifThenElse(hasPartner, chosen, of(part, t)) : chosen);
    };
    return ir::makeBlock({store(value), store(place)});
}

} // namespace

std::vector<Stmt> combinePairs(ir::Ranges& ranges, ir::LoopKind kind, std::int64_t threads, ir::Combiner combiner,
                               std::vector<HandOver>& parts)
{
    std::vector<Stmt> steps;
    while (threads > 1) {
        const std::int64_t pairs = ir::ceilDivide(threads, 2);
        const Expr t = ir::var("pair");
        ranges.setExtent(t, pairs);
        const Expr partner = t + ir::intImm(pairs);
        const Expr hasPartner = threads % 2 != 0 ? partner < ir::intImm(threads) : Expr();
        Stmt step = parts.size() == 1 ? pairOfSums(parts[0], combiner, t, partner, hasPartner)
                                      : pairOfPlaces(parts[0], parts[1], combiner, t, partner, hasPartner);
        steps.push_back(ir::makeFor(t, 0, ir::intImm(pairs), kind, std::move(step)));
        for (HandOver& part : parts)
            std::swap(part.from, part.to);
        threads = pairs;
    }
    return steps;
}

} // namespace lathe::schedule
