#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/lowering.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lathe::schedule {

namespace {

using compute::OpKind;
using ir::Expr;

/// The physical axes of a stage's tensor: its layout, or its dimensions in order. What an attached stage holds is only
/// its box, so that an axis of its layout that is a whole dimension is that of the box.
std::vector<LayoutStep::Axis> physicalAxes(const Lowering& lowering, std::int32_t id)
{
    const Stage& stage = lowering.stage(id);
    const StageBounds& bounds = lowering.program.stages[id];
    const bool isAttached = bounds.active && stage.location == Location::At;
    std::vector<std::int64_t> shape = bounds.active ? bounds.region : lowering.op(id).shape;
    // Loops that do not divide their region go past its end: an attached stage's own buffer has room for that. Threads
    // that fill a shared tile together store no more than its elements.
    const bool storesBeyond = stage.scope != "shared" || !lowering.op(id).reduceAxes.empty();
    if (isAttached && storesBeyond)
        for (std::size_t d = 0; d < shape.size(); ++d)
            shape[d] = std::max(shape[d], boundsOf(bounds.local[d], lowering.program.ranges).hi + 1);
    std::vector<LayoutStep::Axis> axes = stage.layout;
    if (isAttached)
        for (LayoutStep::Axis& axis : axes)
            if (axis.div == 1 && axis.extent == lowering.op(id).shape[axis.dim])
                axis.extent = shape[axis.dim];
    if (stage.layout.empty())
        for (std::size_t d = 0; d < shape.size(); ++d)
            axes.push_back({static_cast<std::int32_t>(d), 1, shape[d]});
    return axes;
}

/// Dense strides, innermost first, widened where PS or SA say so. Errors: IllegalSchedule (no element, or too many).
Result<std::vector<std::int64_t>> physicalStrides(const Stage& stage, const std::string& name,
                                                  const std::vector<LayoutStep::Axis>& axes)
{
    std::vector<std::int64_t> strides(axes.size(), 1);
    std::int64_t next = 1;
    for (std::size_t j = axes.size(); j-- > 0;) {
        for (const auto& [dim, elements] : stage.strideParts)
            if (dim == static_cast<std::int32_t>(j))
                next += elements;
        for (const Stage::Alignment& a : stage.alignments)
            if (a.dim == static_cast<std::int32_t>(j) && stage.layout.empty())
                next = ir::ceilDivide(next - a.offset, a.factor) * a.factor + a.offset;
        strides[j] = next;
        next = cappedProduct(next, axes[j].extent);
        if (next < 1 || next > kMaxExtent)
            return makeError(Errc::IllegalSchedule, say(Msg::TooManyElements, name));
    }
    return strides;
}

class BufferMaker
{
public:
    BufferMaker(Lowering& lowering, const LowerOptions& options)
        : m_lowering(lowering)
        , m_options(options)
    {
    }

    Result<std::vector<ArgSpec>> run()
    {
        const compute::Dag& dag = m_lowering.dag;
        m_lowering.buffers.resize(dag.ops.size());
        std::vector<ArgSpec> parameters;
        for (std::size_t i = 0; i < dag.inputs.size(); ++i) {
            const bool constant = i < m_options.constantInputs.size() && m_options.constantInputs[i];
            LATHE_TRY_ASSIGN(ArgSpec spec, parameter(dag.inputs[i], 0, constant ? ArgRole::Constant : ArgRole::Input));
            parameters.push_back(std::move(spec));
        }
        for (const std::int32_t output : dag.outputs) {
            if (dag.ops[output].kind == OpKind::Placeholder)
                return makeError(Errc::Unsupported,
                                 fmt::format("'{}' is an input and an output at once", dag.ops[output].name));
            for (std::size_t body = 0; body < dag.ops[output].bodies.size(); ++body) {
                LATHE_TRY_ASSIGN(ArgSpec spec, parameter(output, body, ArgRole::Output));
                parameters.push_back(std::move(spec));
            }
        }
        for (std::size_t i = 0; i < dag.ops.size(); ++i) {
            const auto id = static_cast<std::int32_t>(i);
            if (!m_lowering.program.stages[i].active || !m_lowering.buffers[i].empty())
                continue;
            const bool atRoot = m_lowering.stage(id).location == Location::Root;
            for (std::size_t body = 0; body < dag.ops[i].bodies.size(); ++body)
                LATHE_TRY(addBuffer(id, body, atRoot ? ir::Scope::Team : ir::Scope::Part));
        }
        return parameters;
    }

private:
    Result<ir::Buffer*> addBuffer(std::int32_t id, std::size_t body, ir::Scope scope)
    {
        const compute::Op& op = m_lowering.op(id);
        ir::Buffer buffer;
        buffer.name = body == 0 ? op.name : fmt::format("{}.v{}", op.name, body);
        for (int n = 1; !m_names.insert(buffer.name).second; ++n)
            buffer.name = fmt::format("{}_{}", op.name, n);
        buffer.dtype = op.bodies.size() > 1 ? op.bodies[body]->dtype : op.dtype;
        buffer.scope = scope;
        const std::vector<LayoutStep::Axis> axes = physicalAxes(m_lowering, id);
        for (const LayoutStep::Axis& axis : axes)
            buffer.shape.push_back(axis.extent);
        LATHE_TRY_ASSIGN(buffer.strides, physicalStrides(m_lowering.stage(id), op.name, axes));
        m_lowering.buffers[id].push_back(static_cast<std::int32_t>(m_lowering.nest.buffers.size()));
        m_lowering.nest.buffers.push_back(std::move(buffer));
        return &m_lowering.nest.buffers.back();
    }

    Result<ArgSpec> parameter(std::int32_t id, std::size_t body, ArgRole role)
    {
        const compute::Op& op = m_lowering.op(id);
        if (op.shape.size() > static_cast<std::size_t>(kMaxRank))
            return makeError(Errc::Unsupported, fmt::format("'{}' has more than {} dimensions", op.name, kMaxRank));
        LATHE_TRY_ASSIGN(ir::Buffer* const added, addBuffer(id, body, ir::Scope::Parameter));
        ir::Buffer& buffer = *added;
        buffer.readOnly = role != ArgRole::Output;
        buffer.constant = role == ArgRole::Constant;
        m_lowering.nest.parameters.push_back(m_lowering.buffers[id].back());
        ArgSpec spec;
        spec.name = buffer.name;
        spec.role = role;
        spec.dtype = buffer.dtype;
        spec.map.logicalRank = static_cast<std::int32_t>(op.shape.size());
        std::copy(op.shape.begin(), op.shape.end(), spec.map.logicalShape);
        const std::vector<LayoutStep::Axis> axes = physicalAxes(m_lowering, id);
        spec.map.physicalRank = static_cast<std::int32_t>(axes.size());
        for (std::size_t j = 0; j < axes.size(); ++j)
            spec.map.axes[j] = {axes[j].dim, axes[j].div, axes[j].extent, buffer.strides[j]};
        return spec;
    }

    Lowering& m_lowering;
    const LowerOptions& m_options;
    std::set<std::string> m_names;
};

} // namespace

Result<std::vector<ArgSpec>> makeBuffers(Lowering& lowering, const LowerOptions& options)
{
    return BufferMaker(lowering, options).run();
}

std::int32_t addBeside(Lowering& lowering, std::int32_t stage, const char* suffix, DType dtype, ir::Scope scope,
                       std::int64_t elements)
{
    ir::Buffer buffer;
    buffer.name = lowering.nest.buffers[lowering.buffers[stage][0]].name + suffix;
    buffer.dtype = dtype;
    buffer.scope = scope;
    buffer.shape = {elements};
    buffer.strides = {1};
    lowering.nest.buffers.push_back(std::move(buffer));
    return static_cast<std::int32_t>(lowering.nest.buffers.size()) - 1;
}

std::vector<Expr> physicalIndices(const Lowering& lowering, std::int32_t id, const std::vector<Expr>& logical)
{
    const ir::Ranges& ranges = lowering.program.ranges;
    const StageBounds& bounds = lowering.program.stages[id];
    const std::vector<std::int64_t>& shape = bounds.active ? bounds.region : lowering.op(id).shape;
    const std::vector<LayoutStep::Axis> axes = physicalAxes(lowering, id);
    std::vector<Expr> indices;
    for (const LayoutStep::Axis& axis : axes) {
        Expr index = logical[axis.dim];
        if (bounds.active)
            index = index - bounds.mins[axis.dim];
        index = ir::floorDiv(index, ir::intImm(axis.div));
        if (axis.div * axis.extent < shape[axis.dim])
            index = ir::floorMod(index, ir::intImm(axis.extent));
        indices.push_back(ir::simplify(index, ranges));
    }
    return indices;
}

Expr resolveLoads(const Lowering& lowering, const Expr& e)
{
    return ir::transform(e, [&lowering](const Expr& node) {
        if (node->kind != ir::ExprKind::Load)
            return Expr();
        return ir::load(lowering.buffers[node->source][node->output], node->dtype,
                        physicalIndices(lowering, node->source, node->operands));
    });
}

} // namespace lathe::schedule
