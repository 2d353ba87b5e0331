#include "core/record/record_json.h"
#include "core/store/project.h"
#include "core/store/record_rows.h"
#include "core/support/check.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace lathe;

namespace {

const auto kColumns = 1 + std::ranges::count(std::string_view(store::kRecordColumns), ',');

/// A database in memory with a table of the columns that bindRecord() writes, without types: any value fits.
struct Rows
{
    Rows()
        : db(must(store::Database::open(":memory:", store::Database::Mode::ReadWrite)))
    {
        const std::string_view insert = store::kInsertRecord;
        const std::size_t columns = insert.find("records(");
        must(db.execute("CREATE TABLE " + std::string(insert.substr(columns, insert.find(')') + 1 - columns))));
    }
    template<typename T>
    static T must(Result<T> result)
    {
        LATHE_CHECK(result.has_value()) << (result ? "" : result.error().message);
        return *std::move(result);
    }
    store::Database db;
};

} // namespace

/// A row of a project's records, one column a line; a line that begins with # is a number, with ! a blob. What is read
/// is written and read again without a change.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Rows rows;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    Rows::must(rows.db.execute("DELETE FROM records"));
    std::string sql = std::string("INSERT INTO records(") + store::kRecordColumns + ") VALUES(?";
    for (auto i = kColumns; i > 1; --i)
        sql += ", ?";
    auto insert = Rows::must(store::Statement::prepare(rows.db, sql + ")"));
    for (auto i = kColumns; i > 0; --i) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with('#'))
            insert.bind(static_cast<std::int64_t>(std::strtoll(std::string(line.substr(1)).c_str(), nullptr, 10)));
        else if (line.starts_with('!'))
            insert.bindBlob(std::as_bytes(std::span(line.substr(1))));
        else
            insert.bind(line);
    }
    Rows::must(insert.run());

    const std::string select = std::string("SELECT ") + store::kRecordColumns + " FROM records";
    Record record;
    {
        auto read = Rows::must(store::Statement::prepare(rows.db, select));
        bool found = false;
        const auto done = store::readRecords(read, [&](const Record& r) {
            record = r;
            found = true;
        });
        if (!done) {
            LATHE_CHECK(done.error().code == Errc::BadFile) << done.error().message;
            return 0;
        }
        LATHE_CHECK(found);
    }
    Rows::must(rows.db.execute("DELETE FROM records"));
    auto write = Rows::must(store::Statement::prepare(rows.db, store::kInsertRecord));
    Rows::must(store::bindRecord(write, record).run());
    auto read = Rows::must(store::Statement::prepare(rows.db, select));
    const auto done = store::readRecords(
        read, [&](const Record& r) { LATHE_CHECK(r.candidate.hash() == record.candidate.hash()); });
    LATHE_CHECK(done.has_value()) << (done ? "" : done.error().message);
    return 0;
}
