#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe::templates {

/// Which inner factors a split may have (autotvm.md 2.1).
enum class SplitPolicy : std::uint8_t
{
    Factors, ///< divisors of the extent whose product divides it: no tails
    Power2, ///< powers of two up to the extent
    Verbose, ///< divisors and powers of two
    Candidates ///< the lists that are given, and no others
};

/// How one axis may be split into `outputs` nested ones.
struct SplitRule
{
    std::int64_t extent = 1; ///< of the axis
    std::int32_t outputs = 2; ///< >= 1
    SplitPolicy policy = SplitPolicy::Factors;
    std::int64_t maxFactor = std::int64_t{1} << 31; ///< of each inner size
    /// Whether the product of the inner sizes must divide the extent; absent: with Factors alone.
    std::optional<bool> noTail = {};
    /// Keeps finished choices, which are [-1, inner sizes...].
    std::function<bool(std::span<const std::int64_t>)> filter = {};
    std::vector<std::vector<std::int64_t>> candidates = {}; ///< with Candidates: `outputs` sizes each
};

/// The longest axis that is split, and most choices that one knob may have: what exceeds them comes from damaged logs.
inline constexpr std::int64_t kMaxExtent = (std::int64_t{1} << 31) - 1;
inline constexpr std::size_t kMaxChoices = std::size_t{1} << 20;

/// All choices [-1, f1, ..., f(k-1)], the last the innermost and -1 what is left, in the reference's order: f1 varies
/// fastest. Its policy `verbose` has the order of a hash set of Python instead, so that the indices of its logs mean
/// something else there (2.1): factors are ascending here with all policies.
/// Errors: InvalidArgument for rules that make no sense or more than kMaxChoices choices; `knob` is named in it.
Result<std::vector<std::vector<std::int64_t>>> splitChoices(const std::string& knob, const SplitRule& rule);

/// Ascending; extent >= 1.
std::vector<std::int64_t> divisorsOf(std::int64_t extent);

/// The extents that the axis of `extent` has after a split by `sizes` (autotvm.md 2.1): outermost
/// ceil(extent / product of the inner ones).
std::vector<std::int64_t> splitExtents(std::span<const std::int64_t> sizes, std::int64_t extent);

} // namespace lathe::templates
