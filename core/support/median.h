#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace lathe {

/// The middle value, of an even number the mean of the two in the middle; not-a-number: there is none.
inline double medianOf(std::vector<double> values)
{
    if (values.empty())
        return std::numeric_limits<double>::quiet_NaN();
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

} // namespace lathe
