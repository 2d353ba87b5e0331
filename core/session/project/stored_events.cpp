#include "core/session/project/stored_events.h"

#include "core/session/project/stored_time.h"
#include "core/session/roofline.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

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

namespace {

std::int32_t countIn(const json& event, const char* key)
{
    return static_cast<std::int32_t>(std::clamp(numberIn(event, key, 0), 0.0, 1e9));
}

/// As RunFinals tells of them.
std::vector<Event> finalsOf(double at, const json& event, std::size_t tasks)
{
    std::vector<Event> events;
    if (event.contains("best") && event["best"].is_array())
        for (const json& best : event["best"]) {
            const bool whole = best.is_array() && best.size() == 3 && best[0].is_number_integer() && best[1].is_number()
                               && best[2].is_string();
            const std::int64_t task = whole ? best[0].get<std::int64_t>() : -1;
            if (task < 0 || task >= static_cast<std::int64_t>(tasks) || !(best[1].get<double>() > 0))
                continue;
            events.push_back({at, BestEvent{static_cast<std::int32_t>(task), best[1].get<double>(),
                                            best[2].get<std::string>(), true}});
        }
    events.push_back({at, FinalsEvent{countIn(event, "tasks"), countIn(event, "finalists"), countIn(event, "passes"),
                                      countIn(event, "changed"), numberIn(event, "before_ms"), numberIn(event, "ms"),
                                      numberIn(event, "seconds"), finalsTimeIn(event)}});
    events.push_back(
        {at, EstimateEvent{numberIn(event, "ms"), numberIn(event, "low_ms"), numberIn(event, "high_ms"),
                           numberIn(event, "eta_s"), kUnknown, kUnknown, kUnknown, numberIn(event, "tasks_ms")}});
    return events;
}

} // namespace

About aboutIn(const json& event)
{
    return event.contains("about")
               ? aboutFromJsonText(event["about"].dump(-1, ' ', false, json::error_handler_t::replace))
               : About();
}

std::vector<Event> eventsOf(std::string_view kind, double at, const json& event, std::size_t tasks)
{
    if (!event.is_object() || !std::isfinite(at))
        return {};
    if (kind == "untuned" || kind == "measured")
        return {{at, measuredIn(event, kind == "untuned")}};
    if (kind == "verdict")
        return {{at, verdictIn(event)}};
    if (kind == "finals")
        return finalsOf(at, event, tasks);
    if (kind == "error")
        return {{at, ErrorEvent{errcFromString(textIn(event, "code")).value_or(Errc::Internal), textIn(event, "text"),
                                aboutIn(event)}}};
    if (kind == "log")
        return {{at, LogEvent{textIn(event, "text"), aboutIn(event)}}};
    if (kind == "limits") {
        DeviceLimits limits = limitsFromJson(event.dump());
        return limits.known() ? std::vector<Event>{{at, LimitsEvent{std::move(limits)}}} : std::vector<Event>();
    }
    if (kind == "budget") {
        const double task = numberIn(event, "task"), boost = numberIn(event, "boost"),
                     cap = numberIn(event, "trial_cap");
        if (task >= 0 && task < static_cast<double>(tasks) && boost > 0 && cap >= 0 && cap < 1e15)
            return {{at, BudgetEvent{static_cast<std::int32_t>(task),
                                     {flagIn(event, "pinned"), flagIn(event, "muted"), boost,
                                      static_cast<std::int64_t>(cap)}}}};
    }
    return {};
}

DoneEvent doneIn(double at, const json& event)
{
    DoneEvent done;
    done.trials = static_cast<std::int64_t>(std::clamp(numberIn(event, "trials", 0), 0.0, 1e15));
    done.seconds = at;
    done.estimatedMs = numberIn(event, "estimated_ms");
    done.measuredMs = numberIn(event, "measured_ms");
    for (const auto& [code, count] : numbersIn(partIn(event, "errors")))
        done.errors[code] = static_cast<std::int64_t>(std::clamp(count, 0.0, 1e15));
    done.rest = timeSpentIn(partIn(event, "rest"));
    done.rejected = rejectedIn(event);
    return done;
}

std::int64_t rejectedIn(const json& durations)
{
    return std::clamp<std::int64_t>(wholeIn(durations, "rejected", 0), 0, 1'000'000'000);
}

json toJson(const RoundEvent& begins, std::string_view taskKey)
{
    return {{"round", begins.index},
            {"task", taskKey},
            {"trials", begins.trials},
            {"terms", begins.terms},
            {"reason", begins.reason}};
}

RoundEvent roundBegunIn(const json& event, const std::function<std::int32_t(const std::string&)>& taskOf)
{
    const std::string key = textIn(event, "task");
    return {static_cast<std::int32_t>(wholeIn(event, "round", -1)), key.empty() ? -1 : taskOf(key),
            countIn(event, "trials"), numbersIn(partIn(event, "terms")), textIn(event, "reason")};
}

RoundEvent roundBegunOf(const store::RoundRow& round, std::int32_t task)
{
    const json terms = json::parse(round.terms, nullptr, false);
    return {round.index, task, round.trials, numbersIn(terms), textIn(terms, "reason")};
}

std::vector<Event> roundEndOf(const store::RoundRow& round, std::int32_t task, double at)
{
    const json durations = json::parse(round.durations, nullptr, false);
    const json best = partIn(durations, "best");
    std::vector<Event> events;
    if (const double ms = numberIn(best, "ms"); task >= 0 && ms > 0)
        events.push_back({at, BestEvent{task, ms, textIn(best, "alternative"), flagIn(best, "final")}});
    if (task >= 0)
        events.push_back({at, RoundDoneEvent{round.index, task, round.trials, timeSpentIn(durations), round.estimateMs,
                                             rejectedIn(durations)}});
    events.push_back({at, EstimateEvent{round.estimateMs, numberIn(durations, "low_ms"), numberIn(durations, "high_ms"),
                                        numberIn(durations, "eta_s"), numberIn(durations, "forecast_ms"),
                                        numberIn(durations, "forecast_low_ms"), numberIn(durations, "forecast_high_ms"),
                                        numberIn(durations, "tasks_ms")}});
    return events;
}

} // namespace lathe::session
