// Rows are walked side by side, as many as a few cache lines hold, so that sums along an outer dimension read whole
// lines.

#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/functions.h"

using namespace lathe;
using namespace lathe::runtime;

namespace {

constexpr std::int64_t kAbreast = 64; ///< rows

template<typename T>
using SumOf = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

template<typename T>
SumOf<T> read(const T& element)
{
    if constexpr (kIsHalf<T>)
        return static_cast<double>(element.value());
    else
        return static_cast<SumOf<T>>(element); // of integers the low bits, which is all that comes out
}

template<typename T>
T rounded(SumOf<T> sum)
{
    if constexpr (kIsHalf<T>)
        return T::of(static_cast<float>(sum));
    else
        return static_cast<T>(sum);
}

} // namespace

std::int32_t lathe_0_cumulative_sum(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    const auto& p = *static_cast<const CumulativeSumParameters*>(args->tensors[0]);
    const RowsParameters& rows = p.rows;
    const std::int64_t bundles = (rows.inner + kAbreast - 1) / kAbreast; // of rows with one outer index
    const Share share(rows.outer * bundles, part, parts);
    return withElement(p.dtype, [&](auto tag) {
        using T = decltype(tag);
        const auto* const x = static_cast<const T*>(args->tensors[1]);
        auto* const y = static_cast<T*>(args->tensors[2]);
        for (std::int64_t bundle = share.first; bundle < share.last; ++bundle) {
            const std::int64_t first = bundle % bundles * kAbreast;
            const std::int64_t width = rows.inner - first < kAbreast ? rows.inner - first : kAbreast;
            const std::int64_t base = bundle / bundles * rows.extent * rows.inner + first;
            SumOf<T> sums[kAbreast] = {};
            for (std::int64_t k = 0; k < rows.extent; ++k) {
                const std::int64_t at = base + (p.reverse != 0 ? rows.extent - 1 - k : k) * rows.inner;
                for (std::int64_t i = 0; i < width; ++i) {
                    const SumOf<T> with = sums[i] + read(x[at + i]);
                    y[at + i] = rounded<T>(p.exclusive != 0 ? sums[i] : with);
                    sums[i] = with;
                }
            }
        }
    });
}
