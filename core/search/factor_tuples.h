#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lathe::search {

/// All ordered tuples of `parts` positive integers whose product divides `extent` and whose last one is at most
/// `maxInnermost`, in lexicographic order, with index <-> tuple tables. These are the lengths of an exact split, outer
/// to inner, without the outermost part that they imply.
class FactorTuples
{
public:
    FactorTuples(std::int64_t extent, std::int32_t parts, std::int64_t maxInnermost);

    /// Shared tables: building one twice would waste memory when many sketches split the same extents. Thread-safe.
    static std::shared_ptr<const FactorTuples> get(std::int64_t extent, std::int32_t parts, std::int64_t maxInnermost);

    std::int64_t extent() const { return m_extent; }
    std::int32_t parts() const { return m_parts; }
    std::int64_t maxInnermost() const { return m_maxInnermost; }
    std::int32_t count() const
    {
        return static_cast<std::int32_t>(m_values.size() / static_cast<std::size_t>(m_parts));
    }
    std::span<const std::int64_t> tuple(std::int32_t index) const
    {
        return std::span(m_values).subspan(static_cast<std::size_t>(index) * static_cast<std::size_t>(m_parts),
                                           static_cast<std::size_t>(m_parts));
    }
    /// -1 if it is not in the table.
    std::int32_t indexOf(std::span<const std::int64_t> tuple) const;

private:
    std::int64_t m_extent;
    std::int32_t m_parts;
    std::int64_t m_maxInnermost;
    std::vector<std::int64_t> m_values;
};

/// Ascending; extent >= 1.
std::vector<std::int64_t> divisors(std::int64_t extent);

} // namespace lathe::search
