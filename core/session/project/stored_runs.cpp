#include "core/session/project/stored_runs.h"

#include "core/session/project/stored_events.h"
#include "core/session/project/stored_time.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::session {

using nlohmann::json;

Result<RunView> runView(const store::Project& project, const store::SessionRow& row, double untilSeconds)
{
    RunView view{row.id, row.target, row.startedMs, row.activeSeconds, row.state, row.options};
    view.activeSeconds = std::min(view.activeSeconds, untilSeconds);
    LATHE_TRY(
        project.forEachEvent(row.id, [&view, untilSeconds](std::string_view kind, double at, std::string_view text) {
            if (at > untilSeconds)
                return;
            const json event = json::parse(text, nullptr, false);
            if (TimeSpent rest = kind == "done" ? timeSpentIn(partIn(event, "rest")) : TimeSpent();
                !rest.activities.empty())
                view.rests.emplace_back(at, std::move(rest));
            if (kind == "verdict") {
                view.verdict = verdictIn(event);
                view.verdictAt = at;
            }
            const double ms = numberIn(event, "ms"), seconds = numberIn(event, "seconds");
            if (std::isnan(ms))
                return;
            if (kind == "finals" && !std::isnan(seconds))
                view.finals.push_back({at, seconds, ms, finalsTimeIn(event)});
            if (kind != "untuned" && kind != "measured")
                return;
            const MeasuredEvent measured = measuredIn(event, kind == "untuned");
            if (std::isfinite(measured.beside()))
                view.besideMs = measured.beside();
            if (measured.untuned)
                view.untunedMs = ms;
            else
                view.measured.push_back({at, ms, measured.estimated});
        }));
    return view;
}

namespace {

constexpr double kWhole = std::numeric_limits<double>::infinity();

Result<StoredRun> read(const store::Project& project, const std::vector<store::ModelRow>& models,
                       const store::SessionRow& row)
{
    StoredRun stored;
    LATHE_TRY_ASSIGN(stored.run, runView(project, row, kWhole));
    const auto model = std::ranges::find(models, row.model, &store::ModelRow::id);
    if (model != models.end())
        stored.model = model->name;
    return stored;
}

} // namespace

Result<std::vector<StoredRun>> storedRuns(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto models, project.models());
    LATHE_TRY_ASSIGN(const auto rows, project.sessions());
    std::vector<StoredRun> runs;
    for (const store::SessionRow& row : rows) {
        LATHE_TRY_ASSIGN(StoredRun run, read(project, models, row));
        runs.push_back(std::move(run));
    }
    return runs;
}

Result<StoredRun> storedRun(const std::filesystem::path& file, std::int64_t run)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto models, project.models());
    LATHE_TRY_ASSIGN(const auto rows, project.sessions());
    if (rows.empty())
        return makeError(Errc::NotFound, say(Msg::NoRunToReplay, file.string()));
    const auto row = run == 0 ? rows.end() - 1 : std::ranges::find(rows, run, &store::SessionRow::id);
    if (row == rows.end())
        return makeError(Errc::NotFound, say(Msg::NoSuchRun, file.string(), run, rows.back().id));
    LATHE_TRY_ASSIGN(StoredRun stored, read(project, models, *row));
    LATHE_TRY_ASSIGN(const auto rounds, project.rounds(row->id));
    double trials = 0;
    for (const store::RoundRow& round : rounds) {
        stored.trials.emplace_back(round.atSeconds, trials += round.trials);
        if (std::isfinite(round.estimateMs))
            stored.estimate.emplace_back(round.atSeconds, round.estimateMs);
    }
    for (const RunView::Finals& finals : stored.run.finals)
        stored.estimate.emplace_back(finals.atSeconds, finals.ms);
    std::ranges::stable_sort(stored.estimate, {}, &std::pair<double, double>::first);
    return stored;
}

} // namespace lathe::session
