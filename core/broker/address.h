#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::broker {

/// A place in the network, as people write it.
struct Address
{
    std::string host; ///< a name or an IP address, IPv6 without brackets
    std::uint16_t port = 4222;
    std::optional<bool> tls = {}; ///< what a scheme said
};

/// "HOST:PORT", "[IPV6]:PORT", with or without nats:// or tls:// before it. Errors: InvalidArgument.
Result<Address> parseAddress(std::string_view text);
/// "nats://HOST:PORT" or "tls://HOST:PORT".
std::string urlOf(const Address& address);
/// The broker that the environment names (LATHE_BROKER), for who says none; empty: none.
std::string usualBroker();

} // namespace lathe::broker
