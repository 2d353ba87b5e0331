#include "core/schedule/partition.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/conditions.h"

#include <algorithm>
#include <optional>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Interval;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

constexpr std::int64_t kMaxIterations = 4096; ///< of a loop to look at one by one
constexpr std::int64_t kMaxPeeled = 4; ///< edge iterations on one side that are emitted one by one
constexpr std::size_t kMaxParts = 12; ///< copies of a body; a loop that needs more stays whole
constexpr std::size_t kMaxVectorParts =
    256; ///< the same for bodies of a few vectors alone: concatenations of many pieces
constexpr double kMaxStores =
    4000; ///< of all copies of a body; more compiles for a second and leaves the caches of code
constexpr std::int64_t kMaxUnrolledTaps = 16; ///< extent of a serial loop that an edge copy unrolls

/// All boundary conditions in a statement, by conjunct.
std::vector<Expr> conditionsIn(const Stmt& s)
{
    std::vector<Expr> found;
    const auto fromExpr = [&found](const Expr& e) {
        ir::visit(e, [&found](const Expr& node) {
            if (node->kind == ExprKind::IfThenElse || node->kind == ExprKind::Select)
                flattenConjunction(node->operands[0], found);
        });
    };
    const auto walk = [&](const auto& self, const Stmt& node) -> void {
        if (!node)
            return;
        if (node->kind == StmtKind::If)
            flattenConjunction(node->condition, found);
        for (const Expr* e : {&node->value, &node->condition})
            if (*e)
                fromExpr(*e);
        for (const Stmt& inner : node->body)
            self(self, inner);
    };
    walk(walk, s);
    return found;
}

/// Stores that are emitted for a statement: unrolled loops count as often as they run.
double emittedStores(const Stmt& s)
{
    if (!s)
        return 0;
    double inside = s->kind == StmtKind::Store ? 1 : 0;
    for (const Stmt& inner : s->body)
        inside += emittedStores(inner);
    const bool unrolled = s->kind == StmtKind::For && s->loop == LoopKind::Unrolled
                          && s->extent->kind == ExprKind::IntImm;
    return unrolled ? inside * static_cast<double>(s->extent->intValue) : inside;
}

/// Ranges of the loops inside a statement, for deciding conditions before the loops are entered.
void collectLoops(const Stmt& s, std::vector<Stmt>& loops)
{
    if (!s)
        return;
    if (s->kind == StmtKind::For)
        loops.push_back(s);
    for (const Stmt& inner : s->body)
        collectLoops(inner, loops);
}

Interval loopRange(const Stmt& s, const ir::Ranges& ranges)
{
    ir::LinearForm last = linearForm(s->min, ranges);
    last.add(linearForm(s->extent, ranges), 1);
    return {boundsOf(s->min, ranges).lo, boundsOf(last, ranges).hi - 1};
}

/// Unrolls, in the copy of an edge iteration, the small serial loops that undecided conditions of unrolled pixels use.
Stmt unrollForConditions(const Stmt& s)
{
    std::vector<Stmt> loops;
    collectLoops(s, loops);
    const auto kindOf = [&loops](const ir::Node* v) -> std::optional<LoopKind> {
        for (const Stmt& l : loops)
            if (l->variable.get() == v)
                return l->loop;
        return std::nullopt;
    };
    std::unordered_set<const ir::Node*> toUnroll;
    for (const Expr& c : conditionsIn(s)) {
        bool unrolled = false;
        std::vector<const ir::Node*> serial;
        ir::visit(c, [&](const Expr& e) {
            if (e->kind != ExprKind::Var)
                return;
            const auto kind = kindOf(e.get());
            unrolled |= kind == LoopKind::Unrolled;
            if (kind == LoopKind::Serial)
                serial.push_back(e.get());
        });
        if (unrolled)
            toUnroll.insert(serial.begin(), serial.end());
    }
    if (toUnroll.empty())
        return s;
    const auto rewrite = [&](const auto& self, const Stmt& node) -> Stmt {
        if (!node)
            return node;
        auto copy = std::make_shared<ir::StmtNode>(*node);
        for (Stmt& inner : copy->body)
            inner = self(self, inner);
        const bool small = node->kind == StmtKind::For && node->extent->kind == ExprKind::IntImm
                           && node->extent->intValue <= kMaxUnrolledTaps;
        if (small && node->loop == LoopKind::Serial && toUnroll.contains(node->variable.get()))
            copy->loop = LoopKind::Unrolled;
        return copy;
    };
    return rewrite(rewrite, s);
}

class Partitioner
{
public:
    Partitioner(const std::unordered_set<const ir::Node*>& partitioned, ir::Ranges& ranges)
        : m_partitioned(partitioned)
        , m_ranges(ranges)
    {
    }

    Stmt operator()(const Stmt& s)
    {
        if (!s)
            return s;
        if (s->kind != StmtKind::For) {
            if (s->body.empty())
                return s;
            auto copy = std::make_shared<ir::StmtNode>(*s);
            for (Stmt& inner : copy->body)
                inner = (*this)(inner);
            return copy;
        }
        if (!m_partitioned.contains(s->variable.get()))
            return descend(s);
        if (s->loop == LoopKind::Parallel)
            return version(s);
        const bool constant = s->min->kind == ExprKind::IntImm && s->extent->kind == ExprKind::IntImm;
        if (!constant || s->loop != LoopKind::Serial || s->extent->intValue > kMaxIterations)
            return descend(s);
        return peel(s);
    }

private:
    Stmt descend(const Stmt& s)
    {
        const ir::RangeScope scope(m_ranges, s->variable, loopRange(s, m_ranges));
        auto copy = std::make_shared<ir::StmtNode>(*s);
        copy->body[0] = (*this)(s->body[0]);
        return copy;
    }

    /// How conditions are decided at iteration x: 1 or 0, -1 if they are not.
    std::vector<int> decisions(const std::vector<Expr>& conditions, const Expr& v, std::int64_t x)
    {
        const ir::RangeScope scope(m_ranges, v, Interval::point(x));
        std::vector<int> result;
        for (const Expr& c : conditions) {
            const Interval b = boundsOf(c, m_ranges);
            result.push_back(b.isPoint() ? static_cast<int>(b.lo) : -1);
        }
        return result;
    }

    Stmt copyAt(const Stmt& s, std::int64_t first, std::int64_t count, bool edge)
    {
        if (count <= 0)
            return nullptr;
        const ir::RangeScope scope(m_ranges, s->variable, {first, first + count - 1});
        Stmt body = ir::simplify(s->body[0], m_ranges);
        if (edge)
            body = unrollForConditions(body);
        body = (*this)(body);
        if (!body)
            return nullptr;
        return ir::makeFor(s->variable, ir::intImm(first), ir::intImm(count), LoopKind::Serial, body);
    }

    Stmt peel(const Stmt& s)
    {
        const std::int64_t first = s->min->intValue;
        const std::int64_t end = first + s->extent->intValue;
        std::vector<Expr> conditions;
        for (const Expr& c : conditionsIn(s->body[0]))
            if (ir::uses(c, s->variable))
                conditions.push_back(c);
        std::vector<Stmt> loops;
        collectLoops(s->body[0], loops);
        std::vector<std::unique_ptr<ir::RangeScope>> scopes;
        for (const Stmt& l : loops)
            scopes.push_back(std::make_unique<ir::RangeScope>(m_ranges, l->variable, loopRange(l, m_ranges)));
        std::vector<std::vector<int>> table;
        for (std::int64_t x = first; x < end; ++x)
            table.push_back(decisions(conditions, s->variable, x));
        while (!scopes.empty())
            scopes.pop_back();

        // Conditions that no iteration decides depend on something else and do not count.
        std::vector<bool> counts(conditions.size(), false);
        for (const auto& row : table)
            for (std::size_t c = 0; c < row.size(); ++c)
                counts[c] = counts[c] || row[c] >= 0;
        const auto decidedAlike = [&](std::size_t x, std::size_t like) {
            for (std::size_t c = 0; c < conditions.size(); ++c)
                if (counts[c] && (table[x][c] < 0 || table[x][c] != table[like][c]))
                    return false;
            return true;
        };
        // Runs of iterations that decide alike are a loop each; a single one is specialised like an edge, because its
        // tile may reach over both. What decides nothing is emitted one by one, or stays a loop if it is long.
        const bool small = std::all_of(loops.begin(), loops.end(), [](const Stmt& l) {
            return l->loop == LoopKind::Vectorized || l->loop == LoopKind::Unrolled;
        });
        std::vector<Stmt> parts;
        double stores = 0;
        for (std::size_t x = 0; x < table.size();) {
            std::size_t run = x;
            const bool decided = decidedAlike(x, x);
            while (run < table.size() && (decided ? decidedAlike(run, x) : !decidedAlike(run, run)))
                ++run;
            const std::int64_t from = first + static_cast<std::int64_t>(x);
            const auto count = static_cast<std::int64_t>(run - x);
            if (decided || count > kMaxPeeled)
                parts.push_back(copyAt(s, from, count, count == 1));
            else
                for (std::int64_t i = 0; i < count; ++i) {
                    if (i > 0)
                        stores += emittedStores(parts.back());
                    parts.push_back(copyAt(s, from + i, 1, true));
                }
            stores += emittedStores(parts.back());
            if (parts.size() > (small ? kMaxVectorParts : kMaxParts) || stores > kMaxStores)
                return descend(s);
            x = run;
        }
        return ir::makeBlock(std::move(parts));
    }

    /// A parallel loop cannot be cut: its body is emitted twice, without the conditions where all of them hold for
    /// every inner iteration, as they are elsewhere.
    Stmt version(const Stmt& s)
    {
        const ir::RangeScope scope(m_ranges, s->variable, loopRange(s, m_ranges));
        std::vector<Stmt> loops;
        collectLoops(s->body[0], loops);
        std::vector<std::unique_ptr<ir::RangeScope>> scopes;
        for (const Stmt& l : loops)
            scopes.push_back(std::make_unique<ir::RangeScope>(m_ranges, l->variable, loopRange(l, m_ranges)));
        const auto isInner = [&loops](const ir::Node* v) {
            return std::any_of(loops.begin(), loops.end(), [v](const Stmt& l) { return l->variable.get() == v; });
        };
        std::vector<Expr> steady;
        std::vector<Expr> holds;
        for (const Expr& c : conditionsIn(s->body[0])) {
            ir::LinearForm form;
            if (!ir::uses(c, s->variable) || !asInequality(c, m_ranges, form))
                continue;
            ir::LinearForm worst{form.constant, form.dtype, {}};
            for (const ir::LinearForm::Term& term : form.terms) {
                if (ir::usesAny(term.atom, isInner)) {
                    ir::LinearForm one{0, form.dtype, {term}};
                    worst.constant += boundsOf(one, m_ranges).lo;
                } else
                    worst.terms.push_back(term);
            }
            if (worst.constant <= -Interval::kUnbounded / 2)
                continue;
            flattenConjunction(inequalityToExpr(worst), steady);
            holds.push_back(c);
        }
        while (!scopes.empty())
            scopes.pop_back();
        if (steady.empty())
            return descend(s);
        const Stmt fast = (*this)(assume(s->body[0], holds));
        const Stmt slow = (*this)(s->body[0]);
        auto copy = std::make_shared<ir::StmtNode>(*s);
        copy->body[0] = ir::makeIf(ir::simplify(conjunction(steady), m_ranges), fast, slow);
        return copy;
    }

    /// The statement under conditions known to hold.
    static Stmt assume(const Stmt& s, const std::vector<Expr>& holds)
    {
        if (!s)
            return s;
        const auto inExpr = [&holds](const Expr& e) {
            return ir::transform(e, [&holds](const Expr& node) {
                const auto same = [&node](const Expr& h) { return ir::equal(h, node); };
                return node->dtype == DType::Bool && std::any_of(holds.begin(), holds.end(), same) ? ir::boolImm(true)
                                                                                                   : Expr();
            });
        };
        auto copy = std::make_shared<ir::StmtNode>(*s);
        if (copy->value)
            copy->value = inExpr(copy->value);
        if (copy->condition)
            copy->condition = inExpr(copy->condition);
        for (Stmt& inner : copy->body)
            inner = assume(inner, holds);
        if (copy->kind == StmtKind::If && copy->condition->kind == ExprKind::IntImm && copy->condition->intValue != 0)
            return copy->body[0];
        return copy;
    }

    const std::unordered_set<const ir::Node*>& m_partitioned;
    ir::Ranges& m_ranges;
};

} // namespace

Stmt partitionLoops(const Stmt& s, const std::unordered_set<const ir::Node*>& partitioned, ir::Ranges& ranges)
{
    return partitioned.empty() ? s : Partitioner(partitioned, ranges)(s);
}

} // namespace lathe::schedule
