#include "core/store/record_query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <variant>

namespace lathe::store {

namespace {

void causeFunction(sqlite3_context* context, int, sqlite3_value** arguments)
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
    const std::string cause = text == nullptr
                                  ? std::string()
                                  : failureCause({text, static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]))});
    sqlite3_result_text64(context, cause.data(), cause.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string likePattern(std::string_view part)
{
    std::string pattern = "%";
    for (const char c : part) {
        if (c == '%' || c == '_' || c == '\\')
            pattern += '\\';
        pattern += c;
    }
    return pattern + '%';
}

bool isHex(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// Few trials have notes: from them to their records, never the other way about.
constexpr const char* kNoted = "SELECT r.id FROM notes n CROSS JOIN records r ON r.trial = substr(n.subject, 7) WHERE "
                               "n.subject >= 'trial:' AND n.subject < 'trial;'";

} // namespace

Result<Statement> selectRecords(const Database& db, std::string_view columns, const RecordQuery& q)
{
    std::string sql = fmt::format("SELECT {} FROM records WHERE 1", columns);
    std::vector<std::variant<std::int64_t, double, std::string>> values;
    const auto where = [&](std::string_view condition, auto... bound) {
        sql += fmt::format(" AND {}", condition);
        (values.emplace_back(bound), ...);
    };
    if (!q.task.empty())
        where("task = ?", q.task);
    if (q.code == "failed" || !q.cause.empty())
        where("code <> 'Ok'");
    if (!q.code.empty() && q.code != "failed")
        where("code = ?", q.code);
    if (!q.stage.empty())
        where("stage = ?", q.stage);
    if (!q.cause.empty())
        where("failure_cause(text) = ?", q.cause);
    if (q.session != 0)
        where("session = ?", q.session);
    if (!q.target.empty())
        // Records of older versions leave it to their run.
        where("(target = ? OR (target = '' AND session IN (SELECT id FROM sessions WHERE target = ?)))", q.target,
              q.target);
    if (std::isfinite(q.minNs))
        where("mean_ns >= ?", q.minNs);
    if (std::isfinite(q.maxNs))
        where("mean_ns <= ?", q.maxNs);
    if (q.afterRow != 0)
        where("id > ?", q.afterRow);
    if (q.noted)
        where(fmt::format("id IN ({})", kNoted));
    if (!q.text.empty()) {
        const std::string pattern = likePattern(q.text);
        std::string any = fmt::format(
            R"((alternative LIKE ? ESCAPE '\' OR sketch LIKE ? ESCAPE '\' OR id IN (SELECT id FROM records WHERE code <> 'Ok' AND text LIKE ? ESCAPE '\') OR id IN ({} AND n.text LIKE ? ESCAPE '\'))",
            kNoted);
        if (isHex(q.text)) {
            std::string low = q.text;
            std::transform(low.begin(), low.end(), low.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            where(any + " OR id IN (SELECT id FROM records WHERE trial >= ? AND trial < ?))", pattern, pattern, pattern,
                  pattern, low, low + "g");
        } else {
            where(any + ")", pattern, pattern, pattern, pattern);
        }
    }
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(db, sql));
    for (const auto& value : values)
        std::visit([&s](const auto& v) { s.bind(v); }, value);
    return s;
}

Result<> addCauseFunction(const Database& db)
{
    if (sqlite3_create_function_v2(db.handle(), "failure_cause", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                   causeFunction, nullptr, nullptr, nullptr)
        != SQLITE_OK)
        return db.failure("reading");
    return {};
}

} // namespace lathe::store
