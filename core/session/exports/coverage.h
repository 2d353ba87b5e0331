#pragma once

#include "core/session/views.h"
#include "core/store/skipped_lines.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// What a subgraph runs in an exported library.
enum class Cover : std::uint8_t
{
    Record, ///< the best record of its task under the latest conditions
    Near, ///< the best record of its task under other conditions (device, caches): the latest have none
    Default, ///< a schedule made without measuring: its task has no valid record
    NoTask ///< a schedule made without measuring, by design
};
std::string_view toString(Cover cover); ///< "record", "near match", "default", "no task"

struct SubgraphReport
{
    std::string name;
    std::int32_t task = -1;
    std::string record; ///< trial id, empty: default schedule
    std::string reason; ///< why it has no record, or what differs with a near match
    double estimatedMs = kUnknown;
    double measuredMs = kUnknown;
    Cover cover = Cover::NoTask;
    std::string alternative;
    double share = kUnknown; ///< of the sum of what is estimated, 0..1
    double flopShare = kUnknown; ///< of the operations of all tasks, 0..1
    About about = {}; ///< the reason
};

/// What the logs and packages that an export was given have for the network.
struct GivenRecords
{
    std::int64_t lines = 0; ///< of the logs
    std::int64_t fitting = 0; ///< records, of logs and of packages, that one of the network's tasks can use
    std::vector<store::SkippedLines> skipped; ///< lines of the logs
};

/// What an export would write, known before anything is compiled.
struct Coverage
{
    std::vector<SubgraphReport> subgraphs; ///< in the network's order; those without work are left out
    std::int32_t tasks = 0, records = 0, near = 0, defaults = 0; ///< distinct tasks: all, and by cover
    double estimatedTasksMs = kUnknown; ///< NaN while some task has no record
    std::string refusal; ///< what an export says that may not use default schedules; empty: it needs none
    About aboutRefusal = {};
    GivenRecords given;
    std::string unsupported; ///< why nothing can be exported for this target; empty: it can
    About aboutUnsupported = {};
    bool runsHere =
        true; ///< false: for another processor than this machine has, so that nothing can be verified or measured
};

} // namespace lathe::session
