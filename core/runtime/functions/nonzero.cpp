// The elements are cut into chunks, as many whatever the number of parts: the first phase counts within each, and then
// each chunk knows where to write.

#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/functions.h"

using namespace lathe;
using namespace lathe::runtime;

namespace {

template<typename T>
bool isNonzero(T value)
{
    if constexpr (kIsHalf<T>)
        return value.value() != 0;
    else
        return value != 0;
}

std::int64_t elementsOf(const NonzeroParameters& p)
{
    std::int64_t count = 1;
    for (std::int64_t d = 0; d < p.rank; ++d)
        count *= p.shape[d];
    return count;
}

Share chunkOf(std::int64_t elements, std::int64_t chunk)
{
    return Share(elements, static_cast<std::uint32_t>(chunk), static_cast<std::uint32_t>(kCountedChunks));
}

} // namespace

std::int32_t lathe_0_nonzero_count(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const NonzeroParameters*>(args->tensors[0]);
    auto* const counts = static_cast<std::int64_t*>(args->teamScratch);
    const std::int64_t elements = elementsOf(p);
    const Share chunks(kCountedChunks, part, parts);
    return withElement(p.dtype, [&](auto tag) {
        const auto* const x = static_cast<const decltype(tag)*>(args->tensors[1]);
        for (std::int64_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
            const Share share = chunkOf(elements, chunk);
            counts[chunk] = 0;
            for (std::int64_t i = share.first; i < share.last; ++i)
                counts[chunk] += isNonzero(x[i]) ? 1 : 0;
        }
    });
}

std::int32_t lathe_0_nonzero(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const NonzeroParameters*>(args->tensors[0]);
    const auto* const counts = static_cast<const std::int64_t*>(args->teamScratch);
    auto* const positions = static_cast<std::int64_t*>(args->tensors[2]);
    const std::int64_t elements = elementsOf(p);
    const Share chunks(kCountedChunks, part, parts);
    std::int64_t total = 0, next = 0;
    for (std::int64_t chunk = 0; chunk < kCountedChunks; ++chunk) {
        next += chunk < chunks.first ? counts[chunk] : 0;
        total += counts[chunk];
    }
    const std::int32_t code = withElement(p.dtype, [&](auto tag) {
        const auto* const x = static_cast<const decltype(tag)*>(args->tensors[1]);
        for (std::int64_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
            const Share share = chunkOf(elements, chunk);
            for (std::int64_t i = share.first; i < share.last; ++i) {
                if (!isNonzero(x[i]))
                    continue;
                std::int64_t rest = i;
                for (std::int64_t d = p.rank - 1; d >= 0; --d) {
                    positions[d * elements + next] = rest % p.shape[d];
                    rest /= p.shape[d];
                }
                ++next;
            }
        }
    });
    const Share padding(elements - total, part, parts);
    for (std::int64_t d = 0; d < p.rank; ++d)
        for (std::int64_t i = total + padding.first; i < total + padding.last; ++i)
            positions[d * elements + i] = 0;
    if (part == 0)
        *static_cast<std::int64_t*>(args->tensors[3]) = total;
    return code;
}
