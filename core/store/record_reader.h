#pragma once

#include "core/store/project.h"

#include <limits>
#include <stop_token>

namespace lathe::store {

/// Which records, in which order. Empty or NaN fields do not restrict.
struct RecordQuery
{
    enum class Order
    {
        Time, ///< as stored
        Task,
        Alternative,
        Sketch,
        Latency, ///< records without one come last, both ways
        Predicted,
        State, ///< code, then stage
        Round, ///< run, round, place in it
        Verified,
        Trial,
        Text, ///< records without one come last, both ways
        Note, ///< likewise
        Repeats ///< likewise
    };
    std::string task;
    std::string code; ///< Errc; "failed": every one but Ok
    std::string stage;
    std::string cause; ///< as failureCause() makes it
    std::string text; ///< part of alternative, sketch, note or a failure's text, or the first digits of a trial's id
    bool noted = false; ///< only those with a note
    std::int64_t session = 0; ///< 0: any
    std::string target;
    double minNs = std::numeric_limits<double>::quiet_NaN(), maxNs = std::numeric_limits<double>::quiet_NaN();
    std::int64_t afterRow = 0; ///< only rows stored later than this one
    Order order = Order::Time;
    bool descending = false;
};

/// What a list shows of a record.
struct RecordSummary
{
    std::int64_t row = 0; ///< grows with time, unique in the project
    std::string trial;
    std::int64_t session = 0;
    std::int32_t round = 0, index = 0;
    std::string task, alternative, sketch, code, stage;
    std::string text; ///< its first line
    std::string note, repeats;
    bool runoff = false; ///< measured again in a runoff, not in finals (session/finals.h)
    double meanNs = std::numeric_limits<double>::quiet_NaN(), predictedNs = std::numeric_limits<double>::quiet_NaN();
    bool verified = false;
    std::int64_t timeMs = 0;
    About about = {}; ///< the whole text
};

/// A number of every record, for charts.
enum class RecordAxis
{
    Number, ///< the row
    Time, ///< UNIX, milliseconds
    Latency, ///< nanoseconds
    Predicted, ///< nanoseconds
    Ratio, ///< measured by predicted
    Round
};

struct RecordPoint
{
    double x = 0, y = 0;
    std::int64_t row = 0;
};

struct RecordPoints
{
    std::vector<RecordPoint> points; ///< in no particular order
    std::int64_t left = 0; ///< records of the query without one of the numbers
};

/// What a replay tells of a record.
struct PlayedRecord
{
    std::int64_t row = 0;
    std::string trial;
    std::int32_t index = 0;
    std::string task, alternative, sketch, hash, stage, code, text;
    double meanNs = std::numeric_limits<double>::quiet_NaN();
    std::int64_t timeMs = 0;
    About about = {}; ///< the text
};

/// How one record was measured.
struct MeasuredHow
{
    std::string costsNs, conditions, device, durationsMs; ///< JSON
};

/// Failures that have one cause.
struct FailureGroup
{
    std::string code, stage, cause;
    std::int64_t count = 0;
    std::map<std::string, std::int64_t> byTask;
    std::int64_t example = 0; ///< row of the latest
};

/// A failure's first line with what differs from trial to trial (numbers, addresses, paths) left out; numbers of
/// signals stay.
std::string failureCause(std::string_view text);

/// Lists of a project's records, for views of a million of them: find() yields row numbers from a narrow index, rows()
/// reads what is visible. Its own read-only connection; one thread at a time; never blocks the writer, nor is blocked
/// by it.
class RecordReader
{
public:
    static Result<RecordReader> open(const std::filesystem::path& file);

    const Project& project() const { return m_project; }

    /// Errors: Cancelled, StoreFailed.
    Result<std::vector<std::int64_t>> find(const RecordQuery& query, std::stop_token stop = {}) const;
    /// In the order of `rows`; rows that are gone are left out.
    Result<std::vector<RecordSummary>> rows(std::span<const std::int64_t> rows) const;
    Result<Record> record(std::int64_t row) const; ///< NotFound
    /// Errors: Cancelled, StoreFailed.
    Result<RecordPoints> points(const RecordQuery& query, RecordAxis x, RecordAxis y, std::stop_token stop = {}) const;
    Result<std::int64_t> rowOf(std::string_view trial) const; ///< NotFound
    Result<std::vector<RecordSummary>> repeatsOf(
        std::string_view trial) const; ///< trials that measured it again, oldest first
    /// Most frequent first; those stored up to row `upTo` alone, 0: all.
    Result<std::vector<FailureGroup>> failures(std::stop_token stop = {}, std::int64_t upTo = 0) const;
    /// Of one round, as stored.
    Result<std::vector<PlayedRecord>> round(std::int64_t session, std::int32_t round) const;
    /// Of the first `limit` valid records of a round.
    Result<std::vector<MeasuredHow>> measuredHow(std::int64_t session, std::int32_t round, std::int32_t limit) const;
    /// Numbers of the rounds that have records.
    Result<std::vector<std::int32_t>> rounds(std::int64_t session) const;
    /// Nanoseconds of the fastest valid record of each round that has one.
    Result<std::map<std::int32_t, double>> bestByRound(std::int64_t session) const;
    Result<std::int64_t> lastRow() const; ///< 0: none

private:
    using Interrupt = std::function<Error(Error)>;
    explicit RecordReader(Project project)
        : m_project(std::move(project))
    {
    }
    Result<std::vector<std::int64_t>> along(std::string_view sql, std::vector<std::int64_t> known, bool descending,
                                            const Interrupt& failure) const;
    Project m_project;
};

} // namespace lathe::store
