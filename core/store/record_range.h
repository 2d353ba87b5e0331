#pragma once

#include "core/store/record_reader.h"

namespace lathe::store {

/// A part of a project's history. Zeros and empty fields do not restrict.
struct RecordRange
{
    std::int64_t session = 0;
    std::int64_t untilMs = 0; ///< UNIX: records up to then
    std::string device = {}; ///< DeviceIdentity::key
    bool whole() const { return session == 0 && untilMs == 0 && device.empty(); }
};

/// As Project::best(), of what the range holds. The whole history takes it from an index, parts are scanned.
Result<std::vector<BestRow>> bestIn(const RecordReader& reader, const RecordRange& range);
/// What a run's records were measured on, all of one class; empty: none of them is valid.
Result<DeviceIdentity> deviceOfSession(const RecordReader& reader, std::int64_t session);
/// Trials and failed ones by task key.
Result<std::map<std::string, TaskTotals>> totalsIn(const RecordReader& reader, const RecordRange& range);

} // namespace lathe::store
