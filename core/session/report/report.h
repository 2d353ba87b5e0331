#pragma once

#include "core/support/result.h"

#include <filesystem>

namespace lathe::session {

/// One HTML file with all in it (no script, nothing fetched): what was tuned, where, under which conditions, the curves
/// of its runs, each task with its record, failures by cause, where the time went. Errors: NotFound (no model),
/// StoreFailed (the file cannot be written), and the store's.
Result<> writeReport(const std::filesystem::path& project, const std::filesystem::path& html);

} // namespace lathe::session
