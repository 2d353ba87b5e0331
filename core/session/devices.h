#pragma once

#include "core/session/views.h"
#include "core/support/result.h"

#include <string>
#include <vector>

namespace lathe::session {

/// Whether candidates for `target` can be measured from here. Unsupported, with the reason; those of Target::parse.
Result<> checkMeasurable(const std::string& target);

/// Threads of this process that can run at once, by its affinity mask and the quotas of its control groups.
unsigned threadsHere();

/// One small kernel built for a target, launched and compared with what it must compute.
struct SelfTest
{
    std::string device; ///< its name
    double buildMs = kUnknown, runMs = kUnknown;
    double maxRelError = kUnknown;
};
/// Tests the device of that name (DeviceView::key); empty: the target's first. Blocks for some seconds.
/// Errors: of builder, runner and device, in one sentence.
Result<SelfTest> selfTestDevice(const std::string& target, const std::string& device = {});

} // namespace lathe::session
