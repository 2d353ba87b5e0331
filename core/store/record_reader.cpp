#include "core/store/record_reader.h"

#include "core/store/record_rows.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace lathe::store {

namespace {

/// Ends a long query soon after a stop is asked for.
class Interruptible
{
public:
    Interruptible(const Database& db, std::stop_token stop) : m_db(db), m_stop(std::move(stop))
    {
        sqlite3_progress_handler(m_db.handle(), 20000, [](void* self) { return static_cast<Interruptible*>(self)->m_stop.stop_requested() ? 1 : 0; }, this);
    }
    ~Interruptible() { sqlite3_progress_handler(m_db.handle(), 0, nullptr, nullptr); }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    Error failure(Error error) const { return m_stop.stop_requested() ? makeError(Errc::Cancelled, "the query was stopped") : std::move(error); }

private:
    const Database& m_db;
    std::stop_token m_stop;
};

void causeFunction(sqlite3_context* context, int, sqlite3_value** arguments)
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
    const std::string cause = text == nullptr ? std::string() : failureCause({text, static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]))});
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

/// Orders by (key, row); NaN and empty keys last, both ways.
template<typename Key, typename Missing>
std::vector<std::int64_t> ordered(std::vector<std::pair<Key, std::int64_t>> found, bool descending, Missing missing)
{
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
        const bool noA = missing(a.first), noB = missing(b.first);
        if (noA != noB)
            return noB;
        if (!noA && a.first != b.first)
            return descending ? b.first < a.first : a.first < b.first;
        return a.second < b.second;
    });
    std::vector<std::int64_t> rows(found.size());
    std::transform(found.begin(), found.end(), rows.begin(), [](const auto& pair) { return pair.second; });
    return rows;
}

} // namespace

std::string failureCause(std::string_view text)
{
    text = text.substr(0, std::min(text.find('\n'), std::size_t{240}));
    std::string cause;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool startsWord = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
        if (c == '/' && startsWord && i + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0) {
            while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) == 0 && text[i] != ':' && text[i] != '\'' && text[i] != '"' && text[i] != ',')
                ++i;
            cause += "<path>";
        } else if (c == 'k' && startsWord && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) {
            // The name of a candidate's kernel.
            while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_'))
                ++i;
            cause += "k#";
        } else if (std::isdigit(c) != 0 && startsWord && !cause.ends_with("signal ")) {
            // A number with its sign, fraction, exponent or hexadecimal digits.
            while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || (text[i] == '.' && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0)))
                ++i;
            cause += '#';
        } else {
            cause += static_cast<char>(c);
            ++i;
        }
    }
    return cause;
}

Result<RecordReader> RecordReader::open(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(Project project, Project::open(file, Project::Access::Read));
    RecordReader reader(std::move(project));
    if (sqlite3_create_function_v2(reader.m_project.database().handle(), "failure_cause", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, causeFunction, nullptr,
                                   nullptr, nullptr)
        != SQLITE_OK)
        return reader.m_project.database().failure("reading");
    return reader;
}

Result<std::vector<std::int64_t>> RecordReader::find(const RecordQuery& q, std::stop_token stop) const
{
    using Order = RecordQuery::Order;
    static constexpr const char* kKeys[] = {"0", "task", "alternative", "sketch", "mean_ns", "predicted_ns", "code, stage"};
    // No ORDER BY: SQLite would walk the wide table, or sort slower than we do.
    std::string sql = fmt::format("SELECT id, {} FROM records WHERE 1", kKeys[static_cast<std::size_t>(q.order)]);
    if (!q.task.empty())
        sql += " AND task = ?";
    if (q.code == "failed" || !q.cause.empty())
        sql += " AND code <> 'Ok'";
    if (!q.code.empty() && q.code != "failed")
        sql += " AND code = ?";
    if (!q.stage.empty())
        sql += " AND stage = ?";
    if (!q.cause.empty())
        sql += " AND failure_cause(text) = ?";
    if (q.session != 0)
        sql += " AND session = ?";
    if (std::isfinite(q.minNs))
        sql += " AND mean_ns >= ?";
    if (std::isfinite(q.maxNs))
        sql += " AND mean_ns <= ?";
    if (q.afterRow != 0)
        sql += " AND id > ?";
    const bool byId = !q.text.empty() && isHex(q.text);
    if (!q.text.empty()) {
        sql += R"( AND (alternative LIKE ? ESCAPE '\' OR sketch LIKE ? ESCAPE '\' OR id IN (SELECT id FROM records WHERE code <> 'Ok' AND text LIKE ? ESCAPE '\'))";
        if (byId)
            sql += " OR id IN (SELECT id FROM records WHERE trial >= ? AND trial < ?)";
        sql += ")";
    }
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), sql));
    if (!q.task.empty())
        s.bind(q.task);
    if (!q.code.empty() && q.code != "failed")
        s.bind(q.code);
    if (!q.stage.empty())
        s.bind(q.stage);
    if (!q.cause.empty())
        s.bind(q.cause);
    if (q.session != 0)
        s.bind(q.session);
    if (std::isfinite(q.minNs))
        s.bind(q.minNs);
    if (std::isfinite(q.maxNs))
        s.bind(q.maxNs);
    if (q.afterRow != 0)
        s.bind(q.afterRow);
    if (!q.text.empty()) {
        const std::string pattern = likePattern(q.text);
        s.bind(pattern).bind(pattern).bind(pattern);
        if (byId) {
            std::string low = q.text;
            std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            s.bind(low).bind(low + "g");
        }
    }

    const Interruptible interruptible(m_project.database(), stop);
    std::vector<std::int64_t> rows;
    std::vector<std::pair<double, std::int64_t>> numbers;
    std::vector<std::pair<std::int32_t, std::int64_t>> words;
    std::map<std::string, std::int32_t, std::less<>> dictionary; // a column of text has few different values
    while (true) {
        auto stepped = s.step();
        if (!stepped)
            return interruptible.failure(std::move(stepped).error());
        if (!*stepped)
            break;
        const std::int64_t row = s.integer(0);
        if (q.order == Order::Time) {
            rows.push_back(row);
        } else if (q.order == Order::Latency || q.order == Order::Predicted) {
            numbers.emplace_back(s.real(1), row);
        } else {
            const std::string word = q.order == Order::State ? s.text(1) + '/' + s.text(2) : s.text(1);
            words.emplace_back(dictionary.try_emplace(word, static_cast<std::int32_t>(dictionary.size())).first->second, row);
        }
    }
    if (q.order == Order::Time) {
        if (q.descending)
            std::sort(rows.begin(), rows.end(), std::greater<>());
        else
            std::sort(rows.begin(), rows.end());
        return rows;
    }
    if (q.order == Order::Latency || q.order == Order::Predicted)
        return ordered(std::move(numbers), q.descending, [](double key) { return std::isnan(key); });
    std::vector<std::int32_t> rank(dictionary.size());
    std::int32_t next = 0;
    for (const auto& [word, number] : dictionary)
        rank[static_cast<std::size_t>(number)] = next++;
    for (auto& [word, row] : words)
        word = rank[static_cast<std::size_t>(word)];
    return ordered(std::move(words), q.descending, [](std::int32_t) { return false; });
}

Result<std::vector<RecordSummary>> RecordReader::rows(std::span<const std::int64_t> rows) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), "SELECT id, trial, session, round, position, task, alternative, sketch, code, stage, substr(text, 1, 240), "
                                                                           "mean_ns, predicted_ns, verified, time_ms FROM records WHERE id = ?"));
    std::vector<RecordSummary> summaries;
    summaries.reserve(rows.size());
    for (const std::int64_t row : rows) {
        LATHE_TRY_ASSIGN(const bool there, s.bind(row).step());
        if (there) {
            std::string text = s.text(10);
            text.resize(std::min(text.find('\n'), text.size()));
            summaries.push_back({s.integer(0), s.text(1), s.integer(2), static_cast<std::int32_t>(s.integer(3)), static_cast<std::int32_t>(s.integer(4)), s.text(5), s.text(6), s.text(7),
                                 s.text(8), s.text(9), std::move(text), s.real(11), s.real(12), s.integer(13) != 0, s.integer(14)});
        }
        s.reset();
    }
    return summaries;
}

Result<Record> RecordReader::record(std::int64_t row) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), fmt::format("SELECT {} FROM records WHERE id = ?", kRecordColumns)));
    s.bind(row);
    std::optional<Record> found;
    LATHE_TRY(readRecords(s, [&found](const Record& record) { found = record; }));
    if (!found)
        return makeError(Errc::NotFound, fmt::format("the project has no record {}", row));
    return *std::move(found);
}

Result<std::vector<FailureGroup>> RecordReader::failures(std::stop_token stop) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), "SELECT code, stage, failure_cause(text) AS cause, task, count(*), max(id) FROM records WHERE code <> 'Ok' "
                                                                           "GROUP BY code, stage, cause, task"));
    const Interruptible interruptible(m_project.database(), stop);
    std::vector<FailureGroup> groups;
    while (true) {
        auto stepped = s.step();
        if (!stepped)
            return interruptible.failure(std::move(stepped).error());
        if (!*stepped)
            break;
        if (groups.empty() || groups.back().code != s.text(0) || groups.back().stage != s.text(1) || groups.back().cause != s.text(2))
            groups.push_back({s.text(0), s.text(1), s.text(2), 0, {}, 0});
        FailureGroup& group = groups.back();
        group.byTask[s.text(3)] = s.integer(4);
        group.count += s.integer(4);
        group.example = std::max(group.example, s.integer(5));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const FailureGroup& a, const FailureGroup& b) { return a.count > b.count; });
    return groups;
}

Result<std::map<std::int32_t, double>> RecordReader::bestByRound(std::int64_t session) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), "SELECT round, min(mean_ns) FROM records WHERE session = ? AND code = 'Ok' AND mean_ns IS NOT NULL GROUP BY round"));
    s.bind(session);
    std::map<std::int32_t, double> best;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return best;
        best[static_cast<std::int32_t>(s.integer(0))] = s.real(1);
    }
}

Result<std::int64_t> RecordReader::lastRow() const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), "SELECT coalesce(max(id), 0) FROM records"));
    LATHE_TRY(s.step());
    return s.integer(0);
}

} // namespace lathe::store
