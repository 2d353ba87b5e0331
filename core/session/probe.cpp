#include "core/session/probe.h"

#include "core/compute/flop.h"
#include "core/measure/task_data.h"
#include "core/policy/default_candidate.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/untuned.h"
#include "core/support/hash.h"

namespace lathe::session {

namespace {

double workOf(const search::SearchTask& task)
{
    return compute::flop(*task.alternatives.front().dag);
}

} // namespace

Result<measure::MeasureRequest> probeFor(const std::string& target, const DeviceIdentity& device)
{
    // The smallest network that there is; its task with the most work, as it runs without tuning. Of a batch: what
    // takes a few microseconds tells how threads are woken, and not how fast candidates run.
    ModelSpec spec;
    spec.source = "zoo:mlp";
    spec.batch = 64;
    LATHE_TRY_ASSIGN(const auto model, loadModel(spec, target));
    search::SearchTask task = searchTask(model->partition.tasks.front(), *model, true);
    for (const auto& part : model->partition.tasks)
        if (search::SearchTask other = searchTask(part, *model, true); workOf(other) > workOf(task))
            task = std::move(other);
    if (task.target.traits().takesDeviceFigures)
        task.hardware.takeDeviceFigures(figuresOf(device.fingerprint));
    measure::MeasureRequest request;
    request.trial = contentHash("self-test " + model->target.text()).hex();
    request.candidate = untunedCandidate(task).value_or(policy::plainLoops(task));
    measure::CheckOptions check;
    check.tolerance = task.target.traits().tolerance;
    LATHE_TRY_ASSIGN(request.task, measure::makeTaskData(task.alternatives.front().dag,
                                                         task.alternatives.front().constantInputs, 1, check));
    request.plan.minRepeatMs =
        2; // the fastest sample counts (measure/steadiness.h): many short ones find a quiet moment
    request.plan.repeat = 9;
    request.ordinal = 0;
    return request;
}

} // namespace lathe::session
