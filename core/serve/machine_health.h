#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace lathe::serve {

/// How the machine is that a device is in, as its notices say: `load` (processes that want a processor, of the last
/// minute), `processors`, `memory_free_mb`, `temperature_c` (of its hottest part), `clock_mhz` and `clock_most_mhz` (of
/// its fastest core, now and at most). What the system does not tell is left out.
/// @param root  of the file system, for tests
nlohmann::json machineHealth(const std::filesystem::path& root = "/");

} // namespace lathe::serve
