#include "core/search/lathe/rows_part.h"

#include "core/ir/bounds.h"
#include "core/search/lathe/access.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

namespace {

constexpr std::int64_t kShortest = 8; ///< rows of fewer elements are not worth loops of their own
constexpr std::int64_t kLongest = 1 << 16; ///< elements that a thread's stack holds twice

/// Function calls and divisions of an expression, each some ten instructions.
double costlyNodes(const ir::Expr& e)
{
    double count = e->kind == ir::ExprKind::Call || e->kind == ir::ExprKind::Div ? 1 : 0;
    for (const ir::Expr& operand : e->operands)
        count += costlyNodes(operand);
    return count;
}

double costlyNodes(const compute::Op& op)
{
    double count = 0;
    for (const ir::Expr& body : op.bodies)
        count += costlyNodes(body);
    return count;
}

} // namespace

std::optional<RowStages> findRows(const compute::Analysis& analysis)
{
    const compute::Dag& dag = analysis.dag();
    RowStages s;
    if (dag.outputs.size() != 1)
        return std::nullopt;
    s.owner = dag.outputs.front();
    const compute::Op& output = dag.ops[static_cast<std::size_t>(s.owner)];
    if (output.shape.size() < 2 || !output.reduceAxes.empty() || output.bodies.size() != 1)
        return std::nullopt;
    s.length = output.shape.back();
    s.rows = compute::spatialSize(output) / std::max<std::int64_t>(1, s.length);
    if (s.length < kShortest || s.length > kLongest)
        return std::nullopt;
    const std::vector<std::int64_t> rows = compute::realDimensions(
        std::span(output.shape).first(output.shape.size() - 1));
    std::vector<std::int64_t> elements = rows;
    elements.push_back(s.length);

    for (std::int32_t i = 0; i < s.owner; ++i) {
        const compute::Op& op = dag.ops[static_cast<std::size_t>(i)];
        if (op.kind == compute::OpKind::Placeholder)
            continue;
        const std::vector<std::int64_t> shape = compute::realDimensions(op.shape);
        if (shape.empty() && op.reduceAxes.empty())
            continue; // a constant
        if (op.bodies.size() != 1 || (shape != rows && shape != elements))
            return std::nullopt;
        const bool costly = costlyNodes(op) > 0 && !analysis.op(i).hasBranch;
        if (!op.reduceAxes.empty()) {
            if (shape != rows || op.reduceAxes.size() != 1 || op.reduceExtents.front() != s.length
                || op.bodies.front()->kind != ir::ExprKind::Reduce
                || op.bodies.front()->combiner >= ir::Combiner::ArgMax)
                return std::nullopt;
            s.sums.push_back(i);
        } else if (costly && (shape == rows || analysis.consumers(i).size() > 1)) {
            s.kept.push_back(i);
        }
    }
    return s.sums.empty() ? std::nullopt : std::optional(s);
}

void takeRowsIn(NestPlan& plan, const RowStages& stages)
{
    plan.nests.clear();
    for (Role& role : plan.roles)
        if (role != Role::Placeholder)
            role = Role::Inline;
    for (const auto* ops : {&stages.sums, &stages.kept})
        for (const std::int32_t op : *ops)
            plan.roles[static_cast<std::size_t>(op)] = Role::Anchor;
    plan.roles[static_cast<std::size_t>(stages.owner)] = Role::Owner;
}

RowsPart::RowsPart(const NestContext& context, const RowStages& stages)
    : m_machine(context.machine)
    , m_dag(context.analysis.dag())
    , m_stages(stages)
{
    const compute::Op& output = m_dag.ops[static_cast<std::size_t>(stages.owner)];
    for (const std::int64_t l : laneChoices(stages.length, sizeOf(output.dtype), m_machine))
        if (l <= stages.length)
            m_values[Lanes].push_back(l);
    for (const std::int64_t v : {1, 2, 4})
        if (v == 1 || v * m_values[Lanes].front() <= stages.length)
            m_values[Sums].push_back(v);
    m_values[Vectors] = m_values[Sums];
    m_values[Parallel] = {0, 1};
    for (std::size_t i = 0; i < m_dag.ops.size(); ++i) {
        const compute::Op& op = m_dag.ops[i];
        const double elements = static_cast<double>(compute::spatialSize(op));
        if (op.kind == compute::OpKind::Placeholder)
            m_bytes += elements * static_cast<double>(sizeOf(op.dtype));
        else if (elements * 2 > static_cast<double>(stages.rows * stages.length))
            m_operations += costlyNodes(op);
    }
    m_bytes += static_cast<double>(stages.rows * stages.length * sizeOf(output.dtype));
}

std::vector<Parameter> RowsPart::parameters() const
{
    static constexpr const char* kNames[GeneCount] = {"lanes", "sums", "vectors", "parallel"};
    const std::string& output = m_dag.ops[static_cast<std::size_t>(m_stages.owner)].name;
    std::vector<Parameter> parameters;
    for (std::size_t g = 0; g < GeneCount; ++g)
        parameters.push_back({std::string(kNames[g]) + ' ' + output, Parameter::Kind::Choice,
                              static_cast<std::int32_t>(m_values[g].size()), nullptr, m_values[g]});
    return parameters;
}

RowsPart::Choice RowsPart::decode(std::span<const std::int32_t> genes) const
{
    const auto value = [&](Gene g) { return m_values[g][static_cast<std::size_t>(genes[g])]; };
    return {value(Lanes), value(Sums), value(Vectors), value(Parallel)};
}

Result<NestFacts> RowsPart::facts(std::span<const std::int32_t> genes) const
{
    const Choice c = decode(genes);
    NestFacts f;
    if (c.lanes * c.vectors > m_stages.length || c.lanes * c.sums > m_stages.length)
        return makeError(Errc::IllegalSchedule, "a block of vectors is longer than a row");
    if (c.parallel != 0 && m_stages.rows == 1)
        return makeError(Errc::IllegalSchedule, "there is a single row");
    const auto rows = static_cast<double>(m_stages.rows), length = static_cast<double>(m_stages.length);
    const auto lanes = static_cast<double>(c.lanes), sums = static_cast<double>(c.sums);
    const auto reductions = static_cast<double>(m_stages.sums.size());
    const auto blocks = [&](std::int64_t vectors) {
        return std::ceil(length / static_cast<double>(c.lanes * vectors));
    };
    f.lanes = lanes;
    f.vectors = static_cast<double>(c.vectors);
    f.accumulators = sums;
    f.registers = sums + 2;
    f.bodySize = 3 * static_cast<double>(std::max(c.vectors, c.sums));
    f.reduceSteps = length;
    f.flops = rows * length * (reductions + 1);
    f.bytesTouched = m_bytes;
    f.waste = blocks(c.vectors) * lanes * f.vectors / length;
    f.parallelChunks = c.parallel != 0 ? rows : 1;
    f.balance = imbalance(f.parallelChunks, m_machine.threads);
    // A reduction adds to one sum after the other, then adds up the lanes; an element is read and written once or
    // twice.
    constexpr double kLatency = 4, kCall = 10;
    const double perRow = reductions * (blocks(c.sums) * std::max(kLatency, sums) + lanes * sums * kLatency * 0.5)
                          + blocks(c.vectors) * f.vectors * (2 + kCall * m_operations);
    const double share = f.balance / static_cast<double>(m_machine.threads);
    f.computeCycles = rows * perRow * share;
    const std::size_t level = m_bytes * share < m_machine.cacheBytes[1] ? 1 : m_bytes < m_machine.cacheBytes[2] ? 2 : 3;
    f.traffic[0] = m_bytes;
    f.memoryCycles = m_bytes * share / m_machine.bytesPerCycle[level];
    finishFacts(f, m_machine);
    return f;
}

void RowsPart::emitElements(std::int32_t op, const Choice& c, StepEmitter& emitter) const
{
    const compute::Op& o = m_dag.ops[static_cast<std::size_t>(op)];
    const auto rank = static_cast<std::int32_t>(o.shape.size());
    const std::int32_t stage = emitter.stageOf(op), last = rank - 1;
    const bool isOwner = op == m_stages.owner;
    const bool wide = o.shape.back() == m_stages.length;
    StageLoops loops(emitter, stage, rank);
    if (wide)
        loops.cover(last, m_stages.length, c.vectors > 1 ? std::vector{c.vectors, c.lanes} : std::vector{c.lanes});
    if (!isOwner)
        emitter.add(ComputeAtStep{stage, emitter.stageOf(m_stages.owner), 0});
    else {
        loops.fuseOuter(last);
        if (c.parallel != 0)
            loops.annotateOutermost(Annotation::Parallel);
    }
    if (wide && c.vectors > 1)
        loops.annotate({last, 1}, Annotation::Unroll);
    if (wide && c.lanes > 1)
        loops.annotate({last, c.vectors > 1 ? 2 : 1}, Annotation::Vectorize);
}

void RowsPart::emitSum(std::int32_t op, const Choice& c, StepEmitter& emitter) const
{
    const auto rank = static_cast<std::int32_t>(m_dag.ops[static_cast<std::size_t>(op)].shape.size());
    const std::int64_t width = c.lanes * c.sums;
    if (width == 1) {
        emitter.add(ComputeAtStep{emitter.stageOf(op), emitter.stageOf(m_stages.owner), 0});
        return;
    }
    const std::int32_t sum = emitter.stageOf(op);
    emitter.add(SplitStep{sum, rank, m_stages.length, {width}, true});
    const std::int32_t partial = emitter.rfactor(op, rank + 1, rank);
    // rows, lane | block of the row: lanes go innermost
    StageLoops loops(emitter, partial, rank + 2);
    if (c.sums > 1)
        loops.split(rank, width, {c.lanes});
    std::vector<LoopPart> order;
    for (std::int32_t a = 0; a < rank; ++a)
        order.push_back({a, 0});
    order.push_back({rank + 1, 0});
    order.push_back({rank, 0});
    if (c.sums > 1)
        order.push_back({rank, 1});
    loops.reorder(order);
    const std::int32_t owner = emitter.stageOf(m_stages.owner);
    // The whole first, which reads the sums by lanes.
    StageLoops whole(emitter, emitter.stageOf(op), rank + 1);
    emitter.add(ComputeAtStep{emitter.stageOf(op), owner, 0});
    whole.annotate({rank, 0}, Annotation::Unroll);
    emitter.add(ComputeAtStep{partial, owner, 0});
    if (c.sums > 1)
        loops.annotate({rank, 0}, Annotation::Unroll);
    loops.annotate({rank, c.sums > 1 ? 1 : 0}, Annotation::Vectorize);
}

void RowsPart::emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const
{
    const Choice c = decode(genes);
    emitElements(m_stages.owner, c, emitter);
    // Readers before what they read.
    for (std::int32_t op = m_stages.owner - 1; op >= 0; --op) {
        if (std::find(m_stages.kept.begin(), m_stages.kept.end(), op) != m_stages.kept.end())
            emitElements(op, c, emitter);
        else if (std::find(m_stages.sums.begin(), m_stages.sums.end(), op) != m_stages.sums.end())
            emitSum(op, c, emitter);
    }
}

} // namespace lathe::search
