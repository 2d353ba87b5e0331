#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace lathe::cuda {

// By what ptxas says of the functions that it made ("Used 61 registers", "8 bytes spill stores, 4 bytes spill loads").

/// Of a thread; the most of all functions.
int registersIn(std::string_view log);
/// Stored and loaded since registers were lacking, of all functions.
std::int64_t spilledBytesIn(std::string_view log);

using SpilledBytes = std::map<std::string, std::int64_t>; ///< by kernel, of those that spill
SpilledBytes spillsOf(std::string_view log);

/// The source with words to the compiler that these kernels may have all registers of a block: `__launch_bounds__(T,
/// 1)` where it says `__launch_bounds__(T)`, or for how many blocks there is to be room.
std::string withAllRegisters(std::string source, const SpilledBytes& kernels);

} // namespace lathe::cuda
