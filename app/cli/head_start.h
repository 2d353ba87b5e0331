#pragma once

#include "core/support/result.h"

#include <string>

namespace lathe::cli {

/// Prints what a head start holds. Errors: NotFound, BadFile, with the file's name.
Result<> showHeadStart(const std::string& file, bool json);

} // namespace lathe::cli
