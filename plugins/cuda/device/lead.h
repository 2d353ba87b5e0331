#pragma once

#include "plugins/cuda/device/driver.h"

#include <cstdint>
#include <string>

namespace lathe::cuda {

/// Gives a stream something to do that touches no memory, so that what is put into it meanwhile waits there when the
/// device comes to it: a short kernel that the device had to wait for would be timed with the host's work of starting
/// it. One thread that looks at the clock of its multiprocessor. The context is current whenever something is called
/// here.
class Lead
{
public:
    /// Of a device whose clock is so fast at most; 0: it is not known.
    Lead(const Driver& driver, std::uint64_t clockKhz)
        : m_driver(driver)
        , m_cyclesPerMicrosecond(clockKhz > 0 ? clockKhz / 1000 : 2000)
    {
    }
    ~Lead();
    Lead(const Lead&) = delete;
    Lead& operator=(const Lead&) = delete;

    /// For so long at least, at the device's highest clock. The driver's code; kSuccess, and nothing is started, where
    /// the driver does not compile it (one without its compiler of PTX).
    int start(Stream stream, std::uint64_t nanoseconds);

private:
    int load();

    const Driver& m_driver;
    std::uint64_t m_cyclesPerMicrosecond;
    bool m_isRefused = false; ///< by the driver: it is not asked again
    LoadedModule m_module = nullptr;
    Function m_function = nullptr; ///< null: not loaded yet
};

constexpr const char* kLeadKernel = "lathe_lead";
/// For devices of sm_50 and later: one parameter, the cycles to wait for, in 64 bits.
std::string leadPtx();

} // namespace lathe::cuda
