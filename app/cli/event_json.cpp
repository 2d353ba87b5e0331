#include "app/cli/event_json.h"

#include "app/cli/verdict_text.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::cli {

using namespace session;
using nlohmann::json;

namespace {

void putFinite(json& out, const char* key, double value)
{
    if (std::isfinite(value))
        out[key] = value;
}

void put(json& out, const TimeSpent& time)
{
    out["time_s"] = time.activities;
    json workers = json::object();
    for (const auto& [name, spent] : time.workers)
        workers[name] = {{"s", spent.seconds}, {"processor_s", spent.processor}};
    out["workers"] = std::move(workers);
}

struct Writer
{
    json& out;

    void operator()(const TrialEvent& e) const
    {
        const TrialView& t = e.trial;
        out.update({{"event", "trial"},
                    {"id", t.id},
                    {"round", t.round},
                    {"index", t.index},
                    {"task", t.task},
                    {"candidate", t.candidate},
                    {"sketch", t.sketch}});
        if (t.code == "Ok")
            putFinite(out, "cost_ms", t.costMs);
        else
            out.update({{"stage", t.stage}, {"code", t.code}, {"text", t.text}});
    }
    void operator()(const RoundEvent& e) const
    {
        out.update({{"event", "round"}, {"index", e.index}, {"task", e.task}, {"trials", e.trials}});
        json terms = json::object();
        for (const auto& [name, value] : e.terms)
            putFinite(terms, name.c_str(), value);
        out["terms"] = terms;
        out["reason"] = e.reason;
    }
    void operator()(const BestEvent& e) const
    {
        out.update({{"event", "best"}, {"task", e.task}, {"alternative", e.alternative}});
        putFinite(out, "cost_ms", e.costMs);
        if (e.final)
            out["final"] = true;
    }
    void operator()(const EstimateEvent& e) const
    {
        out["event"] = "estimate";
        putFinite(out, "ms", e.ms);
        putFinite(out, "tasks_ms", e.tasksMs);
        if (std::isfinite(e.low) && std::isfinite(e.high))
            out["band"] = {e.low, e.high};
        putFinite(out, "eta_s", e.etaSeconds);
        putFinite(out, "forecast_ms", e.forecastMs);
        if (std::isfinite(e.forecastLow) && std::isfinite(e.forecastHigh))
            out["forecast_band"] = {e.forecastLow, e.forecastHigh};
    }
    void operator()(const MeasuredEvent& e) const
    {
        out["event"] = "measured";
        out["untuned"] = e.untuned;
        putFinite(out, "ms", e.ms);
        putFinite(out, "max_rel_error", e.maxRelError);
        out["estimated_ms"] = toJson(e.estimated);
        out["machine"] = toJson(e.machine);
    }
    void operator()(const VerdictEvent& e) const
    {
        out["event"] = "verdict";
        out.update(verdictJson(e));
    }
    void operator()(const LimitsEvent& e) const
    {
        json levels = json::array();
        for (const auto& level : e.limits.levels)
            levels.push_back({{"name", level.name}, {"bytes", level.bytes}, {"gbytes_per_s", level.gbytesPerS}});
        out.update({{"event", "limits"}, {"gflops", e.limits.gflops}, {"levels", levels}});
    }
    void operator()(const ErrorEvent& e) const
    {
        out.update({{"event", "error"}, {"code", toString(e.code)}, {"text", e.text}});
    }
    void operator()(const LogEvent& e) const { out.update({{"event", "log"}, {"text", e.text}}); }
    void operator()(const StateEvent& e) const
    {
        out.update({{"event", "state"}, {"state", toString(e.state)}, {"text", e.text}});
    }
    void operator()(const RoundDoneEvent& e) const
    {
        out.update({{"event", "round_done"}, {"index", e.index}, {"task", e.task}, {"trials", e.trials}});
        put(out, e.time);
        putFinite(out, "estimated_ms", e.estimateMs);
        out["rejected"] = e.rejected;
    }
    void operator()(const BudgetEvent& e) const
    {
        out.update({{"event", "budget"},
                    {"task", e.task},
                    {"pinned", e.budget.pinned},
                    {"muted", e.budget.muted},
                    {"boost", e.budget.boost},
                    {"trial_cap", e.budget.trialCap}});
    }
    void operator()(const FinalsEvent& e) const
    {
        out.update({{"event", "finals"},
                    {"tasks", e.tasks},
                    {"finalists", e.finalists},
                    {"passes", e.passes},
                    {"changed", e.changed}});
        putFinite(out, "before_ms", e.beforeMs);
        putFinite(out, "after_ms", e.afterMs);
        putFinite(out, "seconds", e.seconds);
        put(out, e.time);
    }
    void operator()(const RewindEvent&) const { out["event"] = "rewind"; }
    void operator()(const WriterEvent& e) const
    {
        out["event"] = "writer";
        if (e.writer)
            out.update({{"program", e.writer->program}, {"pid", e.writer->pid}, {"host", e.writer->host}});
    }
    void operator()(const TasksEvent& e) const
    {
        out["event"] = "tasks";
        for (const TaskView& task : e.tasks)
            out["trials"].push_back(task.trials);
    }
    void operator()(const RunBegunEvent& e) const { out.update({{"event", "run"}, {"run", e.run}}); }
    void operator()(const DoneEvent& e) const
    {
        out.update({{"event", "done"}, {"trials", e.trials}, {"errors", e.errors}, {"rejected", e.rejected}});
        put(out, e.time);
        putFinite(out, "seconds", e.seconds);
        putFinite(out, "trials_per_s", static_cast<double>(e.trials) / e.seconds);
        putFinite(out, "estimated_ms", e.estimatedMs);
        putFinite(out, "measured_ms", e.measuredMs);
    }
};

} // namespace

std::string eventLine(const Event& event, bool isExpected)
{
    json out = json::object();
    std::visit(Writer{out}, event.what);
    if (isExpected && (out.contains("cost_ms") || out.contains("ms") || out.contains("estimated_ms")))
        out["expected"] = true;
    out["at_s"] = event.atSeconds;
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace lathe::cli
