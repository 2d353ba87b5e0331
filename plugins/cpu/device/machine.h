#pragma once

#include <cstdint>
#include <string>

namespace lathe::cpu {

/// The JSON of enumerate(): this machine's processors as one device, key "cpu".
const char* describeMachine();

/// Bytes of the data cache of this level (1 to 3) that serves one processor; 0 where neither system nor processor
/// tells.
std::int64_t cacheBytes(int level);

/// JSON of clocks, load, temperature (where the system tells) and the time of a fixed loop.
std::string machineHealth(std::uint32_t threads);

} // namespace lathe::cpu
