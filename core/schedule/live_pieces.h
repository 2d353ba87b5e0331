#pragma once

#include "core/schedule/least_alive.h"
#include "core/schedule/live_values.h"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace lathe::schedule {

// What is found of a launch's straight pieces, and what of it is alive in each of them.

inline constexpr std::int64_t kStep = 2; ///< places of a statement: where it reads and where it writes

/// A value in registers: from where it is made to where it is used for the last time. What is loaded, computed or
/// stored as a vector is one.
struct LiveValue
{
    std::int64_t begin = 0, end = 0;
    std::int32_t words = 1;
    std::int32_t piece = -1; ///< of a load: its piece, in which it may come earlier
    std::int64_t earliest = 0; ///< likewise, no earlier than there
    bool isShared = false; ///< likewise, it comes from shared memory
    bool isAddend = false; ///< likewise, it is added to a sum
    bool isConstant = false; ///< and nothing has used it so far: it is made where it is needed
};

struct PieceFacts
{
    std::int64_t begin = 0, end = 0;
    std::vector<std::size_t> loops; ///< that stay, around it
    std::set<std::size_t> global, shared; ///< addresses
    std::vector<OrderedStatement> statements;
    CodePiece made;
};

/// How many words are alive in a piece: made.late, least, byResults, early and addends.
/// @param values  of the whole launch
void countAlive(PieceFacts& facts, std::int32_t piece, std::span<const LiveValue> values);

} // namespace lathe::schedule
