#pragma once

#include "core/support/result.h"

#include <span>
#include <string>

namespace lathe::broker {

// Certificates with which a broker proves to its members that it is the one they were told of: an authority of its own,
// whose certificate every token holds, signs the server's. Elliptic curve P-256, X.509 version 3 (RFC 5280).

/// A certificate and its private key, as PEM.
struct Certificate
{
    std::string text;
    std::string key; ///< the secret
};

/// Signs certificates of servers, and none of further authorities. For ten years. Errors: Internal.
/// @param name  for people who look at it; not empty
Result<Certificate> makeAuthority(const std::string& name);
/// For as long as the authority, for these names of DNS and IP addresses. Errors: Internal (no hosts, or the authority
/// is none).
Result<Certificate> makeServerCertificate(const Certificate& authority, std::span<const std::string> hosts);

/// Whether the authority signed it, it is for all of these hosts, and for at least another year.
bool isServerCertificate(const std::string& text, const std::string& authority, std::span<const std::string> hosts);

/// SHA-256 of a certificate, as people compare it: "AB:CD:...", 32 bytes. Errors: BadFile.
Result<std::string> fingerprintOf(const std::string& text);

} // namespace lathe::broker
