#pragma once

#include "core/session/remote_claim.h"

#include <string>

namespace lathe::session {

/// The broker that the environment names, for who says none (broker::usualBroker()); empty: none.
std::string usualFarm();

/// Who we are at a broker: as claims of ours name their user. Empty: a token that says so cannot be read, or lets one
/// look only. Reads the token: never on the GUI thread.
std::string userAt(const BrokerWords& broker);

} // namespace lathe::session
