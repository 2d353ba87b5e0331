#pragma once

#include "core/search/search_task.h"

#include <string>
#include <vector>

namespace lathe::test {

/// Tasks of real networks, one of each kind that the search meets.
const std::vector<std::string>& searchCaseNames();

/// Further ones, for GPUs: layers of resnet-18 that take different forms there.
const std::vector<std::string>& launchCaseNames();

/// One of searchCaseNames() or launchCaseNames() for a target, with the target's own hardware. Errors: NotFound lists
/// the names, InvalidArgument a target that does not parse.
Result<search::SearchTask> searchCase(const std::string& name, const std::string& target);

} // namespace lathe::test
