#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string_view>

namespace lathe::broker {

// Files with secrets: whoever else may read their folder, they are their owner's from the first byte on (mode 0600).
// A reader sees the old contents or the new ones.

/// Replaces what is there. Errors: InvalidArgument (no such folder, not permitted), StoreFailed.
Result<> writePrivateFile(const std::filesystem::path& path, std::string_view text);
/// Errors: also InvalidArgument where there is a file of that name: it stays as it is.
Result<> writeNewPrivateFile(const std::filesystem::path& path, std::string_view text);

} // namespace lathe::broker
