#pragma once

#include "core/record/record.h"
#include "core/schedule/step.h"
#include "core/support/result.h"
#include "core/templates/log_line.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lathe::store {

/// A measurement by the reference's auto-scheduler (auto-scheduler.md 10).
struct ForeignTrial
{
    std::string workload; ///< key, of any generation
    std::string target; ///< as the reference writes it
    std::vector<std::int64_t> hardware; ///< the eight of its record order; fewer in old logs
    std::vector<schedule::Step> steps;
    std::vector<double> costsNs; ///< empty: it failed
    std::int32_t error = 0; ///< the reference's number
    double allSeconds = 0;
    std::int64_t timeMs = 0;
    std::string version;
};

/// What a line of a tuning log holds: nothing (a comment), a record as exportJsonLines() writes it, or another tuner's.
using LogLine = std::variant<std::monostate, Record, ForeignTrial, templates::TemplateTrial>;

/// Errors: BadFile for what no tuner wrote, Unsupported for what is known and cannot be taken. The message says why,
/// alike for lines that are alike, so that they can be counted by it.
Result<LogLine> readLogLine(std::string_view text);

/// How an error of the reference's auto-scheduler is stored, and one of its template tuner (autotvm.md 8).
TrialResult foreignFailure(std::int32_t error);
TrialResult templateFailure(std::int32_t error);

/// Text of others for a sentence of ours: short, on one line.
std::string quoted(std::string_view text, std::size_t most = 80);

/// Whether brackets outside of strings nest no deeper than records do: what walks over JSON may then recurse.
bool nestsShallow(std::string_view json);

/// A record that was measured elsewhere by another tuner. Its target begins so, and is none of Lathe's: what is chosen
/// by target (best records, exports, comparisons) passes it over until it was measured again.
inline constexpr std::string_view kImportedTarget = "imported: ";
inline bool isImported(const Record& record)
{
    return record.target.starts_with(kImportedTarget);
}

// An imported record's conditions hold the line that it was read from, under one of these names, so that an export
// writes it again as it was, digit by digit.
inline constexpr const char* kAutoSchedulerLine = "auto_scheduler_line";
inline constexpr const char* kTemplateLine = "template_line";
/// Empty: it has none of this kind.
std::string importedLine(const Record& record, const char* kind);

} // namespace lathe::store
