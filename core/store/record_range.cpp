#include "core/store/record_range.h"

#include <algorithm>

namespace lathe::store {

namespace {

std::string where(const RecordRange& range)
{
    return std::string(" WHERE 1") + (range.session > 0 ? " AND session = ?" : "") + (range.untilMs > 0 ? " AND time_ms <= ?" : "");
}

void bind(Statement& statement, const RecordRange& range)
{
    if (range.session > 0)
        statement.bind(range.session);
    if (range.untilMs > 0)
        statement.bind(range.untilMs);
}

} // namespace

Result<std::vector<BestRow>> bestIn(const RecordReader& reader, const RecordRange& range)
{
    if (range.whole())
        return reader.project().best();
    // Beside an aggregate min() SQLite takes the other columns from the row that has it.
    LATHE_TRY_ASSIGN(Statement s, Statement::prepare(reader.project().database(), "SELECT id, min(mean_ns) FROM records" + where(range)
                                                                                     + " AND code = 'Ok' AND mean_ns IS NOT NULL GROUP BY task, target, device, cold_bytes, alternative"));
    bind(s, range);
    std::vector<std::int64_t> ids;
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            break;
        ids.push_back(s.integer(0));
    }
    std::vector<BestRow> rows;
    for (const std::int64_t id : ids) {
        LATHE_TRY_ASSIGN(Record record, reader.record(id));
        rows.push_back({record.candidate.task, record.candidate.alternative, record.result.meanNs(), {record.device, coldBytes(record)}, record});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const BestRow& a, const BestRow& b) { return a.task != b.task ? a.task < b.task : a.costNs < b.costNs; });
    return rows;
}

Result<std::map<std::string, TaskTotals>> totalsIn(const RecordReader& reader, const RecordRange& range)
{
    const std::string sql = range.whole() ? std::string("SELECT task, trials, errors FROM totals") : "SELECT task, count(*), sum(code <> 'Ok') FROM records" + where(range) + " GROUP BY task";
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
