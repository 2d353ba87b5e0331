#pragma once

#include "core/search/search_task.h"

#include <array>
#include <vector>

namespace lathe::templates {

/// A transform of winograd's, with what is computed in the loops of its threads.
struct WinogradTransform
{
    std::int32_t op = -1; ///< its result is [rows, columns, tiles, channels] of points
    std::int32_t rows = -1; ///< the first of two passes; -1: there is one
    std::int32_t gather = -1; ///< the tile that it reads; -1: it is read where it lies
};

/// What a winograd template schedules, found in an alternative "winograd:m" of a task: data to points of tiles,
/// products of matrices by point, back to the image, with elementwise operations behind it.
struct WinogradNest
{
    WinogradTransform data, inverse;
    std::int32_t product = -1; ///< [alpha, alpha, tiles, output channels], sums over input channels
    std::int32_t weight = -1; ///< what the product reads beside the data: [alpha, alpha, output, input channels]
    bool weightIsConstant = false;
    std::int32_t output = -1; ///< the image, or the last elementwise operation behind it
    std::array<std::int32_t, 4> outputDims = {0, 1, 2, 3}; ///< batch, channel, height, width
    std::vector<std::int32_t> inlined; ///< operations that have no loops of their own, consumers before producers
    std::int64_t m = 0; ///< rows and columns of a tile of the image
    std::int64_t alpha = 0; ///< of points
    std::int64_t tiles = 0, inChannels = 0, outChannels = 0;
};

/// Errors: Unsupported, with what the alternative has that no template knows.
Result<WinogradNest> matchWinograd(const search::SearchAlternative& alternative);

} // namespace lathe::templates
