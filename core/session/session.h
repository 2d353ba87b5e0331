#pragma once

#include "core/session/coverage.h"
#include "core/session/events.h"
#include "core/session/history.h"
#include "core/session/log_import.h"
#include "core/session/views.h"
#include "core/support/message.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::session {

/// MODEL of the command line: an ONNX file or "zoo:NAME", and the options that go with it.
struct ModelSpec
{
    std::string source;
    std::optional<std::int64_t> batch;
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;
    std::string layout; ///< "", "NHWC", "NCHW"
    std::string partition = "lathe";
    std::string hardware; ///< file of hardware parameters, or a CPU's name (-mcpu); stored with the project; empty: what is stored, else the target's
    std::uint64_t seed = 0; ///< of zoo weights
};

/// A stored run that plays back.
struct ReplayOptions
{
    std::int64_t run = 0; ///< RunView::id; 0: the project's latest
    double speed = 1; ///< Replay::setSpeed()
};

struct OpenOptions
{
    ModelSpec model; ///< empty source: the project's latest model
    std::string target; ///< empty: what the project was last tuned for, else "cpu"
    std::filesystem::path project; ///< empty: no history is read or written
    bool readOnly = false;
    std::optional<ReplayOptions> replay; ///< of `project`, which is not written to
};

struct TuneOptions
{
    double seconds = 0; ///< 0: no limit in time
    std::int64_t trials = 0; ///< 0: no limit in trials
    std::int64_t trialsPerTask = 0; ///< cap
    std::int32_t trialsPerRound = 0; ///< 0: 64, fewer where the budget in time is small
    std::string policy = "sketch"; ///< sketch, reference, random, evolution, template
    std::string scheduler = "gradient";
    std::string headStart; ///< what policy sketch begins with: a file (lathe-cli head-start make), "none"; empty: what is installed for the target, if there is such
    std::vector<std::string> devices;
    std::uint64_t seed = 1;
    bool resume = false; ///< continue the project's latest run with its own options
    std::int32_t repeat = 1, number = 3;
    std::optional<double> minRepeatMs; ///< nothing: 20, with policy reference 100
    double timeoutSeconds = 10;
    double cooldownMs = 0;
    std::int64_t earlyStop = 0;
    double minGainPercent = 0; ///< ends when the last `gainWindowSeconds` made the network less than this faster; 0: never
    double gainWindowSeconds = 3600;
    std::int32_t buildJobs = 0; ///< 0: one per core
    std::string cache = "network"; ///< "network": weights come from where the network's others push them; "warm": runs back to back; "cold": 32 MiB of other memory are read before each
    std::string runoff = "auto"; ///< whether each round's best is measured beside what stands before it is believed: "on", "off"; "auto": but on simulators, whose costs do not vary
    bool strict = false;
    bool verbose = false;
};

struct CompileOptions
{
    std::filesystem::path output; ///< NAME.so; header, description and examples go beside it
    std::string name;
    bool allowDefault = false;
    bool strict = false;
    bool verify = true;
    bool benchmark = true;
    unsigned threads = 0; ///< 0: the target's
};

struct LatencyStats
{
    double median = kUnknown, mean = kUnknown, std = kUnknown, min = kUnknown, p95 = kUnknown;
};

struct CompileReport
{
    std::filesystem::path library, header, description;
    std::vector<SubgraphReport> subgraphs;
    double maxRelError = kUnknown; ///< NaN: not verified
    LatencyStats latencyMs; ///< of the exported library
    deploy::EstimateParts estimated; ///< without the benchmark: tasks alone
    unsigned threads = 0;
};

struct RemeasureOptions
{
    double timeoutSeconds = 0; ///< that a candidate may run; 0: the session's runTimeout()
    std::int32_t repeat = 3; ///< costs taken of each, at least
};

/// A trial whose candidate was measured again.
struct RemeasuredTrial
{
    std::string trial; ///< the new one; empty: it was not measured, `text` says why
    std::string repeats; ///< the old one
    std::int32_t task = -1;
    std::string alternative;
    double beforeMs = kUnknown, costMs = kUnknown;
    std::string code, stage, text;
    About about = {}; ///< the text
};

/// The playing of a stored run. Any thread.
class Replay
{
public:
    virtual ~Replay() = default;
    virtual RunView run() const = 0;
    virtual std::vector<RunView> runs() const = 0; ///< all of the project, oldest first
    virtual double length() const = 0; ///< seconds of the run
    virtual double position() const = 0; ///< seconds of the run that have been told
    virtual double speed() const = 0;
    /// Run seconds per second, 0.1 to 1,000,000; at once. InvalidArgument.
    virtual Result<> setSpeed(double factor) = 0;
    /// Goes there at once and on from there; to the past by a RewindEvent and all events up to there. Starts a replay that has ended.
    virtual Result<> seek(double seconds) = 0;
};

/// The one façade that app/ and ui/ use: a model, its tasks, its history, and the run that tunes it.
///
/// Threads: calls may come from any one thread at a time; start(), pause(), resumeRun(), stop() return at once, what they
/// cause arrives as events. open() and compile() block: call them off the GUI thread.
///
/// With OpenOptions::replay, start() plays a stored run from its beginning: its events come again with their times. Tasks have
/// no figures before; what would change the project is refused.
class TuningSession
{
public:
    using Progress = std::function<void(std::string_view step, double fraction)>;

    /// Errors: BadFile, Unsupported (all unsupported operators at once), InvalidArgument, StoreFailed, NotFound.
    static Result<std::unique_ptr<TuningSession>> open(OpenOptions options);
    virtual ~TuningSession() = default; ///< stops the run and joins

    virtual const OpenOptions& options() const = 0;
    virtual std::shared_ptr<const GraphView> graph() const = 0;
    virtual std::vector<TaskView> tasks() const = 0; ///< a snapshot with the latest figures
    virtual std::vector<UntunedView> untuned() const = 0;
    virtual std::vector<Message> notices() const = 0; ///< "project is read-only because ...", "batch set to 1"
    /// True if the project holds a run that can go on.
    virtual bool canResume() const = 0;

    /// One observer; set before start(), null to remove. Returns when no call is in flight any more.
    virtual void setObserver(SessionObserver* observer) = 0;
    virtual Result<> start(TuneOptions options) = 0;
    virtual void pause() = 0;
    virtual void resumeRun() = 0;
    virtual void stop() = 0;
    virtual void wait() = 0; ///< until the run has ended
    virtual RunState state() const = 0;

    /// The limits that search respects, of the target, detected or as set. Units are in their names, else counts.
    virtual std::vector<DeviceView::Limit> hardware() const = 0;
    /// Sets one (nothing: back to what the target says), for runs that start later; stored with the project. Errors: InvalidArgument
    /// (no such limit, a value out of range, a run is going on), StoreFailed.
    virtual Result<> setHardware(std::string_view name, std::optional<std::int64_t> value) = 0;

    /// Null: not a replay.
    virtual Replay* replay() { return nullptr; }

    /// One per task, as asked for last.
    virtual std::vector<TaskBudget> budgets() const = 0;
    /// Stored with the project; a run follows from its next round on. Errors: InvalidArgument (no such task, a boost that is not
    /// positive, a negative cap), StoreFailed.
    virtual Result<> setBudget(std::int32_t task, const TaskBudget& budget) = 0;
    /// Seconds that a candidate may run, for the run that goes on (from its next round) and those to come. InvalidArgument.
    virtual Result<> setRunTimeout(double seconds) = 0;
    virtual double runTimeout() const = 0;

    /// Builds and measures the candidates of stored trials again, under the conditions of their runs; every result is stored as a
    /// new trial that names the one it repeats. No run learns from them. Blocks: call it off the GUI thread; a stop keeps what was
    /// measured. Trials that cannot be measured are told with the others. Errors: InvalidArgument (a run goes on), NotFound,
    /// Incompatible (none of them can be measured), StoreFailed.
    virtual Result<std::vector<RemeasuredTrial>> remeasure(std::span<const std::string> trials, const RemeasureOptions& options, const Progress& progress, std::stop_token stop) = 0;
    virtual bool isRemeasuring() const = 0; ///< no run starts meanwhile
    /// Takes records from tuning logs, line by line: Lathe's own export of records, and logs of the reference's auto-scheduler whose workloads
    /// the network has. What another tuner measured elsewhere is no candidate for an export before remeasure() measured it here. A
    /// stop keeps what was taken. Blocks: call it off the GUI thread; may be called while a run goes on, which does not learn from
    /// them. Errors: NotFound, BadFile, Cancelled, StoreFailed.
    virtual Result<LogImport> importLogs(std::span<const std::filesystem::path> files, const Progress& progress, std::stop_token stop) = 0;
    /// A note on a trial, or on the project where `trial` is empty; an empty text takes it away. Writes to the disk: call it off the
    /// GUI thread; may be called while a run goes on. StoreFailed, NotFound.
    virtual Result<> setNote(const std::string& trial, const std::string& text) = 0;

    /// Best record of a task; NotFound if it has none.
    virtual Result<ScheduleView> bestSchedule(std::int32_t task) const = 0;
    /// A reader of the project for views, to be used on a thread of theirs; it may outlive the session. NotFound without a project.
    virtual Result<std::unique_ptr<History>> history() const = 0;
    /// Pages of trials, newest last.
    virtual Result<std::vector<TrialView>> trials(std::int64_t offset, std::int64_t limit) const = 0;

    /// What compile() would run where; `strict` as in CompileOptions. May be called on any thread beside the others. StoreFailed,
    /// Unsupported.
    virtual Result<Coverage> coverage(bool strict) const = 0;
    /// Compile with the best records, verify, benchmark, export. Errors: Incompatible if a task has no record and allowDefault
    /// is off (names them all), BuildFailed, WrongAnswer, Cancelled.
    virtual Result<CompileReport> compile(const CompileOptions& options, const Progress& progress, std::stop_token stop) = 0;
};

std::vector<DeviceView> listDevices();

/// Whether candidates for `target` can be measured from here. Unsupported, with the reason; those of Target::parse.
Result<> checkMeasurable(const std::string& target);

/// Whether this machine can run code for `target`; text that is no target counts as what it can.
bool runsHere(const std::string& target);

/// One small kernel built for a target, launched and compared with what it must compute.
struct SelfTest
{
    std::string device; ///< its name
    double buildMs = kUnknown, runMs = kUnknown;
    double maxRelError = kUnknown;
};
/// Blocks for some seconds. Errors: of builder, runner and device, in one sentence.
Result<SelfTest> selfTestDevice(const std::string& target);

struct ZooView
{
    std::string name;
    std::string description;
    std::vector<std::string> layouts;
};
std::vector<ZooView> listZoo();

} // namespace lathe::session
