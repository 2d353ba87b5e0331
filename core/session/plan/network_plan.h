#pragma once

#include "core/graph/plan/layout_plan.h"
#include "core/session/exports/applied_logs.h"
#include "core/session/loaded_model.h"
#include "core/session/plan/layout_choice.h"
#include "core/store/project.h"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace lathe::session {

/// The layouts of a network, and which record each function takes.
struct NetworkPlan
{
    graph::plan::LayoutProblem problem;
    graph::plan::LayoutPlan plan;
    graph::plan::LayoutPlan fastest; ///< what it is compared with: each function's fastest kernel
    std::map<std::int32_t, std::string> trials; ///< by index into Partition::subgraphs
    using Records = std::map<std::pair<std::string, std::string>, store::BestRow>;
    Records records; ///< of these, by Task::key and trial: a line of a log may be for several tasks
    std::int64_t guessedConversions = 0; ///< whose time was worked out
    bool canMeasure = true; ///< they could be timed here, were it asked for
};

/// Which records it may choose among.
struct PlanRecords
{
    std::optional<store::Conditions> only; ///< nothing: of each task those that were measured last
    bool strict = false;
    const AppliedLogs* logs = nullptr; ///< for tasks without a record; null: there are none
};

/// Nothing: no record has a layout of its own, so that there is nothing to choose.
/// Errors: StoreFailed, BadFile; Unsupported (too many states, no choice that is allowed); Cancelled.
/// @param project  null: there are the logs' records alone, and what conversions take is not kept
Result<std::optional<NetworkPlan>> planNetwork(const LoadedModel& model, const store::Project* project,
                                               const PlanRecords& records, const LayoutChoice& choice,
                                               std::stop_token stop = {});

/// "NCHW16c" of a map of a tensor whose dimensions are called `order`; nothing: it is no such layout.
std::optional<graph::plan::Layout> layoutOf(const IndexMap& map, std::string_view order);

} // namespace lathe::session
