#pragma once

#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace lathe::wire {
class RunResult;
}

namespace lathe::measure {

struct MeasureRequest;

// Devices behind a broker are other people's, and a kernel can write into the answers of its own: what a device says
// is looked at before anything of it is kept.

/// What a device tells as JSON. It is written again and stored with each trial, which goes down its levels on the
/// stack. Errors: BadFile (no object, larger or deeper than any device's words are).
Result<nlohmann::json> deviceWords(std::string_view text);

/// Errors: BadFile, if the answer cannot be true: it says that all went well and has no time, more times than were
/// asked for, or one that no run takes; it is of another trial; it tells of times that are not numbers. (Stored, such a
/// number would be read as damage.)
Result<> checkAnswer(const wire::RunResult& run, const MeasureRequest& request);

} // namespace lathe::measure
