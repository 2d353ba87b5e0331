#include "core/deploy/estimate_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::deploy {

namespace {

struct Member
{
    const char* name;
    double EstimateParts::*ms;
};
constexpr Member kMembers[] = {{"tasks", &EstimateParts::tasksMs},
                               {"chain", &EstimateParts::chainMs},
                               {"untuned", &EstimateParts::untunedMs},
                               {"call", &EstimateParts::callMs}};

} // namespace

nlohmann::ordered_json toJson(const EstimateParts& parts)
{
    const auto known = [](double ms) {
        return std::isfinite(ms) ? nlohmann::ordered_json(ms) : nlohmann::ordered_json();
    };
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const Member& member : kMembers)
        out[member.name] = known(parts.*member.ms);
    out["with_overheads"] = known(parts.totalMs());
    return out;
}

std::string toText(const EstimateParts& parts)
{
    if (!std::isfinite(parts.totalMs()))
        return "unknown";
    return fmt::format("{:.3f} ms: tasks {:.3f}, chain {:+.3f}, untuned functions {:.3f}, call {:.3f}", parts.totalMs(),
                       parts.tasksMs, parts.chainMs, parts.untunedMs, parts.callMs);
}

EstimateParts estimatePartsIn(const nlohmann::json& object)
{
    EstimateParts parts;
    for (const Member& member : kMembers)
        if (object.is_object() && object.contains(member.name) && object[member.name].is_number())
            parts.*member.ms = object[member.name].get<double>();
    return parts;
}

} // namespace lathe::deploy
