#pragma once

#include "core/session/farm_view.h"

#include <string>
#include <string_view>

namespace lathe::session {

/// Takes what a device's notice says of it (broker/notices.h), a JSON object, into `view`. Anybody may have written it:
/// members that are absent, or of another kind, stay as they are.
void readAbout(const std::string& about, FarmDeviceView& view);

/// Text of another machine as a person may see it: one line of at most 256 bytes, and nothing that a terminal obeys or
/// that changes the order of what is read.
std::string onOneLine(std::string_view text);

} // namespace lathe::session
