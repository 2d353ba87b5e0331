#pragma once

#include "core/search/lathe/nest_part.h"

#include <optional>

namespace lathe::search {

/// The operations of a winograd convolution in NHWC whose result goes point by point to the output.
struct WinogradStages
{
    std::int32_t data = -1, product = -1, inverse = -1; ///< transformed data, products by position, transformed back
    std::int32_t inverseRows = -1; ///< the first pass of the inverse, if it has two
    std::int32_t image = -1, owner = -1; ///< the convolution's result; the output, itself or an epilogue
    std::int64_t tile = 0, tilesHigh = 0, tilesWide = 0;
};

/// Nothing where the DAG has none, or more happens to the result than an epilogue.
std::optional<WinogradStages> findWinograd(const compute::Analysis& analysis);

/// Winograd by blocks (cpu-kernels.md 8): for a block of rows of tiles and of channels the products are made and
/// transformed back while they are in the caches nearest to the core; only the image is written. The data is
/// transformed in the same block of rows, or ahead in a phase of its own.
///
/// Owner's loops:  {batch, block of rows, block of channels} in either order | row column vector | y x lanes
///                  data: at the block of rows; products: at the inner block; inverse: at the vector, in registers
class WinogradPart final : public NestPart
{
public:
    /// `data`: the phase of the data's transform.
    WinogradPart(const NestContext& context, const WinogradStages& stages, std::unique_ptr<NestPart> data);

    std::vector<Parameter> parameters() const override;
    Result<NestFacts> facts(std::span<const std::int32_t> genes) const override;
    void settle(std::span<std::int32_t> genes) const override;
    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override;

private:
    enum Gene
    {
        Lanes,
        Vectors,
        Tiles, ///< of a register tile
        Rows, ///< of tiles in a block
        Block, ///< channels of a block
        Order, ///< 0: rows outermost, 1: channels
        Attach, ///< 1: data transformed inside the block of rows
        Depth, ///< loops shared out
        Unroll,
        Prefetch,
        GeneCount
    };
    struct Choice
    {
        std::int64_t lanes, vectors, tiles, rows, block, order, attach, depth, unroll, prefetch;
    };
    Choice decode(std::span<const std::int32_t> genes) const;
    std::vector<std::int32_t> dataGenes(std::span<const std::int32_t> genes, const Choice& c) const;

    Machine m_machine;
    WinogradStages m_stages;
    std::unique_ptr<NestPart> m_data;
    const compute::Op& m_output;
    const compute::Op& m_product;
    std::int32_t m_weight = -1; ///< operation of the transformed weights, if they may be packed
    std::vector<std::vector<std::int64_t>> m_values; ///< by gene
};

} // namespace lathe::search
