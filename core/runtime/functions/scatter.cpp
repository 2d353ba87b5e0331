// Updates that may meet at one place are always joined by the same part, in their order: the result does not depend on
// the number of parts.

#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/functions.h"

#include <cstring>

using namespace lathe;
using namespace lathe::runtime;

namespace {

template<typename T>
T joined(const T& old, const T& update, Joining joining)
{
    if constexpr (kIsHalf<T>) {
        return joining == Joining::Replace ? update : T::of(joined(old.value(), update.value(), joining));
    } else {
        // Integers wrap around, which only those without a sign may do in C++; narrow ones would be widened to int.
        using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
        switch (joining) {
        case Joining::Add: return static_cast<T>(static_cast<Sum>(old) + static_cast<Sum>(update));
        case Joining::Multiply: return static_cast<T>(static_cast<Sum>(old) * static_cast<Sum>(update));
        case Joining::Maximum: return isNan(old) || update <= old ? old : update; // a NaN is never lower
        case Joining::Minimum: return isNan(old) || update >= old ? old : update;
        default: return update;
        }
    }
}

/// Negative places count from the end; one that does not exist becomes the nearest that does.
std::int64_t placeOf(const void* indices, std::int64_t dtype, std::int64_t at, std::int64_t extent)
{
    std::int64_t place = static_cast<DType>(dtype) == DType::I32 ? static_cast<const std::int32_t*>(indices)[at]
                                                                 : static_cast<const std::int64_t*>(indices)[at];
    place = place < 0 ? place + extent : place;
    return place < 0 ? 0 : place >= extent ? extent - 1 : place;
}

std::int32_t copyData(const LatheArgs* args, std::int64_t bytes, std::uint32_t part, std::uint32_t parts)
{
    const auto* const from = static_cast<const char*>(args->tensors[1]);
    auto* const to = static_cast<char*>(args->tensors[4]);
    const Share share(bytes, part, parts);
    if (from != to)
        std::memcpy(to + share.first, from + share.first, static_cast<std::size_t>(share.last - share.first));
    return 0;
}

} // namespace

std::int32_t lathe_0_scatter_elements_copy(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const ScatterElementsParameters*>(args->tensors[0]);
    std::int64_t bytes = sizeOf(static_cast<DType>(p.dtype));
    for (std::int64_t d = 0; d < p.rank; ++d)
        bytes *= p.data[d];
    return copyData(args, bytes, part, parts);
}

/// A part has rows along the axis: updates of different rows never meet.
std::int32_t lathe_0_scatter_elements(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const ScatterElementsParameters*>(args->tensors[0]);
    std::int64_t rows = 1, dataStep = 1, step = 1; // steps along the axis
    for (std::int64_t d = 0; d < p.rank; ++d) {
        rows *= d == p.axis ? 1 : p.indices[d];
        dataStep *= d > p.axis ? p.data[d] : 1;
        step *= d > p.axis ? p.indices[d] : 1;
    }
    const Share share(rows, part, parts);
    return withElement(p.dtype, [&](auto tag) {
        using T = decltype(tag);
        const auto* const updates = static_cast<const T*>(args->tensors[3]);
        auto* const out = static_cast<T*>(args->tensors[4]);
        for (std::int64_t row = share.first; row < share.last; ++row) {
            std::int64_t rest = row, to = 0, from = 0, toStride = 1, fromStride = 1;
            for (std::int64_t d = p.rank - 1; d >= 0; --d) {
                if (d != p.axis) {
                    to += rest % p.indices[d] * toStride;
                    from += rest % p.indices[d] * fromStride;
                    rest /= p.indices[d];
                }
                toStride *= p.data[d];
                fromStride *= p.indices[d];
            }
            for (std::int64_t k = 0; k < p.indices[p.axis]; ++k) {
                const std::int64_t at = from + k * step;
                T& place = out[to + placeOf(args->tensors[2], p.indexDtype, at, p.data[p.axis]) * dataStep];
                place = joined(place, updates[at], static_cast<Joining>(p.joining));
            }
        }
    });
}

std::int32_t lathe_0_scatter_nd_copy(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const ScatterNdParameters*>(args->tensors[0]);
    std::int64_t bytes = sizeOf(static_cast<DType>(p.dtype)) * p.inner;
    for (std::int64_t d = 0; d < p.depth; ++d)
        bytes *= p.extents[d];
    return copyData(args, bytes, part, parts);
}

/// A part has a range of slices, and passes over the updates of others; where there are few slices, a range within
/// each.
std::int32_t lathe_0_scatter_nd(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const ScatterNdParameters*>(args->tensors[0]);
    std::int64_t slices = 1;
    for (std::int64_t d = 0; d < p.depth; ++d)
        slices *= p.extents[d];
    const bool few = slices < std::int64_t{4} * parts;
    const Share mine(few ? 1 : slices, few ? 0 : part, few ? 1 : parts);
    const std::int64_t end = few ? slices : mine.last;
    const Share inside(p.inner, few ? part : 0, few ? parts : 1);
    return withElement(p.dtype, [&](auto tag) {
        using T = decltype(tag);
        const auto* const updates = static_cast<const T*>(args->tensors[3]);
        auto* const out = static_cast<T*>(args->tensors[4]);
        for (std::int64_t i = 0; i < p.count; ++i) {
            std::int64_t slice = 0;
            for (std::int64_t d = 0; d < p.depth; ++d)
                slice = slice * p.extents[d] + placeOf(args->tensors[2], p.indexDtype, i * p.depth + d, p.extents[d]);
            if (slice < mine.first || slice >= end)
                continue;
            for (std::int64_t k = inside.first; k < inside.last; ++k) {
                T& place = out[slice * p.inner + k];
                place = joined(place, updates[i * p.inner + k], static_cast<Joining>(p.joining));
            }
        }
    });
}
