#pragma once

#include "core/store/record_reader.h"

namespace lathe::store {

/// SELECT `columns` FROM records, restricted as the query says, in no particular order: SQLite then walks the narrow
/// index where `columns` are in it.
Result<Statement> selectRecords(const Database& db, std::string_view columns, const RecordQuery& query);

/// The function failure_cause(text) of the queries that selectRecords() makes.
Result<> addCauseFunction(const Database& db);

} // namespace lathe::store
