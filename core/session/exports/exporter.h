#pragma once

#include "core/deploy/derived_constants.h"
#include "core/session/events.h"
#include "core/session/exports/compile_report.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options.h"
#include "core/session/progress.h"
#include "core/store/project.h"

#include <stop_token>

namespace lathe::session {

/// Whether the files of an export may be written: checkDestination() of core/deploy.
Result<> checkExportFiles(const CompileOptions& options);

/// Compiles the network with the best records of `project` (null: default schedules), verifies, benchmarks, writes.
Result<CompileReport> exportLibrary(const LoadedModel& model, const store::Project* project,
                                    const CompileOptions& options, const Progress& progress, std::stop_token stop);

/// Latency of the whole network with the best records so far (null: default schedules), in a process of its own.
/// A caller that measures repeatedly keeps `derived`.
Result<MeasuredEvent> measureNetwork(const LoadedModel& model, const store::Project* project,
                                     const RecordChoice& choice, std::stop_token stop,
                                     std::shared_ptr<deploy::DerivedConstants> derived = nullptr);

} // namespace lathe::session
