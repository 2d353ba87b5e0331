#include "core/session/devices.h"

#include "core/measure/measurer.h"
#include "core/session/back_ends.h"
#include "core/session/farm_orders.h"
#include "core/session/probe.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/detect.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::session {

using nlohmann::json;

namespace {

Result<SelfTest> testWith(measure::MeasurerOptions options, const std::stop_token& stop)
{
    options.builders = 1;
    options.quietGate = false; // nothing else of ours runs
    LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(options, stop));
    LATHE_TRY_ASSIGN(const measure::MeasureRequest request, probeFor(options.target, measurer->devices().front()));
    TrialResult result;
    LATHE_TRY(measurer->measure(
        std::span(&request, 1), [&result](std::size_t, TrialResult answer) { result = std::move(answer); }, stop));
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

} // namespace

Result<SelfTest> selfTestDevice(const std::string& target, const std::string& device)
{
    measure::MeasurerOptions options;
    LATHE_TRY_ASSIGN(const Target parsed, parseTarget(target));
    options.target = parsed.text();
    if (!device.empty())
        options.devices = {measure::deviceOf(parsed, device)};
    return testWith(std::move(options), {});
}

Result<SelfTest> selfTestFarmDevice(const BrokerWords& broker, const std::string& key, const std::string& device,
                                    const std::string& target, const std::stop_token& stop)
{
    measure::MeasurerOptions options;
    LATHE_TRY_ASSIGN(const Target parsed, parseTarget(target));
    options.target = parsed.text();
    options.devices = {measure::deviceOf(parsed)};
    LATHE_TRY_ASSIGN(options.remote, remoteClaim(broker, key, "self-test of " + device));
    options.remote->device = device;
    options.remote->most = 1;
    return testWith(std::move(options), stop);
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
