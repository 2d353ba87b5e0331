#pragma once

#include "core/deploy/derived_constants.h"
#include "core/deploy/library.h"
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

/// One network for one target or several, of one machine, each of which becomes a variant in the library.
using ModelVariants = std::vector<std::shared_ptr<const LoadedModel>>;

/// `model`, and the same network for further targets. InvalidArgument: a target that is there already, or of another
/// machine; those of loadModel().
Result<ModelVariants> loadVariants(std::shared_ptr<const LoadedModel> model, const std::vector<std::string>& targets);

/// Compiles the network with the best records of `project` for each target (null: default schedules), verifies each
/// variant that this machine's processor runs, benchmarks the best of these, writes. Errors: Incompatible where it runs
/// none of them, and one should be verified or timed.
Result<CompileReport> exportLibrary(const ModelVariants& variants, const store::Project* project,
                                    const CompileOptions& options, const Progress& progress, std::stop_token stop);

/// Compiles and links what was chosen for each variant, in the folder of `wanted.output`; nothing is put in its place.
/// A caller that does so repeatedly keeps `derived`.
/// @param device  DeviceIdentity::fingerprint of the device that variants of its kind are to run on; empty: none in
///                particular
Result<deploy::StagedLibrary> stageLibrary(const ModelVariants& models, const std::vector<KernelChoices>& chosen,
                                           const CompileOptions& wanted, std::stop_token stop,
                                           std::shared_ptr<deploy::DerivedConstants> derived = nullptr,
                                           const std::string& device = {});

} // namespace lathe::session
