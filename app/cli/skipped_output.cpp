#include "app/cli/skipped_output.h"

#include "app/cli/output.h"

#include <nlohmann/json.hpp>

namespace lathe::cli {

nlohmann::json skippedJson(const std::vector<store::SkippedLines>& skipped)
{
    nlohmann::json all = nlohmann::json::array();
    for (const store::SkippedLines& lines : skipped)
        all.push_back({{"reason", lines.reason}, {"count", lines.count}, {"file", lines.file}, {"line", lines.line}});
    return all;
}

void printSkipped(const std::vector<store::SkippedLines>& skipped)
{
    for (const store::SkippedLines& lines : skipped)
        print("{} skipped: {}{}\n", lines.count, lines.reason,
              lines.file.empty() ? std::string() : fmt::format(" (first: {}:{})", lines.file, lines.line));
}

} // namespace lathe::cli
