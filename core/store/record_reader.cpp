#include "core/store/record_reader.h"

#include "core/store/record_query.h"
#include "core/store/record_rows.h"
#include "core/support/message.h"

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
    Interruptible(const Database& db, std::stop_token stop)
        : m_db(db)
        , m_stop(std::move(stop))
    {
        sqlite3_progress_handler(
            m_db.handle(), 20000,
            [](void* self) { return static_cast<Interruptible*>(self)->m_stop.stop_requested() ? 1 : 0; }, this);
    }
    ~Interruptible() { sqlite3_progress_handler(m_db.handle(), 0, nullptr, nullptr); }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    Error failure(Error error) const
    {
        return m_stop.stop_requested() ? makeError(Errc::Cancelled, say(Msg::QueryStopped)) : std::move(error);
    }

private:
    const Database& m_db;
    std::stop_token m_stop;
};

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
        if (c == '/' && startsWord && i + 1 < text.size()
            && std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0) {
            while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) == 0 && text[i] != ':'
                   && text[i] != '\'' && text[i] != '"' && text[i] != ',')
                ++i;
            cause += "<path>";
        } else if (c == 'k' && startsWord && i + 1 < text.size()
                   && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) {
            // The name of a candidate's kernel.
            while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_'))
                ++i;
            cause += "k#";
        } else if (std::isdigit(c) != 0 && startsWord && !cause.ends_with("signal ")) {
            // A number with its sign, fraction, exponent or hexadecimal digits.
            while (i < text.size()
                   && (std::isalnum(static_cast<unsigned char>(text[i])) != 0
                       || (text[i] == '.' && i + 1 < text.size()
                           && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0)))
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
    LATHE_TRY(addCauseFunction(reader.m_project.database()));
    return reader;
}

namespace {

const char* columnOf(RecordAxis axis)
{
    switch (axis) {
    case RecordAxis::Number: return "id";
    case RecordAxis::Time: return "time_ms";
    case RecordAxis::Latency: return "mean_ns";
    case RecordAxis::Predicted: return "predicted_ns";
    case RecordAxis::Ratio: return "mean_ns / predicted_ns";
    case RecordAxis::Round: return "CASE WHEN session <> 0 AND round >= 0 THEN round END";
    }
    return "NULL";
}

} // namespace

/// `known` in the order in which `sql` yields (row, whether it has a value): those that it does not yield, or that have
/// none, come last, both ways.
Result<std::vector<std::int64_t>> RecordReader::along(std::string_view sql, std::vector<std::int64_t> known,
                                                      bool descending, const Interrupt& failure) const
{
    std::sort(known.begin(), known.end());
    const std::int64_t first = known.empty() ? 0 : known.front(), last = known.empty() ? -1 : known.back();
    std::vector<bool> left(static_cast<std::size_t>(last - first + 1)); // known, and not placed yet
    for (const std::int64_t row : known)
        left[static_cast<std::size_t>(row - first)] = true;
    std::vector<std::int64_t> rows;
    rows.reserve(known.size());
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), sql));
    while (true) {
        auto stepped = s.step();
        if (!stepped)
            return failure(std::move(stepped).error());
        if (!*stepped)
            break;
        const std::int64_t row = s.integer(0);
        if (row < first || row > last || !left[static_cast<std::size_t>(row - first)])
            continue;
        left[static_cast<std::size_t>(row - first)] = false;
        rows.push_back(row);
    }
    if (descending)
        std::reverse(rows.begin(), rows.end());
    for (const std::int64_t row : known)
        if (left[static_cast<std::size_t>(row - first)])
            rows.push_back(row);
    return rows;
}

Result<std::vector<std::int64_t>> RecordReader::find(const RecordQuery& q, std::stop_token stop) const
{
    using Order = RecordQuery::Order;
    // No ORDER BY: SQLite would walk the wide table, or sort slower than we do.
    static constexpr const char* kKeys[] = {"0",
                                            "task",
                                            "alternative",
                                            "sketch",
                                            "mean_ns",
                                            "predicted_ns",
                                            "code, stage",
                                            "session, round, position",
                                            "verified",
                                            "0",
                                            "0",
                                            "0",
                                            "0"};
    LATHE_TRY_ASSIGN(Statement s, selectRecords(m_project.database(),
                                                fmt::format("id, {}", kKeys[static_cast<std::size_t>(q.order)]), q));
    const Interruptible interruptible(m_project.database(), stop);
    const bool byRow = q.order == Order::Time || q.order == Order::Trial || q.order == Order::Text
                       || q.order == Order::Note || q.order == Order::Repeats;
    const bool byNumber = q.order == Order::Latency || q.order == Order::Predicted || q.order == Order::Verified
                          || q.order == Order::Round;
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
        if (byRow) {
            rows.push_back(row);
        } else if (q.order == Order::Round) {
            // Exact in a double: 12 bits of run, 24 of round, 16 of place in it.
            numbers.emplace_back(static_cast<double>(((s.integer(1) & 0xfff) << 40) | ((s.integer(2) & 0xffffff) << 16)
                                                     | (s.integer(3) & 0xffff)),
                                 row);
        } else if (byNumber) {
            numbers.emplace_back(s.real(1), row);
        } else {
            const std::string word = q.order == Order::State ? s.text(1) + '/' + s.text(2) : s.text(1);
            words.emplace_back(dictionary.try_emplace(word, static_cast<std::int32_t>(dictionary.size())).first->second,
                               row);
        }
    }
    const Interrupt failure = [&interruptible](Error error) { return interruptible.failure(std::move(error)); };
    switch (q.order) {
    case Order::Time:
        if (q.descending)
            std::sort(rows.begin(), rows.end(), std::greater<>());
        else
            std::sort(rows.begin(), rows.end());
        return rows;
    case Order::Trial: return along("SELECT id FROM records ORDER BY trial", std::move(rows), q.descending, failure);
    case Order::Text:
        return along("SELECT id FROM records WHERE code <> 'Ok' AND text <> '' ORDER BY substr(text, 1, 240), id",
                     std::move(rows), q.descending, failure);
    case Order::Note:
        return along("SELECT r.id FROM notes n CROSS JOIN records r ON r.trial = substr(n.subject, 7) WHERE n.subject "
                     ">= 'trial:' AND n.subject < 'trial;' ORDER BY n.text, r.id",
                     std::move(rows), q.descending, failure);
    case Order::Repeats:
        return along("SELECT id FROM records WHERE repeats <> '' ORDER BY repeats, id", std::move(rows), q.descending,
                     failure);
    default: break;
    }
    if (byNumber)
        return ordered(std::move(numbers), q.descending, [](double key) { return std::isnan(key); });
    std::vector<std::int32_t> rank(dictionary.size());
    std::int32_t next = 0;
    for (const auto& [word, number] : dictionary)
        rank[static_cast<std::size_t>(number)] = next++;
    for (auto& [word, row] : words)
        word = rank[static_cast<std::size_t>(word)];
    return ordered(std::move(words), q.descending, [](std::int32_t) { return false; });
}

Result<RecordPoints> RecordReader::points(const RecordQuery& q, RecordAxis x, RecordAxis y, std::stop_token stop) const
{
    LATHE_TRY_ASSIGN(Statement s,
                     selectRecords(m_project.database(), fmt::format("id, {}, {}", columnOf(x), columnOf(y)), q));
    const Interruptible interruptible(m_project.database(), stop);
    RecordPoints found;
    while (true) {
        auto stepped = s.step();
        if (!stepped)
            return interruptible.failure(std::move(stepped).error());
        if (!*stepped)
            return found;
        const RecordPoint point{s.real(1), s.real(2), s.integer(0)};
        if (std::isfinite(point.x) && std::isfinite(point.y))
            found.points.push_back(point);
        else
            ++found.left;
    }
}

namespace {

constexpr const char* kSummaryColumns = "id, trial, session, round, position, task, alternative, sketch, code, stage, "
                                        "substr(text, 1, 240), mean_ns, predicted_ns, verified, time_ms, repeats, "
                                        "(SELECT n.text FROM notes n WHERE n.subject = 'trial:' || records.trial), "
                                        "CASE WHEN finals <> '' AND json_valid(conditions) THEN "
                                        "coalesce(json_extract(conditions, '$.runoff'), 0) ELSE 0 END, about";

RecordSummary summaryOf(const Statement& s)
{
    RecordSummary summary;
    summary.row = s.integer(0);
    summary.trial = s.text(1);
    summary.session = s.integer(2);
    summary.round = static_cast<std::int32_t>(s.integer(3));
    summary.index = static_cast<std::int32_t>(s.integer(4));
    summary.task = s.text(5);
    summary.alternative = s.text(6);
    summary.sketch = s.text(7);
    summary.code = s.text(8);
    summary.stage = s.text(9);
    summary.text = s.text(10);
    summary.text.resize(std::min(summary.text.find('\n'), summary.text.size()));
    summary.meanNs = s.real(11);
    summary.predictedNs = s.real(12);
    summary.verified = s.integer(13) != 0;
    summary.timeMs = s.integer(14);
    summary.repeats = s.text(15);
    summary.note = s.text(16);
    summary.runoff = s.integer(17) != 0;
    summary.about = aboutFromJsonText(s.text(18));
    return summary;
}

} // namespace

Result<std::vector<RecordSummary>> RecordReader::rows(std::span<const std::int64_t> rows) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(m_project.database(), fmt::format("SELECT {} FROM records WHERE id = ?", kSummaryColumns)));
    std::vector<RecordSummary> summaries;
    summaries.reserve(rows.size());
    for (const std::int64_t row : rows) {
        LATHE_TRY_ASSIGN(const bool there, s.bind(row).step());
        if (there)
            summaries.push_back(summaryOf(s));
        s.reset();
    }
    return summaries;
}

Result<std::vector<RecordSummary>> RecordReader::repeatsOf(std::string_view trial) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            m_project.database(),
            fmt::format("SELECT {} FROM records WHERE repeats = ? AND repeats <> '' ORDER BY id", kSummaryColumns)));
    s.bind(trial);
    std::vector<RecordSummary> summaries;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return summaries;
        summaries.push_back(summaryOf(s));
    }
}

Result<std::int64_t> RecordReader::rowOf(std::string_view trial) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(), "SELECT id FROM records WHERE trial = ?"));
    LATHE_TRY_ASSIGN(const bool row, s.bind(trial).step());
    if (!row)
        return makeError(Errc::NotFound, say(Msg::NoTrial, trial));
    return s.integer(0);
}

Result<Record> RecordReader::record(std::int64_t row) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(m_project.database(), fmt::format("SELECT {} FROM records WHERE id = ?", kRecordColumns)));
    s.bind(row);
    std::optional<Record> found;
    LATHE_TRY(readRecords(s, [&found](const Record& record) { found = record; }));
    if (!found)
        return makeError(Errc::NotFound, say(Msg::NoRecord, row));
    return *std::move(found);
}

Result<std::vector<PlayedRecord>> RecordReader::round(std::int64_t session, std::int32_t round) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(),
                                                     "SELECT id, trial, position, task, alternative, sketch, hash, "
                                                     "stage, code, text, mean_ns, time_ms, about FROM records "
                                                     "WHERE session = ? AND round = ?"));
    s.bind(session).bind(std::int64_t{round});
    std::vector<PlayedRecord> records;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            break;
        records.push_back({s.integer(0), s.text(1), static_cast<std::int32_t>(s.integer(2)), s.text(3), s.text(4),
                           s.text(5), s.text(6), s.text(7), s.text(8), s.text(9), s.real(10), s.integer(11),
                           aboutFromJsonText(s.text(12))});
    }
    std::sort(records.begin(), records.end(),
              [](const PlayedRecord& a, const PlayedRecord& b) { return a.row < b.row; });
    return records;
}

Result<std::vector<MeasuredHow>> RecordReader::measuredHow(std::int64_t session, std::int32_t round,
                                                           std::int32_t limit) const
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(m_project.database(), "SELECT costs_ns, conditions, device, durations_ms FROM "
                                                              "records WHERE session = ? AND round = ? AND code = 'Ok' "
                                                              "ORDER BY position LIMIT ?"));
    s.bind(session).bind(std::int64_t{round}).bind(std::int64_t{limit});
    std::vector<MeasuredHow> records;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return records;
        records.push_back({s.text(0), s.text(1), s.text(2), s.text(3)});
    }
}

Result<std::vector<std::int32_t>> RecordReader::rounds(std::int64_t session) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(m_project.database(),
                           "SELECT DISTINCT round FROM records WHERE session = ? AND round >= 0 ORDER BY round"));
    s.bind(session);
    std::vector<std::int32_t> rounds;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return rounds;
        rounds.push_back(static_cast<std::int32_t>(s.integer(0)));
    }
}

Result<std::vector<FailureGroup>> RecordReader::failures(std::stop_token stop, std::int64_t upTo) const
{
    LATHE_TRY_ASSIGN(
        Statement s,
        Statement::prepare(
            m_project.database(),
            "SELECT code, stage, failure_cause(text) AS cause, task, count(*), max(id) FROM records WHERE code <> 'Ok' "
            "AND id <= ? GROUP BY code, stage, cause, task"));
    s.bind(upTo > 0 ? upTo : std::numeric_limits<std::int64_t>::max());
    const Interruptible interruptible(m_project.database(), stop);
    std::vector<FailureGroup> groups;
    while (true) {
        auto stepped = s.step();
        if (!stepped)
            return interruptible.failure(std::move(stepped).error());
        if (!*stepped)
            break;
        if (groups.empty() || groups.back().code != s.text(0) || groups.back().stage != s.text(1)
            || groups.back().cause != s.text(2))
            groups.push_back({s.text(0), s.text(1), s.text(2), 0, {}, 0});
        FailureGroup& group = groups.back();
        group.byTask[s.text(3)] = s.integer(4);
        group.count += s.integer(4);
        group.example = std::max(group.example, s.integer(5));
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const FailureGroup& a, const FailureGroup& b) { return a.count > b.count; });
    return groups;
}

Result<std::map<std::int32_t, double>> RecordReader::bestByRound(std::int64_t session) const
{
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(m_project.database(),
                                                     "SELECT round, min(mean_ns) FROM records WHERE session = ? AND "
                                                     "code = 'Ok' AND mean_ns IS NOT NULL GROUP BY round"));
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
