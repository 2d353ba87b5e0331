#pragma once

#include "core/compute/analysis.h"

#include <cstdint>
#include <vector>

namespace lathe::search {

/// How one stage of a DAG is computed in Lathe's CPU schedules.
enum class Role : std::uint8_t
{
    Placeholder,
    Inline, ///< into whoever reads it
    Border, ///< padding read by a reduction: inlined with divided loops, or a copy of its own; a choice
    Gather, ///< winograd's tile of the input, the first pass of a transform: at its reader's loops
    Anchor, ///< a reduction whose result stays in registers until its owner's epilogue takes it
    Owner ///< has loops of its own: one phase of the kernel
};

enum class NestKind : std::uint8_t
{
    Map, ///< no reduction: elementwise, copies, layout changes
    Tile, ///< a reduction over register tiles: convolution, dense, pooling
    Transform ///< winograd's small transforms: all of a tile's points unrolled
};

/// One phase: the loops of `owner`, with the reduction it takes in (`anchor`, itself if there is no epilogue, -1 for a
/// map).
struct Nest
{
    NestKind kind = NestKind::Map;
    std::int32_t owner = -1;
    std::int32_t anchor = -1;
    std::int32_t border = -1;
    std::int32_t gather = -1;
    std::int32_t rows = -1; ///< the first pass of a transform in two
};

struct NestPlan
{
    std::vector<Role> roles; ///< of each operation
    std::vector<Nest> nests; ///< owners descending
};

NestPlan planNests(const compute::Analysis& analysis);

} // namespace lathe::search
