#pragma once

#include "core/schedule/lowering.h"

#include <set>
#include <vector>

namespace lathe::schedule {

// SG: tiles in shared memory that are filled ahead of the iterations that read them. The buffer gets `count` slices, of
// which each iteration reads the next; while it does, what iterations to come will read is on its way:
//
//     for ahead in the first count - 1: fill slice ahead; commit
//     for k:
//         wait until only count - 2 groups are on their way; barrier
//         if there is an iteration k + count - 1: fill its slice, which iteration k - 1 has read
//         commit
//         what the loop computes, of slice k
//
// One barrier tells all threads that slice k is there and that slice k - 1 was read. What fills a slice are
// asynchronous copies (core/ir/async_copy.h) where elements lie together in both memories and are copied as they are,
// else stores; what padding has is stored.

/// A loop in which these buffers have a slice for each iteration: barriers at its start keep them.
struct StagedLoop
{
    const ir::Node* variable = nullptr;
    std::set<std::int32_t> buffers;
};

/// Stages that SG names must be copies that a loop of their reader is around. Errors: IllegalSchedule (they are not, or
/// others at the same loop have another count), Unsupported (phases).
Result<> checkStagedCopies(const Lowering& lowering);

/// Rewrites the loops of a launch. Errors: IllegalSchedule (the loop has no iterations to be ahead of, or the tile is
/// not filled by statements of its own).
Result<std::vector<StagedLoop>> stageCopies(Lowering& lowering, ir::Launch& launch);

} // namespace lathe::schedule
