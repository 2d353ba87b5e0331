#pragma once

#include "core/deploy/estimate_parts.h"
#include "core/session/exports/coverage.h"
#include "core/session/views.h"

#include <filesystem>
#include <vector>

namespace lathe::session {

struct LatencyStats
{
    double median = kUnknown, mean = kUnknown, std = kUnknown, min = kUnknown, p95 = kUnknown;
};

/// What an export wrote, and its figures.
struct CompileReport
{
    std::filesystem::path library, header, description;
    std::vector<SubgraphReport> subgraphs;
    double maxRelError = kUnknown; ///< NaN: not verified
    std::string notVerified; ///< why it could not be; empty: it was, or nobody asked for it
    About aboutNotVerified = {};
    std::vector<std::string> illConditioned; ///< outputs that rounding alone changes by more than the tolerance
    std::string conditions; ///< a sentence on these; empty: there are none
    About aboutConditions = {};
    LatencyStats latencyMs; ///< of the exported library
    deploy::EstimateParts estimated; ///< without the benchmark: tasks alone
    unsigned threads = 0;
};

} // namespace lathe::session
