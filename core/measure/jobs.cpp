#include "core/measure/jobs.h"

#include "core/backend/kernel_name.h"
#include "core/measure/device_words.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::measure {

namespace {
/// Of what a runner says of a failure: it is stored with the trial, and there are thousands of them.
constexpr std::size_t kMostTextBytes = 64u << 10;
} // namespace

std::string kernelNameOf(const MeasureRequest& request)
{
    return backend::kernelName(request.ordinal, request.candidate.hash().high);
}

Result<> fillRunJob(const MeasureRequest& request, const BuiltArtifact& artifact, std::int32_t kernel,
                    wire::RunJob& job)
{
    if (kernel < 0 || static_cast<std::size_t>(kernel) >= artifact.descriptor.kernels.size())
        return makeError(Errc::Internal, "the artifact does not have the kernel that the builder named");
    const KernelInfo& info = artifact.descriptor.kernels[static_cast<std::size_t>(kernel)];
    const TaskData& task = *request.task;
    if (const auto id = Hash128::fromHex(request.trial))
        wire::toWire(*id, job.mutable_trial());
    auto& ref = *job.add_artifacts();
    wire::toWire(artifact.hash, ref.mutable_blob());
    ref.set_descriptor(artifact.descriptorJson);
    auto& launch = *job.add_launches();
    launch.set_kernel(static_cast<std::uint32_t>(kernel));
    launch.set_timed(true);
    std::vector<std::uint32_t> outputs;
    std::size_t inputs = 0;
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        const ArgSpec& spec = info.parameters[i];
        auto& buffer = *job.add_buffers();
        buffer.set_spec(toJson(spec).dump());
        launch.add_buffers(static_cast<std::uint32_t>(i));
        if (spec.role == ArgRole::Output) {
            buffer.set_fill(wire::Buffer::POISON);
            outputs.push_back(static_cast<std::uint32_t>(i));
            continue;
        }
        buffer.set_fill(wire::Buffer::SEED);
        buffer.set_seed(wire::inputSeed(task.seed, inputs));
        if (inputs < task.ranges.size()) {
            buffer.set_low(task.ranges[inputs].low);
            buffer.set_high(task.ranges[inputs].high);
        }
        ++inputs;
    }
    for (const ExpectedOutput& expected : task.expected) {
        if (expected.output < 0 || static_cast<std::size_t>(expected.output) >= outputs.size())
            return makeError(Errc::Internal, "an expected output is none of the kernel's");
        auto& check = *job.add_checks();
        check.set_buffer(outputs[static_cast<std::size_t>(expected.output)]);
        check.set_tolerance(expected.tolerance);
        for (const std::int64_t point : expected.points)
            check.add_points(static_cast<std::uint64_t>(point));
        for (const double value : expected.values)
            check.add_values(value);
    }
    wire::RunPlan& plan = *job.mutable_plan();
    plan.set_number(request.plan.number);
    plan.set_repeat(request.plan.repeat);
    plan.set_min_repeat_ms(request.plan.minRepeatMs);
    plan.set_cooldown_ms(request.plan.cooldownMs);
    plan.set_cold_bytes(request.plan.coldBytes);
    plan.set_rotate_bytes(request.plan.rotateBytes);
    if (request.plan.loserFactor > 0 && std::isfinite(request.bestNs))
        plan.set_stop_above_ns(request.plan.loserFactor * request.bestNs);
    if (request.plan.contenderFactor > 0 && std::isfinite(request.bestNs))
        plan.set_settle_above_ns(request.plan.contenderFactor * request.bestNs);
    return {};
}

std::vector<backend::LaunchFigures> launchFiguresOf(const wire::BuiltCandidate& candidate)
{
    std::vector<backend::LaunchFigures> launches;
    for (const wire::LaunchFigures& launch : candidate.launches())
        launches.push_back({static_cast<std::int32_t>(launch.registers()), launch.shared_bytes(), launch.local_bytes(),
                            launch.spilled_bytes()});
    return launches;
}

TrialResult toTrialResult(const wire::RunResult& run, const MeasureRequest& request, const BuildFacts& facts,
                          const DeviceIdentity& device, std::map<std::string, double> durations,
                          const std::string& runner)
{
    if (const Result<> checked = checkAnswer(run, request); !checked)
        return failedTrial(TrialStage::Run, checked.error(), device, std::move(durations));
    TrialResult result;
    result.device = device;
    result.stage = static_cast<TrialStage>(
        std::min<std::uint32_t>(run.stage(), static_cast<std::uint32_t>(TrialStage::Transport)));
    Error failure = wire::errorOf(run.failure());
    result.code = failure.code;
    result.text = std::move(failure.message);
    result.about = std::move(failure.about);
    if (run.failure().text().size() + run.failure().about().size() > kMostTextBytes) {
        result.text.resize(std::min(result.text.size(), kMostTextBytes));
        result.about = {};
    }
    if (result.ok()) {
        result.costsNs.assign(run.costs_ns().begin(), run.costs_ns().end());
        result.verified = run.verified();
    }
    if (run.build_ms() > 0)
        durations["build"] += run.build_ms();
    durations["upload"] = run.prepare_ms();
    durations["measure"] = run.measure_ms();
    if (run.check_ms() > 0)
        durations["check"] = run.check_ms();
    result.durationsMs = std::move(durations);
    nlohmann::json conditions = nlohmann::json::object();
    if (auto health = deviceWords(run.health()))
        conditions = *std::move(health);
    for (const char* name : {"finals", "finals_round", "runoff", "passes_ns", "moments", "stopped_early",
                             "max_rel_error", "probe_drift", "rejected", "runner", "device_build_ms"})
        conditions.erase(name); // say how a run used the trial, which no device knows
    if (!runner.empty())
        conditions["runner"] = runner;
    conditions["number"] = run.number();
    conditions["cold_bytes"] = request.plan.coldBytes;
    conditions["rotate_bytes"] = request.plan.rotateBytes;
    conditions["vector_spills"] = facts.vectorSpills;
    conditions["code_bytes"] = facts.codeBytes;
    for (const backend::LaunchFigures& launch : facts.launches)
        conditions["launches"].push_back({{"registers", launch.registers},
                                          {"shared_bytes", launch.sharedBytes},
                                          {"local_bytes", launch.localBytes},
                                          {"spilled_bytes", launch.spilledBytes}});
    if (run.build_ms() >= 1) // of durations "build", what the device itself compiled
        conditions["device_build_ms"] = run.build_ms();
    if (run.stopped_early())
        conditions["stopped_early"] = true;
    if (result.verified)
        conditions["max_rel_error"] = run.max_rel_error();
    result.conditions = conditions.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return result;
}

TrialResult failedTrial(TrialStage stage, Error error, const DeviceIdentity& device,
                        std::map<std::string, double> durations)
{
    TrialResult result;
    result.device = device;
    result.stage = stage;
    result.code = error.code;
    result.text = std::move(error.message);
    result.about = std::move(error.about);
    result.durationsMs = std::move(durations);
    result.conditions = "{}";
    return result;
}

} // namespace lathe::measure
