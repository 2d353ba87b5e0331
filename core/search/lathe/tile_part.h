#pragma once

#include "core/search/lathe/access.h"
#include "core/search/lathe/nest_part.h"

namespace lathe::search {

/// A reduction over register tiles: `tile a` x `tile b` pixels by `vectors` vectors of `lanes` along the last dimension
/// are summed in registers over the whole reduction, then the owner's epilogue takes them (cpu-kernels.md 4-6).
///
/// Anchor's loops:  owner's outer loops | r.0 kernel axes r.1 | r.2 (unrolled) b a vectors lanes
/// where r is the longest reduce axis, split into chunks (r.0), steps (r.1) and the unrolled part (r.2).
class TilePart final : public NestPart
{
public:
    TilePart(const NestContext& context, const Nest& nest);

    std::vector<Parameter> parameters() const override;
    Result<NestFacts> facts(std::span<const std::int32_t> genes) const override;
    void settle(std::span<std::int32_t> genes) const override;
    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override;
    bool copiesBorder(std::span<const std::int32_t> genes) const override;

private:
    enum Gene
    {
        Lanes,
        Vectors,
        TileA,
        TileB,
        Order,
        Depth,
        Unroll,
        Kernel,
        Chunk,
        Pack,
        Prefetch,
        Border,
        GeneCount
    };
    enum BorderChoice
    {
        Guarded = 0, ///< conditions where the padding is read
        Divided = 1, ///< loops divided so that the middle has none
        Copied = 2 ///< a padded copy, made in a phase of its own
    };
    /// Of Prefetch: not so many bytes ahead, but the weights of the next tiles while those of these are read once more.
    static constexpr std::int64_t kNextPanel = 1;
    /// Genes as values.
    struct Choice
    {
        std::int64_t lanes, vectors, tileA, tileB, order, depth, unroll, kernel, chunk, pack, prefetch, border;
    };
    /// An outer loop of the owner.
    struct Outer
    {
        LoopPart loop;
        std::int64_t extent;
    };

    Choice decode(std::span<const std::int32_t> genes) const;
    void chooseAxes();
    void choosePackable(const std::vector<bool>& constantOps);
    std::vector<Outer> outerLoops(const Choice& c) const;
    /// How many of them are shared out among the threads: the outermost, until `depth` run more than once.
    static std::int32_t sharedLoops(const std::vector<Outer>& outer, std::int64_t depth);
    /// Those that are divided where the border begins and ends.
    std::vector<LoopPart> dividedLoops(const Choice& c, const std::vector<Outer>& outer) const;
    std::vector<LoopPart> kernelLoops() const; ///< reduce loops but the longest
    std::int32_t reduceAxis(std::size_t r) const { return static_cast<std::int32_t>(m_rank + r); }
    std::int64_t extent(std::int32_t axis) const { return axis < 0 ? 1 : m_op.shape[static_cast<std::size_t>(axis)]; }
    /// Whether tiles of so many channels cover the last dimension, with at most a third of it computed in vain.
    bool fits(std::int64_t width) const;
    std::vector<std::int64_t> tileChoices(std::int32_t axis, std::int64_t limit,
                                          std::initializer_list<std::int64_t> more) const;
    std::int64_t tiles(std::int32_t axis, std::int64_t tile) const { return (extent(axis) + tile - 1) / tile; }
    std::int64_t groups(const Choice& c) const
    {
        return (extent(m_last) + c.lanes * c.vectors - 1) / (c.lanes * c.vectors);
    }
    bool splitsA(const Choice& c) const { return m_axisA >= 0 && c.tileA > 1; }
    bool splitsB(const Choice& c) const { return m_axisB >= 0 && c.tileB > 1; }
    std::vector<LoopPart> anchorOrder(const Choice& c, const std::vector<Outer>& outer) const;
    void emitPacking(const Choice& c, const std::vector<LoopPart>& order, StepEmitter& emitter) const;
    std::int64_t partExtent(const Choice& c, LoopPart loop) const;
    /// Iterations of further parts of the same axis inside this one.
    std::int64_t partDiv(const Choice& c, LoopPart loop) const;
    void traffic(const Choice& c, const std::vector<Outer>& outer, NestFacts& f) const;
    bool vectorLoad(const Operand& o, const Choice& c) const;

    Machine m_machine;
    std::int32_t m_owner, m_anchor, m_border;
    const compute::Op& m_op; ///< the anchor's
    std::size_t m_rank;
    std::int32_t m_last, m_axisA = -1, m_axisB = -1;
    std::size_t m_long = 0; ///< the reduce axis that is split
    std::vector<Operand> m_operands, m_epilogue;
    std::int32_t m_weight = -1; ///< index into m_operands: what may be packed
    std::vector<std::vector<std::int64_t>> m_values; ///< by gene
    bool m_pads = false; ///< tiles may go past the end of the last dimension; else the last one overlaps
    double m_points = 1, m_steps = 1, m_flopPerStep = 2, m_epilogueBytes = 0;
};

} // namespace lathe::search
