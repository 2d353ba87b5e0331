#pragma once

#include "core/search/lathe/launch_part.h"

namespace lathe::search {

/// A reduction over tiles, with the epilogue of its owner: convolution, product of matrices, pooling.
///
/// Owner's loops:  blocks (fused) | virtual threads (fused) | threads (fused) | sums of a thread, lanes
///                 at the threads: the anchor, in registers: outer steps | inner steps | sums, lanes
///                 Shared: at the outer steps, operands that all threads of the block fetch together; where they are
///                 fetched steps ahead, the outer steps are one loop
/// Split: the same of pieces of the sum, stored in a tensor of their own; a second launch adds the pieces and has the
///                 epilogue. SplitShared: with operands as in Shared.
/// Slices: at the blocks, pieces of the sum in shared memory: slices and threads (fused) | outer steps | inner steps |
///                 sums, lanes; the owner's threads add the pieces.
class LaunchTilePart final : public LaunchPart
{
public:
    /// Null: the nest does not go by this form.
    static std::unique_ptr<LaunchTilePart> create(const LaunchContext& context, const Nest& nest, LaunchForm form);

    std::vector<Parameter> parameters() const override;
    Result<LaunchFacts> facts(std::span<const std::int32_t> genes) const override;
    bool draw(Random& random, std::span<std::int32_t> genes) const override;
    void settle(std::span<std::int32_t> genes) const override;
    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override;
    bool copiesBorder(std::span<const std::int32_t> genes) const override;

private:
    LaunchTilePart(const LaunchContext& context, const Nest& nest, LaunchForm form);

    /// One open choice: what it says, and of what.
    enum class Of : std::uint8_t
    {
        Threads, ///< of a block along an axis
        Sums, ///< of a thread along an axis; lanes are beside them
        Virtual, ///< virtual threads along an axis
        Steps, ///< inner steps of a reduce axis
        Lanes,
        Unroll, ///< inner steps that are written out, at most
        Border, ///< 1: the padding is a launch of its own
        Pack, ///< 1: weights lie as the loops walk them
        Staged, ///< bits of the operands in shared memory
        Fetch, ///< elements that a thread fetches at once
        Turn, ///< 1: shared tiles lie as the loops walk them, 0: as what they are filled from
        Padding, ///< elements between rows of shared tiles
        Slices,
        Stages, ///< shared tiles that there are at a time: all but one are of steps to come
        Room ///< blocks that a core is to have room for, which bounds registers; 0: the compiler chooses
    };
    struct Gene
    {
        Of of;
        std::size_t axis; ///< of the spatial or reduce axes
        std::vector<std::int64_t> values;
    };
    struct Choice
    {
        std::vector<std::int64_t> threads, sums, virtuals; ///< by spatial axis
        std::vector<std::int64_t> steps; ///< by reduce axis
        std::int64_t lanes = 1, unroll = 1, border = 0, pack = 0, staged = 0, fetch = 1, turn = 0, padding = 0,
                     slices = 1, stages = 1, room = 0;
    };
    struct StagedTile
    {
        std::size_t operand;
        std::int32_t stage;
    };
    struct Box ///< of an operand in shared memory
    {
        std::vector<std::int64_t> shape; ///< by dimension
        std::vector<std::int32_t> order; ///< dimensions, outermost first, as they lie in memory
        std::vector<std::int64_t> strides; ///< by dimension
        std::int64_t elements = 1; ///< with padding between rows
    };

    void choosePackable(const std::vector<bool>& constantOps);
    void addGenes();

    Choice decode(std::span<const std::int32_t> genes) const;
    std::int64_t tile(const Choice& c, std::size_t axis) const; ///< of a block along an axis
    std::int64_t reach(const Choice& c, std::size_t axis) const; ///< likewise, without what is longer than the axis
    std::int64_t own(const Choice& c, std::size_t axis) const; ///< neighbouring elements of a thread along an axis
    std::int64_t length(const Choice& c, std::size_t r) const; ///< of a reduce axis in one slice
    std::int64_t chunks(const Choice& c) const; ///< outer steps
    std::int64_t threads(const Choice& c) const; ///< of a block
    std::int64_t unrolledSteps(const Choice& c) const;
    std::vector<std::size_t> unrolledAxes(const Choice& c) const;
    std::vector<std::int32_t> naturalOrder(std::size_t operand) const;
    std::vector<std::int32_t> memoryOrder(const Choice& c, std::size_t operand) const; ///< of the whole tensor
    bool isSplit() const { return m_form == LaunchForm::Split || m_form == LaunchForm::SplitShared; }
    bool stages() const { return m_form == LaunchForm::Shared || m_form == LaunchForm::SplitShared; }
    bool isStaged(const Choice& c, std::size_t operand) const;
    std::int32_t outerSteps(const Choice& c) const; ///< loops
    bool isBorderStaged(const Choice& c) const;
    Box box(const Choice& c, std::size_t operand) const;
    std::vector<std::int32_t> packedOrder(std::size_t operand) const;
    Result<> check(const Choice& c) const;
    std::int64_t sharedBytes(const Choice& c) const;
    double registers(const Choice& c) const;
    double mostRegisters(const Choice& c) const; ///< that a thread may have
    void countDirect(const Choice& c, std::size_t operand, LaunchFacts& facts) const;
    void countStaged(const Choice& c, std::size_t operand, LaunchFacts& facts) const;
    std::vector<std::int64_t> moves(const Choice& c, const std::vector<std::int64_t>& strides,
                                    std::size_t operand) const;
    std::vector<std::int64_t> laneOffsets(const Choice& c, const std::vector<std::int64_t>& moves) const;
    double gathered(const Choice& c, const std::vector<std::int64_t>& moves, std::int64_t elements) const;
    std::int64_t wideSteps(const Choice& c, std::size_t operand, const std::vector<std::int32_t>& order,
                           const std::vector<std::int64_t>& strides) const;
    std::vector<std::int64_t> stepsTogether(const Choice& c) const;
    double loads(const Choice& c, std::size_t operand, std::int64_t together) const;
    double waitsFor(const Choice& c, double copies, const LaunchFacts& facts) const;

    void emitOwnerTile(const Choice& c, std::int32_t stage, std::size_t first, StepEmitter& emitter) const;
    /// Loops of the reduce axes: outer steps, inner ones, those inside of the sums; and which of them are written out.
    struct StepLoops
    {
        std::vector<LoopPart> outer, inner, innermost, written;
    };
    StepLoops splitSteps(const Choice& c, std::int32_t first, StageLoops& loops) const;
    void emitSums(const Choice& c, std::int32_t stage, std::size_t first, StepEmitter& emitter) const;
    void emitShared(const Choice& c, std::size_t operand, std::int32_t stage, std::int32_t reader, std::int32_t at,
                    StepEmitter& emitter) const;
    std::int32_t emitPieces(const Choice& c, StepEmitter& emitter) const;
    std::vector<StagedTile> stage(const Choice& c, std::int32_t& sums, StepEmitter& emitter) const;
    void emitWhole(const Choice& c, StepEmitter& emitter) const;
    void emitSplit(const Choice& c, StepEmitter& emitter) const;
    void emitSlices(const Choice& c, StepEmitter& emitter) const;
    void emitPacking(StepEmitter& emitter) const;

    LaunchMachine m_machine;
    const compute::Dag& m_dag;
    LaunchForm m_form;
    std::int32_t m_owner, m_anchor, m_border;
    const compute::Op& m_op; ///< the anchor's
    std::vector<Operand> m_operands;
    std::size_t m_rank = 0, m_reduces = 0;
    std::vector<std::size_t> m_tiled; ///< spatial axes of more than one element
    std::size_t m_vector = 0; ///< the axis that vectors run along: the last of these
    std::size_t m_long = 0; ///< the reduce axis that slices divide
    std::int32_t m_weight = -1; ///< the operand that may be packed
    std::vector<bool> m_stageable; ///< by operand
    std::vector<bool> m_branches; ///< by operand: conditions depend on its last dimension
    bool m_laneBorder = false; ///< padding depends on the axis that vectors run along
    std::vector<Gene> m_genes;
};

} // namespace lathe::search
