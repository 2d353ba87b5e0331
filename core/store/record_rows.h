#pragma once

#include "core/record/record.h"
#include "core/store/sqlite.h"

#include <functional>

namespace lathe::store {

/// Record <-> row of table `records`. The two lists have the same order; columns derived from the conditions are
/// only written.
inline constexpr const char* kRecordColumns =
    "trial, session, round, position, task, alternative, edges, kind, sketch, genome, steps, hash, stage, code, "
    "text, mean_ns, costs_ns, verified, durations_ms, conditions, device, time_ms, predicted_ns, target, repeats, "
    "device_key, about";
inline constexpr const char* kInsertRecord =
    "INSERT OR IGNORE INTO records(trial, session, round, position, task, alternative, edges, kind, sketch, genome, "
    "steps, hash, stage, code, "
    "text, mean_ns, costs_ns, verified, durations_ms, conditions, device, time_ms, predicted_ns, target, cold_bytes, "
    "repeats, finals, device_key, about) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

Statement& bindRecord(Statement& statement, const Record& record);
/// Visits every row of a SELECT of kRecordColumns. Errors: BadFile naming the trial whose row is damaged.
/// Until `visit` says no.
Result<> readRecordsWhile(Statement& statement, const std::function<bool(const Record&)>& visit);
Result<> readRecords(Statement& statement, const std::function<void(const Record&)>& visit);

} // namespace lathe::store
