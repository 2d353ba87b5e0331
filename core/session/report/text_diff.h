#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// One line of two texts held against each other.
struct DiffLine
{
    enum class Kind : std::uint8_t
    {
        Same,
        Removed, ///< of the left text alone
        Added ///< of the right text alone
    };
    Kind kind = Kind::Same;
    std::int32_t left = 0, right = 0; ///< line numbers from 1; 0: not in that text
    std::string text;
};

/// Line by line, the fewest that differ. Removed lines of a place come before those added there.
std::vector<DiffLine> diffLines(std::string_view left, std::string_view right);

/// Lines with ' ', '-' or '+' before them, those that are the same far from any change left out ("@@ -LINE +LINE @@").
std::string unifiedDiff(const std::vector<DiffLine>& lines, std::int32_t context = 3);

} // namespace lathe::session
