#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::deploy {

/// What joins the pieces of a library: its public functions, the table of its kernels' phases, that of its drivers.
struct StubRequest
{
    std::string machine; ///< "x86_64", "aarch64"
    /// Public name and what it jumps to: {"lathe_NAME_run", "lathe_0_run"}.
    std::vector<std::pair<std::string, std::string>> functions;
    std::vector<std::string> phases; ///< symbols; become lathe_0_phases[] and lathe_0_phase_count
    std::vector<std::string> drivers; ///< symbols of runtime::DeviceDriver; likewise lathe_0_drivers[]
};

/// A relocatable ELF object. Errors: Unsupported naming the machine.
Result<std::vector<std::byte>> makeStubObject(const StubRequest& request);

} // namespace lathe::deploy
