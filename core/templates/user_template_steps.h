#pragma once

#include "core/templates/user_definition.h"

namespace lathe::templates {

/// What a person's own template makes of a configuration; user_template.h says what each step means.
/// Errors: Unsupported, the nest is of another operator; InvalidArgument, a step does not fit what the steps before it
/// made, or the configuration lacks a knob.
Result<std::vector<schedule::Step>> userSteps(const UserDefinition& definition, const Scheduled& scheduled,
                                              const Config& config);

} // namespace lathe::templates
