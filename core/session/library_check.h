#pragma once

#include "core/session/compile_report.h"
#include "core/session/options.h"
#include "core/support/result.h"

#include <stop_token>
#include <vector>

namespace lathe::session {

struct BenchFigures
{
    LatencyStats latencyMs;
    unsigned threads = 0;
    std::vector<double> instructionMs; ///< each behind the one before (LoadedLibrary::timeChain), in the image's order
    double callMs = kUnknown; ///< a run's fork and join
};

/// What is in a library runs in a process of its own (lathe-cli beside this program), so that nothing it does reaches the
/// one that holds the project.
/// Errors: NotFound (no lathe-cli), RunTimeout, Cancelled (the child was killed), WorkerCrashed, those that the child names.
Result<double> verifyInChild(const std::filesystem::path& library, const ModelSpec& model, const std::string& target, std::stop_token stop = {});
/// Runs for `maxSeconds` at most, but three times at least; 0: as often as lathe-cli bench does.
Result<BenchFigures> benchInChild(const std::filesystem::path& library, unsigned threads, std::stop_token stop = {}, double maxSeconds = 0);

} // namespace lathe::session
