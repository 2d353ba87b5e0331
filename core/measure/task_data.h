#pragma once

#include "core/compute/dag.h"
#include "core/measure/types.h"
#include "core/target/backend_traits.h"

namespace lathe::measure {

struct CheckOptions
{
    /// All of a smaller tensor; else corners, the last vector and neighbourhoods from the seed, half of them on
    /// borders. 0: outputs are not checked.
    std::int32_t pointsPerOutput = 64;
    Tolerances tolerance;
    std::vector<wire::SeededRange> ranges;
};

/// Serializes the DAG and computes the expected points with compute::Interpreter. Errors: those of the interpreter.
Result<TaskDataPtr> makeTaskData(const compute::DagPtr& dag, std::vector<bool> constantInputs, std::uint64_t seed,
                                 const CheckOptions& options);

} // namespace lathe::measure
