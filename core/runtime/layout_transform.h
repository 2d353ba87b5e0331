#pragma once

#include "core/runtime/index_map.h"

#include <cstddef>

namespace lathe {

/// True if the map is a bijection between the logical elements and their physical places: positive extents, the axes of
/// each dimension form one mixed-radix number that covers it, strides do not make elements overlap, and nothing
/// overflows. A map without elements must be plain, and its other extents in range too. Maps from files and messages
/// are checked with this before any other function sees them.
bool isWellFormed(const IndexMap& map);

/// A layout change prepared once and run often, by any number of parts at once. No allocation while it runs.
///
///     if (transform.hasPadding()) { zero() by all parts; barrier }
///     copy() by all parts
///
/// Both maps are well formed, have one logical shape and at least one element.
class LayoutTransform
{
public:
    LayoutTransform() = default;
    ~LayoutTransform();
    LayoutTransform(const LayoutTransform&) = delete;
    LayoutTransform& operator=(const LayoutTransform&) = delete;

    /// False if there is no memory for the tables (a few bytes per logical dimension's extent).
    bool prepare(const IndexMap& from, const IndexMap& to, DType dtype);
    /// Elements of dst that no logical element lands on must become zero first.
    bool hasPadding() const { return m_hasPadding; }
    void zero(void* dst, std::uint32_t part, std::uint32_t parts) const;
    void copy(const void* src, void* dst, std::uint32_t part, std::uint32_t parts) const;

private:
    /// One logical dimension as a loop: where index x of it lies in source and destination, in elements.
    struct Loop
    {
        std::int64_t extent = 1;
        const std::int64_t* from = nullptr;
        const std::int64_t* to = nullptr;
    };
    template<typename T>
    void copyAs(const T* src, T* dst, std::int64_t first, std::int64_t last) const;

    std::int64_t* m_tables = nullptr;
    Loop m_loops[kMaxRank]; ///< outermost first; the last walks dst densely, the one before it walks src densely
    int m_loopCount = 0;
    std::int64_t m_outerCount = 1; ///< iterations of all loops but the last two
    std::int64_t m_toElements = 1;
    std::int64_t m_fromElements = 1;
    std::int64_t m_elementBytes = 4;
    bool m_hasPadding = false;
    bool m_equal = false; ///< one block copy
};

} // namespace lathe
