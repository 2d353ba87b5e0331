#pragma once

#include "core/session/project_part.h"
#include "core/store/project.h"

#include <cstdint>
#include <string_view>

namespace lathe::session {

// What a project knows of how its runs are to be; as of ProjectPart.

Result<TuneOptions> usualOptionsOf(const store::Project& project, std::int64_t modelRow, std::string_view target);
Result<RunChoices> choicesOf(const store::Project& project);
Result<> keepChoices(store::Project& project, const RunChoices& choices);

} // namespace lathe::session
