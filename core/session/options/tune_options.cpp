#include "core/session/options/tune_options.h"

#include "core/policy/policy_table.h"
#include "core/session/head_start.h"
#include "core/session/options/option_table.h"
#include "core/support/message.h"
#include "core/templates/tuner_presets.h"
#include "core/templates/tuner_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lathe::session {

Result<> check(const TuneOptions& o)
{
    if (o.resume && o.startOver)
        return makeError(Errc::InvalidArgument, say(Msg::ResumeAndStartOver));
    TuneOptions held = o;
    held.minRepeatMs = minRepeatMs(o);
    held.scheduler = schedulerOf(o);
    for (const SetOption& option : valuesOf(held))
        if (std::string wrong = validationError(option); !wrong.empty())
            return makeError(Errc::InvalidArgument, std::move(wrong));
    if (!o.broker.empty() && o.devices.size() > 1)
        return makeError(Errc::InvalidArgument, say(Msg::OneKeyARun, o.devices[0], o.devices[1]));
    if (!o.broker.empty() && o.devices.empty() && !o.resume)
        return makeError(Errc::InvalidArgument, say(Msg::BrokerNeedsKey));
    LATHE_TRY_ASSIGN(const policy::PolicyPtr policy, policy::findPolicy(o.policy));
    if (!o.headStart.empty() && o.headStart != kNoHeadStart && !policy->takesHeadStart)
        return makeError(Errc::InvalidArgument, say(Msg::HeadStartOfPolicy, policy::kDefaultPolicy, o.policy));
    if (!policy->takesTuner && o.tuner.empty())
        return {};
    LATHE_TRY_ASSIGN(const templates::TunerEntry* const tuner,
                     templates::findTuner(o.tuner.empty() ? templates::kDefaultTuner : o.tuner));
    LATHE_TRY(templates::tunerValues(*tuner, o.tunerSettings));
    return {};
}

std::vector<std::string> differences(const TuneOptions& asked, const TuneOptions& stored)
{
    const TuneOptions usual;
    TuneOptions wanted = asked;
    takeDevices(wanted, stored); // whether these compare is seen once they are open
    if (wanted.headStart.empty())
        wanted.headStart = stored.headStart;
    if (wanted.trialsPerRound == usual.trialsPerRound)
        wanted.trialsPerRound = stored.trialsPerRound;
    if (!wanted.minRepeatMs)
        wanted.minRepeatMs = stored.minRepeatMs;
    if (wanted.scheduler.empty())
        wanted.scheduler = stored.scheduler;
    std::vector<std::string> flags;
    for (const Option<TuneOptions>& row : optionTable<TuneOptions>())
        if (row.kept && row.get(wanted) != row.get(stored))
            flags.push_back(row.flag);
    return flags;
}

void takeDevices(TuneOptions& options, const TuneOptions& other)
{
    options.devices = other.devices;
    options.broker = other.broker;
    options.credentials = other.credentials;
    options.priority = other.priority;
    options.reserveSeconds = other.reserveSeconds;
}

double expectedTrials(const TuneOptions& options)
{
    double expected = std::numeric_limits<double>::infinity();
    if (options.seconds > 0)
        expected = options.seconds * 12; // trials a second, cautiously
    if (options.trials > 0)
        expected = std::min(expected, static_cast<double>(options.trials));
    return expected;
}

double minRepeatMs(const TuneOptions& options)
{
    const auto policy = policy::findPolicy(options.policy);
    return options.minRepeatMs.value_or(policy ? (*policy)->minRepeatMs : policy::PolicyEntry().minRepeatMs);
}

std::string schedulerOf(const TuneOptions& options)
{
    if (!options.scheduler.empty())
        return options.scheduler;
    const auto policy = policy::findPolicy(options.policy);
    return policy ? (*policy)->scheduler : policy::PolicyEntry().scheduler;
}

std::vector<std::string> presetNames()
{
    std::vector<std::string> names;
    for (const templates::TunerPreset& preset : templates::tunerPresets())
        names.emplace_back(preset.name);
    return names;
}

TuneOptions withPreset(TuneOptions options)
{
    const auto presets = templates::tunerPresets();
    const auto preset = std::find_if(presets.begin(), presets.end(),
                                     [&options](const templates::TunerPreset& p) { return p.name == options.preset; });
    if (preset == presets.end())
        return options;
    const TuneOptions usual;
    const auto take = [&](auto field, auto value) {
        if (options.*field == usual.*field)
            options.*field = value;
    };
    take(&TuneOptions::policy, "template");
    take(&TuneOptions::tuner, preset->tuner);
    take(&TuneOptions::trialsPerTask, preset->trialsPerTask);
    take(&TuneOptions::earlyStopPerTask, preset->earlyStop);
    take(&TuneOptions::number, preset->number);
    take(&TuneOptions::repeat, preset->repeat);
    take(&TuneOptions::timeoutSeconds, preset->timeoutSeconds);
    take(&TuneOptions::minRepeatMs, preset->minRepeatMs);
    take(&TuneOptions::cache, preset->cache);
    return options;
}

} // namespace lathe::session
