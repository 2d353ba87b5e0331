#include "core/broker/address.h"

#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace lathe::broker {

namespace {

constexpr std::size_t kLongestHost = 253; // RFC 1035

bool isHostLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
           || c == '.';
}

bool isIpv6Letter(char c)
{
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

} // namespace

Result<Address> parseAddress(std::string_view text)
{
    Address address;
    std::string_view rest = text;
    for (const auto& [scheme, tls] : {std::pair("nats://", false), std::pair("tls://", true)})
        if (rest.starts_with(scheme)) {
            rest.remove_prefix(std::string_view(scheme).size());
            address.tls = tls;
            break;
        }
    const Error wrong = makeError(Errc::InvalidArgument, say(Msg::AddressWrong, text));
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos)
        return wrong;
    std::string_view host = rest.substr(0, colon);
    const std::string_view port = rest.substr(colon + 1);
    const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
    if (bracketed)
        host = host.substr(1, host.size() - 2);
    if (host.empty() || host.size() > kLongestHost
        || !std::ranges::all_of(host, bracketed ? isIpv6Letter : isHostLetter))
        return wrong;
    const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (failed != std::errc() || end != port.data() + port.size() || address.port == 0)
        return wrong;
    address.host = host;
    return address;
}

std::string urlOf(const Address& address)
{
    const bool ipv6 = address.host.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", address.tls.value_or(false) ? "tls" : "nats", ipv6 ? "[" : "", address.host,
                       ipv6 ? "]" : "", address.port);
}

std::string usualBroker()
{
    const char* const broker = std::getenv("LATHE_BROKER");
    return broker != nullptr ? broker : "";
}

} // namespace lathe::broker
