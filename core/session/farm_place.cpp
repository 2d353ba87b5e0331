#include "core/session/farm_place.h"

#include "core/broker/address.h"

namespace lathe::session {

std::string usualFarm()
{
    return broker::usualBroker();
}

std::string userAt(const BrokerWords& broker)
{
    const auto claim = remoteClaim(broker, "any", "lathe");
    return claim ? claim->user : std::string();
}

} // namespace lathe::session
