#pragma once

/// Functions of the runtime: what no loop nest computes in the time that it needs, because it sorts, counts or writes
/// to computed places. Each is one or several phases of a kernel's form (kernel_abi.h), right for any number of parts,
/// with a barrier between; graph::OpDef::function names them, and the planner puts them among the kernels.
///
/// The first tensor of each holds its parameters, one of the structs below; operands and results follow, dense and
/// row-major. What is not said here stands in core/compute/README.md. Nothing here may use the C++ library.

#include "core/runtime/dtype.h"
#include "core/runtime/index_map.h"
#include "core/runtime/kernel_abi.h"

#include <cstdint>

namespace lathe::runtime {

/// A tensor seen as [outer, extent, inner], where `extent` is the dimension that something happens along.
struct RowsParameters
{
    std::int64_t outer, extent, inner;
};

/// x, positions I64 [outer, count, inner]: where the `count` largest (or smallest) of each row stand, best first. NaN
/// comes last; of equals (-0 and 0 are) the first comes first. n log(count) comparisons for a row of n.
/// Part scratch: `count` entries of kSelectionBytes.
struct TopPositionsParameters
{
    std::int64_t dtype;
    RowsParameters rows;
    std::int64_t count;
    std::int64_t largest; ///< 1, or 0: the smallest
};
constexpr std::int64_t kSelectionBytes = 16;

/// x, y of one shape: sums of what stands before in the row, the element itself included unless `exclusive`. Floats are
/// kept in f64, integers wrap around.
struct CumulativeSumParameters
{
    std::int64_t dtype;
    RowsParameters rows;
    std::int64_t exclusive, reverse;
};

/// What meets at one place of a scatter, in the order of the updates.
enum class Joining : std::int64_t
{
    Replace = 0,
    Add = 1,
    Multiply = 2,
    Maximum = 3,
    Minimum = 4
};

/// Data, indices (I32 or I64), updates of the shape of the indices, result: an update goes to its own place but for
/// dimension `axis`, where its index says. Linear in data and updates.
struct ScatterElementsParameters
{
    std::int64_t dtype, indexDtype, joining;
    std::int64_t rank, axis;
    std::int64_t data[kMaxRank], indices[kMaxRank]; ///< shapes
};

/// Data, indices [count, depth], updates [count, inner], result: update i goes to the slice of `inner` elements that
/// row i names by its places in the first `depth` dimensions. Linear in data and updates.
struct ScatterNdParameters
{
    std::int64_t dtype, indexDtype, joining;
    std::int64_t count, depth, inner;
    std::int64_t extents[kMaxRank]; ///< of the data: the first `depth`
};

// Results whose size depends on data have room for the most that they can be, and a count, I64: what lies behind so
// many entries is 0.

/// x, positions I64 [rank, elements of x], count: the index of each element that is not 0 (NaN is not), in their order.
/// Team scratch: kCountedChunks numbers.
struct NonzeroParameters
{
    std::int64_t dtype, rank;
    std::int64_t shape[kMaxRank];
};
constexpr std::int64_t kCountedChunks = 64;

/// x, first, inverse, counts (each I64 [extent]), count: what is different among the slices of x along `extent`; where
/// each stands first, the number of the one that each slice equals, how often there is each. NaN equals NaN and is
/// higher than all; -0 equals 0. n log(n) comparisons of slices. Team scratch: 4 numbers for each slice.
struct UniqueParameters
{
    std::int64_t dtype;
    RowsParameters rows;
    std::int64_t sorted; ///< 1: by value, the first element first; 0: by where each stands first
};

/// boxes f32 [batches, boxes, 4], scores f32 [batches, classes, boxes], the most for each class I64, the highest
/// overlap f32, the lowest score f32, the boxes that exist I64, selected I64 [batches * classes * perClass, 3] (batch,
/// class, box), count: in each class the best are taken one by one, passing over those that overlap a better one by
/// more than they may (intersection over union, in f32). Of equal scores the first box comes first; boxes without an
/// area overlap nothing. Team scratch: (1 + perClass) numbers for each class of each batch; part scratch:
/// kSelectionBytes a box.
struct NonMaxSuppressionParameters
{
    std::int64_t batches, classes, boxes;
    std::int64_t perClass; ///< the most that can be taken
    std::int64_t center; ///< 1: boxes are x, y of the centre, width, height; 0: y, x, y, x of opposite corners
    std::int64_t hasScore; ///< 0: there is no lowest score
};

} // namespace lathe::runtime

extern "C" {
std::int32_t lathe_0_top_positions(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
std::int32_t lathe_0_cumulative_sum(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
/// The first phase of each scatter copies the data into the result, unless they are one buffer.
std::int32_t lathe_0_scatter_elements_copy(const LatheArgs* args, void* partScratch, std::uint32_t part,
                                           std::uint32_t parts);
std::int32_t lathe_0_scatter_elements(const LatheArgs* args, void* partScratch, std::uint32_t part,
                                      std::uint32_t parts);
std::int32_t lathe_0_scatter_nd_copy(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
std::int32_t lathe_0_scatter_nd(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
std::int32_t lathe_0_nonzero_count(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
std::int32_t lathe_0_nonzero(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
std::int32_t lathe_0_unique(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts);
std::int32_t lathe_0_non_max_suppression_select(const LatheArgs* args, void* partScratch, std::uint32_t part,
                                                std::uint32_t parts);
std::int32_t lathe_0_non_max_suppression(const LatheArgs* args, void* partScratch, std::uint32_t part,
                                         std::uint32_t parts);
}
