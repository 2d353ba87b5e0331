#pragma once

#include "core/session/history.h"
#include "core/store/record_reader.h"

namespace lathe::session {

/// How a round was measured, by its records: of a run with one device a few of them, of several devices, or of those
/// behind a broker, all.
Result<QualityView> qualityOf(const store::RecordReader& reader, const store::RoundRow& round);

} // namespace lathe::session
