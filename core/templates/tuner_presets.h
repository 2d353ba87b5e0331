#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lathe::templates {

/// How one of the reference's tutorials tunes (autotvm.md 13).
struct TunerPreset
{
    const char* name;
    const char* tuner;
    std::int64_t trialsPerTask, earlyStop; ///< 0: no limit
    std::int32_t number, repeat;
    double timeoutSeconds, minRepeatMs;
    const char* cache; ///< as of the session's options
};

inline std::span<const TunerPreset> tunerPresets()
{
    static constexpr std::array<TunerPreset, 4> kPresets = {{{"nvidia", "xgb", 2000, 600, 20, 3, 4, 150, "network"},
                                                             {"x86", "random", 0, 0, 1, 10, 10, 0, "cold"},
                                                             {"mali", "xgb_rank", 1000, 450, 10, 3, 5, 0, "network"},
                                                             {"vta", "random", 1000, 0, 5, 3, 60, 0, "network"}}};
    return kPresets;
}

} // namespace lathe::templates
