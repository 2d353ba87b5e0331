// Slices are sorted by value and place, so that equal ones stand together, the first of them in front. The first part
// does it all: a sort is one piece of work.

#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/functions.h"
#include "core/runtime/functions/select.h"

using namespace lathe;
using namespace lathe::runtime;

namespace {

/// Rank in the order of values; NaN is higher than all.
template<typename T>
std::uint64_t ascending(T value)
{
    const std::uint64_t order = orderOf(value);
    if constexpr (std::is_integral_v<T>)
        return order;
    else
        return order == 0 ? ~std::uint64_t{0} : order;
}

/// Below, equal to or above 0, as slice a is to slice b.
template<typename T>
int compare(const T* x, const RowsParameters& rows, std::int64_t a, std::int64_t b)
{
    for (std::int64_t o = 0; o < rows.outer; ++o)
        for (std::int64_t i = 0; i < rows.inner; ++i) {
            const std::uint64_t va = ascending(x[(o * rows.extent + a) * rows.inner + i]);
            const std::uint64_t vb = ascending(x[(o * rows.extent + b) * rows.inner + i]);
            if (va != vb)
                return va < vb ? -1 : 1;
        }
    return 0;
}

} // namespace

std::int32_t lathe_0_unique(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t)
{
    if (part != 0)
        return 0;
    const auto& p = *static_cast<const UniqueParameters*>(args->tensors[0]);
    const std::int64_t n = p.rows.extent;
    auto* const first = static_cast<std::int64_t*>(args->tensors[2]);
    auto* const inverse = static_cast<std::int64_t*>(args->tensors[3]);
    auto* const counts = static_cast<std::int64_t*>(args->tensors[4]);
    auto* const order = static_cast<std::int64_t*>(args->teamScratch); // of slices, then of groups
    std::int64_t *const groupFirst = order + n, *const groupCount = groupFirst + n, *const numbers = groupCount + n;
    return withElement(p.dtype, [&](auto tag) {
        const auto* const x = static_cast<const decltype(tag)*>(args->tensors[1]);
        for (std::int64_t k = 0; k < n; ++k)
            order[k] = k;
        sortEntries(order, n, [&](std::int64_t a, std::int64_t b) {
            const int c = compare(x, p.rows, a, b);
            return c != 0 ? c < 0 : a < b;
        });
        std::int64_t groups = 0;
        for (std::int64_t k = 0; k < n; ++k) {
            if (k == 0 || compare(x, p.rows, order[k - 1], order[k]) != 0) {
                groupFirst[groups] = order[k];
                groupCount[groups++] = 0;
            }
            ++groupCount[groups - 1];
            inverse[order[k]] = groups - 1;
        }
        for (std::int64_t g = 0; g < groups; ++g)
            order[g] = g;
        if (p.sorted == 0)
            sortEntries(order, groups, [&](std::int64_t a, std::int64_t b) { return groupFirst[a] < groupFirst[b]; });
        for (std::int64_t k = 0; k < n; ++k) {
            first[k] = k < groups ? groupFirst[order[k]] : 0;
            counts[k] = k < groups ? groupCount[order[k]] : 0;
            if (k < groups)
                numbers[order[k]] = k;
        }
        for (std::int64_t k = 0; k < n; ++k)
            inverse[k] = numbers[inverse[k]];
        *static_cast<std::int64_t*>(args->tensors[5]) = groups;
    });
}
