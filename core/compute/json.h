#pragma once

#include "core/compute/dag.h"

#include <nlohmann/json_fwd.hpp>

namespace lathe::compute {

/// Lossless; variables keep their identity. The format is Lathe's own: DAGs travel to builder processes of the same
/// build.
nlohmann::json toJson(const Dag& dag);

/// Strict: unknown members, ids out of range, wrong operand counts and order are BadFile with the place.
Result<DagPtr> dagFromJson(const nlohmann::json& json);

} // namespace lathe::compute
