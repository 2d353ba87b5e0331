#include "core/schedule/lower.h"

#include "core/ir/scratch.h"
#include "core/ir/simplify.h"
#include "core/ir/verify.h"
#include "core/schedule/conditions.h"
#include "core/schedule/constant_matrices.h"
#include "core/schedule/launches.h"
#include "core/schedule/lowering.h"
#include "core/schedule/partition.h"
#include "core/schedule/register_scope.h"
#include "core/support/message.h"

#include <fmt/format.h>

namespace lathe::schedule {

namespace {

using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;

bool isParallel(const Stmt& s)
{
    return s && s->kind == StmtKind::For && s->loop == LoopKind::Parallel;
}

bool containsParallel(const Stmt& s)
{
    if (!s)
        return false;
    if (isParallel(s))
        return true;
    for (const Stmt& inner : s->body)
        if (containsParallel(inner))
            return true;
    return false;
}

/// Stages at root become phases: one of its own where the outermost loop is parallel; neighbours without one share a
/// phase that a single part executes.
class PhaseBuilder
{
public:
    Result<> add(const std::string& name, Stmt s)
    {
        if (isParallel(s)) {
            if (containsParallel(s->body[0]))
                return makeError(Errc::IllegalSchedule, say(Msg::ParallelInParallel, name));
            flush();
            m_phases.push_back(std::move(s));
            return {};
        }
        if (containsParallel(s))
            return makeError(Errc::IllegalSchedule, say(Msg::ParallelNotOutermost, name));
        m_serial.push_back(std::move(s));
        return {};
    }

    std::vector<Stmt> finish()
    {
        flush();
        return std::move(m_phases);
    }

private:
    void flush()
    {
        if (m_serial.empty())
            return;
        m_phases.push_back(ir::makeFor(ir::var("part"), 0, 1, LoopKind::Parallel, ir::makeBlock(std::move(m_serial))));
        m_serial.clear();
    }

    std::vector<Stmt> m_phases;
    std::vector<Stmt> m_serial;
};

} // namespace

Result<LoweredKernel> lower(State state, const LowerOptions& options)
{
    // Inline producers; loops, regions and index expressions of every stage, consumers first.
    LATHE_TRY_ASSIGN(ProgramBounds program, inferProgramBounds(state));
    const compute::DagPtr dag = state.dag();
    Lowering lowering{state, *dag, std::move(program), {}, {}, {}, options.form};
    lowering.nest.name = options.name;
    ir::Ranges& ranges = lowering.program.ranges;

    // Tensors to buffers, in the layouts that LY steps give.
    LATHE_TRY_ASSIGN(std::vector<ArgSpec> parameters, makeBuffers(lowering, options));

    LATHE_TRY(checkStagedCopies(lowering));
    const bool isLaunched = options.form == KernelForm::Launches;
    if (isLaunched)
        LATHE_TRY(assignThreadScopes(lowering));

    PhaseBuilder phases;
    for (std::size_t i = 0; i < dag->ops.size(); ++i) {
        const auto id = static_cast<std::int32_t>(i);
        if (!lowering.program.stages[i].active || lowering.stage(id).location != Location::Root)
            continue;
        // Loops with inits, attached stages at their consumers' loops, padding as conditions.
        LATHE_TRY_ASSIGN(Stmt s, emitStage(lowering, id));
        ir::Launch launch;
        if (isLaunched) {
            // Blocks and threads to axes; virtual threads to work of their thread.
            LATHE_TRY_ASSIGN(launch, bindAxes(lowering, id, s));
            s = spreadVirtualThreads(lowering.nest, launch.body);
        }
        // Edge iterations apart from the steady state, so that conditions are decided there.
        s = partitionLoops(s, lowering.partitioned, ranges);
        s = ir::simplify(s, ranges);
        // Conditions outward and into loop bounds; what remains on lanes becomes masks.
        s = placeConditions(s, ranges, launch.threadIndex);
        // Winograd's matrices to literals; what multiplies their zeros goes away with the last simplification.
        s = expandConstantMatrices(s);
        s = ir::simplify(s, ranges);
        if (!s)
            continue;
        if (isLaunched) {
            launch.body = std::move(s);
            LATHE_TRY_ASSIGN(const std::vector<StagedLoop> staged, stageCopies(lowering, launch));
            LATHE_TRY(placeBarriers(lowering.nest, launch, staged));
            lowering.nest.launches.push_back(std::move(launch));
        } else {
            LATHE_TRY(phases.add(lowering.op(id).name, std::move(s)));
        }
    }
    lowering.nest.phases = phases.finish();

    // Accumulator tiles to registers.
    promoteRegisters(lowering.nest);
    if (isLaunched)
        for (ir::Buffer& buffer : lowering.nest.buffers)
            if (buffer.scope == ir::Scope::Part)
                buffer.scope = ir::Scope::Local;
    LATHE_TRY(ir::verify(lowering.nest));

    LoweredKernel kernel;
    const ir::ScratchLayout scratch = ir::scratchLayout(lowering.nest);
    kernel.teamScratchBytes = scratch.teamBytes;
    kernel.partScratchBytes = scratch.partBytes;
    kernel.nest = std::move(lowering.nest);
    kernel.parameters = std::move(parameters);
    return kernel;
}

} // namespace lathe::schedule
