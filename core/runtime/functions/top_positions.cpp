// Each row keeps a heap of the best so far, as numbers of its own order and places; what is not among them costs one
// comparison.

#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/functions.h"
#include "core/runtime/functions/select.h"

using namespace lathe;
using namespace lathe::runtime;

namespace {

struct Entry
{
    std::uint64_t order; ///< higher comes first
    std::int64_t place;
};
static_assert(sizeof(Entry) == kSelectionBytes);

bool comesFirst(const Entry& a, const Entry& b)
{
    return a.order != b.order ? a.order > b.order : a.place < b.place;
}

/// NaN is the highest.
template<typename T>
std::uint64_t rankOf(T value, bool largest)
{
    std::uint64_t order = orderOf(value);
    if constexpr (!std::is_integral_v<T>)
        order = order == 0 ? ~order : order;
    return largest ? order : ~order;
}

} // namespace

std::int32_t lathe_0_top_positions(const LatheArgs* args, void* partScratch, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const TopPositionsParameters*>(args->tensors[0]);
    auto* const positions = static_cast<std::int64_t*>(args->tensors[2]);
    auto* const kept = static_cast<Entry*>(partScratch);
    const bool largest = p.largest != 0;
    const Share share(p.rows.outer * p.rows.inner, part, parts);
    return withElement(p.dtype, [&](auto tag) {
        using T = decltype(tag);
        const auto* const x = static_cast<const T*>(args->tensors[1]);
        for (std::int64_t row = share.first; row < share.last; ++row) {
            const std::int64_t outer = row / p.rows.inner, inner = row % p.rows.inner;
            const T* const from = x + outer * p.rows.extent * p.rows.inner + inner;
            const auto at = [&](std::int64_t k) { return Entry{rankOf(from[k * p.rows.inner], largest), k}; };
            selectFirst(kept, p.count, p.rows.extent, at, comesFirst);
            for (std::int64_t k = 0; k < p.count; ++k)
                positions[(outer * p.count + k) * p.rows.inner + inner] = kept[k].place;
        }
    });
}
