#pragma once

#include "core/session/project_part.h"
#include "core/store/project.h"
#include "core/target/target.h"

#include <cstdint>
#include <string_view>

namespace lathe::session {

// What a project knows of how its runs are to be; as of ProjectPart.

Result<TuneOptions> usualOptionsOf(const store::Project& project, std::int64_t modelRow, std::string_view target);
/// Of these what a run for the target can use: its policy is one that the target has, and what belongs to another policy
/// goes.
TuneOptions forTarget(const Target& target, TuneOptions usual);
Result<RunChoices> choicesOf(const store::Project& project);
Result<> keepChoices(store::Project& project, const RunChoices& choices);

} // namespace lathe::session
