#pragma once

#include "core/store/project.h"

#include <functional>
#include <utility>

namespace lathe::store {

/// What a transfer did with each record that it met.
struct TransferCount
{
    std::int64_t written = 0;
    std::map<std::string, std::int64_t> skipped; ///< by reason
};

/// Copies models, tasks and records (bestOnly: Project::best, the best valid ones) into `to`; records that it has are
/// skipped.
Result<TransferCount> copyRecords(const Project& from, Project& to, bool bestOnly);

/// Every record as a line of JSON (record_json.h), failures included.
Result<TransferCount> exportJsonLines(const Project& project, const std::filesystem::path& file);

/// How the reference writes a target and its eight hardware parameters; `device` is a record's fingerprint.
using ReferenceTarget = std::function<std::pair<std::string, std::vector<std::int64_t>>(std::string_view device)>;

/// The reference auto-scheduler's log, version v0.6 (auto-scheduler.md 10): records for `target` of the alternative
/// that the reference would pick, whose steps are all the reference's own; others are skipped with the reason. Lines
/// that were imported are written as they were, whatever target they are for.
Result<TransferCount> exportReferenceLog(const Project& project, const std::filesystem::path& file,
                                         std::string_view target, const ReferenceTarget& describe);

} // namespace lathe::store
