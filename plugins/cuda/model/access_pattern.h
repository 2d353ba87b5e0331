#pragma once

#include <array>
#include <cstdint>

namespace lathe::cuda {

inline constexpr std::size_t kWarpLanes = 32;

/// One access of a warp: where each lane begins, in bytes, and how many bytes each moves.
struct WarpAccess
{
    std::array<std::uint64_t, kWarpLanes> at{};
    std::uint32_t lanes = 0; ///< a bit for each lane that takes part
    std::int32_t bytes = 4; ///< 1, 2, 4, 8 or 16
};

/// Passes over the 32 banks of 4 bytes that shared memory, and the level-1 cache, which is the same array, needs for
/// the access. A pass hands out or takes one word of each bank, to as many lanes as want that word. Lanes go together
/// as long as the words that they want fit into the 128 bytes of a pass: all 32 for 4 bytes, 16 for 8 and 8 for 16.
///
/// Sources: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later (32 banks of 32 bits, one
/// word a cycle, broadcast of the same word); CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks".
std::int32_t bankPasses(const WarpAccess& access);

/// Distinct sectors of 32 bytes: what an access to global memory asks for (CUDA C++ Programming Guide, "Global
/// Memory": 32-byte transactions).
std::int32_t sectorsOf(const WarpAccess& access);

inline constexpr std::uint64_t kSectorBytes = 32;

} // namespace lathe::cuda
