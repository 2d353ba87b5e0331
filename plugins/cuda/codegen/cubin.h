#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::cuda {

/// What a cubin says of one kernel, without a driver.
struct CubinKernel
{
    std::string name;
    std::int32_t registers = 0; ///< of a thread
    std::int64_t sharedBytes = 0; ///< of a block, static, without what the driver keeps for itself from sm_90 on
    /// Of a thread, in local memory: arrays that are no registers, and registers that found no room.
    std::int64_t localBytes = 0;
    std::int64_t threads = 0; ///< of a block at most (__launch_bounds__); 0: nothing was said
    std::int64_t codeBytes = 0;
};

/// The kernels of a cubin, in the order in which they stand there. Nothing: that is none, or it is damaged. A pure
/// function.
std::optional<std::vector<CubinKernel>> readCubin(std::string_view cubin);

} // namespace lathe::cuda
