#include "plugins/cuda/model/access_pattern.h"

#include <algorithm>
#include <bit>

namespace lathe::cuda {

std::int32_t bankPasses(const WarpAccess& access)
{
    constexpr std::uint64_t kBanks = 32, kWord = 4;
    const auto words = static_cast<std::size_t>(std::max(access.bytes / 4, 1));
    const std::size_t together = kWarpLanes / words;
    std::int32_t passes = 0;
    std::array<std::uint64_t, kWarpLanes> wanted{}; // words of the lanes that go together: 32 at most
    for (std::size_t first = 0; first < kWarpLanes; first += together) {
        std::size_t count = 0;
        for (std::size_t lane = first; lane < first + together; ++lane)
            if ((access.lanes >> lane & 1U) != 0)
                for (std::size_t word = 0; word < words; ++word)
                    wanted[count++] = access.at[lane] / kWord + word;
        std::sort(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count));
        const auto end = std::unique(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count));
        std::array<std::int32_t, kBanks> ofBank{};
        std::int32_t most = 0;
        for (auto word = wanted.begin(); word != end; ++word)
            most = std::max(most, ++ofBank[*word % kBanks]);
        passes += most;
    }
    return passes;
}

std::int32_t sectorsOf(const WarpAccess& access)
{
    std::array<std::uint64_t, 2 * kWarpLanes> sectors{};
    std::size_t count = 0;
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
        if ((access.lanes >> lane & 1U) != 0) {
            sectors[count++] = access.at[lane] / kSectorBytes;
            sectors[count++] = (access.at[lane] + static_cast<std::uint64_t>(access.bytes) - 1) / kSectorBytes;
        }
    std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<std::int32_t>(std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count))
                                     - sectors.begin());
}

} // namespace lathe::cuda
