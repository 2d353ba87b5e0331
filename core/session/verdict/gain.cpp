#include "core/session/verdict/gain.h"

#include "core/support/json_fields.h"
#include "core/support/median.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lathe::session {

namespace {

constexpr double kOutside = 0.05;

/// k of the formula; 0: there is none.
std::size_t rankOfInterval(std::size_t n)
{
    double term = std::pow(0.5, static_cast<double>(n)), below = 0; // C(n, i) / 2^n
    std::size_t k = 0;
    while (k < n / 2) {
        below += term;
        if (2 * below > kOutside)
            break;
        ++k;
        term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    }
    return k;
}

} // namespace

std::string_view toString(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Unknown: return "unknown";
    case Verdict::NotProven: return "not proven";
    case Verdict::Faster: return "faster";
    case Verdict::Slower: return "slower";
    }
    return "unknown";
}

Verdict Gain::verdict() const
{
    if (!std::isfinite(ratio))
        return Verdict::Unknown;
    return low > 1 ? Verdict::Faster : high < 1 ? Verdict::Slower : Verdict::NotProven;
}

Gain gainOf(std::span<const double> tunedMs, std::span<const double> untunedMs)
{
    std::vector<double> tuned, untuned, ratios;
    const auto figure = [](double ms) { return std::isfinite(ms) && ms > 0; };
    for (std::size_t i = 0; i < std::min(tunedMs.size(), untunedMs.size()); ++i)
        if (figure(tunedMs[i]) && figure(untunedMs[i])) {
            tuned.push_back(tunedMs[i]);
            untuned.push_back(untunedMs[i]);
            ratios.push_back(untunedMs[i] / tunedMs[i]);
        }
    Gain gain;
    gain.pairs = static_cast<std::int32_t>(ratios.size());
    gain.ms = medianOf(std::move(tuned));
    gain.untunedMs = medianOf(std::move(untuned));
    gain.ratio = medianOf(ratios);
    std::sort(ratios.begin(), ratios.end());
    if (const std::size_t k = rankOfInterval(ratios.size()); k > 0) {
        gain.low = ratios[k - 1];
        gain.high = ratios[ratios.size() - k];
    }
    return gain;
}

namespace {

template<typename G, typename Visit>
void eachFigure(G& gain, const Visit& visit)
{
    visit("ms", gain.ms);
    visit("untuned_ms", gain.untunedMs);
    visit("ratio", gain.ratio);
    visit("low", gain.low);
    visit("high", gain.high);
}

} // namespace

nlohmann::json toJson(const Gain& gain)
{
    nlohmann::json object = {{"pairs", gain.pairs}, {"verdict", toString(gain.verdict())}};
    eachFigure(gain, [&object](const char* name, double value) {
        object[name] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
    });
    return object;
}

Gain gainIn(const nlohmann::json& object)
{
    Gain gain;
    gain.pairs = static_cast<std::int32_t>(std::clamp<std::int64_t>(wholeIn(object, "pairs"), 0, 1'000'000));
    eachFigure(gain, [&object](const char* name, double& value) { value = numberIn(object, name); });
    return gain;
}

} // namespace lathe::session
