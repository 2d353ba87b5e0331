#pragma once

#include "core/store/skipped_lines.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace lathe::cli {

// Lines of logs that were not taken, by why.

nlohmann::json skippedJson(const std::vector<store::SkippedLines>& skipped);
void printSkipped(const std::vector<store::SkippedLines>& skipped);

} // namespace lathe::cli
