#pragma once

#include "core/schedule/lower.h"
#include "core/search/search_task.h"
#include "core/support/random.h"

#include <string>
#include <vector>

namespace lathe::cuda::kernels {

/// Where a candidate comes from.
enum class Origin : std::uint8_t
{
    Lathe, ///< Lathe's own search
    Reference, ///< the reference's rules
    Template
};

/// Of a part with a tile of sums: what a block computes, along the innermost axis and along all others together (the
/// batch of a winograd product not counted), and what a thread has of it.
struct BlockTile
{
    std::string op; ///< empty: there is none
    std::int64_t rows = 1, columns = 1, ofThread = 1;

    bool isLarge() const { return rows >= 64 && columns >= 64; }
};

struct DrawnKernel
{
    std::string task, sketch;
    double flop = 0; ///< of the task
    double estimated = 0; ///< seconds, by the search's estimate; 0: it has none
    BlockTile tile; ///< of candidates of Lathe's own
    schedule::LoweredKernel kernel;
};

/// A random candidate that the target's limits let start. Errors: those of the rules; IllegalSchedule where what was
/// drawn breaks a limit; Unsupported where the task has no such rules.
Result<DrawnKernel> draw(const search::SearchTask& task, Origin origin, Random& random);

/// The `count` candidates of Lathe's own that its estimate likes best, each another program: of `draws` random ones of
/// each sketch, and of as many changes of the best of them. `onlyLarge`: of those whose tile is. Errors: Unsupported if
/// there is none.
Result<std::vector<DrawnKernel>> likedBest(const search::SearchTask& task, std::size_t count, std::size_t draws,
                                           std::uint64_t seed, bool onlyLarge = false);

/// What the task runs untuned. Errors: those of the default schedules.
Result<DrawnKernel> untuned(const search::SearchTask& task);

} // namespace lathe::cuda::kernels
