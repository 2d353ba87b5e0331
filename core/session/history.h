#pragma once

#include "core/session/views.h"
#include "core/support/result.h"

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
        State
    };
    std::int32_t task = -1;
    std::string code; ///< Errc; "failed": every one but Ok
    std::string stage;
    std::string cause; ///< FailureView::cause
    std::string text; ///< part of alternative, sketch or a failure's text, or the first digits of the trial's id
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
    double costMs = kUnknown, predictedMs = kUnknown;
    bool verified = false;
    std::int64_t timeMs = 0; ///< UNIX
};

/// All that is known of one trial.
struct TrialDetail
{
    TrialRow row;
    std::string text; ///< whole
    std::string candidate; ///< hash
    std::string genome;
    std::vector<double> repeatsMs;
    std::map<std::string, double> durationsMs;
    std::string conditions, device; ///< JSON
    std::vector<std::string> steps; ///< JSON, one each
    std::string loops; ///< loop tree of the schedule
    std::string nest; ///< what the generator gets
    std::vector<std::pair<std::string, double>> features; ///< the reference's, those that are not zero
    std::string problem; ///< why loops, nest or features are missing
};

/// Failures that have one cause.
struct FailureView
{
    std::string code, stage, cause;
    std::int64_t count = 0;
    std::vector<std::pair<std::int32_t, std::int64_t>> byTask; ///< most first; -1: of other networks
    std::int64_t example = 0; ///< row of the latest
    std::string text; ///< of the example, whole
};

enum class Listing : std::uint8_t
{
    LlvmIr,
    Assembly,
    Source
};

struct RoundView
{
    std::int64_t run = 0;
    std::int32_t index = 0;
    std::int32_t task = -1;
    std::int32_t trials = 0;
    std::map<std::string, double> terms; ///< of the scheduler's decision: RoundEvent::terms
    std::string reason; ///< RoundEvent::reason; empty in projects of older versions
    std::map<std::string, double> activitySeconds; ///< empty in projects of older versions
    double atSeconds = 0; ///< at its end
    double estimateMs = kUnknown;
    double bestMs = kUnknown; ///< of its trials
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
    std::vector<std::pair<double, double>> measured; ///< (at seconds, ms) of the whole network
};

/// What a project holds, for views. Its own read-only connection: it neither waits for the run nor holds it up. Each object is
/// used on one thread at a time, never the GUI's; get one from TuningSession::history().
class History
{
public:
    virtual ~History() = default;

    /// Another reader of the same project, for another thread.
    virtual Result<std::unique_ptr<History>> again() const = 0;
    /// Row numbers. A million take a third of a second. Errors: Cancelled, StoreFailed.
    virtual Result<std::vector<std::int64_t>> find(const TrialQuery& query, std::stop_token stop) = 0;
    virtual Result<std::vector<TrialRow>> rows(std::span<const std::int64_t> rows) = 0;
    virtual Result<TrialDetail> detail(std::int64_t row) = 0; ///< NotFound
    /// Compiles the trial's kernel in a builder process. Errors: NotFound, BuildFailed, BuildTimeout, WorkerCrashed, Unsupported.
    virtual Result<std::string> listing(std::int64_t row, Listing what) = 0;
    virtual Result<std::vector<FailureView>> failures(std::stop_token stop) = 0; ///< most frequent first
    virtual Result<std::vector<RunView>> runs() = 0; ///< of this model and target, oldest first
    virtual Result<std::vector<RoundView>> rounds(std::int64_t run) = 0;
    /// CSV (a heading and a line per trial, numbers with '.') or, for names ending in .jsonl, whole records as lines of JSON.
    /// Errors: StoreFailed, Cancelled.
    virtual Result<> write(std::span<const std::int64_t> rows, const std::filesystem::path& file, std::stop_token stop) = 0;
};

} // namespace lathe::session
