#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace lathe::session {

// How much faster a tuned network is than the same one with default schedules. Both run in turns within the same
// seconds (exports/timed_pairs.h), so that what the machine does meanwhile strikes both; each pair of turns gives one
// ratio, and the gain is the median of these.
//
// Its interval is that of the sign test: with n ratios in order, r(1) <= ... <= r(n), the median lies outside
// [r(k), r(n + 1 - k)] with probability
//
//     2 (C(n, 0) + C(n, 1) + ... + C(n, k - 1)) / 2^n
//
// and k is the largest for which that is at most 5 %. Nothing is assumed of how the ratios are spread, and the result
// is the same each time, which a bootstrap's is not. Fewer than six ratios give no such interval. Source: H. A. David
// and H. N. Nagaraja, Order Statistics, 3rd edition (2003), section 7.1. Neighbouring pairs are not quite independent,
// as the formula has them: turns are taken in alternating order, AB then BA, so that a drift of the machine cancels.

enum class Verdict : std::uint8_t
{
    Unknown, ///< nothing was measured
    NotProven, ///< the interval holds 1, or there are too few pairs for one
    Faster,
    Slower
};
std::string_view toString(Verdict verdict); ///< "unknown", "not proven", "faster", "slower"

struct Gain
{
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

    std::int32_t pairs = 0;
    double ms = kUnknown, untunedMs = kUnknown; ///< medians of the turns
    double ratio = kUnknown; ///< untuned by tuned: 2 is twice as fast
    double low = kUnknown, high = kUnknown; ///< 95 % interval; not-a-number: too few pairs
    Verdict verdict() const;
};

inline constexpr std::int32_t kLeastPairsForInterval = 6;

/// One entry per pair of turns, ms; positive and finite, else the pair is left out.
Gain gainOf(std::span<const double> tunedMs, std::span<const double> untunedMs);

/// Members "pairs", "ms", "untuned_ms", "ratio", "low", "high", "verdict"; null where unknown.
nlohmann::json toJson(const Gain& gain);
Gain gainIn(const nlohmann::json& object);

} // namespace lathe::session
