#include "core/store/project.h"

#include "core/store/record_rows.h"
#include "core/store/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

namespace lathe::store {

namespace {

Result<std::int64_t> pragma(const Database& db, const std::string& name)
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(db, "PRAGMA " + name));
    LATHE_TRY_ASSIGN(const bool row, s.step());
    return row ? s.integer(0) : 0;
}

void deviceKeyOf(sqlite3_context* context, int, sqlite3_value** arguments)
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
    const std::string key = text == nullptr ? std::string() : identityOf(std::string(text, size)).key;
    sqlite3_result_text64(context, key.data(), key.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// The function device_key_of(fingerprint) of kSchemaSteps.
Result<> addDeviceKeyFunction(const Database& db)
{
    if (sqlite3_create_function_v2(db.handle(), "device_key_of", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                   deviceKeyOf, nullptr, nullptr, nullptr)
        != SQLITE_OK)
        return db.failure("reading");
    return {};
}

/// What SQLite itself would take for a file to make or to repair. Errors: NotFound, BadFile, StoreFailed.
Result<> checkFile(const std::filesystem::path& file, Project::Access access)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        return makeError(Errc::BadFile, say(Msg::ProjectIsFolder, file.string()));
    if (!std::filesystem::exists(file, ignored)) {
        if (access == Project::Access::Read)
            return makeError(Errc::NotFound, say(Msg::NoProject, file.string()));
        const std::filesystem::path folder = file.parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
            return makeError(Errc::NotFound, say(Msg::ProjectNoFolder, file.string(), folder.string()));
        return {};
    }
    // SQLite reads what is missing of a last page as zeros, and would go on writing to a copy that was cut off. While
    // pages wait in the WAL the file itself may be behind.
    const std::uintmax_t pending = std::filesystem::file_size(file.string() + "-wal", ignored);
    if (!ignored && pending > 0)
        return {};
    std::array<unsigned char, 18> header{};
    std::ifstream in(file, std::ios::binary);
    const std::uintmax_t size = std::filesystem::file_size(file, ignored);
    if (!in.read(reinterpret_cast<char*>(header.data()), header.size())
        || std::memcmp(header.data(), "SQLite format 3", 16) != 0)
        return {};
    const unsigned written = header[16] * 256u + header[17];
    const unsigned page = written == 1 ? 65536 : written;
    if (page != 0 && size % page != 0)
        return makeError(Errc::BadFile, say(Msg::ProjectCutOff, file.string()));
    return {};
}

std::filesystem::path lockOf(const std::filesystem::path& file)
{
    return file.string() + "-lock";
}

} // namespace

std::optional<LockHolder> Project::writerOf(const std::filesystem::path& file)
{
    return WriteLock::holder(lockOf(file));
}

Message sayWriter(const LockHolder& holder)
{
    return holder.program.empty() ? say(Msg::WriterUnknown)
                                  : say(Msg::WriterNamed, holder.program, holder.pid, holder.host);
}

Result<Project> Project::open(const std::filesystem::path& file, Access access)
{
    Project project;
    project.m_file = file;
    project.m_readOnly = access == Access::Read;
    LATHE_TRY(checkFile(file, access));
    if (access == Access::Write) {
        auto lock = WriteLock::tryAcquire(lockOf(file));
        if (!lock && std::filesystem::exists(file)) {
            project.m_readOnly = true;
            project.m_reason = makeError(Errc::StoreFailed, say(Msg::ReadOnlyFolder, file.string()));
        } else if (!lock) {
            return makeError(Errc::StoreFailed, say(Msg::ProjectFolderLocked, file.string()));
        } else if (!lock->held()) {
            const std::optional<LockHolder> holder = writerOf(file);
            project.m_readOnly = project.m_lockedOut = true;
            project.m_reason = makeError(Errc::StoreFailed,
                                         holder ? say(Msg::ReadOnlyWriter, file.string(), sayWriter(*holder))
                                                : say(Msg::ReadOnlyOther, file.string()));
        } else {
            project.m_lock = *std::move(lock);
        }
    }
    std::error_code unknown;
    project.m_ownWal = project.m_readOnly && !std::filesystem::exists(file.string() + "-wal", unknown) && !unknown;
    LATHE_TRY_ASSIGN(Database db,
                     Database::open(file, project.m_readOnly ? Database::Mode::ReadOnly : Database::Mode::ReadWrite));
    project.m_db = std::make_unique<Database>(std::move(db));
    LATHE_TRY_ASSIGN(const bool old, project.migrate());
    if (old) {
        // Readers expect today's tables: a short visit as the writer brings them.
        if (access == Access::Write)
            return makeError(Errc::Incompatible, say(Msg::ProjectTooOld, file.string(), project.m_reason));
        project.m_db.reset();
        LATHE_TRY_ASSIGN(const Project writer, open(file, Access::Write));
        return open(file, Access::Read);
    }
    return project;
}

Result<Project> Project::beside() const
{
    if (m_readOnly)
        return m_reason.message.empty() ? makeError(Errc::StoreFailed, say(Msg::ReadOnly, m_file.string())) : m_reason;
    Project project;
    project.m_file = m_file;
    project.m_beside = true;
    LATHE_TRY_ASSIGN(Database db, Database::open(m_file, Database::Mode::ReadWrite));
    project.m_db = std::make_unique<Database>(std::move(db));
    LATHE_TRY(project.m_db->execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON"));
    return project;
}

Result<bool> Project::migrate()
{
    LATHE_TRY_ASSIGN(const std::int64_t application, pragma(*m_db, "application_id"));
    LATHE_TRY_ASSIGN(const std::int64_t version, pragma(*m_db, "user_version"));
    LATHE_TRY_ASSIGN(const std::int64_t tables, pragma(*m_db, "schema_version"));
    if (tables != 0 && application != kApplicationId)
        return makeError(Errc::BadFile, say(Msg::ProjectNoLathe, m_file.string()));
    if (version > kSchemaVersion)
        return makeError(Errc::Incompatible, say(Msg::ProjectTooNew, m_file.string(), version, kSchemaVersion));
    if (tables == 0 ? version != 0 : version < 1)
        return makeError(Errc::BadFile, say(Msg::ProjectSchemaBroken, m_file.string(), version));
    if (m_readOnly) {
        if (tables == 0)
            return makeError(Errc::NotFound, say(Msg::ProjectEmpty, m_file.string())); // its maker was killed at once
        return version < kSchemaVersion;
    }
    LATHE_TRY(m_db->execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON"));
    if (version == kSchemaVersion)
        return false;
    LATHE_TRY(addDeviceKeyFunction(*m_db));
    LATHE_TRY_ASSIGN(Transaction transaction, Transaction::begin(*m_db));
    for (std::int64_t v = version; v < kSchemaVersion; ++v)
        LATHE_TRY(m_db->execute(kSchemaSteps[static_cast<std::size_t>(v)]));
    LATHE_TRY(
        m_db->execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, kSchemaVersion)));
    LATHE_TRY(transaction.commit());
    return false;
}

Project::~Project()
{
    // SQLite's readers make the WAL that they do not find, and keep one in place whose writer has ended; they cannot
    // take it away. The last connection that may write does.
    if (m_db && (m_ownWal || m_lockedOut)) {
        m_db.reset();
        if (const auto tidy = Database::open(m_file, Database::Mode::Existing))
            (void)pragma(*tidy, "schema_version");
        return;
    }
    if (m_db && m_db->handle() != nullptr && !m_readOnly && !m_beside)
        (void)m_db->execute(
            "PRAGMA wal_checkpoint(TRUNCATE)"); // a failure here loses nothing: the WAL stays and is read next time
}

Result<std::int64_t> Project::addModel(const ModelRow& model)
{
    LATHE_TRY_ASSIGN(Statement find, Statement::prepare(*m_db, "SELECT id FROM models WHERE hash = ? AND options = ?"));
    LATHE_TRY_ASSIGN(const bool there, find.bind(model.hash).bind(model.options).step());
    if (there)
        return find.integer(0);
    LATHE_TRY_ASSIGN(Statement add,
                     Statement::prepare(*m_db,
                                        "INSERT INTO models(hash, source, name, options, used) VALUES(?, ?, ?, ?, "
                                        "1 + coalesce((SELECT max(used) FROM models), 0))"));
    LATHE_TRY(add.bind(model.hash).bind(model.source).bind(model.name).bind(model.options).run());
    return std::int64_t{sqlite3_last_insert_rowid(m_db->handle())};
}

Result<> Project::useModel(std::int64_t id, std::string_view target)
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db,
                           "UPDATE models SET used = 1 + (SELECT max(used) FROM models), target = ? WHERE id = ?"));
    return s.bind(target).bind(id).run();
}

Result<> Project::moveModel(std::int64_t id, std::string_view source, std::string_view options)
{
    // An older version may have left another row of these options: it stays.
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "UPDATE OR IGNORE models SET source = ?, options = ? "
                                                            "WHERE id = ?"));
    return s.bind(source).bind(options).bind(id).run();
}

Result<std::vector<ModelRow>> Project::models() const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db, "SELECT id, hash, source, name, options, target FROM models ORDER BY used, id"));
    std::vector<ModelRow> rows;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return rows;
        rows.push_back({s.integer(0), s.text(1), s.text(2), s.text(3), s.text(4), s.text(5)});
    }
}

Result<> Project::addTasks(std::int64_t model, const std::vector<TaskRow>& tasks)
{
    LATHE_TRY_ASSIGN(Transaction transaction, Transaction::begin(*m_db));
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db,
                           "INSERT OR REPLACE INTO tasks(model, position, key, name, weight, flop, compatible_keys) "
                           "VALUES(?, ?, ?, ?, ?, ?, ?)"));
    std::int64_t position = 0;
    for (const TaskRow& task : tasks)
        LATHE_TRY(s.bind(model)
                      .bind(position++)
                      .bind(task.key)
                      .bind(task.name)
                      .bind(std::int64_t{task.weight})
                      .bind(task.flop)
                      .bind(task.compatibleKeys)
                      .run());
    return transaction.commit();
}

Result<std::vector<TaskRow>> Project::tasks(std::int64_t model) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            *m_db, "SELECT key, name, weight, flop, compatible_keys FROM tasks WHERE model = ? ORDER BY position"));
    s.bind(model);
    std::vector<TaskRow> rows;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return rows;
        rows.push_back({s.text(0), s.text(1), static_cast<std::int32_t>(s.integer(2)), s.real(3), s.text(4)});
    }
}

Result<std::int64_t> Project::addSession(const SessionRow& session)
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            *m_db,
            "INSERT INTO sessions(model, target, options, started_ms, active_s, state) VALUES(?, ?, ?, ?, ?, ?)"));
    LATHE_TRY(s.bind(session.model)
                  .bind(session.target)
                  .bind(session.options)
                  .bind(session.startedMs)
                  .bind(session.activeSeconds)
                  .bind(session.state)
                  .run());
    return std::int64_t{sqlite3_last_insert_rowid(m_db->handle())};
}

Result<> Project::updateSession(std::int64_t id, std::string_view state, double activeSeconds)
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, "UPDATE sessions SET state = ?, active_s = ? WHERE id = ?"));
    return s.bind(state).bind(activeSeconds).bind(id).run();
}

Result<> Project::setSessionOptions(std::int64_t id, std::string_view options)
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "UPDATE sessions SET options = ? WHERE id = ?"));
    return s.bind(options).bind(id).run();
}

Result<std::vector<SessionRow>> Project::sessions() const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db,
                           "SELECT id, model, target, options, started_ms, active_s, state FROM sessions ORDER BY id"));
    std::vector<SessionRow> rows;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return rows;
        rows.push_back({s.integer(0), s.integer(1), s.text(2), s.text(3), s.integer(4), s.real(5), s.text(6)});
    }
}

Result<> Project::addRecords(std::span<const Record> records)
{
    LATHE_TRY_ASSIGN(Transaction transaction, Transaction::begin(*m_db));
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, kInsertRecord));
    for (const Record& record : records)
        LATHE_TRY(bindRecord(s, record).run());
    return transaction.commit();
}

Result<> Project::addRound(const RoundRow& round)
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db,
                           "INSERT OR REPLACE INTO rounds(session, position, task, trials, terms, durations_ms, at_s, "
                           "estimate_ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
    s.bind(round.session)
        .bind(std::int64_t{round.index})
        .bind(round.task)
        .bind(std::int64_t{round.trials})
        .bind(round.terms)
        .bind(round.durations)
        .bind(round.atSeconds);
    if (std::isfinite(round.estimateMs))
        s.bind(round.estimateMs);
    else
        s.bindNull();
    return s.run();
}

Result<std::vector<RoundRow>> Project::rounds(std::int64_t session) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db, "SELECT position, task, trials, terms, durations_ms, at_s, estimate_ms FROM rounds "
                                  "WHERE session = ? ORDER BY position"));
    s.bind(session);
    std::vector<RoundRow> rows;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return rows;
        rows.push_back({session, static_cast<std::int32_t>(s.integer(0)), s.text(1),
                        static_cast<std::int32_t>(s.integer(2)), s.text(3), s.text(4), s.real(5), s.real(6)});
    }
}

Result<std::int64_t> Project::version() const
{
    return pragma(*m_db, "data_version");
}

Result<> Project::atOnce(const std::function<Result<>()>& read) const
{
    LATHE_TRY(m_db->execute("BEGIN"));
    Result<> done = read();
    Result<> ended = m_db->execute("COMMIT"); // nothing was written: it lets go of the state
    return done ? std::move(ended) : std::move(done);
}

Result<> Project::forEachRecord(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const
{
    std::string sql = fmt::format("SELECT {} FROM records WHERE 1", kRecordColumns);
    if (!filter.task.empty())
        sql += " AND task = ?";
    if (filter.ok)
        sql += *filter.ok ? " AND code = 'Ok'" : " AND code <> 'Ok'";
    sql += filter.bestFirst ? " ORDER BY mean_ns IS NULL, mean_ns, id" : " ORDER BY id";
    sql += " LIMIT ? OFFSET ?";
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, sql));
    if (!filter.task.empty())
        s.bind(filter.task);
    s.bind(filter.limit).bind(filter.offset);
    return readRecords(s, visit);
}

Result<std::vector<Record>> Project::sessionRecords(std::int64_t session) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            *m_db, fmt::format("SELECT {} FROM records WHERE session = ? ORDER BY round, position", kRecordColumns)));
    s.bind(session);
    std::vector<Record> records;
    LATHE_TRY(readRecords(s, [&records](const Record& r) { records.push_back(r); }));
    return records;
}

Result<std::vector<BestRow>> Project::best(const BestFilter& filter) const
{
    std::string sql = fmt::format("SELECT {} FROM best WHERE 1", kRecordColumns);
    if (!filter.task.empty())
        sql += " AND task = ?";
    if (!filter.target.empty())
        sql += " AND target = ?";
    if (filter.conditions)
        sql += " AND device_key = ? AND cold_bytes = ?";
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, sql + " ORDER BY task, past, mean_ns, id"));
    if (!filter.task.empty())
        s.bind(filter.task);
    if (!filter.target.empty())
        s.bind(filter.target);
    if (filter.conditions)
        s.bind(filter.conditions->deviceKey).bind(filter.conditions->coldBytes);
    std::vector<BestRow> rows;
    LATHE_TRY(readRecords(s, [&rows](const Record& r) {
        rows.push_back({r.candidate.task, r.candidate.alternative, r.result.meanNs(), conditionsOf(r), r});
    }));
    return rows;
}

Result<> Project::forEachContender(std::string_view task, std::string_view target, const Conditions& conditions,
                                   const std::function<bool(const Record&)>& visit) const
{
    const std::string sql = fmt::format(
        "SELECT {} FROM records r WHERE task = ?1 AND code = 'Ok' AND mean_ns IS NOT NULL AND target = ?2 AND "
        "device_key = ?3 AND cold_bytes = ?4 AND id >= coalesce((SELECT f.since FROM finals f WHERE f.task = ?1 "
        "AND f.target = ?2 AND f.device_key = ?3 AND f.cold_bytes = ?4), 0) ORDER BY mean_ns, id",
        kRecordColumns);
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, sql));
    s.bind(task).bind(target).bind(conditions.deviceKey).bind(conditions.coldBytes);
    return readRecordsWhile(s, visit);
}

Result<std::optional<double>> Project::costOf(std::string_view task, std::string_view target,
                                              const Conditions& conditions, const Hash128& candidate) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(
                                      *m_db, "SELECT mean_ns FROM records WHERE task = ?1 AND code = 'Ok' AND mean_ns "
                                             "IS NOT NULL AND target = ?2 AND device_key = ?3 AND cold_bytes = ?4 "
                                             "AND hash = ?5 ORDER BY id DESC LIMIT 1"));
    s.bind(task).bind(target).bind(conditions.deviceKey).bind(conditions.coldBytes).bind(candidate.hex());
    LATHE_TRY_ASSIGN(const bool found, s.step());
    return found ? std::optional(s.real(0)) : std::nullopt;
}

Result<std::vector<Conditions>> Project::conditions(std::string_view target) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            *m_db, "SELECT f.device_key, f.cold_bytes, r.device FROM "
                   "(SELECT device_key, cold_bytes, max(latest) AS latest FROM fastest WHERE target = ? "
                   "GROUP BY device_key, cold_bytes) f JOIN records r ON r.id = f.latest ORDER BY f.latest DESC"));
    s.bind(target);
    std::vector<Conditions> all;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return all;
        all.push_back({s.text(0), s.integer(1), s.text(2)});
    }
}

Result<std::vector<std::string>> Project::targets() const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "SELECT DISTINCT target FROM fastest ORDER BY target"));
    std::vector<std::string> all;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return all;
        all.push_back(s.text(0));
    }
}

Result<TaskTotals> Project::totals(std::string_view task) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "SELECT trials, errors FROM totals WHERE task = ?"));
    LATHE_TRY_ASSIGN(const bool row, s.bind(task).step());
    return row ? TaskTotals{s.integer(0), s.integer(1)} : TaskTotals{};
}

Result<std::int64_t> Project::recordCount() const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "SELECT coalesce(sum(trials + finals), 0) FROM totals"));
    LATHE_TRY(s.step());
    return s.integer(0);
}

Result<> Project::setBudget(const BudgetRow& budget)
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            *m_db,
            "INSERT OR REPLACE INTO budgets(model, task, pinned, muted, boost, trial_cap) VALUES(?, ?, ?, ?, ?, ?)"));
    return s.bind(budget.model)
        .bind(budget.task)
        .bind(std::int64_t{budget.pinned})
        .bind(std::int64_t{budget.muted})
        .bind(budget.boost)
        .bind(budget.trialCap)
        .run();
}

Result<std::vector<BudgetRow>> Project::budgets(std::int64_t model) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db,
                           "SELECT task, pinned, muted, boost, trial_cap FROM budgets WHERE model = ? ORDER BY task"));
    s.bind(model);
    std::vector<BudgetRow> rows;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return rows;
        rows.push_back({model, s.text(0), s.integer(1) != 0, s.integer(2) != 0, s.real(3), s.integer(4)});
    }
}

Result<std::vector<std::string>> Project::trialsWithPrefix(std::string_view prefix, std::int64_t limit) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db, "SELECT trial FROM records WHERE trial >= ? AND trial < ? ORDER BY trial LIMIT ?"));
    s.bind(prefix).bind(std::string(prefix) + '\x7f').bind(limit);
    std::vector<std::string> trials;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return trials;
        trials.push_back(s.text(0));
    }
}

Result<Record> Project::record(std::string_view trial) const
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, fmt::format("SELECT {} FROM records WHERE trial = ?", kRecordColumns)));
    s.bind(trial);
    std::optional<Record> found;
    LATHE_TRY(readRecords(s, [&found](const Record& record) { found = record; }));
    if (!found)
        return makeError(Errc::NotFound, say(Msg::ProjectNoTrial, m_file.string(), trial));
    return *std::move(found);
}

std::string noteOf(std::string_view trial)
{
    return "trial:" + std::string(trial);
}

Result<> Project::setNote(std::string_view subject, std::string_view text)
{
    if (text.empty()) {
        LATHE_TRY_ASSIGN(Statement gone, Statement::prepare(*m_db, "DELETE FROM notes WHERE subject = ?"));
        return gone.bind(subject).run();
    }
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, "INSERT OR REPLACE INTO notes(subject, text) VALUES(?, ?)"));
    return s.bind(subject).bind(text).run();
}

Result<std::string> Project::note(std::string_view subject) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "SELECT text FROM notes WHERE subject = ?"));
    LATHE_TRY_ASSIGN(const bool row, s.bind(subject).step());
    return row ? s.text(0) : std::string();
}

Result<std::map<std::string, std::string>> Project::notes() const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(*m_db, "SELECT subject, text FROM notes"));
    std::map<std::string, std::string> notes;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return notes;
        notes[s.text(0)] = s.text(1);
    }
}

} // namespace lathe::store
