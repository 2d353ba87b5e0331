#include "core/store/record_range.h"

#include <algorithm>
#include <tuple>

namespace lathe::store {

namespace {

std::string where(const RecordRange& range)
{
    return std::string(" WHERE 1") + (range.session > 0 ? " AND session = ?" : "")
           + (range.untilMs > 0 ? " AND time_ms <= ?" : "") + (!range.device.empty() ? " AND device_key = ?" : "");
}

void bind(Statement& statement, const RecordRange& range)
{
    if (range.session > 0)
        statement.bind(range.session);
    if (range.untilMs > 0)
        statement.bind(range.untilMs);
    if (!range.device.empty())
        statement.bind(range.device);
}

/// Task, target, device key, cold bytes.
using Alike = std::tuple<std::string, std::string, std::string, std::int64_t>;

} // namespace

Result<std::vector<BestRow>> bestIn(const RecordReader& reader, const RecordRange& range)
{
    if (range.whole())
        return reader.project().best();
    // Who stands best, as the schema has it for the whole: within the range, the latest finals leave what is older
    // behind.
    const std::string valid = where(range) + " AND code = 'Ok' AND mean_ns IS NOT NULL";
    LATHE_TRY_ASSIGN(Statement finals,
                     Statement::prepare(reader.project().database(),
                                        "SELECT task, target, device_key, cold_bytes, finals, id FROM records" + valid
                                            + " AND finals <> '' ORDER BY id"));
    bind(finals, range);
    std::map<Alike, std::pair<std::string, std::int64_t>> latest; // id of the finals, its first record
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, finals.step());
        if (!row)
            break;
        auto& known = latest[{finals.text(0), finals.text(1), finals.text(2), finals.integer(3)}];
        if (known.first != finals.text(4))
            known = {finals.text(4), finals.integer(5)};
    }
    // Beside an aggregate min() SQLite takes the other columns from the row that has it.
    const auto fastest = [&](const std::string& restriction,
                             const auto& bindMore) -> Result<std::vector<std::int64_t>> {
        LATHE_TRY_ASSIGN(Statement s,
                         Statement::prepare(reader.project().database(),
                                            "SELECT id, min(mean_ns) FROM records" + valid + restriction
                                                + " GROUP BY task, target, device_key, cold_bytes, alternative"));
        bind(s, range);
        bindMore(s);
        std::vector<std::int64_t> ids;
        while (true) {
            LATHE_TRY_ASSIGN(const bool row, s.step());
            if (!row)
                return ids;
            ids.push_back(s.integer(0));
        }
    };
    LATHE_TRY_ASSIGN(std::vector<std::int64_t> ids, fastest({}, [](Statement&) {}));
    for (const auto& [alike, since] : latest) {
        LATHE_TRY_ASSIGN(const auto later,
                         fastest(" AND task = ? AND target = ? AND device_key = ? AND cold_bytes = ? AND id >= ?",
                                 [&alike = alike, first = since.second](Statement& s) {
                                     s.bind(std::get<0>(alike))
                                         .bind(std::get<1>(alike))
                                         .bind(std::get<2>(alike))
                                         .bind(std::get<3>(alike))
                                         .bind(first);
                                 }));
        ids.insert(ids.end(), later.begin(), later.end());
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    using Row = std::pair<bool, BestRow>; // whether finals left it behind
    std::vector<Row> found;
    for (const std::int64_t id : ids) {
        LATHE_TRY_ASSIGN(Record record, reader.record(id));
        const auto since = latest.find(
            {record.candidate.task, record.target, record.result.device.key, coldBytes(record)});
        const bool past = since != latest.end() && id < since->second.second;
        found.push_back({past,
                         {record.candidate.task, record.candidate.alternative, record.result.meanNs(),
                          conditionsOf(record), record}});
    }
    std::stable_sort(found.begin(), found.end(), [](const Row& a, const Row& b) {
        return std::tie(a.second.task, a.first, a.second.costNs) < std::tie(b.second.task, b.first, b.second.costNs);
    });
    std::vector<BestRow> rows;
    for (Row& row : found)
        rows.push_back(std::move(row.second));
    return rows;
}

Result<DeviceIdentity> deviceOfSession(const RecordReader& reader, std::int64_t session)
{
    LATHE_TRY_ASSIGN(Statement s,
                     Statement::prepare(reader.project().database(),
                                        "SELECT device_key, device FROM records WHERE session = ? AND code = 'Ok' "
                                        "AND device_key <> '' LIMIT 1"));
    s.bind(session);
    LATHE_TRY_ASSIGN(const bool row, s.step());
    return row ? DeviceIdentity{s.text(0), s.text(1)} : DeviceIdentity{};
}

Result<std::map<std::string, TaskTotals>> totalsIn(const RecordReader& reader, const RecordRange& range)
{
    const std::string sql = range.whole()
                                ? std::string("SELECT task, trials, errors FROM totals")
                                : "SELECT task, sum(finals = ''), sum(finals = '' AND code <> 'Ok') FROM records"
                                      + where(range) + " GROUP BY task";
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(reader.project().database(), sql));
    bind(s, range);
    std::map<std::string, TaskTotals> totals;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return totals;
        totals[s.text(0)] = {s.integer(1), s.integer(2)};
    }
}

} // namespace lathe::store
