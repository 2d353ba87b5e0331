#pragma once

#include "core/compute/dag.h"
#include "core/target/target.h"

#include <string>
#include <vector>

namespace lathe::search {

/// One compute DAG that computes the task.
struct SearchAlternative
{
    std::string name; ///< graph::Alternative::name
    compute::DagPtr dag;
    std::vector<bool> constantInputs; ///< one per Dag::inputs: weights, which may be packed ahead of time
    bool isReference = false;
};

/// What a policy needs to know of a task; made from graph::Task by whoever drives the search.
struct SearchTask
{
    std::string key; ///< graph::Task::key
    std::string name;
    double flop = 0;
    std::vector<SearchAlternative> alternatives;
    Target target;
    Hardware hardware;
};

} // namespace lathe::search
