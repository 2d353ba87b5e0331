#pragma once

#include "core/measure/remote_devices.h"
#include "core/session/options/options.h"
#include "core/support/result.h"

#include <string>

namespace lathe::session {

/// Where a broker is, and how one gets in.
struct BrokerWords
{
    std::string address; ///< broker/token.h
    std::string token; ///< a file; empty: it lets everybody in
};

/// Devices of a key, asked for by who we are there: by the token if there is one, else by the name of the user and of
/// this machine. @param program  for people
/// Errors: those of broker::readToken() and brokerAddress(); Incompatible (the token is not a user's).
Result<measure::RemoteClaim> remoteClaim(const BrokerWords& broker, std::string key, std::string program);
/// Those that a run asks for.
Result<measure::RemoteClaim> remoteClaim(const TuneOptions& options, std::string program);

} // namespace lathe::session
