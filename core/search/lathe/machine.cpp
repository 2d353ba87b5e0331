#include "core/search/lathe/machine.h"

#include <algorithm>

namespace lathe::search {

Machine::Machine(const Hardware& hardware)
    : threads(std::max<std::int64_t>(1, hardware.get("num_cores", 1)))
    , vectorBytes(std::clamp<std::int64_t>(hardware.get("vector_unit_bytes", 16), 4, 256))
    , registers(std::clamp<std::int64_t>(hardware.get("vector_registers", 16), 8, 128))
    , lineBytes(std::max<std::int64_t>(16, hardware.get("cache_line_bytes", 64)))
    , fmaPerCycle(static_cast<double>(std::max<std::int64_t>(1, hardware.get("fma_per_cycle", 2))))
    , cyclesPerSecond(static_cast<double>(std::max<std::int64_t>(100, hardware.get("clock_mhz", 2500))) * 1e6)
{
    cacheBytes[0] = static_cast<double>(std::max<std::int64_t>(8192, hardware.get("l1d_bytes", 32768)));
    cacheBytes[1] = std::max(cacheBytes[0], static_cast<double>(hardware.get("l2_bytes", 262144)));
    // The last level is shared with other cores and, on servers, other guests: a part of it is ours.
    cacheBytes[2] = std::max(cacheBytes[1], static_cast<double>(hardware.get("l3_bytes", 0)) / 2);
    // Measured on server cores (cpu-kernels.md 2): two full vectors from L1, about a line from L2 per cycle and a half.
    bytesPerCycle = {2.0 * static_cast<double>(vectorBytes), 0.75 * static_cast<double>(vectorBytes), 10.0, 5.5};
}

} // namespace lathe::search
