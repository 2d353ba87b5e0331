#pragma once

#include "core/session/events.h"
#include "core/session/log_import.h"
#include "core/session/log_preview.h"
#include "core/session/options/options.h"
#include "core/session/options/search_choice.h"
#include "core/session/progress.h"
#include "core/session/views.h"
#include "core/support/result.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// What somebody picked for the runs of a project, as it was said.
struct RunChoices
{
    std::string budget; ///< in words: "20 min"; empty: nothing was picked
    std::optional<std::string> headStart; ///< TuneOptions::headStart; nothing: nothing was picked
    std::optional<SearchChoice> search = {}; ///< likewise
    friend bool operator==(const RunChoices&, const RunChoices&) = default;
};

/// What a person changes in a project: limits, budgets, notes, records that are measured again or imported.
/// TuningSession::project().
class ProjectPart
{
public:
    virtual ~ProjectPart() = default;

    /// Sets a limit (nothing: back to what the target says), for runs that start later; stored with the project.
    /// Errors: InvalidArgument (no such limit, a value out of range, a run is going on), StoreFailed.
    virtual Result<> setHardware(std::string_view name, std::optional<std::int64_t> value) = 0;

    /// One per task, as asked for last.
    virtual std::vector<TaskBudget> budgets() const = 0;
    /// Stored with the project; a run follows from its next round on. Errors: InvalidArgument (no such task, a boost
    /// that is not positive, a negative cap), StoreFailed.
    virtual Result<> setBudget(std::int32_t task, const TaskBudget& budget) = 0;
    /// Of the run that goes on, in all, from its next round on: seconds of active time, and trials; 0: no limit.
    /// InvalidArgument: a negative figure, or no run goes on.
    virtual Result<> setRunBudget(double seconds, std::int64_t trials) = 0;
    /// Seconds that a candidate may run, for the run that goes on (from its next round) and those to come.
    /// InvalidArgument.
    virtual Result<> setRunTimeout(double seconds) = 0;
    virtual double runTimeout() const = 0;

    /// Builds and measures the candidates of stored trials again, under the conditions of their runs; every result is
    /// stored as a new trial that names the one it repeats. No run learns from them. Blocks: call it off the GUI
    /// thread; a stop keeps what was measured. Trials that cannot be measured are told with the others. Errors:
    /// InvalidArgument (a run goes on), NotFound, Incompatible (none of them can be measured), StoreFailed.
    virtual Result<std::vector<RemeasuredTrial>> remeasure(std::span<const std::string> trials,
                                                           const RemeasureOptions& options, const Progress& progress,
                                                           std::stop_token stop) = 0;
    virtual bool isRemeasuring() const = 0; ///< so, or by measureAgain(): no run starts meanwhile
    /// Times the network with the best records and with default schedules in turns, as a run does at its end, stores
    /// what comes of it with the latest run, and tells the observer: a MeasuredEvent and a VerdictEvent. Blocks for
    /// some ten seconds: call it off the GUI thread. Errors: InvalidArgument (a run goes on), NotFound (nothing was
    /// tuned yet), Unsupported (not on this machine), those of an export, Cancelled, StoreFailed.
    virtual Result<VerdictEvent> measureAgain(std::stop_token stop) = 0;
    /// Takes records from tuning logs, line by line: Lathe's own export of records, and logs of the reference's
    /// auto-scheduler whose workloads the network has. What another tuner measured elsewhere is no candidate for an
    /// export before remeasure() measured it here. A stop keeps what was taken. Blocks: call it off the GUI thread; may
    /// be called while a run goes on, which does not learn from them. Errors: NotFound, BadFile, Cancelled,
    /// StoreFailed.
    virtual Result<LogImport> importLogs(std::span<const std::filesystem::path> files, const Progress& progress,
                                         std::stop_token stop) = 0;
    /// Writes the records that templates made for this target, and lines of the template tuner that were imported, as a
    /// log of the reference's. Blocks: call it off the GUI thread. Errors: NotFound (no project), StoreFailed,
    /// Cancelled.
    virtual Result<LogExport> exportTemplateLog(const std::filesystem::path& file, std::stop_token stop) const = 0;
    /// What importLogs() would do with these, and what they hold; nothing is changed. Blocks: call it off the GUI
    /// thread. Errors: as importLogs().
    virtual Result<LogPreview> previewLogs(std::span<const std::filesystem::path> files, const Progress& progress,
                                           std::stop_token stop) = 0;
    /// A note on a trial, or on the project where `trial` is empty; an empty text takes it away. Writes to the disk:
    /// call it off the GUI thread; may be called while a run goes on. StoreFailed, NotFound.
    virtual Result<> setNote(const std::string& trial, const std::string& text) = 0;

    /// What the project's runs have unless somebody says otherwise: the options of the latest one, of this model and
    /// target where there is such, without its budget; the defaults where there was none. Reads the disk: call it off
    /// the GUI thread. StoreFailed.
    virtual Result<TuneOptions> usualOptions() const = 0;
    /// Kept with the project. Both use the disk: call them off the GUI thread. StoreFailed.
    virtual Result<RunChoices> choices() const = 0;
    virtual Result<> setChoices(const RunChoices& choices) = 0;

    /// The targets that the project has valid records for. Reads the disk: call it off the GUI thread.
    virtual Result<std::vector<std::string>> targets() const = 0;

    /// Best record of a task; NotFound if it has none.
    virtual Result<ScheduleView> bestSchedule(std::int32_t task) const = 0;
};

} // namespace lathe::session
