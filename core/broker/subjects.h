#pragma once

#include "core/support/hash.h"

#include <string>
#include <string_view>

namespace lathe::broker {

/// The names under which messages go over a broker, and so who may hear what (server_config.h). Each name of a key,
/// device or user is one word of them: isWord().
///
///     lathe.here.KEY.DEVICE                  what a device tells of itself
///     lathe.claim.KEY.USER                   who wants devices of a key
///     lathe.offer.USER                       devices to those who want one
///     lathe.order.KEY.DEVICE.USER            what a user tells a device to do
///     lathe.to.DEVICE.USER.SESSION           what the one who has a device sends it
///     lathe.from.DEVICE.USER.SESSION         and it sends him

/// Letters, digits, '-' and '_', at most 64.
bool isWord(std::string_view text);
/// The same text made a word: "RTX 4090 (rev. 2)" is "RTX-4090--rev--2-".
std::string asWord(std::string_view text);

std::string hereSubject(std::string_view key, std::string_view device);
std::string claimSubject(std::string_view key, std::string_view user);
std::string offerSubject(std::string_view user);
std::string orderSubject(std::string_view key, std::string_view device, std::string_view user);
std::string toDeviceSubject(std::string_view device, std::string_view user, const Hash128& session);
std::string fromDeviceSubject(std::string_view device, std::string_view user, const Hash128& session);

} // namespace lathe::broker
