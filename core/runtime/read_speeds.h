#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe {

/// A working set that was read over and over, and how fast.
struct ReadSpeed
{
    std::uint64_t bytes = 0;
    double gbytesPerS = 0;
};

/// Of measured speeds, by ascending size: the caches, if smaller sets are read markedly faster than the largest, up to
/// the largest set that is closer to the fastest than to the slowest; and memory. JSON as device_abi.h has it (limits);
/// "{}" where something was not measured. `Json` is the library's type, which the runtime itself does not know.
template<typename Json>
std::string limitsText(double gflops, const std::vector<ReadSpeed>& speeds)
{
    const auto isMeasured = [](const ReadSpeed& speed) { return speed.gbytesPerS > 0; };
    if (!(gflops > 0) || speeds.empty() || !std::ranges::all_of(speeds, isMeasured))
        return "{}";
    constexpr double kMarkedly = 1.3;
    const double memory = speeds.back().gbytesPerS;
    const double cache = std::ranges::max(speeds, {}, &ReadSpeed::gbytesPerS).gbytesPerS;
    Json levels = Json::array();
    if (cache > kMarkedly * memory) {
        const auto isOfCache = [middle = std::sqrt(cache * memory)](const ReadSpeed& s) {
            return s.gbytesPerS > middle;
        };
        const auto last = std::find_if(speeds.rbegin(), speeds.rend(), isOfCache);
        levels.push_back({{"name", "cache"}, {"bytes", last->bytes}, {"gbytes_per_s", cache}});
    }
    levels.push_back({{"name", "memory"}, {"bytes", 0}, {"gbytes_per_s", memory}});
    return Json{{"gflops", gflops}, {"levels", levels}}.dump();
}

} // namespace lathe
