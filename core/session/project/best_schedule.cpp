#include "core/session/project/best_schedule.h"

#include "core/schedule/state.h"
#include "core/schedule/step.h"
#include "core/session/exports/kernel_choices.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

namespace lathe::session {

using nlohmann::json;

Result<ScheduleView> bestScheduleOf(const LoadedModel& model, const store::Project& project, const graph::Task& task)
{
    LATHE_TRY_ASSIGN(const auto best, chooseRecords(model, project, {}));
    const auto found = best.find(task.key);
    if (found == best.end())
        return makeError(Errc::NotFound, say(Msg::TaskWithoutRecord, task.name));
    const store::BestRow& row = found->second;
    ScheduleView view;
    view.alternative = row.alternative;
    view.sketch = row.record.candidate.sketch;
    const json steps = json::parse(row.record.candidate.steps, nullptr, false);
    LATHE_TRY_ASSIGN(const auto list, schedule::stepsFromJson(steps));
    for (const json& step : steps)
        view.steps += step.dump() + "\n";
    for (const graph::Alternative& alternative : task.alternatives) {
        if (alternative.name != row.alternative)
            continue;
        LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(alternative.dag, list));
        LATHE_TRY(state.inferBounds());
        view.loops = state.print();
    }
    return view;
}

} // namespace lathe::session
