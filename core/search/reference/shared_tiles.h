#pragma once

#include "core/schedule/state.h"

#include <cstdint>

namespace lathe::search {

/// Bytes of shared memory that the launch of a state that takes most takes at least, as its steps say: without
/// lowering, which costs a hundred times as much. Of states of ReferenceSketch, which fuse all loops of a tile before
/// they split them among threads; of others it may be less. schedule::sizesOf() says the same or more.
std::int64_t sharedTileBytes(const schedule::State& state);

} // namespace lathe::search
