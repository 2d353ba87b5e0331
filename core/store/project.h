#pragma once

#include "core/record/record.h"
#include "core/store/sqlite.h"
#include "core/store/write_lock.h"
#include "core/support/message.h"

#include <functional>
#include <map>
#include <optional>

namespace lathe::store {

struct ModelRow
{
    std::int64_t id = 0;
    std::string hash; ///< of the file's or the zoo network's contents
    std::string source; ///< path as given, or "zoo:NAME"
    std::string name;
    std::string options; ///< JSON of batch, shapes, sizes, layout, partition, hardware
    std::string target = {}; ///< that it was last used for; empty: nobody noted that
};

struct TaskRow
{
    std::string key;
    std::string name;
    std::int32_t weight = 1;
    double flop = 0;
    std::string compatibleKeys; ///< JSON: {"flat", "nested", "hash": workload keys; "reference": the alternative that
                                ///< they describe}
};

struct SessionRow
{
    std::int64_t id = 0;
    std::int64_t model = 0;
    std::string target;
    std::string options; ///< JSON of the tuning options, seed included
    std::int64_t startedMs = 0;
    double activeSeconds = 0; ///< time spent running, over all resumptions
    std::string state; ///< "running", "paused", "stopped", "finished"
};

/// One scheduler decision.
struct RoundRow
{
    std::int64_t session = 0;
    std::int32_t index = 0;
    std::string task;
    std::int32_t trials = 0;
    std::string terms; ///< JSON: why this task
    std::string durations; ///< JSON, ms by activity
    double atSeconds = 0; ///< session time at its end
    double estimateMs = 0; ///< after it; NaN while unknown
};

/// How a cost was measured, besides the target: costs of other conditions do not compare with it.
struct Conditions
{
    std::string deviceKey; ///< DeviceIdentity::key
    std::int64_t coldBytes = 0; ///< lathe::coldBytes of its records
    std::string fingerprint = {}; ///< of one such device, for people. No part of the identity
    friend bool operator==(const Conditions& a, const Conditions& b)
    {
        return a.deviceKey == b.deviceKey && a.coldBytes == b.coldBytes;
    }
};

/// Under which a record was measured.
inline Conditions conditionsOf(const Record& record)
{
    return {record.result.device.key, coldBytes(record), record.result.device.fingerprint};
}

struct BestRow
{
    std::string task;
    std::string alternative;
    double costNs = 0;
    Conditions conditions;
    Record record;
};

/// Empty fields do not restrict.
struct BestFilter
{
    std::string task;
    std::string target;
    std::optional<Conditions> conditions;
};

struct TaskTotals
{
    std::int64_t trials = 0; ///< without finals
    std::int64_t errors = 0;
};

/// What a person asks of the scheduler for one task.
struct BudgetRow
{
    std::int64_t model = 0;
    std::string task;
    bool pinned = false, muted = false;
    double boost = 1; ///< factor on what the task promises
    std::int64_t trialCap = 0; ///< 0: none
};

struct RecordFilter
{
    std::string task; ///< empty: any
    std::optional<bool> ok;
    std::int64_t offset = 0;
    std::int64_t limit = -1;
    bool bestFirst = false; ///< else in time order
};

/// The project database: one SQLite file, WAL, synchronous=FULL (design.md 6). All writes of one call are one
/// transaction, on disk when it returns. Threads: one at a time. A second process gets it read-only. Errors of every
/// call: StoreFailed or BadFile in one sentence; what was readable stays untouched.
class Project
{
public:
    enum class Access
    {
        Write, ///< creates; becomes read-only, and says so, while another process writes
        Read
    };
    static Result<Project> open(const std::filesystem::path& file, Access access);
    Project(Project&&) noexcept = default;
    Project& operator=(Project&&) noexcept = default;
    ~Project(); ///< a writer checkpoints the WAL away

    bool readOnly() const { return m_readOnly; }
    /// Why it is read-only; empty if it is not, or if that was asked for.
    const std::string& readOnlyReason() const { return m_reason.message; }
    const Error& readOnlyError() const { return m_reason; } ///< the same, with what it is about
    /// It was to be written to, and another program writes.
    bool lockedOut() const { return m_lockedOut; }
    /// Who writes to a project now, in whatever process; nothing: nobody does.
    static std::optional<LockHolder> writerOf(const std::filesystem::path& file);
    const std::filesystem::path& file() const { return m_file; }
    const Database& database() const { return *m_db; }
    /// Another connection of the writer, for another thread; this one must outlive it. StoreFailed where this is
    /// read-only.
    Result<Project> beside() const;

    Result<std::int64_t> addModel(const ModelRow& model); ///< id of the equal one if there is
    /// Notes that it is the model that is worked on now, for this target.
    Result<> useModel(std::int64_t id, std::string_view target);
    /// Notes that its file is elsewhere now. `options` say so, too.
    Result<> moveModel(std::int64_t id, std::string_view source, std::string_view options);
    Result<std::vector<ModelRow>> models() const; ///< the one that was used last comes last
    Result<> addTasks(std::int64_t model, const std::vector<TaskRow>& tasks);
    Result<std::vector<TaskRow>> tasks(std::int64_t model) const;

    Result<std::int64_t> addSession(const SessionRow& session);
    Result<> updateSession(std::int64_t id, std::string_view state, double activeSeconds);
    Result<> setSessionOptions(std::int64_t id, std::string_view options);
    Result<std::vector<SessionRow>> sessions() const;

    /// Ignores trial ids that it has. Durable when it returns.
    Result<> addRecords(std::span<const Record> records);
    Result<> addRound(const RoundRow& round);
    Result<std::vector<RoundRow>> rounds(std::int64_t session) const;
    Result<> addEvent(std::int64_t session, double atSeconds, std::string_view kind, std::string_view event);
    /// kind, atSeconds, json in time order.
    Result<> forEachEvent(
        std::int64_t session,
        const std::function<void(std::string_view kind, double at, std::string_view json)>& visit) const;
    /// Of those that were stored later than the one of that number; for 0 all.
    Result<> forEachEventAfter(std::int64_t event, std::int64_t session,
                               const std::function<void(std::int64_t event, std::string_view kind, double at,
                                                        std::string_view json)>& visit) const;
    Result<> putSnapshot(std::int64_t session, std::string_view kind, std::int32_t round,
                         std::span<const std::byte> bytes);
    Result<std::optional<std::vector<std::byte>>> snapshot(std::int64_t session, std::string_view kind) const;

    Result<> forEachRecord(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const;
    Result<std::vector<Record>> sessionRecords(std::int64_t session) const; ///< by (round, index)
    /// The best valid record of each task, target, condition and alternative, ordered by task. The best record of a
    /// task comes first: those that finals left behind come last (schema.cpp has the rule), and apart from that
    /// cost decides.
    Result<std::vector<BestRow>> best(const BestFilter& filter = {}) const;
    /// Valid records of a task that finals have not left behind, the fastest first, until `visit` has seen enough and
    /// says no.
    Result<> forEachContender(std::string_view task, std::string_view target, const Conditions& conditions,
                              const std::function<bool(const Record&)>& visit) const;
    /// Mean cost in ns of a candidate of the task, by Candidate::hash(), as it was measured last; nothing: it was not,
    /// or failed.
    Result<std::optional<double>> costOf(std::string_view task, std::string_view target, const Conditions& conditions,
                                         const Hash128& candidate) const;
    /// Under which valid records for a target were measured, the latest first.
    Result<std::vector<Conditions>> conditions(std::string_view target) const;
    Result<std::vector<std::string>> targets() const; ///< that it has valid records for
    Result<TaskTotals> totals(std::string_view task) const;
    Result<std::int64_t> recordCount() const;
    /// Ids of the trials that begin so, at most `limit`.
    Result<std::vector<std::string>> trialsWithPrefix(std::string_view prefix, std::int64_t limit) const;
    Result<Record> record(std::string_view trial) const; ///< NotFound
    /// Seconds that changes of layouts take, by their texts, of a processor.
    Result<std::map<std::string, double>> conversions(std::string_view processor) const;
    Result<> addConversions(std::string_view processor, const std::map<std::string, double>& seconds,
                            std::int64_t runs);
    Result<> setBudget(const BudgetRow& budget);
    Result<std::vector<BudgetRow>> budgets(std::int64_t model) const;
    /// Subjects are "project" and noteOf(trial). An empty text takes the note away.
    Result<> setNote(std::string_view subject, std::string_view text);
    Result<std::string> note(std::string_view subject) const; ///< empty: none
    Result<std::map<std::string, std::string>> notes() const; ///< by subject

    /// Another number than before: another connection has written.
    Result<std::int64_t> version() const;
    /// What `read` reads is one state of the project.
    Result<> atOnce(const std::function<Result<>()>& read) const;

private:
    Project() = default;
    Result<bool> migrate(); ///< true: the tables are old, and this connection may not change them
    std::filesystem::path m_file;
    std::unique_ptr<Database> m_db;
    WriteLock m_lock; ///< NAME.lathe-lock
    bool m_readOnly = false;
    bool m_ownWal = false; ///< a reader that found no WAL
    bool m_beside = false; ///< the lock is another's
    bool m_lockedOut = false;
    Error m_reason = {Errc::StoreFailed, {}};
};

/// "lathe-cli (process 4711 on host)", "another program".
Message sayWriter(const LockHolder& holder);

inline constexpr std::string_view kProjectNote = "project";
std::string noteOf(std::string_view trial); ///< its note's subject

} // namespace lathe::store
