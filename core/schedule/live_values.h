#pragma once

#include "core/ir/loop_nest.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lathe::schedule {

/// How far loads are moved up when the words that are alive at once are counted: by so many statements of those that
/// are written out, up to the start of their piece.
struct Earlier
{
    std::int64_t global = 0, shared = 0;
};
inline constexpr std::array<Earlier, 9> kEarlier = {{{0, 0},
                                                     {1 << 20, 0},
                                                     {1 << 20, 4},
                                                     {1 << 20, 12},
                                                     {1 << 20, 32},
                                                     {1 << 20, 1 << 20},
                                                     {24, 4},
                                                     {48, 12},
                                                     {96, 32}}};

/// Straight code of a launch: what stands between two places across which no load is moved, which are barriers and the
/// ends of loops that stay loops. Counts are of a thread, words are of 32 bits.
struct CodePiece
{
    std::int32_t loops = 0; ///< around it
    std::array<std::int32_t, kEarlier.size()> live = {}; ///< the most words of values at once, by kEarlier
    /// The same where nothing comes earlier than it must, in an order that keeps it low (least_alive.h).
    std::int32_t least = 0;
    std::int32_t through = 0; ///< of these, words that are alive all through it
    std::int32_t globalWords = 0, sharedWords = 0; ///< that are loaded
    /// Addresses that no constant makes from each other: of this piece, and of all that the outermost loop around it
    /// comes to (without a loop: of the launch's code outside of loops).
    std::int32_t globalAddresses = 0, sharedAddresses = 0, allGlobalAddresses = 0, allSharedAddresses = 0;
    std::int32_t outerAddresses = 0; ///< global ones of code outside of loops
    std::int32_t liveAddresses = 0; ///< of globalAddresses, at once, in the order in which the text uses them
    std::int32_t quotients = 0; ///< different quotients and rests in its addresses
    std::int32_t conditions = 0, allConditions = 0; ///< different ones that are checked, likewise
    std::int32_t calls = 0, divisions = 0; ///< of floats
    std::int32_t statements = 0;
};

/// Which values a launch holds in registers, where, and how long: loops are written out and repeated as the text asks
/// (unroll_rules.h), equal loads are one, and each element of a thread's own array is a value of its own.
/// @param copiesAsynchronously  copies to shared memory go past the registers; else they are loads and stores
std::vector<CodePiece> piecesOf(const ir::LoopNest& nest, const ir::Launch& launch, bool copiesAsynchronously);

} // namespace lathe::schedule
