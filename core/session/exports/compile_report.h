#pragma once

#include "core/deploy/estimate_parts.h"
#include "core/session/exports/coverage.h"
#include "core/session/views.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lathe::session {

struct LatencyStats
{
    double median = kUnknown, mean = kUnknown, std = kUnknown, min = kUnknown, p95 = kUnknown;
};

/// One of the kinds of processors that a library has code for.
struct VariantReport
{
    std::string target; ///< text
    std::vector<std::string> features; ///< that a processor must have, as LLVM names them ("avx512f")
    bool runsHere = false; ///< on this machine's processor, or on the device that CompileReport::runner names
    std::vector<SubgraphReport> subgraphs;
    double maxRelError = kUnknown; ///< NaN: not verified
    std::string notVerified; ///< why it could not be
    std::uint64_t weightsBytes = 0; ///< that its kernels read; variants share what is packed alike
    std::uint64_t codeBytes = 0; ///< of its kernels
};

/// What an export wrote, and its figures.
struct CompileReport
{
    std::filesystem::path library, header, description;
    std::string runner; ///< the device behind a broker that verified and timed it; empty: this machine
    std::vector<VariantReport> variants; ///< in the library's order, the best first
    std::string variant; ///< the target text of the one that the figures are of
    std::uint64_t libraryBytes = 0, weightsBytes = 0; ///< of the file; of the weights of all variants
    std::vector<SubgraphReport> subgraphs; ///< of that variant
    double maxRelError = kUnknown; ///< the largest of the variants'; NaN: not verified
    std::string notVerified; ///< why it could not be; empty: it was, or nobody asked for it
    About aboutNotVerified = {};
    std::string notTimed; ///< why it could not be; empty: it was, or nobody asked for it
    About aboutNotTimed = {};
    std::vector<std::string> illConditioned; ///< outputs that rounding alone changes by more than the tolerance
    std::string conditions; ///< a sentence on these; empty: there are none
    About aboutConditions = {};
    GivenRecords given;
    std::string plan; ///< a sentence on the choice of layouts; empty: there was none to make
    About aboutPlan = {};
    LatencyStats latencyMs; ///< of the exported library
    deploy::EstimateParts estimated; ///< without the benchmark: tasks alone
    unsigned threads = 0;
};

} // namespace lathe::session
