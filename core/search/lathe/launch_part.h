#pragma once

#include "core/search/lathe/access.h"
#include "core/search/lathe/launch_machine.h"
#include "core/search/lathe/nests.h"
#include "core/search/lathe/sketch_part.h"

#include <memory>
#include <span>
#include <vector>

namespace lathe::search {

/// How threads share the sums of a reduction.
enum class LaunchForm : std::uint8_t
{
    Registers, ///< a tile of sums for each thread, operands straight from memory
    Shared, ///< the same, operands staged in shared memory by all threads of a block
    Split, ///< sums divided among blocks; a second launch adds the pieces
    Slices, ///< sums divided among the threads of a block, which hand over pieces in shared memory
    Tree, ///< a block for each sum: its threads add parts of it, then each other's
    Rows, ///< all of a DAG that works by rows, a block for each row
    SplitShared ///< as Split, and each block stages operands as Shared does
};

/// What is known of the launches of one part without lowering it; the source of the features and of the ranking.
/// Figures are of the launch with most work, unless they say otherwise.
struct LaunchFacts
{
    double blocks = 1;
    double threads = 1; ///< of a block
    double virtualThreads = 1;
    double sums = 1; ///< elements of a thread's tile
    double lanes = 1;
    double registers = 24; ///< of a thread, an estimate
    double sharedBytes = 0; ///< of a block; exactly what is lowered
    double steps = 1; ///< of each sum, by one thread
    double unrolled = 1; ///< statements that are written out
    double chunks = 1; ///< times that shared tiles are filled
    double slices = 1; ///< pieces of a sum
    double flops = 0; ///< of all blocks
    double waste = 1; ///< points that are computed for each that is wanted
    double bytes = 0; ///< of operands and results, once
    // Of one thread, or of one warp where it says so.
    double arithmetic = 0; ///< instructions
    double accesses = 0; ///< instructions that access memory
    double sharedAccesses = 0;
    double segments = 0; ///< of 32 bytes that a warp moves
    double conflicts = 0; ///< cycles that a warp waits for banks of shared memory
    double gathered = 0; ///< elements that a warp's threads access neither in one place nor one beside the other
    double waits = 0; ///< times that a thread stands still until memory answers
    double barriers = 0;
    double packed = 0, copied = 0, fetch = 0, padded = 0, ahead = 0, room = 0; ///< choices
    double mostRegisters = 255; ///< that the compiler may give a thread
    // From these, by finish():
    double resident = 1; ///< blocks of one core at a time
    double occupancy = 1;
    double waves = 1;
    double computeSeconds = 0, memorySeconds = 0;
    double seconds = 0;
    double launches = 1;

    /// Of one launch; adds what goes before.
    void finish(const LaunchMachine& machine);
};

/// A part of a sketch for GPUs: the launches of one loop nest.
class LaunchPart : public SketchPart
{
public:
    /// Errors: those of seconds().
    virtual Result<LaunchFacts> facts(std::span<const std::int32_t> genes) const = 0;
    Result<double> seconds(std::span<const std::int32_t> genes) const final
    {
        LATHE_TRY_ASSIGN(const LaunchFacts known, facts(genes));
        return known.seconds;
    }
};

struct LaunchContext
{
    const compute::Analysis& analysis;
    const LaunchMachine& machine;
    const std::vector<bool>& constantOps; ///< by operation: a placeholder that may be packed ahead of time
};

/// Null: the nest does not go this way.
std::unique_ptr<LaunchPart> makeLaunchTilePart(const LaunchContext& context, const Nest& nest, LaunchForm form);
std::unique_ptr<LaunchPart> makeLaunchTreePart(const LaunchContext& context, const Nest& nest);
std::unique_ptr<LaunchPart> makeLaunchMapPart(const LaunchContext& context, const Nest& nest);
std::unique_ptr<LaunchPart> makeLaunchTransformPart(const LaunchContext& context, const Nest& nest);

/// Position of the loop over threads in what emitLaunchMap() makes.
inline constexpr std::int32_t kMapThreads = 1;
/// Loops of a map over `shape` as one launch: vectors of `lanes` along the last dimension, `own` of them by each
/// thread, blocks of `threads`. `reduces`: loops of a short sum, inside all but the lanes.
void emitLaunchMap(StepEmitter& emitter, std::int32_t stage, const std::vector<std::int64_t>& shape, std::int64_t lanes,
                   std::int64_t own, std::int64_t threads, std::int32_t reduces = 0);

/// Elements of a vector along `extent` elements: powers of two up to what a thread moves at once.
std::vector<std::int64_t> launchLanes(std::int64_t extent, std::int64_t elementBytes, const LaunchMachine& machine);
/// A choice for people and for adapt(): all that is open is one.
Parameter launchChoice(std::string name, std::vector<std::int64_t> values);

} // namespace lathe::search
