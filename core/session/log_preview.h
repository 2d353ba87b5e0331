#pragma once

#include "core/session/log_import.h"
#include "core/session/views.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

/// What a log of the reference's template tuner has of one workload on one target.
struct LoggedWorkload
{
    std::string target; ///< as the lines have it: "llvm -keys=cpu -mcpu=core-avx2"
    std::string name; ///< of the template
    std::string workload; ///< as logs key it
    std::int64_t trials = 0, failed = 0;
    double bestMs = kUnknown; ///< unknown where all failed
    std::string bestConfig;
    bool known = false; ///< there is a template of this name here
    std::vector<std::int32_t> tasks; ///< of the network that it is for; empty: none
};

/// What tuning logs hold and what importing them would do, before anything is changed. ProjectPart::previewLogs().
struct LogPreview
{
    std::vector<LoggedWorkload> workloads; ///< of the lines that the template tuner wrote, as they come first
    /// What importLogs() would answer. Nobody else writes to the project meanwhile, else it differs by what they did.
    LogImport would;
    /// Records that would be new, by task, those with most first.
    std::vector<std::pair<std::int32_t, std::int64_t>> byTask;
};

} // namespace lathe::session
