#include "core/session/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/session.h"

#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/record/json_fields.h"
#include "core/support/hash.h"
#include "core/support/message.h"

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
        views.push_back({"", "", "", "absent: " + text.error().message, {}, text.error().about});
        return views;
    }
    const json list = json::parse(*text, nullptr, false);
    for (const json& device : list) {
        DeviceView view;
        view.kind = textIn(device, "kind");
        view.key = textIn(device, "key");
        view.name = textIn(device, "name");
        view.state = device.contains("error") ? "absent: " + textIn(device, "error") : "ready";
        view.about = aboutFromJsonText(textIn(device, "about"));
        for (const json hardware = partIn(device, "hardware"); const auto& [name, limit] : hardware.items())
            view.hardware.push_back({name, wholeIn(limit, "value"), textIn(limit, "origin")});
        views.push_back(std::move(view));
    }
    // What people look for says why it is not there.
    const std::pair<const char*, const char*> others[] = {{"cuda", "NVIDIA GPUs (CUDA)"}, {"opencl", "OpenCL devices"}};
    for (const auto& [kind, name] : others)
        if (std::none_of(views.begin(), views.end(), [kind = std::string(kind)](const DeviceView& view) { return view.kind == kind; })) {
            const Message why = say(Msg::NoBackEnd, kind);
            views.push_back({"", kind, name, "absent: " + textOf(why), {}, about(why)});
        }
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
        return makeError(Errc::Unsupported, say(Msg::NoTestKernel, model->target.text()));
    measure::MeasureRequest request;
    request.trial = contentHash("self-test " + model->target.text()).hex();
    request.candidate = *candidate;
    LATHE_TRY_ASSIGN(request.task, measure::makeTaskData(task.alternatives.front().dag, task.alternatives.front().constantInputs, 1, {}));
    request.plan.minRepeatMs = 5;
    request.ordinal = 0;
    TrialResult result;
    LATHE_TRY(measurer->measure(std::span(&request, 1), [&result](std::size_t, TrialResult answer) { result = std::move(answer); }));
    if (!result.ok())
        return makeError(result.code, say(Msg::StageNoted, phrase(toString(result.stage)), messageOf(result.text, result.about)));
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
    LATHE_TRY_ASSIGN(const Target target, Target::parse(text));
    return measure::checkMeasurable(target);
}

bool runsHere(const std::string& text)
{
    const auto target = Target::parse(text);
    return !target || target->kind() != "cpu" || target->machine() == thisMachine();
}

} // namespace lathe::session
