#include "core/store/project.h"

// What a project holds of its runs beside records and rounds: events, and snapshots of bytes.

namespace lathe::store {

Result<> Project::addEvent(std::int64_t session, double atSeconds, std::string_view kind, std::string_view event)
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, "INSERT INTO events(session, at_s, kind, json) VALUES(?, ?, ?, ?)"));
    return s.bind(session).bind(atSeconds).bind(kind).bind(event).run();
}

Result<> Project::forEachEvent(std::int64_t session,
                               const std::function<void(std::string_view, double, std::string_view)>& visit) const
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, "SELECT kind, at_s, json FROM events WHERE session = ? ORDER BY id"));
    s.bind(session);
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return {};
        visit(s.text(0), s.real(1), s.text(2));
    }
}

Result<> Project::forEachEventAfter(
    std::int64_t event, std::int64_t session,
    const std::function<void(std::int64_t, std::string_view, double, std::string_view)>& visit) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db, "SELECT id, kind, at_s, json FROM events WHERE id > ? AND session = ? ORDER BY id"));
    s.bind(event).bind(session);
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return {};
        visit(s.integer(0), s.text(1), s.real(2), s.text(3));
    }
}

Result<> Project::putSnapshot(std::int64_t session, std::string_view kind, std::int32_t round,
                              std::span<const std::byte> bytes)
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(*m_db, "INSERT OR REPLACE INTO snapshots(session, kind, round, bytes) VALUES(?, ?, ?, ?)"));
    return s.bind(session).bind(kind).bind(std::int64_t{round}).bindBlob(bytes).run();
}

Result<std::optional<std::vector<std::byte>>> Project::snapshot(std::int64_t session, std::string_view kind) const
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, "SELECT bytes FROM snapshots WHERE session = ? AND kind = ?"));
    LATHE_TRY_ASSIGN(const bool row, s.bind(session).bind(kind).step());
    return row ? std::optional(s.blob(0)) : std::nullopt;
}

Result<std::map<std::string, double>> Project::conversions(std::string_view processor) const
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(*m_db, "SELECT conversion, seconds FROM conversions WHERE processor = ?"));
    s.bind(processor);
    std::map<std::string, double> seconds;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return seconds;
        seconds[s.text(0)] = s.real(1);
    }
}

Result<> Project::addConversions(std::string_view processor, const std::map<std::string, double>& seconds,
                                 std::int64_t runs)
{
    LATHE_TRY_ASSIGN(Transaction transaction, Transaction::begin(*m_db));
    for (const auto& [conversion, each] : seconds) {
        LATHE_TRY_ASSIGN(
            Statement s,
            Statement::prepare(
                *m_db, "INSERT OR REPLACE INTO conversions(processor, conversion, seconds, runs) VALUES(?, ?, ?, ?)"));
        LATHE_TRY(s.bind(processor).bind(conversion).bind(each).bind(runs).run());
    }
    return transaction.commit();
}

} // namespace lathe::store
