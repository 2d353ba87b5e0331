#include "core/session/devices.h"

#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/policy/default_candidate.h"
#include "core/session/back_ends.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/untuned.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/detect.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::session {

using nlohmann::json;

Result<SelfTest> selfTestDevice(const std::string& target, const std::string& device)
{
    // The smallest network that there is; its first task as it runs without tuning.
    ModelSpec spec;
    spec.source = "zoo:mlp";
    LATHE_TRY_ASSIGN(const auto model, loadModel(spec, target));
    measure::MeasurerOptions options;
    options.target = model->target.text();
    options.builders = 1;
    if (!device.empty())
        options.devices = {measure::deviceOf(model->target, device)};
    options.quietGate = false; // nothing else of ours runs
    LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(options));
    search::SearchTask task = searchTask(model->partition.tasks.front(), *model, true);
    for (const DeviceIdentity& opened : measurer->devices())
        if (task.target.traits().takesDeviceFigures)
            task.hardware.takeDeviceFigures(figuresOf(opened.fingerprint));
    measure::MeasureRequest request;
    request.trial = contentHash("self-test " + model->target.text()).hex();
    request.candidate = untunedCandidate(task).value_or(policy::plainLoops(task));
    measure::CheckOptions check;
    check.tolerance = task.target.traits().tolerance;
    LATHE_TRY_ASSIGN(request.task, measure::makeTaskData(task.alternatives.front().dag,
                                                         task.alternatives.front().constantInputs, 1, check));
    request.plan.minRepeatMs = 5;
    request.ordinal = 0;
    TrialResult result;
    LATHE_TRY(measurer->measure(std::span(&request, 1),
                                [&result](std::size_t, TrialResult answer) { result = std::move(answer); }));
    if (!result.ok())
        return makeError(result.code,
                         say(Msg::StageNoted, phrase(toString(result.stage)), messageOf(result.text, result.about)));
    SelfTest test;
    test.device = textIn(json::parse(result.device.fingerprint, nullptr, false), "name");
    if (const auto build = result.durationsMs.find("build"); build != result.durationsMs.end())
        test.buildMs = build->second;
    test.runMs = result.meanNs() * 1e-6;
    test.maxRelError = numberIn(json::parse(result.conditions, nullptr, false), "max_rel_error");
    return test;
}

Result<> checkMeasurable(const std::string& text)
{
    LATHE_TRY_ASSIGN(const Target target, parseTarget(text));
    return measure::checkMeasurable(target);
}

unsigned threadsHere()
{
    return availableThreads();
}

} // namespace lathe::session
