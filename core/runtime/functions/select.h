#pragma once

#include <cstdint>

namespace lathe::runtime {

namespace select_detail {

/// Restores the heap below `root`: no entry comes behind (in the order of `before`) the one above it.
template<typename Entry, typename Before>
void sink(Entry* heap, std::int64_t root, std::int64_t count, const Before& before)
{
    const Entry moved = heap[root];
    for (;;) {
        std::int64_t child = 2 * root + 1;
        if (child >= count)
            break;
        if (child + 1 < count && before(heap[child], heap[child + 1]))
            ++child;
        if (!before(moved, heap[child]))
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = moved;
}

} // namespace select_detail

/// Sorts in place, with at most about 2 n log2(n) comparisons whatever the order was, and no other memory: a heap. Not
/// stable by itself: let places decide between equals.
template<typename Entry, typename Before>
void sortEntries(Entry* entries, std::int64_t count, const Before& before)
{
    for (std::int64_t root = count / 2; root-- > 0;)
        select_detail::sink(entries, root, count, before);
    for (std::int64_t end = count; end-- > 1;) {
        const Entry last = entries[0];
        entries[0] = entries[end];
        entries[end] = last;
        select_detail::sink(entries, 0, end, before);
    }
}

/// The first `count` of `extent` entries (at(0), at(1), ...) in the order of `before`, sorted, in `kept`, which has
/// room for `count`. At most about n + 2 n log2(count) comparisons; one for each entry where few of them are kept.
template<typename Entry, typename At, typename Before>
void selectFirst(Entry* kept, std::int64_t count, std::int64_t extent, const At& at, const Before& before)
{
    for (std::int64_t k = 0; k < count; ++k)
        kept[k] = at(k);
    if (count < extent) { // a heap with the last one of those kept at its top
        for (std::int64_t root = count / 2; root-- > 0;)
            select_detail::sink(kept, root, count, before);
        for (std::int64_t k = count; k < extent; ++k) {
            const Entry entry = at(k);
            if (!before(entry, kept[0]))
                continue;
            kept[0] = entry;
            select_detail::sink(kept, 0, count, before);
        }
    }
    sortEntries(kept, count, before);
}

} // namespace lathe::runtime
