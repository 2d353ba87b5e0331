#include "core/schedule/bound_inference.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

// A stage that is computed at iterator k of a consumer produces, once per iteration of k, the bounding box of what the
// loops inside k read of it. An index expression is relaxed over those inner loops: written as a linear form, each term
// of an inner variable contributes its whole range, the rest stays as an expression over the outer loops. So a box is
// (lower end as an expression, constant width), and sums, products, floordiv and floormod map boxes to boxes.

namespace lathe::schedule {

namespace {

using compute::Op;
using compute::OpKind;
using ir::Expr;
using ir::ExprKind;
using ir::LinearForm;

bool isThread(Annotation a)
{
    return a == Annotation::ThreadX || a == Annotation::ThreadY || a == Annotation::ThreadZ || a == Annotation::VThread;
}

struct Span
{
    LinearForm lo;
    std::int64_t width = 0; ///< hi - lo, constant
};

/// The body of a constant matrix, whose zeros drop out of sums of products.
Expr withVanishingZeros(const Expr& body)
{
    return ir::transform(body, [](const Expr& e) {
        return e->kind == ExprKind::FloatImm && e->floatValue == 0 ? ir::vanishingZero(e->dtype) : Expr();
    });
}

/// Relaxes index expressions over all variables but the outer ones.
class Relaxer
{
public:
    Relaxer(const ir::Ranges& ranges, std::unordered_set<const ir::Node*> outer)
        : m_ranges(ranges)
        , m_outer(std::move(outer))
    {
    }

    Span relax(const LinearForm& form) const
    {
        Span sum{{form.constant, form.dtype, {}}, 0};
        for (const LinearForm::Term& term : form.terms) {
            Span part = relaxAtom(term.atom);
            if (term.coefficient < 0)
                part.lo.constant += part.width;
            sum.lo.add(part.lo, term.coefficient);
            sum.width += part.width * std::abs(term.coefficient);
        }
        return sum;
    }

    Span unite(const Span& a, const Span& b) const
    {
        LinearForm shift = b.lo;
        shift.add(a.lo, -1);
        const ir::Interval between = ir::boundsOf(shift, m_ranges);
        if (between.isPoint()) {
            const std::int64_t delta = between.lo;
            return {delta < 0 ? b.lo : a.lo, std::max(a.width, delta + b.width) - std::min<std::int64_t>(0, delta)};
        }
        const Expr lo = ir::min(toExpr(a.lo), toExpr(b.lo));
        Span result{linearForm(lo, m_ranges), 0};
        const auto reach = [&](const Span& s) {
            LinearForm d = s.lo;
            d.add(result.lo, -1);
            // A min is below both of its sides by at most the spread between them.
            const ir::Interval bounds = ir::boundsOf(d, m_ranges);
            const std::int64_t spread = std::max(std::abs(between.lo), std::abs(between.hi));
            return std::min(bounds.hi, spread) + s.width;
        };
        result.width = std::max(reach(a), reach(b));
        return result;
    }

private:
    bool isInner(const Expr& e) const
    {
        return ir::usesAny(e, [this](const ir::Node* v) { return !m_outer.contains(v); });
    }

    Span constant(const ir::Interval& range) const
    {
        if (range.lo <= -ir::Interval::kUnbounded || range.hi >= ir::Interval::kUnbounded)
            return {{0, DType::I32, {}}, ir::Interval::kUnbounded / 4};
        return {{range.lo, DType::I32, {}}, range.hi - range.lo};
    }

    /// Remainder of the lower end modulo d, if it does not depend on the outer loops.
    std::optional<std::int64_t> remainder(const LinearForm& lo, std::int64_t d) const
    {
        for (const LinearForm::Term& term : lo.terms)
            if (term.coefficient % d != 0)
                return std::nullopt;
        return ir::floorModulo(lo.constant, d);
    }

    Span relaxAtom(const Expr& atom) const
    {
        if (!isInner(atom)) {
            Span span;
            span.lo.dtype = atom->dtype;
            span.lo.terms.push_back({atom, 1});
            return span;
        }
        const bool divides = atom->kind == ExprKind::FloorDiv || atom->kind == ExprKind::FloorMod;
        if (divides && atom->operands[1]->kind == ExprKind::IntImm && atom->operands[1]->intValue > 0) {
            const std::int64_t d = atom->operands[1]->intValue;
            const Span inner = relax(linearForm(atom->operands[0], m_ranges));
            const auto r = remainder(inner.lo, d);
            const auto over = [&](ExprKind kind) {
                return linearForm(ir::binary(kind, toExpr(inner.lo), ir::intImm(d)), m_ranges);
            };
            if (atom->kind == ExprKind::FloorDiv)
                return {over(ExprKind::FloorDiv), r ? (*r + inner.width) / d : ir::ceilDivide(inner.width, d)};
            if (inner.width == 0 || (r && *r + inner.width < d))
                return {over(ExprKind::FloorMod), inner.width};
        }
        return constant(ir::boundsOf(atom, m_ranges));
    }

    const ir::Ranges& m_ranges;
    std::unordered_set<const ir::Node*> m_outer;
};

class Inference
{
public:
    explicit Inference(const State& state)
        : m_state(state)
        , m_dag(*state.dag())
        , m_stages(state.stages())
    {
    }

    Result<ProgramBounds> run()
    {
        if (!m_state.concrete())
            return makeError(Errc::IllegalSchedule, say(Msg::OpenTileSizes));
        m_program.stages.resize(m_stages.size());
        inlineBodies();
        for (std::size_t i = m_stages.size(); i-- > 0;)
            LATHE_TRY(inferStage(static_cast<std::int32_t>(i)));
        return std::move(m_program);
    }

private:
    static Expr inlineLoads(const Expr& body, const std::vector<Stage>& stages, const compute::Dag& dag,
                            const std::vector<std::vector<Expr>>& bodies)
    {
        return ir::transform(body, [&](const Expr& e) {
            if (e->kind != ExprKind::Load || stages[e->source].location != Location::Inlined)
                return Expr();
            ir::Substitution map;
            for (std::size_t d = 0; d < dag.ops[e->source].axes.size(); ++d)
                map[dag.ops[e->source].axes[d].get()] = e->operands[d];
            return ir::substitute(bodies[e->source][e->output], map);
        });
    }

    void inlineBodies()
    {
        m_bodies.resize(m_dag.ops.size());
        for (std::size_t i = 0; i < m_dag.ops.size(); ++i)
            for (const Expr& body : m_dag.ops[i].bodies)
                m_bodies[i].push_back(
                    inlineLoads(m_dag.ops[i].attrs.contains("const_matrix") ? withVanishingZeros(body) : body, m_stages,
                                m_dag, m_bodies));
    }

    Result<> inferStage(std::int32_t id)
    {
        const Op& op = m_dag.ops[id];
        const Stage& stage = m_stages[id];
        StageBounds& bounds = m_program.stages[id];
        if (op.kind == OpKind::Placeholder || stage.location == Location::Inlined)
            return {};
        if (stage.location == Location::At && !isRead(id))
            return {}; // its reader came out without it, as x - x does
        bounds.active = true;
        bounds.region = op.shape;
        bounds.mins.assign(op.shape.size(), Expr(0));
        if (stage.location == Location::At)
            LATHE_TRY(inferRegion(id));

        std::vector<std::int64_t> axes = bounds.region;
        axes.insert(axes.end(), op.reduceExtents.begin(), op.reduceExtents.end());
        for (const std::int64_t extent : axes)
            if (extent < 1 || extent > kMaxExtent)
                return makeError(Errc::IllegalSchedule, say(Msg::LoopOfIterations, op.name, extent));
        bounds.extents = propagateExtents(stage, axes);
        std::int64_t iterations = 1;
        for (const Iterator& iter : stage.iters)
            iterations = cappedProduct(iterations, bounds.extents[iter.id]);
        if (iterations > kMaxExtent
            || std::any_of(bounds.extents.begin(), bounds.extents.end(), [](std::int64_t e) { return e > kMaxExtent; }))
            return makeError(Errc::IllegalSchedule, say(Msg::TooManyIterations, op.name));
        for (const Iterator& iter : stage.iters) {
            bounds.leaves.push_back(ir::var(iter.name));
            m_program.ranges.setExtent(bounds.leaves.back(), bounds.extents[iter.id]);
        }
        IterValues values = valuesOverLeaves(stage, bounds.extents, bounds.leaves, m_program.ranges);
        ir::Substitution map;
        for (std::size_t a = 0; a < axes.size(); ++a) {
            bounds.local.push_back(ir::simplify(values.values[a], m_program.ranges));
            const bool spatial = a < op.shape.size();
            bounds.axes.push_back(spatial ? ir::simplify(bounds.mins[a] + bounds.local[a], m_program.ranges)
                                          : bounds.local[a]);
            map[(spatial ? op.axes[a] : op.reduceAxes[a - op.shape.size()]).get()] = bounds.axes[a];
        }
        for (const Expr& guard : values.guards)
            addGuard(bounds, bounds.splitGuards, guard);
        for (std::size_t d = 0; d < op.shape.size(); ++d) {
            addGuard(bounds, bounds.shapeGuards, bounds.axes[d] < ir::intImm(op.shape[d]));
            addGuard(bounds, bounds.shapeGuards, bounds.axes[d] >= ir::intImm(0));
        }
        for (const Expr& body : m_bodies[id])
            bounds.bodies.push_back(ir::simplify(ir::substitute(body, map), m_program.ranges));
        return {};
    }

    /// By the consumers' bodies as they came out, which are known before their producers.
    bool isRead(std::int32_t id) const
    {
        bool read = false;
        for (const StageBounds& consumer : m_program.stages)
            for (const Expr& body : consumer.bodies)
                ir::visit(body, [&](const Expr& e) { read |= e->kind == ExprKind::Load && e->source == id; });
        return read;
    }

    void addGuard(const StageBounds& bounds, std::vector<Expr>& guards, const Expr& guard) const
    {
        const Expr condition = ir::simplify(guard, m_program.ranges);
        if (ir::isConst(condition, 1))
            return;
        const auto same = [&condition](const Expr& other) { return ir::equal(other, condition); };
        if (std::none_of(bounds.splitGuards.begin(), bounds.splitGuards.end(), same)
            && std::none_of(guards.begin(), guards.end(), same))
            guards.push_back(condition);
    }

    /// True if stage `c` is computed inside iterator `iter` of stage `target`.
    bool isInside(std::int32_t c, std::int32_t target, std::int32_t iter) const
    {
        if (c == target)
            return true;
        while (m_stages[c].location == Location::At) {
            const std::int32_t at = m_stages[c].attachIter;
            c = m_stages[c].attachStage;
            if (c == target)
                return at >= iter;
        }
        return false;
    }

    std::unordered_set<const ir::Node*> outerVariables(std::int32_t target, std::int32_t iter, bool widenThreads) const
    {
        std::unordered_set<const ir::Node*> outer;
        for (;;) {
            for (std::int32_t i = 0; i <= iter; ++i)
                if (!(widenThreads && isThread(m_stages[target].iters[i].annotation)))
                    outer.insert(m_program.stages[target].leaves[i].get());
            if (m_stages[target].location != Location::At)
                return outer;
            iter = m_stages[target].attachIter;
            target = m_stages[target].attachStage;
        }
    }

    Result<> inferRegion(std::int32_t id)
    {
        const Stage& stage = m_stages[id];
        const Op& op = m_dag.ops[id];
        StageBounds& bounds = m_program.stages[id];
        const auto refuse = [&](const std::string& why) {
            return makeError(Errc::IllegalSchedule, fmt::format("'{}' {}", op.name, why));
        };
        if (!m_program.stages[stage.attachStage].active)
            return refuse(fmt::format("is computed at '{}', which is inlined", m_dag.ops[stage.attachStage].name));
        const Relaxer relaxer(m_program.ranges,
                              outerVariables(stage.attachStage, stage.attachIter, stage.scope == "shared"));
        std::vector<std::optional<Span>> box(op.shape.size());
        for (std::size_t c = 0; c < m_stages.size(); ++c) {
            bool outside = false;
            for (const Expr& body : m_program.stages[c].bodies) {
                ir::visit(body, [&](const Expr& e) {
                    if (e->kind != ExprKind::Load || e->source != id)
                        return;
                    outside |= !isInside(static_cast<std::int32_t>(c), stage.attachStage, stage.attachIter);
                    for (std::size_t d = 0; d < box.size(); ++d) {
                        const Span span = relaxer.relax(linearForm(e->operands[d], m_program.ranges));
                        box[d] = box[d] ? relaxer.unite(*box[d], span) : span;
                    }
                });
            }
            if (outside)
                return refuse(fmt::format("is read by '{}', outside of where it is computed", m_dag.ops[c].name));
        }
        for (std::size_t d = 0; d < box.size(); ++d) {
            const std::int64_t extent = box[d]->width + 1;
            if (extent >= op.shape[d] && !(stage.scope == "shared" && isPastEdge(extent, op.shape[d])))
                continue; // the whole dimension
            bounds.region[d] = extent;
            bounds.mins[d] = toExpr(box[d]->lo);
        }
        return {};
    }

    const State& m_state;
    const compute::Dag& m_dag;
    const std::vector<Stage>& m_stages;
    std::vector<std::vector<Expr>> m_bodies; ///< with inlined producers
    ProgramBounds m_program;
};

} // namespace

Result<ProgramBounds> inferProgramBounds(const State& state)
{
    return Inference(state).run();
}

} // namespace lathe::schedule
