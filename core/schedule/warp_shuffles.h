#pragma once

#include "core/ir/bounds.h"
#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <array>
#include <string>
#include <vector>

namespace lathe::schedule {

/// One value that the threads of a sum hold parts of: a sum, or of a reduction to an index the value and its position.
struct LanePart
{
    std::int32_t own = -1; ///< buffer of the thread, of one element: its part, and in the end the result
    std::int32_t other = -1; ///< likewise: what comes from another lane
    std::int32_t warps = -1; ///< Shared buffer with an element for each warp; -1: there is one warp
    DType dtype = DType::F32;
    ir::Expr identity;
};

/// Warps that so many threads are, of `warp` lanes; 1 for a part of one.
std::int64_t warpsOf(std::int64_t threads, std::int32_t warp);

/// Why so many threads cannot exchange parts in warps of `warp` lanes; empty: they can. They are whole warps, no more
/// than a warp has lanes, or a power of two below one.
std::string whyNoShuffles(std::int64_t threads, std::int32_t warp);

/// The steps by which `threads` threads along threadIdx.x make one result of their parts, after `each` has been done by
/// each of them (with `thread` for its number):
///
///     each; in each warp: own = combine(own, own of the lane that differs in one bit), a bit after the other
///     where there are several warps: their parts to shared memory; the first warp reads them and does it once more
///
/// In the end `own` of thread 0 holds the result. Which parts are combined with which is the same in each run. All
/// lanes of a warp come to each shuffle.
/// @param parts of a sum one; of a reduction to an index two, values and positions: of equal values the first counts.
std::vector<ir::Stmt> combineLanes(ir::Ranges& ranges, const ir::Expr& thread, std::int64_t threads, std::int32_t warp,
                                   ir::Combiner combiner, const std::vector<LanePart>& parts,
                                   std::vector<ir::Stmt> each);

/// Whether the warps of a block of these threads along x, y, z have the lanes that a shuffle of threads along x counts
/// on, which only those with indices below `coming` come to. Empty: yes; else why not.
std::string whyNoWholeWarps(const std::array<std::int64_t, 3>& block, const std::array<std::int64_t, 3>& coming,
                            const ir::StmtNode& shuffle);

} // namespace lathe::schedule
