#include "core/session/run/measure_plan.h"

#include "core/measure/task_data.h"
#include "core/session/condition_texts.h"
#include "core/session/device_directory.h"
#include "core/session/options/tune_options.h"
#include "core/session/probe.h"
#include "core/session/remote_claim.h"
#include "core/support/message.h"

#include <algorithm>
#include <bit>

namespace lathe::session {

namespace {

/// Weights of the whole network, up to what no cache holds: so far apart are two uses of one. Taken in turns, twice as
/// much as the last level holds still finds a good part of itself there (its replacement is not by age): 3x3
/// convolutions of 512 channels, whose transformed weights are 17 MB, seemed a quarter faster than they are in the
/// network.
std::uint64_t rotatedBytes(const LoadedModel& model)
{
    constexpr std::uint64_t kLeast = 64 << 20, kLimit = 256 << 20, kTimesLastLevel = 8;
    const auto lastLevel = static_cast<std::uint64_t>(std::max<std::int64_t>(0, model.hardware.get("l3_bytes", 0)));
    const std::uint64_t most = std::clamp(std::bit_ceil(lastLevel * kTimesLastLevel), kLeast, kLimit);
    std::uint64_t bytes = 0;
    for (const graph::Subgraph& subgraph : model.partition.subgraphs)
        for (const graph::ValueId id : subgraph.inputs)
            if (const graph::Value& value = model.graph.value(id); value.constant != nullptr)
                bytes += value.constant->bytes;
    return std::min(std::bit_ceil(bytes), most); // alike for like networks: their records compare
}

} // namespace

std::int64_t coldBytesOf(const TuneOptions& options, const LoadedModel& model, CostClock clock)
{
    if (options.cache == "network") // a formula's time knows no caches
        return clock == CostClock::Model ? 0 : -static_cast<std::int64_t>(rotatedBytes(model));
    return options.cache == "cold" ? std::int64_t{32} << 20 : 0; // more than the caches nearest to a core hold
}

measure::RunPlan planOf(const TuneOptions& options, std::int64_t coldBytes)
{
    measure::RunPlan plan;
    plan.number = static_cast<std::uint32_t>(options.number);
    plan.repeat = static_cast<std::uint32_t>(options.repeat);
    plan.minRepeatMs = minRepeatMs(options);
    plan.cooldownMs = options.cooldownMs;
    plan.coldBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, coldBytes));
    plan.rotateBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, -coldBytes));
    return plan;
}

Result<measure::MeasurerOptions> measurerOptions(const TuneOptions& options, const LoadedModel& model)
{
    measure::MeasurerOptions measurer;
    measurer.target = model.target.text();
    measurer.builders = static_cast<std::uint32_t>(options.buildJobs);
    measurer.runTimeoutSeconds = options.timeoutSeconds;
    if (!options.broker.empty()) {
        LATHE_TRY_ASSIGN(measurer.remote, remoteClaim(options, "tune " + model.spec.source));
        measurer.devices.push_back(measure::deviceOf(model.target));
        measurer.probe = [target = measurer.target](const DeviceIdentity& device) { return probeFor(target, device); };
        return measurer;
    }
    LATHE_TRY_ASSIGN(const auto devices,
                     DeviceDirectory::ask(model.target.kind()).pick(model.target.text(), options.devices));
    for (const DeviceView& device : devices)
        measurer.devices.push_back(measure::deviceOf(model.target, device.key));
    return measurer;
}

Result<std::string> classOf(std::span<const DeviceIdentity> devices)
{
    if (devices.empty())
        return makeError(Errc::NotFound, "there is no device to measure on");
    for (const DeviceIdentity& device : devices)
        if (device.key != devices.front().key)
            return makeError(Errc::InvalidArgument,
                             say(Msg::DevicesDiffer, deviceNameOf(devices.front().fingerprint), devices.front().key,
                                 deviceNameOf(device.fingerprint), device.key));
    return devices.front().key;
}

Result<measure::TaskDataPtr> checkedData(const search::SearchAlternative& alternative, const Target& target)
{
    measure::CheckOptions check;
    check.tolerance = target.traits().tolerance;
    if (!target.traits().standsFor.empty())
        check.pointsPerOutput = 0; // nothing is computed
    return measure::makeTaskData(alternative.dag, alternative.constantInputs, 1, check);
}

} // namespace lathe::session
