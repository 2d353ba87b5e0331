#pragma once

#include "core/record/record.h"
#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace lathe {

// JSON of what is stored and sent. Reading ignores unknown keys and takes defaults for absent ones; a key of the wrong
// type, a number out of range or an unknown name is BadFile, with the key.

nlohmann::json toJson(const IndexMap& map); ///< {"shape": [..], "axes": [[dim, div, extent, stride], ..]}
Result<IndexMap> indexMapFromJson(const nlohmann::json& json);

nlohmann::json toJson(const EdgeState& edge);
Result<EdgeState> edgeStateFromJson(const nlohmann::json& json);

nlohmann::json toJson(const Candidate& candidate);
Result<Candidate> candidateFromJson(const nlohmann::json& json);

/// Without its device, which is the record's.
nlohmann::json toJson(const TrialResult& result);
Result<TrialResult> trialResultFromJson(const nlohmann::json& json);

nlohmann::json toJson(const Record& record);
Result<Record> recordFromJson(const nlohmann::json& json);

std::optional<TrialStage> trialStageFromString(std::string_view name);

} // namespace lathe
