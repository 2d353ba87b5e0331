#pragma once

#include "core/graph/plan/conversion.h"
#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

namespace lathe::session {

struct ConversionTiming
{
    unsigned threads = 1; ///< of the network's run
    std::int64_t runs = 100; ///< of each: the reference's min_exec_num. Fewer where they would take longer than this:
    double secondsEach = 0.25;
};

/// Changes of layouts on this machine's processor, by the code and the threads that networks change them with: the
/// median of the runs of each. Blocks; nothing else should be running.
/// Errors: Cancelled; Internal (no memory, no threads); InvalidArgument (a layout that the tensor cannot have).
Result<graph::plan::ConversionTable> timeConversions(std::span<const graph::plan::Conversion> conversions,
                                                     const ConversionTiming& timing, std::stop_token stop);

} // namespace lathe::session
