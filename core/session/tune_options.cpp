#include "core/session/tune_options.h"

#include "core/session/head_start.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::session {

namespace {

constexpr double kMaxSeconds = 1e9;
constexpr double kMaxMs = 600'000;

template<typename T>
Result<> inRange(const char* name, T value, T low, T high)
{
    if (value >= low && value <= high) // false for not-a-number
        return {};
    return makeError(Errc::InvalidArgument, say(Msg::OptionOutOfRange, name, value, low, high));
}

Result<> oneOf(const char* name, const std::string& value, std::initializer_list<std::string_view> known)
{
    std::string list;
    for (const std::string_view word : known) {
        if (value == word)
            return {};
        list += (list.empty() ? "" : ", ") + std::string(word);
    }
    return makeError(Errc::InvalidArgument, say(Msg::OptionNotOneOf, name, value, list));
}

} // namespace

Result<> check(const TuneOptions& o)
{
    constexpr std::int64_t kMany = std::int64_t{1} << 40;
    LATHE_TRY(inRange("--time", o.seconds, 0.0, kMaxSeconds));
    LATHE_TRY(inRange<std::int64_t>("--trials", o.trials, 0, kMany));
    LATHE_TRY(inRange<std::int64_t>("--trials-per-task", o.trialsPerTask, 0, kMany));
    LATHE_TRY(inRange("--trials-per-round", o.trialsPerRound, 0, 4096));
    LATHE_TRY(oneOf("--policy", o.policy, {"sketch", "reference", "random", "evolution", "template"}));
    if (o.policy == "template")
        return makeError(Errc::Unsupported, "the template policy is not part of this version: choose sketch, reference, evolution or random");
    if (!o.headStart.empty() && o.headStart != kNoHeadStart && o.policy != "sketch")
        return makeError(Errc::InvalidArgument, say(Msg::HeadStartOfSketch, o.policy));
    LATHE_TRY(oneOf("--cache", o.cache, {"network", "warm", "cold"}));
    LATHE_TRY(oneOf("--runoff", o.runoff, {"auto", "on", "off"}));
    LATHE_TRY(inRange("--repeat", o.repeat, 1, 1000));
    LATHE_TRY(inRange("--number", o.number, 1, 1'000'000));
    LATHE_TRY(inRange("--min-repeat-ms", minRepeatMs(o), 0.0, kMaxMs));
    LATHE_TRY(inRange("--timeout", o.timeoutSeconds, 0.001, 86400.0));
    LATHE_TRY(inRange("--cooldown-ms", o.cooldownMs, 0.0, kMaxMs));
    LATHE_TRY(inRange<std::int64_t>("--early-stop", o.earlyStop, 0, kMany));
    LATHE_TRY(inRange("--min-gain", o.minGainPercent, 0.0, 100.0));
    LATHE_TRY(inRange("--gain-window", o.gainWindowSeconds, 0.001, kMaxSeconds));
    return inRange("--build-jobs", o.buildJobs, 0, 1024);
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
    return options.minRepeatMs.value_or(options.policy == "reference" ? 100 : 20);
}

} // namespace lathe::session
