#pragma once

#include <cstdint>

namespace lathe::runtime {

/// Whether this processor, as its operating system lets it be used, runs the instructions of a feature, which is named
/// as LLVM does ("avx512f", "dotprod"). False for a name that checkedFeature() does not have for this machine.
bool processorHas(const char* feature);

/// The index-th feature of a machine ("x86_64", "aarch64") that processorHas() can tell; null beyond the last, and for
/// other machines. They are those whose instructions a compiler takes without being asked for them, beyond what every
/// processor of the machine has: cryptography, random numbers and the like are not among them.
const char* checkedFeature(const char* machine, std::uint32_t index);

} // namespace lathe::runtime
