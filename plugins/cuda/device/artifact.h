#pragma once

#include "core/runtime/package.h"

#include <cstdint>

namespace lathe::cuda {

/// Name of the artifact's format in its descriptor: a package of programs, each with one launch. `source` is PTX, which
/// the driver of any device of that architecture or a later one compiles; `binary` is a cubin, `madeFor` its
/// architecture, "sm_80".
inline constexpr const char* kFormat = "cubin";

/// The compiler takes no larger arrays of shared memory whose size it knows.
inline constexpr std::uint64_t kMostStaticShared = 48 << 10;

/// Of the shared memory of a block those bytes that its function declares without a size, so that whoever launches it
/// says how many: all, if the compiler would not take them otherwise.
constexpr std::uint64_t dynamicSharedBytes(std::uint64_t sharedBytes)
{
    return sharedBytes > kMostStaticShared ? sharedBytes : 0;
}

} // namespace lathe::cuda
