#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::runner {

/// What somebody who starts a runner for a farm says.
struct FarmWords
{
    std::string broker, key, name;
    std::filesystem::path token, audit;
    std::uint32_t slots = 2;
    std::uint32_t cooldownMs = 0;
    std::uint32_t hottest = 0; ///< in °C; 0: however hot it is
    std::uint32_t longestReserveMinutes = 30;
    bool help = false, version = false;
};

extern const char* const kHelp;

/// Errors: InvalidArgument.
Result<FarmWords> readWords(const std::vector<std::string>& words);

} // namespace lathe::runner
