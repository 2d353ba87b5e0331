#pragma once

#include <cstdint>
#include <string>

namespace lathe::cpu {

/// The JSON of enumerate(): this machine's processors as one device, key "cpu".
const char* describeMachine();

/// JSON of clocks, load, temperature (where the system tells) and the time of a fixed loop.
std::string machineHealth(std::uint32_t threads);

} // namespace lathe::cpu
