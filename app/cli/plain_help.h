#pragma once

#include <CLI/CLI.hpp>

namespace lathe::cli {

/// Puts what CLI11 writes beside an option as "INT:INT in [1 - 1000] [3]" into words: "N ... (1 to 1000; default: 3)",
/// as the options of the option table say it themselves. For all commands below `app`.
void sayLimitsInWords(CLI::App& app);

} // namespace lathe::cli
