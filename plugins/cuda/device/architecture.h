#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lathe::cuda {

/// Compute capabilities are written as one number, 10 times the major one and the minor one: 9.0 is 90, and sm_90 as a
/// compiler's architecture. Those that any compiler in use makes code for:
inline constexpr int kFirstCapability = 50, kLastCapability = 121;

/// Of "sm_90", of a device: those to come are above kLastCapability.
inline std::optional<int> deviceCapabilityOf(std::string_view architecture)
{
    constexpr std::string_view kStart = "sm_";
    int capability = 0;
    const char* const end = architecture.data() + architecture.size();
    if (!architecture.starts_with(kStart))
        return std::nullopt;
    const auto [read, error] = std::from_chars(architecture.data() + kStart.size(), end, capability);
    if (error != std::errc() || read != end || capability < kFirstCapability)
        return std::nullopt;
    return capability;
}

/// Likewise, of one that a compiler makes code for.
inline std::optional<int> capabilityOf(std::string_view architecture)
{
    const std::optional<int> capability = deviceCapabilityOf(architecture);
    return capability && *capability <= kLastCapability ? capability : std::nullopt;
}

inline std::string architectureName(int capability)
{
    return "sm_" + std::to_string(capability);
}

/// "9.0"
inline std::string capabilityText(int capability)
{
    return std::to_string(capability / 10) + '.' + std::to_string(capability % 10);
}

/// Binary code runs on the devices of its own major number from its minor one on.
constexpr bool runsOn(int madeFor, int device)
{
    return madeFor / 10 == device / 10 && madeFor <= device;
}

/// What only some have, by the names under which limits of the hardware list it; 0 or 1. Source: CUDA C++ Programming
/// Guide, "Features and Technical Specifications".
struct Feature
{
    const char* name;
    int since; ///< capability
};
inline constexpr Feature kFeatures[] = {
    {"async_copies", 80}, ///< from global to shared memory, past the registers (cp.async)
    {"bfloat16", 80}, ///< arithmetic, and in units for small matrix products
    {"half", 53}, ///< arithmetic of half floats
    {"matrix_units", 70}, ///< for small matrix products of half floats
    {"tf32", 80}, ///< in these
};

} // namespace lathe::cuda
