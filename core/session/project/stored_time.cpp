#include "core/session/project/stored_time.h"

#include "core/store/project.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::session {

using nlohmann::json;

void putTimeSpent(json& object, const TimeSpent& time)
{
    object["activities"] = time.activities;
    json workers = json::object();
    for (const auto& [name, spent] : time.workers)
        workers[name] = {spent.seconds, spent.processor};
    object["workers"] = std::move(workers);
}

TimeSpent timeSpentIn(const json& object)
{
    TimeSpent time;
    time.activities = numbersIn(partIn(object, "activities"));
    const json workers = partIn(object, "workers");
    for (const auto& [name, spent] : workers.items())
        if (spent.is_array() && spent.size() == 2 && spent[0].is_number() && spent[1].is_number())
            time.workers[name] = {spent[0].get<double>(), spent[1].get<double>()};
    return time;
}

TimeSpent finalsTimeIn(const json& event)
{
    TimeSpent time = timeSpentIn(event);
    if (const double seconds = numberIn(event, "seconds"); time.activities.empty() && seconds > 0)
        time.activities["finals"] = seconds; // of a version that noted no more
    return time;
}

Result<TimeSpent> storedTime(const store::Project& project, std::int64_t session)
{
    TimeSpent time;
    LATHE_TRY_ASSIGN(const auto rounds, project.rounds(session));
    for (const store::RoundRow& round : rounds)
        time += timeSpentIn(json::parse(round.durations, nullptr, false));
    LATHE_TRY(project.forEachEvent(session, [&time](std::string_view kind, double, std::string_view text) {
        if (kind == "finals")
            time += finalsTimeIn(json::parse(text, nullptr, false));
        else if (kind == "done")
            time += timeSpentIn(partIn(json::parse(text, nullptr, false), "rest"));
    }));
    return time;
}

} // namespace lathe::session
