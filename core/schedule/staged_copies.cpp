#include "core/schedule/staged_copies.h"

#include "core/ir/async_copy.h"
#include "core/ir/linear_form.h"
#include "core/ir/scratch.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

constexpr std::int64_t kSliceBytes = 16; ///< to which slices are rounded up, for vectors

bool isGlobal(const ir::Buffer& buffer)
{
    return buffer.scope == Scope::Parameter || buffer.scope == Scope::Team;
}

/// Stores that fill a slice, as asynchronous copies where they can be.
class CopyMaker
{
public:
    CopyMaker(const ir::LoopNest& nest, ir::Ranges& ranges)
        : m_nest(nest)
        , m_ranges(ranges)
    {
    }

    Stmt operator()(const Stmt& s)
    {
        if (!s)
            return s;
        if (s->kind == StmtKind::Store) {
            const std::optional<Stmt> made = copies(*s, s->value, {});
            return made ? *made : s;
        }
        if (s->kind == StmtKind::For && s->loop == LoopKind::Vectorized)
            return lanes(s);
        auto copy = std::make_shared<ir::StmtNode>(*s);
        for (Stmt& inner : copy->body)
            inner = (*this)(inner);
        return copy;
    }

    bool madeAny() const { return m_madeAny; }

private:
    /// Some lanes of a loop, which are copied at once: `variable` is `first` and what `lane` counts up to `width`.
    struct Lanes
    {
        Expr variable, first, lane;
        std::int64_t width = 1;
    };

    const ir::Buffer& bufferOf(std::int32_t id) const { return m_nest.buffers[static_cast<std::size_t>(id)]; }

    /// A loop over lanes by the widest copies that divide it; lane by lane where they do not lie together; as it is
    /// where that is nothing that a device copies.
    Stmt lanes(const Stmt& s)
    {
        const bool isPlain = s->min->kind == ExprKind::IntImm && s->extent->kind == ExprKind::IntImm;
        const std::int64_t extent = isPlain ? s->extent->intValue : 0;
        for (std::int64_t width = extent; width > 0; --width) {
            if (extent % width != 0)
                continue;
            const Expr part = ir::var("part"), lane = ir::var("lane");
            const ir::RangeScope parts(m_ranges, part, {0, extent / width - 1}), each(m_ranges, lane, {0, width - 1});
            const Expr first = ir::simplify(part * ir::intImm(width) + s->min, m_ranges);
            if (const std::optional<Stmt> body = withLanes(s->body[0], {s->variable, first, lane, width}))
                return ir::makeFor(part, 0, ir::intImm(extent / width), LoopKind::Unrolled, *body);
        }
        return s;
    }

    std::optional<Stmt> withLanes(const Stmt& s, const Lanes& lanes)
    {
        switch (s->kind) {
        case StmtKind::Store: return copies(*s, s->value, lanes);
        case StmtKind::Block:
        case StmtKind::If: {
            auto copy = std::make_shared<ir::StmtNode>(*s);
            if (s->kind == StmtKind::If) {
                if (!isFree(s->condition, lanes))
                    return std::nullopt;
                copy->condition = at(s->condition, lanes);
            }
            for (Stmt& inner : copy->body) {
                if (!inner)
                    continue;
                const std::optional<Stmt> made = withLanes(inner, lanes);
                if (!made)
                    return std::nullopt;
                inner = *made;
            }
            return copy;
        }
        default: return std::nullopt;
        }
    }

    static Expr at(const Expr& e, const Lanes& lanes)
    {
        return lanes.variable ? ir::substitute(e, {{lanes.variable.get(), lanes.first}}) : e;
    }

    /// The store of `value`, with what it copies copied; nothing if that is nothing.
    std::optional<Stmt> copies(const ir::StmtNode& store, const Expr& value, const Lanes& lanes)
    {
        if (value->kind == ExprKind::Load && isGlobal(bufferOf(value->source))) {
            const DType dtype = bufferOf(store.buffer).dtype;
            if (bufferOf(value->source).dtype != dtype || !ir::isCopied(lanes.width * sizeOf(dtype))
                || !liesTogether(store.buffer, store.indices, lanes)
                || !liesTogether(value->source, value->operands, lanes))
                return std::nullopt;
            m_madeAny = true;
            std::vector<Expr> to = store.indices, from = value->operands;
            for (std::vector<Expr>* const indices : {&to, &from})
                for (Expr& index : *indices)
                    index = at(index, lanes);
            return ir::makeAsyncCopy(store.buffer, std::move(to), ir::load(value->source, dtype, std::move(from)),
                                     static_cast<std::int32_t>(lanes.width));
        }
        if (value->kind != ExprKind::IfThenElse && value->kind != ExprKind::Select)
            return std::nullopt;
        const Expr& condition = value->operands[0];
        if (!isFree(condition, lanes))
            return std::nullopt;
        const std::optional<Stmt> taken = copies(store, value->operands[1], lanes),
                                  other = copies(store, value->operands[2], lanes);
        if (!taken && !other)
            return std::nullopt;
        return ir::makeIf(at(condition, lanes), taken ? *taken : stored(store, value->operands[1], lanes),
                          other ? *other : stored(store, value->operands[2], lanes));
    }

    static Stmt stored(const ir::StmtNode& store, const Expr& value, const Lanes& lanes)
    {
        ir::Substitution with;
        if (lanes.variable)
            with[lanes.variable.get()] = lanes.width > 1 ? lanes.first + lanes.lane : lanes.first;
        std::vector<Expr> indices = store.indices;
        for (Expr& index : indices)
            index = ir::substitute(index, with);
        Stmt made = ir::makeStore(store.buffer, std::move(indices), ir::substitute(value, with));
        return lanes.width > 1
                   ? ir::makeFor(lanes.lane, 0, ir::intImm(lanes.width), LoopKind::Vectorized, std::move(made))
                   : made;
    }

    // ---- what lanes change: indices by the threads' numbers are divided, and lanes stay within what is divided by
    // ----

    Expr byLane(const Expr& e, const Lanes& lanes) const
    {
        return ir::substitute(e, {{lanes.variable.get(), lanes.first + lanes.lane}});
    }

    bool isMultiple(const Expr& e, std::int64_t of) const
    {
        const ir::LinearForm form = ir::linearForm(e, m_ranges);
        const auto isOf = [&](const ir::LinearForm::Term& term) {
            return term.coefficient % of == 0
                   || (term.atom->kind == ExprKind::FloorMod && isNumber(term.atom->operands[1])
                       && term.atom->operands[1]->intValue % of == 0 && isMultiple(term.atom->operands[0], of));
        };
        return form.constant % of == 0 && std::ranges::all_of(form.terms, isOf);
    }

    static bool isNumber(const Expr& e) { return e->kind == ExprKind::IntImm && e->intValue > 0; }

    /// By how much the value grows from lane to lane; nothing: now by this, now by that.
    std::optional<std::int64_t> slope(const Expr& e, const Lanes& lanes) const
    {
        const ir::LinearForm form = ir::linearForm(e, m_ranges);
        std::int64_t sum = 0;
        for (const ir::LinearForm::Term& term : form.terms) {
            const std::optional<std::int64_t> own = slopeOfAtom(term.atom, lanes);
            if (!own)
                return std::nullopt;
            sum += *own * term.coefficient;
        }
        return sum;
    }

    std::optional<std::int64_t> slopeOfAtom(const Expr& atom, const Lanes& lanes) const
    {
        if (atom.same(lanes.lane))
            return 1;
        if (!ir::uses(atom, lanes.lane))
            return 0;
        const bool isQuotient = atom->kind == ExprKind::FloorDiv;
        if ((!isQuotient && atom->kind != ExprKind::FloorMod) || !isNumber(atom->operands[1]))
            return std::nullopt;
        const Expr& number = atom->operands[0];
        const std::optional<std::int64_t> own = slope(number, lanes);
        if (own == 0)
            return 0;
        // Multiples of the width and the lane: no lane comes to the next multiple of the divisor.
        const Expr first = ir::substitute(number, {{lanes.lane.get(), 0}});
        if (own != 1 || atom->operands[1]->intValue % lanes.width != 0 || !isMultiple(first, lanes.width))
            return std::nullopt;
        return isQuotient ? 0 : 1;
    }

    /// Whether a condition is the same for all lanes.
    bool isFree(const Expr& e, const Lanes& lanes) const
    {
        if (lanes.width == 1 || !ir::uses(e, lanes.variable))
            return true;
        if (e->kind == ExprKind::And || e->kind == ExprKind::Or || e->kind == ExprKind::Not)
            return std::ranges::all_of(e->operands, [&](const Expr& operand) { return isFree(operand, lanes); });
        if (e->kind < ExprKind::Eq || e->kind > ExprKind::Ge || !ir::isIndexType(e->operands[0]->dtype))
            return false;
        return slope(byLane(e->operands[0], lanes) - byLane(e->operands[1], lanes), lanes) == 0;
    }

    /// Whether elements of the lanes follow each other along the last dimension, the first at a multiple of their
    /// number.
    bool liesTogether(std::int32_t id, const std::vector<Expr>& indices, const Lanes& lanes) const
    {
        if (lanes.width == 1)
            return true;
        const ir::Buffer& buffer = bufferOf(id);
        if (indices.empty() || buffer.strides.back() != 1)
            return false;
        Expr first = 0;
        for (std::size_t d = 0; d < indices.size(); ++d) {
            const bool isLast = d + 1 == indices.size();
            const Expr index = ir::cast(DType::I32, indices[d]);
            if (slope(byLane(index, lanes), lanes) != (isLast ? 1 : 0))
                return false;
            first = first + at(index, lanes) * ir::intImm(buffer.strides[d]);
        }
        return isMultiple(first, lanes.width);
    }

    const ir::LoopNest& m_nest;
    ir::Ranges& m_ranges;
    bool m_madeAny = false;
};

/// The tiles that one loop fills ahead.
struct Group
{
    std::int32_t stage; ///< the first one, for messages
    std::int32_t slices;
    StagedLoop loop;
    int found = 0; ///< loops with the variable
};

class CopyStager
{
public:
    CopyStager(Lowering& lowering, std::vector<Group>& groups)
        : m_lowering(lowering)
        , m_nest(lowering.nest)
        , m_groups(groups)
    {
    }

    Result<Stmt> run(const Stmt& body)
    {
        Stmt made = rewrite(body);
        if (m_problem)
            return *std::move(m_problem);
        for (const Group& group : m_groups) {
            // Where a tile is accessed apart from its loop, in iterations that were taken out of it, one slice does.
            made = withSlice(made, group, ir::intImm(0));
            addSlices(group);
        }
        return made;
    }

private:
    void refuse(const Group& group, const char* why)
    {
        if (!m_problem)
            m_problem = refuseStage(m_lowering, group.stage, why);
    }

    Stmt rewrite(const Stmt& s)
    {
        if (!s || s->body.empty())
            return s;
        auto copy = std::make_shared<ir::StmtNode>(*s);
        for (Stmt& inner : copy->body)
            inner = rewrite(inner);
        if (s->kind != StmtKind::For)
            return copy;
        for (Group& group : m_groups)
            if (group.loop.variable == s->variable.get())
                return staged(*copy, group);
        return copy;
    }

    template<typename See>
    static void visitLoads(const Stmt& s, const See& see)
    {
        ir::visitExprs(s, [&see](const Expr& e) {
            ir::visit(e, [&see](const Expr& inner) {
                if (inner->kind == ExprKind::Load)
                    see(inner->source);
            });
        });
    }

    template<typename See>
    static void visitStores(const Stmt& s, const See& see)
    {
        if (!s)
            return;
        if (s->kind == StmtKind::Store || s->kind == StmtKind::AsyncCopy)
            see(s->buffer);
        for (const Stmt& inner : s->body)
            visitStores(inner, see);
    }

    static bool stores(const Stmt& s, const Group& group)
    {
        bool found = false;
        visitStores(s, [&](std::int32_t id) { found = found || group.loop.buffers.contains(id); });
        return found;
    }

    /// Whether all that the statement does is to fill tiles from what other launches or nobody stores to.
    bool isFill(const Stmt& s, const Group& group) const
    {
        bool fills = true;
        visitStores(s, [&](std::int32_t id) { fills = fills && group.loop.buffers.contains(id); });
        visitLoads(s,
                   [&](std::int32_t id) { fills = fills && isGlobal(m_nest.buffers[static_cast<std::size_t>(id)]); });
        return fills;
    }

    Stmt staged(const ir::StmtNode& s, Group& group)
    {
        const bool isCounted = (s.loop == LoopKind::Serial || s.loop == LoopKind::Unrolled)
                               && s.min->kind == ExprKind::IntImm && s.extent->kind == ExprKind::IntImm;
        if (!isCounted) {
            refuse(group, "is filled ahead of a loop that does not count through its iterations one by one");
            return std::make_shared<ir::StmtNode>(s);
        }
        std::vector<Stmt> fills, rest;
        const bool isBlock = s.body[0]->kind == StmtKind::Block;
        for (const Stmt& inner : isBlock ? s.body[0]->body : s.body) {
            if (!stores(inner, group)) {
                rest.push_back(inner);
            } else if (isFill(inner, group)) {
                fills.push_back(inner);
            } else {
                refuse(group, "is filled ahead, but from what the same iteration makes");
                return std::make_shared<ir::StmtNode>(s);
            }
        }
        if (fills.empty() || s.extent->intValue < 2) // an edge that reads nothing
            return std::make_shared<ir::StmtNode>(s);
        ++group.found;

        ir::Ranges& ranges = m_lowering.program.ranges;
        const std::int64_t slices = std::min<std::int64_t>(group.slices, s.extent->intValue);
        const Expr slice = ir::intImm(slices), early = ir::intImm(slices - 1), at = s.variable - s.min;
        CopyMaker copies(m_nest, ranges);
        const Stmt fill = copies(ir::makeBlock(std::move(fills)));
        const auto filled = [&](const Expr& iteration, const Expr& into) {
            Stmt made = withSlice(ir::substitute(fill, {{s.variable.get(), iteration}}), group, into);
            return ir::simplify(made, ranges);
        };
        const Stmt commit = copies.madeAny() ? ir::makeAsyncCommit() : nullptr;

        const Expr ahead = ir::var("ahead");
        ranges.setExtent(ahead, slices - 1);
        const Stmt first = ir::makeFor(ahead, 0, early, LoopKind::Serial,
                                       ir::makeBlock({filled(ahead + s.min, ahead), commit}));
        std::vector<Stmt> body;
        if (copies.madeAny())
            body.push_back(ir::makeAsyncWait(static_cast<std::int32_t>(slices) - 2));
        body.push_back(ir::makeBarrier());
        const Expr next = ir::simplify(s.variable + early, ranges);
        body.push_back(ir::makeIf(ir::simplify(next < s.min + s.extent, ranges),
                                  filled(next, ir::simplify(ir::floorMod(at + early, slice), ranges))));
        body.push_back(commit);
        body.push_back(withSlice(ir::makeBlock(std::move(rest)), group, ir::simplify(ir::floorMod(at, slice), ranges)));
        auto loop = std::make_shared<ir::StmtNode>(s);
        loop->body = {ir::makeBlock(std::move(body))};
        return ir::makeBlock({ir::simplify(first, ranges), loop});
    }

    /// Accesses to the group's tiles that have no slice yet get this one.
    Stmt withSlice(const Stmt& s, const Group& group, const Expr& slice) const
    {
        if (!s)
            return s;
        const auto lacks = [&](std::int32_t id, const std::vector<Expr>& indices) {
            return group.loop.buffers.contains(id)
                   && indices.size() == m_nest.buffers[static_cast<std::size_t>(id)].shape.size();
        };
        const auto replace = [&](Expr& e) {
            if (e)
                e = ir::transform(e, [&](const Expr& node) {
                    if (node->kind != ExprKind::Load || !lacks(node->source, node->operands))
                        return Expr();
                    std::vector<Expr> indices = node->operands;
                    indices.insert(indices.begin(), slice);
                    return ir::load(node->source, node->dtype, std::move(indices));
                });
        };
        auto copy = std::make_shared<ir::StmtNode>(*s);
        for (Expr* const e : {&copy->min, &copy->extent, &copy->value, &copy->condition})
            replace(*e);
        for (Expr& index : copy->indices)
            replace(index);
        if ((s->kind == StmtKind::Store || s->kind == StmtKind::AsyncCopy) && lacks(s->buffer, s->indices))
            copy->indices.insert(copy->indices.begin(), slice);
        for (Stmt& inner : copy->body)
            inner = withSlice(inner, group, slice);
        return copy;
    }

    void addSlices(const Group& group)
    {
        for (const std::int32_t id : group.loop.buffers) {
            ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            const std::int64_t size = sizeOf(buffer.dtype);
            const std::int64_t bytes = ir::ceilDivide(ir::elementCount(buffer) * size, kSliceBytes) * kSliceBytes;
            buffer.shape.insert(buffer.shape.begin(), group.slices);
            buffer.strides.insert(buffer.strides.begin(), bytes / size);
        }
    }

    Lowering& m_lowering;
    ir::LoopNest& m_nest;
    std::vector<Group>& m_groups;
    std::optional<Error> m_problem;
};

bool isStaged(const Lowering& lowering, std::size_t id)
{
    return lowering.program.stages[id].active && lowering.state.stages()[id].slices > 1;
}

/// Those whose tiles the launch fills.
std::vector<Group> groupsOf(const Lowering& lowering, const ir::Launch& launch)
{
    const std::vector<std::int32_t> used = ir::buffersOf(launch.body);
    std::vector<Group> groups;
    for (std::size_t i = 0; i < lowering.program.stages.size(); ++i) {
        const std::int32_t buffer = isStaged(lowering, i) ? lowering.buffers[i][0] : -1;
        if (buffer < 0 || std::ranges::find(used, buffer) == used.end())
            continue;
        const Stage& stage = lowering.state.stages()[i];
        const ir::Node* const variable =
            lowering.program.stages[static_cast<std::size_t>(stage.attachStage)].leaves[stage.attachIter].get();
        auto group = std::ranges::find(groups, variable, [](const Group& g) { return g.loop.variable; });
        if (group == groups.end()) {
            groups.push_back({static_cast<std::int32_t>(i), stage.slices, {variable, {}}});
            group = groups.end() - 1;
        }
        group->loop.buffers.insert(buffer);
    }
    return groups;
}

} // namespace

Result<> checkStagedCopies(const Lowering& lowering)
{
    const std::vector<Stage>& stages = lowering.state.stages();
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const auto id = static_cast<std::int32_t>(i);
        if (!isStaged(lowering, i))
            continue;
        if (lowering.form != KernelForm::Launches)
            return refuseStage(lowering, id, "is filled ahead in memory that threads share, which a processor has not",
                               Errc::Unsupported);
        if (stages[i].location != Location::At)
            return refuseStage(lowering, id, "is filled ahead, but not computed in a loop of its reader");
        for (std::size_t other = 0; other < i; ++other)
            if (isStaged(lowering, other) && stages[other].attachStage == stages[i].attachStage
                && stages[other].attachIter == stages[i].attachIter && stages[other].slices != stages[i].slices)
                return refuseStage(lowering, id, "is filled otherwise ahead than another tile of the same loop");
    }
    return {};
}

Result<std::vector<StagedLoop>> stageCopies(Lowering& lowering, ir::Launch& launch)
{
    std::vector<Group> groups = groupsOf(lowering, launch);
    std::vector<StagedLoop> loops;
    if (groups.empty())
        return loops;
    LATHE_TRY_ASSIGN(launch.body, CopyStager(lowering, groups).run(launch.body));
    for (Group& group : groups) {
        if (group.found == 0)
            return refuseStage(lowering, group.stage, "is filled ahead in a loop of no further iterations");
        loops.push_back(std::move(group.loop));
    }
    return loops;
}

} // namespace lathe::schedule
