#pragma once

#include "core/support/result.h"
#include "core/wire/port.h"

#include <string>

namespace lathe::serve {

/// What the devices of this machine are, as a runner process tells that is started for it and ends (listDevices() in
/// device.h): drivers are loaded there, and what they do wrong ends that process alone. Waits up to a minute. Errors:
/// those of the port and of the hellos, RunTimeout.
Result<std::string> askDevices(wire::Port& worker);

} // namespace lathe::serve
