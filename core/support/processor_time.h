#pragma once

#include <ctime>

namespace lathe {

/// Seconds that all threads of this process have had a processor, so far. Unlike the clock it stands still while the
/// process is stopped or waits for a core.
inline double processorSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace lathe
