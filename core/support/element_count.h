#pragma once

#include "core/support/check.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace lathe {

/// As many elements as a tensor may have wherever somebody else says what its shape is.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

/// The product of extents: how many elements a tensor of this shape has, 1 of a scalar. Nothing if an extent is
/// negative, or if the extents that are not zero are more than `most` together: a tensor without elements may have no
/// absurd extents either.
inline std::optional<std::int64_t> checkedElementCount(std::span<const std::int64_t> shape,
                                                       std::int64_t most = kMostElements)
{
    std::int64_t count = 1;
    bool isEmpty = false;
    for (const std::int64_t extent : shape) {
        isEmpty = isEmpty || extent == 0;
        const std::int64_t factor = std::max<std::int64_t>(extent, 1);
        if (extent < 0 || factor > most / count)
            return std::nullopt;
        count *= factor;
    }
    return isEmpty ? 0 : count;
}

/// The same of extents that were checked when they came in, all together: those of a tensor. What is made of attributes
/// (a kernel, windows, an image) was not, however small each number is; it needs checkedElementCount().
inline std::int64_t elementCount(std::span<const std::int64_t> shape)
{
    const auto count = checkedElementCount(shape, std::numeric_limits<std::int64_t>::max());
    LATHE_CHECK(count.has_value()) << "the extents of a tensor were not checked";
    return *count;
}

} // namespace lathe
