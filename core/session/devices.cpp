#include "core/session/devices.h"

#include "core/session/back_ends.h"
#include "core/session/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/untuned.h"
#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/policy/default_candidate.h"
#include "core/support/json_fields.h"
#include "core/support/hash.h"
#include "core/target/kinds.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

using nlohmann::json;

std::vector<DeviceView> listDevices()
{
    std::vector<DeviceView> views;
    const auto text = measure::listDevices({});
    if (!text) {
        views.push_back({"", "", "", "absent: " + text.error().message, {}});
        return views;
    }
    const json list = json::parse(*text, nullptr, false);
    for (const json& device : list) {
        DeviceView view;
        view.kind = textIn(device, "kind");
        view.key = textIn(device, "key");
        view.name = textIn(device, "name");
        view.state = device.contains("error") ? "absent: " + textIn(device, "error") : "ready";
        for (const json hardware = partIn(device, "hardware"); const auto& [name, limit] : hardware.items())
            view.hardware.push_back({name, wholeIn(limit, "value"), textIn(limit, "origin")});
        views.push_back(std::move(view));
    }
    // What people look for says why it is not there.
    loadBackEnds();
    for (const TargetKindPtr& kind : targetKinds())
        if (!kind->devices.empty() && std::none_of(views.begin(), views.end(), [&kind](const DeviceView& view) { return view.kind == kind->name; }))
            views.push_back({"", kind->name, kind->devices, fmt::format("absent: this installation of Lathe has no {} back end, so such devices are not looked for", kind->name), {}});
    return views;
}

Result<SelfTest> selfTestDevice(const std::string& target)
{
    // The smallest network that there is; its first task as it runs without tuning.
    ModelSpec spec;
    spec.source = "zoo:mlp";
    LATHE_TRY_ASSIGN(const auto model, loadModel(spec, target));
    measure::MeasurerOptions options;
    options.target = model->target.text();
    options.builders = 1;
    options.quietGate = false; // nothing else of ours runs
    LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(options));
    search::SearchTask task = searchTask(model->partition.tasks.front(), *model, true);
    if (task.target.traits().takesDeviceFigures && !measurer->devices().empty())
        task.hardware.takeDeviceFigures(figuresOf(measurer->devices().front()));
    measure::MeasureRequest request;
    request.trial = contentHash("self-test " + model->target.text()).hex();
    request.candidate = untunedCandidate(task).value_or(policy::plainLoops(task));
    measure::CheckOptions check;
    check.tolerance = task.target.traits().tolerance;
    LATHE_TRY_ASSIGN(request.task, measure::makeTaskData(task.alternatives.front().dag, task.alternatives.front().constantInputs, 1, check));
    request.plan.minRepeatMs = 5;
    request.ordinal = 0;
    TrialResult result;
    LATHE_TRY(measurer->measure(std::span(&request, 1), [&result](std::size_t, TrialResult answer) { result = std::move(answer); }));
    if (!result.ok())
        return makeError(result.code, fmt::format("{}: {}", toString(result.stage), result.text));
    SelfTest test;
    if (!measurer->devices().empty()) {
        test.device = textIn(json::parse(measurer->devices().front(), nullptr, false), "name");
    }
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

bool runsHere(const std::string& text)
{
    const auto target = parseTarget(text);
    return !target || target->traits().runsHere;
}

} // namespace lathe::session
