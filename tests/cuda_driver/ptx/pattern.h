#pragma once

#include "tests/cuda_driver/ptx/program.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace lathe::ptx {

/// Where the lanes of a warp are in an access, relative to the first of them, and what follows from that alone: which
/// words are touched, by whom, and what it costs. Kernels have few such patterns and use each of them very often.
struct Pattern
{
    /// Words of four bytes that lie side by side.
    struct Run
    {
        int32_t offset; // in bytes, from the address of the first lane
        uint32_t words;
        uint32_t first; // of `who`
    };
    /// Stands in `who` for a word that several lanes touch.
    static constexpr uint32_t kSeveral = 1024;

    LaneMask lanes = 0;
    uint8_t bytes = 0; // of each lane
    uint8_t phase = 0; // of accesses below four bytes: the first address modulo 4
    bool isUniform = false; // all lanes are at the same place
    bool isRow = false; // all 32 lanes, one behind the other
    bool overlaps = false; // a byte is touched by several lanes
    bool shares = false; // a word is
    int32_t least = 0, most = 0; // of the offsets
    uint32_t lowBits = 0; // all offsets, or'ed
    alignas(64) std::array<int32_t, kLanes> offsets{}; // in bytes; 0 for lanes that are not there
    alignas(64) std::array<uint32_t, kLanes> active{}; // all bits for lanes that are there
    std::vector<Run> runs;
    std::vector<uint32_t> who; // a lane, or kSeveral
    uint32_t wavefronts = 0, ideal = 0; // of shared memory
    /// Of global memory, by the first address modulo 32; 0: not counted yet.
    mutable std::array<uint8_t, 32> sectors{};
    mutable std::array<uint8_t, 32> idealSectors{};

    /// Counts the sectors for a first address.
    void countSectors(uint64_t first) const;
};

/// The patterns of a launch.
class PatternTable
{
public:
    /// The pattern of these addresses. Null: they are too far apart for one.
    const Pattern* find(LaneMask lanes, const uint64_t* addresses, unsigned bytes);

private:
    std::unordered_multimap<uint64_t, Pattern> m_all;
};

} // namespace lathe::ptx
