#pragma once

#include "core/session/exports/compile_report.h"
#include "core/session/loaded_model.h"

#include <filesystem>
#include <stop_token>
#include <vector>

namespace lathe::session {

struct BenchFigures
{
    LatencyStats latencyMs;
    unsigned threads = 0;
    std::vector<double>
        instructionMs; ///< each behind the one before (serve::LoadedLibrary::timeChain), in the image's order
    double callMs = kUnknown; ///< a run's fork and join
};

// What is in a library runs in a lathe-runner, and the reference in a lathe-builder, so that nothing it does reaches
// the process that holds the project. A stop ends both. Errors: those of deploy::LibraryClient and
// deploy::verifyByBuilder.

/// The largest relative error of a library of this model. Errors: also WrongAnswer, with the first tensor that differs.
Result<double> verifyExported(const std::filesystem::path& library, const LoadedModel& model,
                              std::stop_token stop = {});
/// Runs for `maxSeconds` at most, but three times at least; 0: as often as lathe-cli bench does.
Result<BenchFigures> benchExported(const std::filesystem::path& library, unsigned threads, std::stop_token stop = {},
                                   double maxSeconds = 0);

} // namespace lathe::session
