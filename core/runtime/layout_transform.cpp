// A physical offset is a sum with one term per logical dimension: offset(x) = sum over d of t_d[x_d]. So each map
// becomes one small table per dimension, and any layout change is a loop nest over the logical dimensions with two
// additions per element. The innermost loop walks the dimension that is dense in the destination, the one around it
// that which is dense in the source, tiled so that both sides stay in the cache; runs that are dense on both sides are
// copied as blocks.

#include "core/runtime/layout_transform.h"

#include <cstdlib>
#include <cstring>

namespace lathe {

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 46; ///< elements; far above any tensor, far below overflow

constexpr std::int64_t kNowhere = 0; ///< table of a loop that is none

bool multiply(std::int64_t& product, std::int64_t factor)
{
    return !__builtin_mul_overflow(product, factor, &product) && product <= kLargest;
}

/// Fills table[x] = the dimension's share of the offset at index x.
void fillTable(const IndexMap& map, int dim, std::int64_t* table)
{
    const std::int64_t extent = map.logicalShape[dim];
    for (std::int64_t x = 0; x < extent; ++x) {
        std::int64_t offset = 0;
        for (int j = 0; j < map.physicalRank; ++j)
            if (map.axes[j].dim == dim)
                offset += (x / map.axes[j].div % map.axes[j].extent) * map.axes[j].stride;
        table[x] = offset;
    }
}

/// The smallest step between neighbours of one dimension; how densely a loop over it walks memory.
std::int64_t finestStride(const IndexMap& map, int dim)
{
    std::int64_t finest = INT64_MAX;
    for (int j = 0; j < map.physicalRank; ++j)
        if (map.axes[j].dim == dim && map.axes[j].div == 1 && map.axes[j].extent > 1)
            finest = map.axes[j].stride;
    return finest;
}

} // namespace

bool isWellFormed(const IndexMap& map)
{
    if (map.logicalRank < 0 || map.logicalRank > kMaxRank || map.physicalRank < 0
        || map.physicalRank > kMaxPhysicalRank)
        return false;
    std::int64_t logical = 1, bound = 1; // as large as strides may be, where there are no elements
    bool isEmpty = false;
    for (int d = 0; d < map.logicalRank; ++d) {
        if (map.logicalShape[d] < 0 || !multiply(bound, map.logicalShape[d] > 0 ? map.logicalShape[d] : 1))
            return false;
        isEmpty = isEmpty || map.logicalShape[d] == 0;
    }
    if (isEmpty) // then there is one form
        return map.isPlain();
    for (int d = 0; d < map.logicalRank; ++d)
        if (map.logicalShape[d] < 1 || !multiply(logical, map.logicalShape[d]))
            return false;
    std::int64_t physical = 1;
    for (int j = 0; j < map.physicalRank; ++j) {
        const IndexMap::Axis& axis = map.axes[j];
        if (axis.dim < 0 || axis.dim >= map.logicalRank || axis.div < 1 || axis.div > kLargest || axis.extent < 1
            || axis.stride < 1 || axis.stride > kLargest || !multiply(physical, axis.extent))
            return false;
    }
    // Digits of each dimension: from the finest up, each starts where the one below it ends.
    for (int d = 0; d < map.logicalRank; ++d) {
        std::int64_t covered = 1;
        int digits = 0;
        for (int j = 0; j < map.physicalRank; ++j)
            digits += map.axes[j].dim == d && map.axes[j].extent > 1 ? 1 : 0;
        for (; digits > 0; --digits) {
            int next = -1;
            for (int j = 0; j < map.physicalRank && next < 0; ++j)
                if (map.axes[j].dim == d && map.axes[j].extent > 1 && map.axes[j].div == covered)
                    next = j;
            if (next < 0 || !multiply(covered, map.axes[next].extent))
                return false;
        }
        if (covered < map.logicalShape[d])
            return false;
    }
    // Places: from the smallest stride up, each steps over all that the smaller ones reach.
    bool taken[kMaxPhysicalRank] = {};
    std::int64_t reach = 1;
    for (int left = map.physicalRank; left > 0; --left) {
        int next = -1;
        for (int j = 0; j < map.physicalRank; ++j)
            if (!taken[j]
                && (next < 0 || map.axes[j].stride < map.axes[next].stride
                    || (map.axes[j].stride == map.axes[next].stride && map.axes[j].extent < map.axes[next].extent)))
                next = j;
        taken[next] = true;
        const IndexMap::Axis& axis = map.axes[next];
        if (axis.extent == 1)
            continue;
        std::int64_t span = axis.extent - 1;
        if (axis.stride < reach || !multiply(span, axis.stride))
            return false;
        reach += span;
        if (reach > kLargest)
            return false;
    }
    return true;
}

LayoutTransform::~LayoutTransform()
{
    std::free(m_tables);
}

bool LayoutTransform::prepare(const IndexMap& from, const IndexMap& to, DType dtype)
{
    m_elementBytes = sizeOf(dtype);
    m_fromElements = from.elementCount();
    m_toElements = to.elementCount();
    m_hasPadding = m_toElements != to.logicalCount();
    m_equal = from == to;
    if (m_equal) {
        m_hasPadding = false; // the source's padding is zero already
        return true;
    }
    // Densest in the destination innermost, then densest in the source, the others by destination stride.
    int order[kMaxRank];
    int count = 0;
    std::int64_t tableLength = 0;
    for (int d = 0; d < to.logicalRank; ++d) {
        if (to.logicalShape[d] > 1)
            order[count++] = d;
        tableLength += to.logicalShape[d];
    }
    for (int i = 1; i < count; ++i)
        for (int k = i; k > 0 && finestStride(to, order[k - 1]) < finestStride(to, order[k]); --k) {
            const int d = order[k];
            order[k] = order[k - 1];
            order[k - 1] = d;
        }
    if (count > 2) {
        int dense = 0;
        for (int i = 1; i < count; ++i)
            if (finestStride(from, order[i]) < finestStride(from, order[dense]))
                dense = i;
        if (dense < count - 1) { // move it next to the innermost
            const int d = order[dense];
            for (int i = dense; i < count - 2; ++i)
                order[i] = order[i + 1];
            order[count - 2] = d;
        }
    }
    std::free(m_tables);
    m_tables = static_cast<std::int64_t*>(
        std::malloc(static_cast<std::size_t>(2 * tableLength + 1) * sizeof(std::int64_t)));
    if (m_tables == nullptr)
        return false;
    std::int64_t* next = m_tables;
    m_outerCount = 1;
    m_loopCount = count;
    for (int i = 0; i < count; ++i) {
        const int d = order[i];
        const std::int64_t extent = to.logicalShape[d];
        fillTable(from, d, next);
        fillTable(to, d, next + extent);
        m_loops[i] = Loop{extent, next, next + extent};
        next += 2 * extent;
        if (i < count - 2)
            m_outerCount *= extent;
    }
    return true;
}

void LayoutTransform::zero(void* dst, std::uint32_t part, std::uint32_t parts) const
{
    const auto bytes = static_cast<std::uint64_t>(m_toElements * m_elementBytes);
    const std::uint64_t first = bytes * part / parts, last = bytes * (part + 1) / parts;
    std::memset(static_cast<char*>(dst) + first, 0, last - first);
}

template<typename T>
void LayoutTransform::copyAs(const T* src, T* dst, std::int64_t first, std::int64_t last) const
{
    const Loop scalar{1, &kNowhere, &kNowhere};
    const Loop& inner = m_loopCount > 0 ? m_loops[m_loopCount - 1] : scalar;
    const Loop& middle = m_loopCount > 1 ? m_loops[m_loopCount - 2] : scalar;
    // [first, last) counts rows of (outer, middle): parts may cut an image in the middle of its rows.
    constexpr std::int64_t kTile = 32;
    const bool innerIsDenseInSource = inner.extent > 1 && inner.from[1] - inner.from[0] == 1;
    std::int64_t row = first;
    while (row < last) {
        const std::int64_t m0 = row % middle.extent;
        const std::int64_t m1 = m0 + (last - row) < middle.extent ? m0 + (last - row) : middle.extent;
        std::int64_t rest = row / middle.extent, fromBase = 0, toBase = 0;
        for (int i = m_loopCount - 3; i >= 0; --i) {
            const std::int64_t x = rest % m_loops[i].extent;
            rest /= m_loops[i].extent;
            fromBase += m_loops[i].from[x];
            toBase += m_loops[i].to[x];
        }
        if (innerIsDenseInSource) {
            for (std::int64_t m = m0; m < m1; ++m) {
                const T* const in = src + fromBase + middle.from[m];
                T* const out = dst + toBase + middle.to[m];
                std::int64_t x = 0;
                while (x < inner.extent) {
                    std::int64_t end = x + 1;
                    while (end < inner.extent && inner.from[end] - inner.from[end - 1] == 1
                           && inner.to[end] - inner.to[end - 1] == 1)
                        ++end;
                    std::memcpy(out + inner.to[x], in + inner.from[x], static_cast<std::size_t>(end - x) * sizeof(T));
                    x = end;
                }
            }
        } else {
            for (std::int64_t mt = m0; mt < m1; mt += kTile) {
                const std::int64_t mEnd = mt + kTile < m1 ? mt + kTile : m1;
                for (std::int64_t xt = 0; xt < inner.extent; xt += kTile) {
                    const std::int64_t xEnd = xt + kTile < inner.extent ? xt + kTile : inner.extent;
                    for (std::int64_t m = mt; m < mEnd; ++m) {
                        const T* const in = src + fromBase + middle.from[m];
                        T* const out = dst + toBase + middle.to[m];
                        for (std::int64_t x = xt; x < xEnd; ++x)
                            out[inner.to[x]] = in[inner.from[x]];
                    }
                }
            }
        }
        row += m1 - m0;
    }
}

void LayoutTransform::copy(const void* src, void* dst, std::uint32_t part, std::uint32_t parts) const
{
    if (m_equal) {
        const auto bytes = static_cast<std::uint64_t>(m_toElements * m_elementBytes);
        const std::uint64_t first = bytes * part / parts, last = bytes * (part + 1) / parts;
        std::memcpy(static_cast<char*>(dst) + first, static_cast<const char*>(src) + first, last - first);
        return;
    }
    const std::int64_t rows = m_outerCount * (m_loopCount > 1 ? m_loops[m_loopCount - 2].extent : 1);
    const std::int64_t first = rows * part / parts, last = rows * (part + 1) / parts;
    switch (m_elementBytes) {
    case 1: copyAs(static_cast<const std::uint8_t*>(src), static_cast<std::uint8_t*>(dst), first, last); break;
    case 2: copyAs(static_cast<const std::uint16_t*>(src), static_cast<std::uint16_t*>(dst), first, last); break;
    case 4: copyAs(static_cast<const std::uint32_t*>(src), static_cast<std::uint32_t*>(dst), first, last); break;
    default: copyAs(static_cast<const std::uint64_t*>(src), static_cast<std::uint64_t*>(dst), first, last); break;
    }
}

} // namespace lathe
