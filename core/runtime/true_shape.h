#pragma once

#include <cstdint>

namespace lathe::runtime {

/// Moves the elements of a dense tensor of shape `bound` that lie inside of `shape` to the front, dense in `shape`:
/// what is left of a result whose extents turned out smaller than they might have been.
/// @param shape  `rank` extents, each from 0 to that of `bound`.
void packToShape(void* data, std::int64_t elementBytes, int rank, const std::int64_t* bound, const std::int64_t* shape);

} // namespace lathe::runtime
