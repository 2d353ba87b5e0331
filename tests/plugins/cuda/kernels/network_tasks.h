#pragma once

#include "core/search/search_task.h"
#include "core/support/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lathe::cuda::kernels {

/// The tasks of a network of the zoo, as the search has them, and its untuned functions, as tasks of one alternative.
struct NetworkTasks
{
    std::vector<search::SearchTask> tasks, untuned;
};

/// Weights are zero: what is looked at are programs. `limitsOf`: a target whose device's limits the search goes by, as
/// "expected -gpu=a100"; empty: the target's own. Errors: those of the zoo and of the passes; InvalidArgument for a
/// target that does not exist.
Result<NetworkTasks> tasksOf(std::string_view network, std::string_view layout, const std::string& target,
                             const std::string& limitsOf = {});

} // namespace lathe::cuda::kernels
