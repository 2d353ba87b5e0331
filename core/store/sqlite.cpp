#include "core/store/sqlite.h"

#include "core/support/message.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <limits>
#include <system_error>

namespace lathe::store {

namespace {

std::string_view cure(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL: return "the disk is full: free some space and try again";
    case SQLITE_READONLY: return "the file or its folder is read-only";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another program is writing to it";
    case SQLITE_CORRUPT: return "the file is damaged";
    case SQLITE_NOTADB: return "the file is not a Lathe project";
    case SQLITE_CANTOPEN: return "cannot open it: check that the folder exists and is writable";
    case SQLITE_IOERR: return "reading or writing failed: check whether the disk is full or gone";
    default: return {};
    }
}

/// An URI of a file that nobody writes to.
std::string immutableUri(const std::string& file)
{
    std::string uri = "file:";
    for (const char c : file)
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    return uri + "?immutable=1";
}

bool hasPendingWrites(const std::string& file)
{
    std::error_code absent;
    const auto size = std::filesystem::file_size(file + "-wal", absent);
    return !absent && size > 0;
}

} // namespace

void Database::Closer::operator()(sqlite3* db) const
{
    sqlite3_close_v2(db);
}

Error Database::failure(std::string_view doing) const
{
    const int code = m_db ? sqlite3_extended_errcode(m_db.get()) : SQLITE_NOMEM;
    const std::string_view words = cure(code);
    const bool damaged = (code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT;
    return makeError(
        damaged ? Errc::BadFile : Errc::StoreFailed,
        say(Msg::DatabaseFailed, phrase(doing), m_file,
            phrase(words.empty() ? std::string_view(m_db ? sqlite3_errmsg(m_db.get()) : "out of memory") : words)));
}

Result<Database> Database::open(const std::filesystem::path& file, Mode mode)
{
    Database db;
    db.m_file = file.string();
    const int flags = mode == Mode::ReadOnly
                          ? SQLITE_OPEN_READONLY
                          : SQLITE_OPEN_READWRITE | (mode == Mode::ReadWrite ? SQLITE_OPEN_CREATE : 0);
    LATHE_TRY(db.connect(db.m_file, flags));
    // A reader of a WAL database wants to make NAME-shm beside it. Where that is not permitted (read-only media, a
    // folder of someone else) the file is whole by itself if nothing waits in its WAL, and can be read as one that
    // never changes.
    if (mode == Mode::ReadOnly
        && sqlite3_exec(db.handle(), "PRAGMA schema_version", nullptr, nullptr, nullptr) != SQLITE_OK
        && (sqlite3_errcode(db.handle()) & 0xff) == SQLITE_CANTOPEN && !hasPendingWrites(db.m_file))
        LATHE_TRY(db.connect(immutableUri(db.m_file), flags | SQLITE_OPEN_URI));
    return db;
}

Result<> Database::connect(const std::string& name, int flags)
{
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    m_db.reset(raw);
    if (code != SQLITE_OK)
        return failure("opening");
    sqlite3_busy_timeout(raw, 2000);
    return {};
}

Result<> Database::execute(const std::string& sql)
{
    if (sqlite3_exec(m_db.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return failure("writing");
    return {};
}

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

Result<Statement> Statement::prepare(const Database& db, std::string_view sql)
{
    Statement s;
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db.handle(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK)
        return db.failure("reading");
    s.m_statement.reset(raw);
    s.m_db = &db;
    return s;
}

Statement& Statement::bind(std::int64_t value)
{
    sqlite3_bind_int64(m_statement.get(), m_next++, value);
    return *this;
}

Statement& Statement::bind(double value)
{
    sqlite3_bind_double(m_statement.get(), m_next++, value);
    return *this;
}

Statement& Statement::bind(std::string_view value)
{
    sqlite3_bind_text64(m_statement.get(), m_next++, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bindBlob(std::span<const std::byte> value)
{
    sqlite3_bind_blob64(m_statement.get(), m_next++, value.data(), value.size(), SQLITE_TRANSIENT);
    return *this;
}

Statement& Statement::bindNull()
{
    sqlite3_bind_null(m_statement.get(), m_next++);
    return *this;
}

Result<bool> Statement::step()
{
    const int code = sqlite3_step(m_statement.get());
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return m_db->failure(sqlite3_stmt_readonly(m_statement.get()) != 0 ? "reading" : "writing");
}

Result<> Statement::run()
{
    auto stepped = step();
    reset();
    if (!stepped)
        return std::move(stepped).error();
    return {};
}

void Statement::reset()
{
    sqlite3_reset(m_statement.get());
    sqlite3_clear_bindings(m_statement.get());
    m_next = 1;
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(m_statement.get(), column);
}

double Statement::real(int column) const
{
    return isNull(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(m_statement.get(), column);
}

std::string Statement::text(int column) const
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(m_statement.get(), column));
    return text == nullptr
               ? std::string()
               : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column)));
}

std::vector<std::byte> Statement::blob(int column) const
{
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_statement.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column));
    return data == nullptr ? std::vector<std::byte>() : std::vector<std::byte>(data, data + size);
}

bool Statement::isNull(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
}

Result<Transaction> Transaction::begin(Database& db)
{
    LATHE_TRY(db.execute("BEGIN IMMEDIATE"));
    return Transaction(&db);
}

Transaction::~Transaction()
{
    if (m_db != nullptr)
        sqlite3_exec(m_db->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<> Transaction::commit()
{
    LATHE_TRY(m_db->execute("COMMIT"));
    m_db = nullptr;
    return {};
}

} // namespace lathe::store
