#pragma once

#include "core/search/lathe/machine.h"
#include "core/search/lathe/nests.h"
#include "core/search/lathe/sketch_part.h"

#include <memory>
#include <span>
#include <vector>

namespace lathe::search {

/// What is known of one phase without lowering it; the source of Lathe's features and of the analytical ranking.
struct NestFacts
{
    double waste = 1; ///< points that are computed, tails and overlaps included, for each that is wanted
    double flops = 0; ///< of all iterations
    double lanes = 1, vectors = 1, tileA = 1, tileB = 1;
    double accumulators = 1; ///< vector registers that hold sums
    double registers = 1; ///< all that are live in the innermost body
    double bodySize = 1; ///< instructions of the unrolled innermost body
    double reduceSteps = 1; ///< of one tile
    double unroll = 1, kernelUnroll = 0, chunk = 0;
    double order = 0, border = 0;
    double prefetchBytes = 0;
    double parallelChunks = 1;
    double balance = 1; ///< busiest thread's share x threads, >= 1
    double bytesTouched = 0; ///< all operands and the result, once
    double traffic[3] = {0, 0, 0}; ///< bytes that come from beyond L1, L2, the last level, all threads
    double footprint[3] = {0, 0, 0}; ///< bytes in use: innermost reduction, one tile, one parallel chunk
    double weightPanel = 0; ///< bytes of packed weights that one tile reads
    double gathered = 0; ///< vector loads that are no contiguous ones, per step
    double computeCycles = 0, memoryCycles = 0; ///< of the busiest thread
    double seconds = 0;
};

/// A part of a sketch for CPUs: one phase.
class NestPart : public SketchPart
{
public:
    /// Errors: those of seconds().
    virtual Result<NestFacts> facts(std::span<const std::int32_t> genes) const = 0;
    Result<double> seconds(std::span<const std::int32_t> genes) const final
    {
        LATHE_TRY_ASSIGN(const NestFacts known, facts(genes));
        return known.seconds;
    }
};

struct NestContext
{
    const compute::Analysis& analysis;
    const Machine& machine;
    const std::vector<bool>& constantOps; ///< by operation: a placeholder that may be packed ahead of time
};

std::unique_ptr<NestPart> makeTilePart(const NestContext& context, const Nest& nest);
std::unique_ptr<NestPart> makeMapPart(const NestContext& context, const Nest& nest);
std::unique_ptr<NestPart> makeTransformPart(const NestContext& context, const Nest& nest);

/// Lane counts for a dimension of `extent` elements, widest first: full vectors, and halves of them where they divide.
/// Full ones need not (StageLoops::cover).
std::vector<std::int64_t> laneChoices(std::int64_t extent, std::int64_t elementBytes, const Machine& machine);
/// The most elements of one vector, or less, that divide the extent.
std::int64_t widestDivisor(std::int64_t extent, std::int64_t elementBytes, const Machine& machine);
/// Loops of a map over `shape`: vectors along the last dimension, the first `depth` loops that run at all in parallel.
/// `cut`: the loop of vectors stays serial and is divided where conditions change, so that each piece of a
/// concatenation is copied by a loop of its own. `along` >= 0: the loop of that dimension runs directly outside the
/// lanes and is not shared out (transposedAxis); one vector at a time.
void emitMap(StepEmitter& emitter, std::int32_t stage, const std::vector<std::int64_t>& shape, std::int64_t lanes,
             std::int64_t vectors, std::int64_t depth, bool cut = false, std::int32_t along = -1);
/// Busiest thread's share x threads.
double imbalance(double chunks, std::int64_t threads);
/// Fills seconds from the cycles, with what a phase costs in itself.
void finishFacts(NestFacts& facts, const Machine& machine);

} // namespace lathe::search
