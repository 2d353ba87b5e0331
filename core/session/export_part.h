#pragma once

#include "core/session/exports/compile_report.h"
#include "core/session/options/options.h"
#include "core/session/plan/plan_view.h"
#include "core/session/progress.h"
#include "core/support/result.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>

namespace lathe::session {

/// What can be made of a tuned network. TuningSession::exports().
class ExportPart
{
public:
    virtual ~ExportPart() = default;

    /// What compile() would run where; `strict` as in CompileOptions. May be called on any thread beside the others.
    /// StoreFailed, Unsupported.
    virtual Result<Coverage> coverage(bool strict) const = 0;
    /// Whether compile() may write its files: InvalidArgument naming those that Lathe did not write, or what else is in
    /// their way. Reads little; any thread.
    virtual Result<> destination(const CompileOptions& options) const = 0;
    /// Chooses the layouts of the network as compile() does, measuring what conversions take. Nothing: no record has a
    /// layout of its own. With `log` the records that it takes are written there, as a log of the reference's template
    /// tuner in the network's order; those that no template made are left out, and counted in `left`. Blocks: call it
    /// off the GUI thread. Errors: Unsupported, StoreFailed, Cancelled.
    virtual Result<std::optional<PlanView>> plan(const CompileOptions& options, const std::filesystem::path& log,
                                                 const std::function<void(PlanStep)>& told, std::int64_t* left,
                                                 std::stop_token stop) = 0;
    /// Compile with the best records, verify, benchmark, export. Blocks: call it off the GUI thread. Errors:
    /// Incompatible if a task has no record and allowDefault is off (names them all), BuildFailed, WrongAnswer,
    /// Cancelled.
    virtual Result<CompileReport> compile(const CompileOptions& options, const Progress& progress,
                                          std::stop_token stop) = 0;
};

} // namespace lathe::session
