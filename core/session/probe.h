#pragma once

#include "core/measure/measurer.h"
#include "core/record/record.h"
#include "core/support/result.h"

#include <string>

namespace lathe::session {

/// A small program for a target, the same for all who ask: it shows whether a device works at all, and how its times
/// change. Its outputs are checked. Errors: those of loadModel() and of the reference executor.
/// @param device  that it is for: of GPUs the schedule depends on what theirs tells
Result<measure::MeasureRequest> probeFor(const std::string& target, const DeviceIdentity& device);

} // namespace lathe::session
