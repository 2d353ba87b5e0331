#include "core/graph/plan/conversion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::graph::plan {
namespace {

/// Of the side that takes more memory; NaN if one cannot be.
double elementsOf(const Conversion& conversion)
{
    double most = 0;
    for (const Layout* layout : {&conversion.from, &conversion.to}) {
        const auto map = indexMapOf(*layout, conversion.order, conversion.shape);
        if (!map)
            return std::numeric_limits<double>::quiet_NaN();
        most = std::max(most, static_cast<double>(map->elementCount()));
    }
    return most;
}

} // namespace

std::string textOf(const Conversion& conversion)
{
    return fmt::format("{}{} of {} from {} to {}", toString(conversion.dtype), conversion.shape, conversion.order,
                       conversion.from.text(), conversion.to.text());
}

ConversionCost costFrom(ConversionTable table)
{
    return [table = std::move(table)](const Conversion& conversion) {
        const auto it = table.find(conversion);
        return it == table.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
    };
}

ConversionCost estimateFrom(ConversionTable table)
{
    double seconds = 0, elements = 0;
    for (const auto& [conversion, time] : table) {
        if (const double count = elementsOf(conversion); std::isfinite(time) && std::isfinite(count)) {
            seconds += time;
            elements += count;
        }
    }
    // 0 / 0 of an empty table is NaN, as it should be.
    return [known = costFrom(std::move(table)), perElement = seconds / elements](const Conversion& conversion) {
        const double measured = known(conversion);
        return std::isnan(measured) ? elementsOf(conversion) * perElement : measured;
    };
}

} // namespace lathe::graph::plan
