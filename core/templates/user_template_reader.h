#pragma once

#include "core/templates/user_definition.h"

namespace lathe::templates {

/// Reads the text of a person's own template; user_template.h has the format. `file` is for errors.
/// Errors: BadFile, with the place that is off.
Result<UserDefinition> readUserDefinition(std::string_view text, const std::string& file);

} // namespace lathe::templates
