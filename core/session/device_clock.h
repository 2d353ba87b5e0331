#pragma once

#include "core/target/backend_traits.h"

#include <string>

namespace lathe::session {

/// Whose times a device of a target gives. A target's devices tell the time by their own clock, as a rule; one that
/// stands in for them and only computes what they would need says so ("clock" of its words, core/runtime/device_abi.h).
CostClock clockOf(const BackendTraits& traits, const std::string& fingerprint);

/// Whether the device of this name, of those of a kind that are here, gives a model's times. Blocks as
/// DeviceDirectory::ask().
bool givesTimesOfModel(const std::string& kind, const std::string& deviceName);

} // namespace lathe::session
