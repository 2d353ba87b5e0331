#pragma once

#include "core/ir/loop_nest.h"
#include "core/schedule/bound_inference.h"
#include "core/schedule/lower.h"

#include <unordered_set>

namespace lathe::schedule {

/// What the passes of lower() share.
struct Lowering
{
    const State& state;
    const compute::Dag& dag;
    ProgramBounds program;
    ir::LoopNest nest;
    /// Per stage and output: position in nest.buffers, -1 if it has none (inlined).
    std::vector<std::vector<std::int32_t>> buffers;
    std::unordered_set<const ir::Node*> partitioned; ///< loop variables that a PT step names
    KernelForm form = KernelForm::Phases;

    const Stage& stage(std::int32_t id) const { return state.stages()[id]; }
    const compute::Op& op(std::int32_t id) const { return dag.ops[id]; }
    StageBounds& bounds(std::int32_t id) { return program.stages[id]; }
};

/// Makes a buffer for each tensor that is held somewhere, and the parameters. Scopes: parameters, Team for
/// intermediates at root, Part for attached ones (see promoteRegisters).
Result<std::vector<ArgSpec>> makeBuffers(Lowering& lowering, const LowerOptions& options);

/// Where an element of a stage's tensor lies: physical indices of absolute logical ones.
std::vector<ir::Expr> physicalIndices(const Lowering& lowering, std::int32_t stage,
                                      const std::vector<ir::Expr>& logical);

/// A buffer of a few elements beside that of a stage, named after it.
std::int32_t addBeside(Lowering& lowering, std::int32_t stage, const char* suffix, DType dtype, ir::Scope scope,
                       std::int64_t elements);

/// "'NAME' why": what makes a stage impossible to lower.
Error refuseStage(const Lowering& lowering, std::int32_t stage, const char* why, Errc code = Errc::IllegalSchedule);

/// Replaces loads of stages by loads of buffers.
ir::Expr resolveLoads(const Lowering& lowering, const ir::Expr& e);

/// Whether a tile in memory that the threads of a block share has zeros beyond the edge of its tensor. Who reads them
/// needs no condition in the loops in which most time goes. Not where lanes of a vector are on both sides of the edge.
bool fillsWholeTile(const Lowering& lowering, std::int32_t stage);

/// The loops of a stage with everything that is computed inside them.
Result<ir::Stmt> emitStage(Lowering& lowering, std::int32_t stage);

} // namespace lathe::schedule
