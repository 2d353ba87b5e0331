#pragma once

#include "core/session/options/options.h"
#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace lathe::session {

// Options as the project stores them: the rows of the option table that have a key. Reading ignores unknown keys, takes
// what the row says for absent ones; a wrong type is BadFile.
nlohmann::json toJson(const TuneOptions& options);
Result<TuneOptions> tuneOptionsFromJson(std::string_view text);
nlohmann::json toJson(const ModelSpec& spec);
Result<ModelSpec> modelSpecFromJson(std::string_view text);

} // namespace lathe::session
