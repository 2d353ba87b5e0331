#include "core/session/project/stored_events.h"

#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

using nlohmann::json;

namespace {

json known(double value)
{
    return std::isfinite(value) ? json(value) : json();
}

} // namespace

json toJson(const MeasuredEvent& measured)
{
    return {{"ms", known(measured.ms)},
            {"max_rel_error", known(measured.maxRelError)},
            {"estimated_ms", deploy::toJson(measured.estimated)},
            {"machine", measure::toJson(measured.machine)},
            {"beside_tasks_ms", known(measured.besideTasksMs)},
            {"small_functions", measured.small.count},
            {"small_functions_ms", known(measured.small.ms)}};
}

MeasuredEvent measuredIn(const json& object, bool untuned)
{
    MeasuredEvent measured{numberIn(object, "ms"), numberIn(object, "max_rel_error"), untuned,
                           deploy::estimatePartsIn(partIn(object, "estimated_ms"))};
    measured.machine = measure::machineStateIn(partIn(object, "machine"));
    measured.besideTasksMs = numberIn(object, "beside_tasks_ms");
    measured.small = {std::max<std::int64_t>(0, wholeIn(object, "small_functions")),
                      numberIn(object, "small_functions_ms")};
    return measured;
}

json toJson(const VerdictEvent& verdict)
{
    return {{"gain", toJson(verdict.gain)},
            {"machine", measure::toJson(verdict.machine)},
            {"findings", toJson(verdict.findings)}};
}

VerdictEvent verdictIn(const json& object)
{
    return {gainIn(partIn(object, "gain")), measure::machineStateIn(partIn(object, "machine")),
            findingsIn(object.is_object() && object.contains("findings") ? object["findings"] : json())};
}

} // namespace lathe::session
