#pragma once

#include "core/runtime/device_abi.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace lathe {

/// Fills `error`, if there is one, with as much of the sentence as it holds, and returns what a function of
/// LatheDeviceApi returns when it fails.
inline int fail(LatheDeviceError* error, LatheErrc code, std::string_view text)
{
    if (error != nullptr) {
        error->code = static_cast<uint32_t>(code);
        const std::size_t size = std::min(text.size(), sizeof error->text - 1);
        std::memcpy(error->text, text.data(), size);
        error->text[size] = '\0';
    }
    return 1;
}

} // namespace lathe
