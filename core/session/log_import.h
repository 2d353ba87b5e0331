#pragma once

#include "core/store/skipped_lines.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::session {

using store::SkippedLines;

/// What an import of tuning logs did with each line. Comments and empty lines do not count.
struct LogImport
{
    std::int64_t lines = 0;
    std::int64_t taken = 0; ///< now records of the project
    std::int64_t known = 0; ///< records that it had
    std::int64_t foreign = 0; ///< of those taken: measured elsewhere by another tuner
    std::int32_t tasks = 0; ///< that were taken for
    std::vector<SkippedLines> skipped; ///< most frequent first

    std::int64_t skippedLines() const
    {
        std::int64_t sum = 0;
        for (const SkippedLines& alike : skipped)
            sum += alike.count;
        return sum;
    }
};

/// What an export of a tuning log wrote.
struct LogExport
{
    std::int64_t written = 0; ///< lines
    std::vector<SkippedLines> skipped; ///< records that were left out; they have no file
};

} // namespace lathe::session
