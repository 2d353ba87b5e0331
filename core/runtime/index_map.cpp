#include "core/runtime/index_map.h"

#include "core/runtime/layout_transform.h"

namespace lathe {

bool IndexMap::isPlain() const
{
    if (physicalRank != logicalRank)
        return false;
    std::int64_t stride = 1;
    for (int j = physicalRank - 1; j >= 0; --j) {
        const Axis& axis = axes[j];
        if (axis.dim != j || axis.div != 1 || axis.extent != logicalShape[j] || axis.stride != stride)
            return false;
        stride *= axis.extent;
    }
    return true;
}

IndexMap IndexMap::plain(const std::int64_t* shape, int rank)
{
    IndexMap map;
    map.logicalRank = rank;
    map.physicalRank = rank;
    for (int d = 0; d < rank; ++d) {
        map.logicalShape[d] = shape[d];
        map.axes[d] = Axis{d, 1, shape[d], 1};
    }
    map.makeDense();
    return map;
}

void IndexMap::makeDense()
{
    std::int64_t stride = 1;
    for (int j = physicalRank - 1; j >= 0; --j) {
        axes[j].stride = stride;
        stride *= axes[j].extent;
    }
}

void transformLayout(const IndexMap& from, const void* src, const IndexMap& to, void* dst, DType dtype)
{
    LayoutTransform transform;
    if (!transform.prepare(from, to, dtype))
        __builtin_trap(); // a few kilobytes of tables: a process without them cannot go on
    if (transform.hasPadding())
        transform.zero(dst, 0, 1);
    transform.copy(src, dst, 0, 1);
}

} // namespace lathe
