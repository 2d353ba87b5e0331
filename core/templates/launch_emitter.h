#pragma once

#include "core/search/lathe/step_emitter.h"
#include "core/templates/template_steps.h"

#include <span>
#include <vector>

namespace lathe::templates {

/// How one axis of a result is shared out on a GPU: [blocks,] virtual threads, threads, and what one thread has of it
/// side by side, `lanes` of these at a time as a vector; of one axis alone.
struct AxisShare
{
    std::int32_t axis; ///< of the stage that stores
    std::int64_t extent;
    std::int64_t virtuals = 1, threads = 1, inner = 1, lanes = 1; ///< lanes divide inner
};

/// Of a split in four, [blocks, virtual threads, threads, inner].
AxisShare shareOfFour(std::int32_t axis, std::int64_t extent, std::span<const std::int64_t> sizes);
/// Of a split in three, [blocks, threads, inner].
AxisShare shareOfThree(std::int32_t axis, std::int64_t extent, std::span<const std::int64_t> sizes);

/// Threads of a block.
std::int64_t threadsOf(std::span<const AxisShare> shares);
/// Virtual threads that each of them stands for.
std::int64_t virtualThreadsOf(std::span<const AxisShare> shares);

// Positions of the loops that emitShares() makes; then comes what a thread has, lanes innermost.
inline constexpr std::int32_t kBlockLoop = 0, kVirtualLoop = 1, kThreadLoop = 2, kInnerLoops = 3;

/// In the order of the axes: the last one lies in memory as the network has it.
std::vector<AxisShare> inAxisOrder(std::vector<AxisShare> shares);

/// The loops of a stage that stores a result of `axes` axes: blocks, virtual threads, threads, each fused to one loop
/// (axes without a share are loops over blocks alone), then what a thread has. The reference binds them to three axes
/// of blocks and of threads each; one of each has the same threads in the same warps, and no limit but that of a block.
/// Neighbouring threads differ in the last of the shares, which is to be the axis along which memory runs.
void emitShares(search::StepEmitter& emitter, std::int32_t stage, std::int32_t axes,
                const std::vector<AxisShare>& shares);

/// The outermost `count` loops as one, blocks of `threads`: positions 0 and 1.
void emitFlatLaunch(search::StepEmitter& emitter, std::int32_t stage, std::int32_t count, std::int64_t threads);

void fuseLoops(search::StepEmitter& emitter, std::int32_t stage, std::int32_t first, std::int32_t count);

/// Copies of an operand on its way to the stage that sums.
struct StagedOperand
{
    std::int32_t producer; ///< operation of the DAG
    std::int32_t rank; ///< of its tensor
    std::int32_t shared = -1, local = -1; ///< stages; -1: there is none
};

/// What copies are made of operands.
enum class Staging : std::uint8_t
{
    Shared, ///< in the memory of the block
    SharedAndLocal, ///< there, and from there in registers of each thread
    Local ///< in registers alone
};

/// What a reduction reads.
std::vector<std::int32_t> operandsOf(const compute::Dag& dag, std::int32_t reduction);

/// Adds the copies of tensors that `sums`, a stage, reads; `sums` is then its new number.
std::vector<StagedOperand> stageOperands(search::StepEmitter& emitter, const compute::Dag& dag,
                                         std::vector<std::int32_t> producers, Staging staging, std::int32_t& sums);

/// A tile in shared memory, computed at loop `at` of `reader`, that all `threads` of a block fetch together, neighbours
/// what lies side by side. `unrolled`: as emitUnrolling(). `walk`: the dimensions as they lie in memory, where they
/// were given a layout; empty: as they are.
void emitFetch(search::StepEmitter& emitter, const StagedOperand& operand, std::int32_t reader, std::int32_t at,
               std::int64_t threads, std::int64_t unrolled, std::vector<std::int32_t> walk = {});

/// Inner loops of the stage are written out as long as no more than `steps` statements come of it; 0: none. Each
/// virtual thread has statements of its own: stages inside of them get their part of what there may be.
void emitUnrolling(search::StepEmitter& emitter, std::int32_t stage, std::int64_t steps);

} // namespace lathe::templates
