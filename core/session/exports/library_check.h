#pragma once

#include "core/deploy/verify.h"
#include "core/measure/endpoint.h"
#include "core/session/exports/compile_report.h"
#include "core/session/loaded_model.h"

#include <filesystem>
#include <stop_token>
#include <vector>

namespace lathe::session {

struct BenchFigures
{
    std::string variant; ///< the target text of that which ran
    LatencyStats latencyMs;
    unsigned threads = 0;
    std::string device; ///< name of the device beside the processor that it ran on; empty: none
    std::vector<double>
        instructionMs; ///< each behind the one before (serve::LoadedLibrary::timeChain), in the image's order
    double callMs = kUnknown; ///< a run's fork and join
};

/// Where a library runs.
struct LibraryPlace
{
    std::string device = {}; ///< key of the device beside the processor; empty: the library chooses
    measure::Endpoint* lent = nullptr; ///< of a device behind a broker; null: on this machine
};

/// What a run may take, and the reference executor, which takes minutes for a large network.
inline constexpr double kRunSeconds = 600;
/// The same on inputs of which some are made up: on those a loop that ends for what it computes may go on for ever, so
/// that a network with such a loop gets less.
double runSecondsOf(const LoadedModel& model, bool isMadeUp);

// What is in a library runs in a lathe-runner, and the reference in a lathe-builder, so that nothing it does reaches
// the process that holds the project. A stop ends both. Errors: those of deploy::LibraryClient and
// deploy::verifyByBuilder; RunTimeout, which says so, where a loop did not end on made-up inputs.

/// A library of this model against the reference executor. Errors: also WrongAnswer, with the first tensor that
/// differs; inputs that the reference executor does not take are no error (VerifyReport::refused).
/// @param given  values of the model's inputs, in order; those that are missing are made up.
/// @param variant  the target text of one; empty: the best that runs here.
Result<deploy::VerifyReport> verifyExported(const std::filesystem::path& library, const LoadedModel& model,
                                            std::stop_token stop = {},
                                            const std::vector<std::optional<graph::HostTensor>>& given = {},
                                            const std::string& variant = {}, const LibraryPlace& place = {});
/// Of the best variant that runs here. Runs for `maxSeconds` at most, but three times at least; 0: as often as
/// lathe-cli bench does.
/// @param inputs  of the library, in order; empty: values that it makes for itself.
/// @param runSeconds  what a single run may take.
Result<BenchFigures> benchExported(const std::filesystem::path& library, unsigned threads, std::stop_token stop = {},
                                   double maxSeconds = 0, const std::vector<graph::HostTensor>& inputs = {},
                                   double runSeconds = kRunSeconds, const LibraryPlace& place = {});

} // namespace lathe::session
