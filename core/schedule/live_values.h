#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>
#include <vector>

namespace lathe::schedule {

/// Straight code of a launch: what stands between two places across which no load is moved, which are barriers, the
/// ends of loops that stay loops, and those of branches that store to shared memory; shorter ones are no branches, but
/// predicates of what is in them. Counts are of a thread, words are of 32 bits.
struct CodePiece
{
    std::int32_t loops = 0; ///< around it
    std::int32_t statements = 0; ///< that are written out or repeated
    std::int32_t late = 0; ///< the most words that are alive at once in the text's order, loads as late as can be
    std::int32_t least = 0; ///< likewise in an order that keeps them few (least_alive.h), where that is less
    std::int32_t byResults = 0; ///< likewise, one result after the other
    /// Likewise in the text's order, with all that is loaded from memory loaded first, as far as there are predicates
    /// for what guards it, and what is loaded from shared memory, which answers sooner, 32 statements early.
    std::int32_t early = 0;
    std::int32_t addends = 0; ///< words that are loaded from memory to be added to a sum, and for nothing else
    std::int32_t guardedInBranches = 0; ///< statements that load by a condition of their own within a branch
    /// Addresses that no constant makes from each other, but for what loops count.
    std::int32_t globalAddresses = 0, sharedAddresses = 0;
    std::int32_t allSharedAddresses = 0; ///< of all that the outermost loop around it comes to
    std::int32_t outerAddresses = 0; ///< global ones that the launch comes to outside of loops
    bool hasFunctions = false; ///< of floats, quotients among them: they take several instructions
};

struct LiveOptions
{
    bool copiesAsynchronously = true; ///< copies to shared memory go past the registers; else they are loads and stores
};

/// Which values a launch holds in registers, where, and how long: loops are written out and repeated as the text asks
/// (unroll_rules.h), equal loads are one, what was stored is not loaded again, neighbours in memory are loaded as
/// vectors where they are aligned, and each element of a thread's own array is a value of its own.
std::vector<CodePiece> piecesOf(const ir::LoopNest& nest, const ir::Launch& launch, const LiveOptions& options);

} // namespace lathe::schedule
