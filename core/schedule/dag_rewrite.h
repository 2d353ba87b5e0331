#pragma once

#include "core/compute/dag.h"
#include "core/schedule/state.h"

namespace lathe::schedule {

/// The DAG with a copy of operation `op` named `<name>.<scope>` at op + 1, which `readers` read instead (ids before the
/// insertion). Errors: IllegalSchedule.
Result<compute::DagPtr> cacheRead(const compute::DagPtr& dag, std::int32_t op, const std::string& scope,
                                  const std::vector<std::int32_t>& readers);

/// The DAG with the computation of `op` moved to a new operation `<name>.<scope>` at `op`; the original follows at op +
/// 1 and copies it. Errors: IllegalSchedule.
Result<compute::DagPtr> cacheWrite(const compute::DagPtr& dag, std::int32_t op, const std::string& scope);

/// The DAG with the reduction of stage.op in two: `<name>.rf` at stage.op keeps iterator `iter` (of a reduce axis) as a
/// new spatial axis at `factorAxis`; the operation after it reduces over that axis. Errors: IllegalSchedule.
Result<compute::DagPtr> rfactor(const compute::DagPtr& dag, const Stage& stage, std::int32_t iter,
                                std::int32_t factorAxis);

} // namespace lathe::schedule
