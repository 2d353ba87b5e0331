#pragma once

#include <cstdint>

namespace lathe {

/// Small, fast, splittable generator (SplitMix64, public domain algorithm by S. Vigna). Seeded per candidate from
/// (run seed, round, index), so that a run replays on any number of threads. Never use a global generator.
class Random
{
public:
    explicit Random(std::uint64_t seed)
        : m_state(seed)
    {
    }
    Random(std::uint64_t runSeed, std::uint64_t round, std::uint64_t index)
        : m_state(mix(mix(mix(runSeed) ^ (round + 0x9e3779b97f4a7c15ULL)) ^ (index + 0xd1b54a32d192ed03ULL)))
    {
    }
    std::uint64_t next() { return mix(m_state += 0x9e3779b97f4a7c15ULL); }
    /// Uniform in [0, bound), bound >= 1 (multiply-shift; the bias is below 2^-32 for bounds below 2^32).
    std::uint64_t below(std::uint64_t bound)
    {
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
    }
    /// Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    __extension__ using Wide = unsigned __int128;
    static std::uint64_t mix(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::uint64_t m_state;
};

} // namespace lathe
