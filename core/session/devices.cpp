#include "core/session/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/session.h"

#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/support/hash.h"

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
        view.kind = device.value("kind", std::string());
        view.key = device.value("key", std::string());
        view.name = device.value("name", std::string());
        view.state = device.contains("error") ? "absent: " + device.value("error", std::string()) : "ready";
        if (device.contains("hardware") && device["hardware"].is_object())
            for (const auto& [name, limit] : device["hardware"].items())
                view.hardware.push_back({name, limit.value("value", std::int64_t{0}), limit.value("origin", std::string())});
        views.push_back(std::move(view));
    }
    // What people look for says why it is not there.
    const std::pair<const char*, const char*> others[] = {{"cuda", "NVIDIA GPUs (CUDA)"}, {"opencl", "OpenCL devices"}};
    for (const auto& [kind, name] : others)
        if (std::none_of(views.begin(), views.end(), [kind = std::string(kind)](const DeviceView& view) { return view.kind == kind; }))
            views.push_back({"", kind, name, fmt::format("absent: this installation of Lathe has no {} back end, so such devices are not looked for", kind), {}});
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
    const search::SearchTask task = searchTask(model->partition.tasks.front(), *model, true);
    const auto candidate = untunedCandidate(task);
    if (!candidate)
        return makeError(Errc::Unsupported, fmt::format("there is no test kernel for the target {}", model->target.text()));
    measure::MeasureRequest request;
    request.trial = contentHash("self-test " + model->target.text()).hex();
    request.candidate = *candidate;
    LATHE_TRY_ASSIGN(request.task, measure::makeTaskData(task.alternatives.front().dag, task.alternatives.front().constantInputs, 1, {}));
    request.plan.minRepeatMs = 5;
    request.ordinal = 0;
    TrialResult result;
    LATHE_TRY(measurer->measure(std::span(&request, 1), [&result](std::size_t, TrialResult answer) { result = std::move(answer); }));
    if (!result.ok())
        return makeError(result.code, fmt::format("{}: {}", toString(result.stage), result.text));
    SelfTest test;
    if (!measurer->devices().empty()) {
        const json device = json::parse(measurer->devices().front(), nullptr, false);
        if (device.is_object() && device.contains("name") && device["name"].is_string())
            test.device = device["name"].get<std::string>();
    }
    if (const auto build = result.durationsMs.find("build"); build != result.durationsMs.end())
        test.buildMs = build->second;
    test.runMs = result.meanNs() * 1e-6;
    const json conditions = json::parse(result.conditions, nullptr, false);
    if (conditions.is_object() && conditions.contains("max_rel_error") && conditions["max_rel_error"].is_number())
        test.maxRelError = conditions["max_rel_error"].get<double>();
    return test;
}

} // namespace lathe::session
