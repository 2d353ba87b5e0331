#include "core/runtime/nvidia_core.h"

#include <algorithm>
#include <iterator>

namespace lathe::runtime {
namespace {

constexpr NvidiaCore kCores[] = {
    {50, 128, 2048, 32, 64 << 10, 7.0},  {52, 128, 2048, 32, 96 << 10, 7.0},   {60, 64, 2048, 32, 64 << 10, 9.8},
    {61, 128, 2048, 32, 96 << 10, 9.0},  {70, 64, 2048, 32, 96 << 10, 7.4},    {75, 64, 1024, 16, 64 << 10, 5.9},
    {80, 64, 2048, 32, 164 << 10, 10.2}, {86, 128, 1536, 16, 100 << 10, 5.1},  {87, 128, 1536, 16, 164 << 10, 5.1},
    {89, 128, 1536, 24, 100 << 10, 3.1}, {90, 128, 2048, 32, 228 << 10, 12.8}, {100, 128, 2048, 32, 228 << 10, 27.0},
    {120, 128, 1536, 24, 100 << 10, 4.4},
};

} // namespace

const NvidiaCore* findNvidiaCore(std::uint64_t capability)
{
    const auto* const after = std::upper_bound(
        std::begin(kCores), std::end(kCores), capability,
        [](std::uint64_t c, const NvidiaCore& core) { return c < core.capability; });
    return after == std::begin(kCores) ? nullptr : std::prev(after);
}

} // namespace lathe::runtime
