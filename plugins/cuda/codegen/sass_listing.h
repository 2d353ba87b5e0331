#pragma once

#include "core/backend/listing.h"
#include "plugins/cuda/codegen/nvrtc.h"

#include <string_view>

namespace lathe::cuda {

/// Makes the machine code of all kernels of a cubin the listing's text, with its loops, the hottest of them, spilled
/// registers and the most registers that a kernel has. Errors: NotFound, with the package to install, where nvdisasm is
/// not; those of disassemble() and readSass().
Result<> listSass(const Compiled& compiled, backend::Listing& listing);
/// The same of what `nvdisasm -hex` printed. `hasSpills`: accesses to local memory are for want of registers.
Result<> listSass(std::string_view disassembly, bool hasSpills, backend::Listing& listing);

} // namespace lathe::cuda
