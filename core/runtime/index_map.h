#pragma once

#include "core/runtime/dtype.h"

#include <cstdint>

namespace lathe {

inline constexpr int kMaxRank = 8; ///< of logical tensors
inline constexpr int kMaxPhysicalRank = 24; ///< of their physical forms

/// How a logical tensor lies in memory: split, reorder, pad, in closed form.
///
/// Physical axis j (outermost first) holds part of logical dimension axes[j].dim:
///     p_j = (logical[dim] / div) % extent          and, backwards,  logical[dim] = sum over axes of dim of p_j * div
/// A physical element whose logical index is outside the logical shape is padding and holds zero.
/// `stride` is in elements; dense row-major unless padded (a line of scratch between planes, say).
///
/// NCHW16c of [1, 20, 7, 7]: {0,1,1} {1,16,2} {2,1,7} {3,1,7} {1,1,16}: channels 20..31 are padding.
struct IndexMap
{
    struct Axis
    {
        std::int32_t dim = 0;
        std::int64_t div = 1;
        std::int64_t extent = 1;
        std::int64_t stride = 1;
        friend bool operator==(const Axis&, const Axis&) = default;
    };

    std::int32_t logicalRank = 0;
    std::int32_t physicalRank = 0;
    std::int64_t logicalShape[kMaxRank] = {};
    Axis axes[kMaxPhysicalRank] = {};

    /// Elements to allocate: 1 + the largest offset; 1 for a scalar.
    std::int64_t elementCount() const
    {
        std::int64_t last = 0;
        for (int j = 0; j < physicalRank; ++j)
            last += (axes[j].extent - 1) * axes[j].stride;
        return last + 1;
    }
    std::int64_t logicalCount() const
    {
        std::int64_t n = 1;
        for (int d = 0; d < logicalRank; ++d)
            n *= logicalShape[d];
        return n;
    }
    /// Offset in elements of a logical index.
    std::int64_t offset(const std::int64_t* logical) const
    {
        std::int64_t o = 0;
        for (int j = 0; j < physicalRank; ++j)
            o += (logical[axes[j].dim] / axes[j].div % axes[j].extent) * axes[j].stride;
        return o;
    }
    bool isPlain() const; ///< row-major and dense
    friend bool operator==(const IndexMap&, const IndexMap&) = default;

    static IndexMap plain(const std::int64_t* shape, int rank);
    /// Recomputes dense strides from the extents.
    void makeDense();
};

/// dst (physical, `to`) = src (physical, `from`), both of one logical shape; padding of dst becomes zero.
/// Buffers hold elementCount() elements each and do not overlap.
void transformLayout(const IndexMap& from, const void* src, const IndexMap& to, void* dst, DType dtype);

} // namespace lathe
