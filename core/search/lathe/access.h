#pragma once

#include "core/compute/dag.h"

#include <cstdint>
#include <vector>

namespace lathe::search {

/// One index of a read as a linear form over the axes of the reading operation. Divisions and remainders count as if
/// the index ran over the whole dimension (`complex`).
struct LinearIndex
{
    std::vector<std::int64_t> spatial; ///< coefficient of each spatial axis
    std::vector<std::int64_t> reduce; ///< of each reduce axis
    bool complex = false;

    bool usesSpatial(std::size_t axis) const { return spatial[axis] != 0; }
    /// The axis itself, without factor; -1 if it is anything else. Reduce axes count on from the spatial ones.
    std::int32_t plainAxis() const;
};

/// One operand of a reduction (or map): all its reads taken together.
struct Operand
{
    std::int32_t producer = -1;
    std::int64_t elementBytes = 4;
    std::vector<std::int64_t> shape;
    std::vector<LinearIndex> indices; ///< of the first read
    std::int32_t reads = 1;

    bool usesSpatial(std::size_t axis) const;
    bool usesReduce(std::size_t axis) const;
    /// Last index moves by one with this spatial axis, no other index moves with it.
    bool contiguousIn(std::size_t axis) const;
    /// Elements touched while the axes run over `spatial` and `reduce` extents.
    std::int64_t footprint(const std::vector<std::int64_t>& spatial, const std::vector<std::int64_t>& reduce) const;
};

/// The operands of an operation, in order of first appearance.
std::vector<Operand> operandsOf(const compute::Dag& dag, std::int32_t op);

/// The axis along which a tensor that `op` reads, directly or through maps without loops of their own, lies in memory,
/// where `op`'s last axis strides over it (a transposition); -1: there is none.
std::int32_t transposedAxis(const compute::Dag& dag, std::int32_t op);

} // namespace lathe::search
