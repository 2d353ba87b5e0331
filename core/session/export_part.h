#pragma once

#include "core/session/exports/compile_report.h"
#include "core/session/options/options.h"
#include "core/session/progress.h"
#include "core/support/result.h"

#include <stop_token>

namespace lathe::session {

/// What can be made of a tuned network. TuningSession::exports().
class ExportPart
{
public:
    virtual ~ExportPart() = default;

    /// What compile() with these options would run where, nothing being measured. Any thread, beside the others.
    /// Errors: StoreFailed, Unsupported; those of reading the options' logs and packages.
    virtual Result<Coverage> coverage(const CompileOptions& options) const = 0;
    /// Whether compile() may write its files: InvalidArgument naming those that Lathe did not write, or what else is in
    /// their way. Reads little; any thread.
    virtual Result<> destination(const CompileOptions& options) const = 0;
    /// Compile with the best records, verify, benchmark, export. Blocks: call it off the GUI thread. Errors:
    /// Incompatible if a task has no record and allowDefault is off (names them all), BuildFailed, WrongAnswer,
    /// Cancelled.
    virtual Result<CompileReport> compile(const CompileOptions& options, const Progress& progress,
                                          std::stop_token stop) = 0;
};

} // namespace lathe::session
