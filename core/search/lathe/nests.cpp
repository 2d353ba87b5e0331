#include "core/search/lathe/nests.h"

#include <algorithm>

namespace lathe::search {
namespace {

constexpr const char* kConstIndices = "auto_scheduler_simplify_const_tensor_indices";

bool callsFunction(const ir::Expr& e)
{
    if (e->kind == ir::ExprKind::Call || e->kind == ir::ExprKind::Div)
        return true;
    return std::any_of(e->operands.begin(), e->operands.end(), callsFunction);
}

class Planner
{
public:
    explicit Planner(const compute::Analysis& analysis)
        : m_analysis(analysis)
        , m_dag(analysis.dag())
    {
    }

    NestPlan run()
    {
        const auto count = static_cast<std::int32_t>(m_dag.ops.size());
        m_plan.roles.assign(m_dag.ops.size(), Role::Inline);
        for (std::int32_t op = count - 1; op >= 0; --op)
            place(op);
        return std::move(m_plan);
    }

private:
    Role& role(std::int32_t op) { return m_plan.roles[static_cast<std::size_t>(op)]; }
    const compute::Op& op(std::int32_t i) const { return m_dag.ops[static_cast<std::size_t>(i)]; }
    bool constIndexed(std::int32_t i) const { return !compute::attrNames(op(i), kConstIndices).empty(); }

    void place(std::int32_t i)
    {
        if (op(i).kind == compute::OpKind::Placeholder) {
            role(i) = Role::Placeholder;
            return;
        }
        const bool isOutput = std::find(m_dag.outputs.begin(), m_dag.outputs.end(), i) != m_dag.outputs.end();
        if (m_analysis.op(i).hasReduce) {
            placeReduction(i, isOutput);
            return;
        }
        if (isOutput) {
            addNest({NestKind::Map, i});
            return;
        }
        placeMap(i);
    }

    void placeReduction(std::int32_t i, bool isOutput)
    {
        const NestKind kind = constIndexed(i) ? NestKind::Transform : NestKind::Tile;
        const std::vector<std::int32_t>& readers = m_analysis.consumers(i);
        if (kind == NestKind::Transform && !isOutput && readers.size() == 1)
            if (Nest* reader = readerNest(readers.front());
                reader && reader->kind == NestKind::Transform && reader->rows < 0) {
                reader->rows = i;
                role(i) = Role::Gather;
                return;
            }
        if (!isOutput && kind == NestKind::Tile) {
            if (Nest* nest = epilogueOf(i)) {
                nest->kind = kind;
                nest->anchor = i;
                role(i) = Role::Anchor;
                return;
            }
        }
        addNest({kind, i, i});
    }

    /// The map nest at the end of the chain of elementwise readers, if it is free to take a reduction in.
    Nest* epilogueOf(std::int32_t i)
    {
        std::int32_t end = i;
        while (m_analysis.consumers(end).size() == 1) {
            const std::int32_t reader = m_analysis.consumers(end).front();
            if (m_analysis.op(reader).hasReduce || !m_analysis.elementwiseMatch(i, reader))
                break;
            end = reader;
            if (role(end) == Role::Owner)
                break;
        }
        if (end == i || role(end) != Role::Owner)
            return nullptr;
        const auto found = std::find_if(m_plan.nests.begin(), m_plan.nests.end(),
                                        [&](const Nest& n) { return n.owner == end; });
        return found != m_plan.nests.end() && found->anchor < 0 ? &*found : nullptr;
    }

    void placeMap(std::int32_t i)
    {
        const std::vector<std::int32_t>& readers = m_analysis.consumers(i);
        Nest* reader = readers.size() == 1 ? readerNest(readers.front()) : nullptr;
        const bool reads = !m_analysis.producers(i).empty();
        if (reader && reads && reader->kind == NestKind::Transform && !m_analysis.op(i).simpleAccess
            && reader->gather < 0) {
            reader->gather = i;
            role(i) = Role::Gather;
            return;
        }
        if (reader && reads && reader->kind == NestKind::Tile && !m_analysis.op(i).strictlyInlineable
            && reader->border < 0 && m_analysis.op(i).hasBranch) {
            reader->border = i;
            role(i) = Role::Border;
            return;
        }
        // What is costly to compute and read more than once gets its own phase.
        const bool costly = std::any_of(op(i).bodies.begin(), op(i).bodies.end(), callsFunction)
                            && !m_analysis.op(i).hasBranch;
        const bool reread = readers.size() > 1
                            || (!readers.empty() && m_analysis.op(readers.front()).hasReduce
                                && reusedBy(i, readers.front()));
        if (costly && reread) {
            addNest({NestKind::Map, i});
            return;
        }
        role(i) = Role::Inline;
    }

    /// Reads of `i` repeat over some axis of `reader`.
    bool reusedBy(std::int32_t i, std::int32_t reader) const
    {
        return compute::spatialSize(op(reader)) * compute::reduceSize(op(reader)) > compute::spatialSize(op(i));
    }

    Nest* readerNest(std::int32_t reader)
    {
        for (Nest& nest : m_plan.nests)
            if (nest.anchor == reader || nest.rows == reader)
                return &nest;
        return nullptr;
    }

    void addNest(Nest nest)
    {
        role(nest.owner) = Role::Owner;
        m_plan.nests.push_back(nest);
    }

    const compute::Analysis& m_analysis;
    const compute::Dag& m_dag;
    NestPlan m_plan;
};

} // namespace

NestPlan planNests(const compute::Analysis& analysis)
{
    return Planner(analysis).run();
}

} // namespace lathe::search
