#pragma once

#include "core/backend/listing.h"
#include "core/deploy/estimate_parts.h"
#include "core/session/events.h"
#include "core/session/report/checks.h"
#include "core/session/template_trials.h"
#include "core/session/time_spent.h"
#include "core/session/views.h"
#include "core/support/result.h"
#include "core/target/kinds.h"

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

/// Which trials of a project, in which order. Empty, negative or NaN fields do not restrict.
struct TrialQuery
{
    enum class Order : std::uint8_t
    {
        Time,
        Task, ///< by key: equal ones together
        Alternative,
        Sketch,
        Latency, ///< trials without one come last, both ways
        Predicted,
        State,
        Round,
        Verified,
        Trial,
        Text, ///< trials without one come last, both ways
        Note, ///< likewise
        Repeats ///< likewise
    };
    std::int32_t task = -1;
    std::int64_t run = 0; ///< RunView::id; 0: any
    std::string target; ///< that it was measured for
    std::string code; ///< Errc; "failed": every one but Ok
    std::string stage;
    std::string cause; ///< FailureView::cause
    std::string text; ///< part of alternative, sketch, note or a failure's text, or the first digits of the trial's id
    bool noted = false; ///< only those with a note
    double minMs = kUnknown, maxMs = kUnknown;
    std::int64_t afterRow = 0; ///< only those stored later than this row
    Order order = Order::Time;
    bool descending = false;
};

/// What a list shows of a trial.
struct TrialRow
{
    std::int64_t row = 0; ///< grows with time
    std::string trial;
    std::int64_t run = 0;
    std::int32_t round = 0, index = 0;
    std::int32_t task = -1; ///< -1: of another network of the project
    std::string alternative, sketch, code, stage;
    std::string text; ///< first line
    std::string note;
    std::string repeats; ///< the trial that this one measured again; empty: none
    bool runoff = false; ///< that was in a runoff, not in finals
    double costMs = kUnknown, predictedMs = kUnknown;
    bool verified = false;
    std::int64_t timeMs = 0; ///< UNIX
    About about = {}; ///< the whole text
};

/// A number of every trial, for charts.
enum class TrialAxis : std::uint8_t
{
    Number, ///< place in the project
    Time, ///< seconds since the first of them
    Latency, ///< ms
    Predicted, ///< ms
    Ratio, ///< measured by predicted
    Round
};

/// Trials as points, those that have both numbers, in the order of time.
struct TrialPoints
{
    std::vector<double> x, y;
    std::vector<std::int64_t> rows;
    std::int64_t left = 0; ///< trials of the query without one of the numbers
};

/// All that is known of one trial.
struct TrialDetail
{
    TrialRow row;
    std::vector<TrialRow> repeats; ///< trials that measured it again, oldest first
    std::string text; ///< whole
    std::string candidate; ///< hash
    std::string genome;
    std::vector<double> repeatsMs;
    std::map<std::string, double> durationsMs;
    std::string conditions, device; ///< JSON
    std::vector<std::string> steps; ///< JSON, one each
    std::string loops; ///< loop tree of the schedule
    std::string nest; ///< what the generator gets
    std::vector<ListingKind> listings = {}; ///< that the back end can make of it
    std::vector<std::pair<std::string, double>> features; ///< the reference's, those that are not zero
    std::string problem; ///< why loops, nest or features are missing
    About aboutText = {}, aboutProblem = {};
};

/// Failures that have one cause.
struct FailureView
{
    std::string code, stage, cause;
    std::int64_t count = 0;
    std::vector<std::pair<std::int32_t, std::int64_t>> byTask; ///< most first; -1: of other networks
    std::int64_t example = 0; ///< row of the latest
    std::string text; ///< of the example, whole
    About about = {}; ///< the text
};

/// What FailureView::cause is of a text: its first line, with what differs from trial to trial (numbers, addresses,
/// paths) left out.
std::string causeOf(const std::string& text);

using backend::LineMark;
using backend::Listing;
using backend::MarkedLines;

enum class TrialFile : std::uint8_t
{
    Csv, ///< a heading, and a line per trial; numbers with '.'
    JsonLines ///< whole records
};

struct RoundView
{
    std::int64_t run = 0;
    std::int32_t index = 0;
    std::int32_t task = -1;
    std::int32_t trials = 0;
    std::map<std::string, double> terms; ///< of the scheduler's decision: RoundEvent::terms
    std::string reason; ///< RoundEvent::reason; empty in projects of older versions
    TimeSpent time; ///< RoundDoneEvent::time; empty in projects of the oldest versions
    double atSeconds = 0; ///< at its end
    double estimateMs = kUnknown; ///< EstimateEvent::ms; of older versions its tasks' sum
    double bestMs = kUnknown; ///< of its trials
    double tasksMs = kUnknown; ///< EstimateEvent::tasksMs
    double lowMs = kUnknown, highMs = kUnknown; ///< EstimateEvent::low, high
    std::int64_t rejected = 0; ///< RoundDoneEvent::rejected
};

/// One run, as stored.
struct RunView
{
    std::int64_t id = 0;
    std::string target;
    std::int64_t startedMs = 0;
    double activeSeconds = 0;
    std::string state;
    std::string options; ///< JSON
    double untunedMs = kUnknown;
    struct Measured
    {
        double atSeconds = 0, ms = kUnknown; ///< of the whole network
        deploy::EstimateParts parts; ///< estimated beside it
    };
    std::vector<Measured> measured = {};
    double besideMs = kUnknown; ///< MeasuredEvent::beside() of the latest measurement, of the untuned network too
    struct Finals
    {
        double atSeconds = 0, seconds = 0; ///< their end, how long they took
        double ms = kUnknown; ///< estimate of the network after them
        TimeSpent time; ///< FinalsEvent::time; of older versions: the finals alone
    };
    std::vector<Finals> finals = {};
    VerdictEvent verdict = {}; ///< the latest; unknown where nothing was judged
    double verdictAt = kUnknown; ///< second of the run
    /// When the run stopped or ended, and DoneEvent::rest: rounds, finals and these hold all of its time.
    std::vector<std::pair<double, TimeSpent>> rests = {};
};

/// How well one round was measured: medians over some of its trials.
struct QualityView
{
    std::int32_t round = 0;
    double atSeconds = 0;
    double spread = kUnknown; ///< (slowest - fastest) / fastest of the repeats of a trial that has several
    double controlNs = kUnknown; ///< of the control kernel, which is always the same: what drifts is the machine
    double mhz = kUnknown, celsius = kUnknown, load = kUnknown; ///< where the system tells
    double others = kUnknown, stolen = kUnknown; ///< MachineState's, over the whole round; likewise
    struct Device
    {
        double upload = 0, measure = 0; ///< seconds
        double build = 0; ///< seconds of its own compiler
        std::int64_t trials = 0, rejected = 0; ///< valid ones; samples of these that its probes rejected
        double spread = kUnknown, controlNs = kUnknown; ///< as above
        double drift = kUnknown; ///< by how much its probes differed, a share of their time, those that rejected too
    };
    /// By the name at the broker, or what a device of this machine calls itself. Seconds are of all trials, as far as
    /// some tell; trials are counted where there are several devices or a broker.
    std::map<std::string, Device> devices;
};

/// What a project holds, for views. Its own read-only connection, opened with the first question: it neither waits for
/// the run nor holds it up. Each object is used on one thread at a time, never the GUI's; get one from
/// TuningSession::history(). Every question may answer with StoreFailed, or BadFile for a project that cannot be
/// opened.
class History
{
public:
    virtual ~History() = default;

    /// Another reader of the same project, for another thread.
    virtual std::unique_ptr<History> again() const = 0;
    /// Row numbers. A million take a third of a second. Errors: Cancelled, StoreFailed.
    virtual Result<std::vector<std::int64_t>> find(const TrialQuery& query, std::stop_token stop) = 0;
    virtual Result<std::vector<TrialRow>> rows(std::span<const std::int64_t> rows) = 0;
    virtual Result<TrialDetail> detail(std::int64_t row) = 0; ///< NotFound
    /// Errors: Cancelled, StoreFailed.
    virtual Result<TrialPoints> points(const TrialQuery& query, TrialAxis x, TrialAxis y, std::stop_token stop) = 0;
    virtual Result<std::int64_t> rowOf(const std::string& trial) = 0; ///< NotFound
    virtual Result<std::string> projectNote() = 0; ///< empty: none
    /// Compiles the trial's kernel in a builder process, for one of TrialDetail::listings. Errors: NotFound,
    /// BuildFailed, BuildTimeout, WorkerCrashed, Unsupported.
    virtual Result<Listing> listing(std::int64_t row, const std::string& name) = 0;
    virtual Result<std::vector<FailureView>> failures(std::stop_token stop) = 0; ///< most frequent first
    virtual Result<std::vector<RunView>> runs() = 0; ///< of this model and target, oldest first
    virtual Result<std::vector<RoundView>> rounds(std::int64_t run) = 0;
    /// What the report checks, as the project stands now.
    virtual Result<std::vector<Check>> checks() = 0;
    /// Of rounds from `fromRound` on. Errors: Cancelled, StoreFailed.
    virtual Result<std::vector<QualityView>> quality(std::int64_t run, std::int32_t fromRound,
                                                     std::stop_token stop) = 0;
    /// What templates measured of a task. Errors: InvalidArgument (no such task), Cancelled, StoreFailed.
    virtual Result<TemplateHistory> templateTrials(std::int32_t task, std::stop_token stop) = 0;
    /// Takes the file's name only when it is whole. Errors: StoreFailed, Cancelled.
    virtual Result<> write(std::span<const std::int64_t> rows, const std::filesystem::path& file, TrialFile format,
                           std::stop_token stop) = 0;
};

} // namespace lathe::session
