#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace lathe::store {

/// One SQLite connection. Threads: one at a time.
class Database
{
public:
    enum class Mode
    {
        ReadWrite,
        Existing, ///< to read and write; one that is not there is not made
        ReadOnly
    };
    /// Opens (ReadWrite creates). ReadOnly works where nothing can be written, too. Errors: StoreFailed with the file
    /// and SQLite's words, BadFile if it is no database.
    static Result<Database> open(const std::filesystem::path& file, Mode mode);
    Database(Database&&) noexcept = default;
    Database& operator=(Database&&) noexcept = default;

    Result<> execute(const std::string& sql);
    sqlite3* handle() const { return m_db.get(); }
    /// The last failure as an Error: disk full, read-only, locked, damaged, in one sentence.
    Error failure(std::string_view doing) const;

private:
    Database() = default;
    Result<> connect(const std::string& name, int flags);
    struct Closer
    {
        void operator()(sqlite3* db) const;
    };
    std::unique_ptr<sqlite3, Closer> m_db;
    std::string m_file;
};

/// A prepared statement: bind in order, then step. Reset and rebind to use again.
class Statement
{
public:
    static Result<Statement> prepare(const Database& db, std::string_view sql);

    Statement& bind(std::int64_t value);
    Statement& bind(double value);
    Statement& bind(std::string_view value);
    Statement& bindBlob(std::span<const std::byte> value);
    Statement& bindNull();

    /// True: a row is there. False: done.
    Result<bool> step();
    /// step() for statements without rows, then reset().
    Result<> run();
    void reset();

    std::int64_t integer(int column) const;
    double real(int column) const; ///< NaN for NULL
    std::string text(int column) const;
    std::vector<std::byte> blob(int column) const;
    bool isNull(int column) const;

private:
    struct Finalizer
    {
        void operator()(sqlite3_stmt* statement) const;
    };
    std::unique_ptr<sqlite3_stmt, Finalizer> m_statement;
    const Database* m_db = nullptr;
    int m_next = 1;
};

/// Rolls back unless committed.
class Transaction
{
public:
    static Result<Transaction> begin(Database& db);
    Transaction(Transaction&& other) noexcept
        : m_db(std::exchange(other.m_db, nullptr))
    {
    }
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<> commit();

private:
    explicit Transaction(Database* db)
        : m_db(db)
    {
    }
    Database* m_db;
};

} // namespace lathe::store
