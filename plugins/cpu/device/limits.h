#pragma once

#include "core/runtime/pool.h"

#include <string>

namespace lathe::cpu {

/// JSON of what this machine can do with the pool's threads, measured now, in about half a second:
/// {"gflops": of float32 multiply-adds, "levels": [{"name", "bytes", "gbytes_per_s"}, ...]}, caches first, memory last;
/// bytes: what a level holds for all threads together. The best of several tries each: limits, not averages.
std::string machineLimits(runtime::Pool& pool);

} // namespace lathe::cpu
