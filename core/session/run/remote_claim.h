#pragma once

#include "core/measure/remote_devices.h"
#include "core/session/options/options.h"
#include "core/support/result.h"

#include <string>

namespace lathe::session {

/// Who we are at a broker, by the token if there is one, else by the name of the user and of this machine; and which of
/// its devices are wanted. Errors: those of broker::readToken() and brokerAddress(); Incompatible (the token is not a
/// user's).
Result<measure::RemoteClaim> remoteClaim(const TuneOptions& options, std::string program);

} // namespace lathe::session
