#pragma once

#include "core/store/project.h"
#include "core/support/message.h"

#include <string>

namespace lathe::session {

/// The name in a device's fingerprint; "an unknown device" if it has none.
std::string deviceNameOf(const std::string& fingerprint);

/// "warm", "cold", "as in the network": what lathe::coldBytes() says in a word.
std::string cacheWord(std::int64_t coldBytes);

/// How `there` differs from `here`, as a clause: "measured on A, not on B", "with caches cold, not as in the network".
Message differenceOf(const store::Conditions& there, const store::Conditions& here);

} // namespace lathe::session
