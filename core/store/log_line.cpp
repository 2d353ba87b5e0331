#include "core/store/log_line.h"

#include "core/record/record_json.h"
#include "core/support/json_fields.h"
#include "core/support/json_values.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace lathe::store {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxSteps = 10'000;
constexpr std::size_t kMaxCosts = 10'000;

Error bad(std::string why)
{
    return makeError(Errc::BadFile, phrase(why));
}

std::optional<std::int64_t> integer(const json& value)
{
    std::int64_t whole = 0;
    return takeJson(value, whole) && whole <= (std::int64_t{1} << 62) ? std::optional(whole) : std::nullopt;
}

/// The times of a result in ns; nothing where one is no time.
std::optional<std::vector<double>> costs(const json& list)
{
    if (!list.is_array() || list.empty() || list.size() > kMaxCosts)
        return std::nullopt;
    std::vector<double> out;
    for (const json& seconds : list) {
        const double ns = seconds.is_number() ? seconds.get<double>() * 1e9 : 0;
        if (!std::isfinite(ns) || ns <= 0)
            return std::nullopt;
        out.push_back(ns);
    }
    return out;
}

Result<LogLine> autoScheduler(const json& line)
{
    ForeignTrial trial;
    if (line.contains("v") && line["v"].is_string())
        trial.version = line["v"].get<std::string>();
    constexpr std::array<std::string_view, 6> kVersions = {"v0.1", "v0.2", "v0.3", "v0.4", "v0.5", "v0.6"};
    if (std::find(kVersions.begin(), kVersions.end(), trial.version) == kVersions.end())
        return makeError(Errc::Unsupported, trial.version.empty() ? say(Msg::LogWithoutVersion)
                                                                  : say(Msg::LogOfVersion, quoted(trial.version, 20)));
    const json& input = line["i"];
    if (!input.is_array() || input.size() != 2 || !input[0].is_array() || input[0].size() < 2
        || !input[0][0].is_string() || !input[0][1].is_string())
        return bad("auto-scheduler line whose \"i\" is not [task, state]");
    const json& task = input[0];
    trial.workload = task[0].get<std::string>();
    trial.target = task[1].get<std::string>();
    if (task.size() > 2) {
        if (!task[2].is_array() || task[2].size() > 64)
            return bad("auto-scheduler line whose hardware parameters are not a list");
        for (const json& value : task[2]) {
            const auto number = integer(value);
            if (!number)
                return bad("auto-scheduler line whose hardware parameters are not integers");
            trial.hardware.push_back(*number);
        }
    }
    const json& state = input[1];
    if (!state.is_array() || state.size() != 2 || !state[1].is_array() || state[1].size() > kMaxSteps)
        return bad("auto-scheduler line whose state is not [stages, steps]");
    auto steps = schedule::stepsFromJson(state[1]);
    if (!steps)
        return bad(
            fmt::format("auto-scheduler line with a step that cannot be read: {}", quoted(steps.error().message, 120)));
    trial.steps = *std::move(steps);
    for (const schedule::Step& step : trial.steps)
        if (!schedule::isReferenceStep(step))
            return bad(fmt::format("auto-scheduler line with the step {}, which the reference does not have",
                                   toJson(step).at(0).get<std::string>()));

    const json& result = line["r"];
    const auto error = result.is_array() && result.size() >= 2 ? integer(result[1]) : std::nullopt;
    if (!error || *error < 0 || *error > 8)
        return bad("auto-scheduler line whose \"r\" is not [costs, error, seconds, time]");
    trial.error = static_cast<std::int32_t>(*error);
    if (trial.error == 0) {
        auto times = costs(result[0]);
        if (!times)
            return bad("auto-scheduler line without an error whose costs are not times");
        trial.costsNs = *std::move(times);
    }
    if (result.size() > 2 && result[2].is_number() && std::isfinite(result[2].get<double>()))
        trial.allSeconds = result[2].get<double>();
    if (result.size() > 3) {
        constexpr double kLastSecond = 253402300799; // 9999-12-31
        const double seconds = result[3].is_number() ? result[3].get<double>() : -1;
        if (seconds >= 0 && seconds <= kLastSecond)
            trial.timeMs = static_cast<std::int64_t>(seconds) * 1000;
    }
    return LogLine(std::move(trial));
}

Result<LogLine> own(const json& line)
{
    auto record = recordFromJson(line);
    if (!record)
        return bad(fmt::format("record of Lathe's whose {}", quoted(record.error().message, 120)));
    if (record->trial.empty() || record->trial.size() > 128)
        return bad("record of Lathe's without a trial id");
    if (record->candidate.task.empty())
        return bad("record of Lathe's without a task");
    if (record->result.ok() && record->result.costsNs.empty())
        return bad("record of Lathe's without a failure and without a cost");
    return LogLine(*std::move(record));
}

Result<LogLine> templateTuner(std::string_view text)
{
    auto read = templates::readTemplateLine(text);
    if (!read)
        return read.error();
    return *read ? LogLine(**std::move(read)) : LogLine();
}

struct FailureKind
{
    TrialStage stage;
    Errc code;
    const char* text;
};

TrialResult failureOf(std::int32_t error, std::span<const FailureKind> kinds)
{
    const auto last = static_cast<std::int32_t>(kinds.size());
    const FailureKind& kind = kinds[static_cast<std::size_t>(std::clamp(error, 1, last) - 1)];
    TrialResult result;
    result.stage = kind.stage;
    result.code = kind.code;
    result.about = about(say(Msg::LogTells, error, phrase(kind.text)));
    result.text = textOf(*result.about);
    return result;
}

} // namespace

std::string quoted(std::string_view text, std::size_t most)
{
    std::string out;
    for (const char c : text.substr(0, most))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    if (text.size() <= most)
        return out;
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
        out.pop_back(); // of a character that was cut in two
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0)
        out.pop_back();
    return out + "...";
}

std::string importedLine(const Record& record, const char* kind)
{
    if (!isImported(record))
        return {};
    return textIn(json::parse(record.result.conditions, nullptr, false), kind);
}

bool nestsShallow(std::string_view text)
{
    constexpr int kDeepest = 64;
    int depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                inString = false;
        } else if (c == '"') {
            inString = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest)
                return false;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return true;
}

TrialResult foreignFailure(std::int32_t error)
{
    static constexpr std::array<FailureKind, 8> kKinds = {{
        {TrialStage::Lower, Errc::IllegalSchedule, "applying the steps failed"},
        {TrialStage::Build, Errc::BuildFailed, "compiling failed"},
        {TrialStage::Load, Errc::BuildFailed, "loading the program failed"},
        {TrialStage::Run, Errc::WorkerCrashed, "running the program failed"},
        {TrialStage::Verify, Errc::WrongAnswer, "the result was wrong"},
        {TrialStage::Build, Errc::BuildTimeout, "compiling took too long"},
        {TrialStage::Run, Errc::RunTimeout, "running took too long"},
        {TrialStage::Run, Errc::WorkerCrashed, "unknown cause"},
    }};
    return failureOf(error, kKinds);
}

TrialResult templateFailure(std::int32_t error)
{
    static constexpr std::array<FailureKind, 8> kKinds = {{
        {TrialStage::Lower, Errc::IllegalSchedule, "the configuration was invalid"},
        {TrialStage::Build, Errc::BuildFailed, "compiling failed"},
        {TrialStage::Build, Errc::BuildFailed, "compiling for the device failed"},
        {TrialStage::Run, Errc::WorkerCrashed, "running the program failed"},
        {TrialStage::Verify, Errc::WrongAnswer, "the result was wrong"},
        {TrialStage::Build, Errc::BuildTimeout, "compiling took too long"},
        {TrialStage::Run, Errc::RunTimeout, "running took too long"},
        {TrialStage::Run, Errc::WorkerCrashed, "unknown cause"},
    }};
    return failureOf(error, kKinds);
}

Result<LogLine> readLogLine(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || text.front() == '#')
        return LogLine();
    if (text.find('\0') != std::string_view::npos)
        return bad("binary data");
    if (text[begin] != '{' && text[begin] != '[')
        return bad("not JSON");
    if (!nestsShallow(text))
        return bad("JSON nested deeper than any record");
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded())
        return bad("not JSON");
    const auto has = [&line](const char* a, const char* b) {
        return line.is_object() && line.contains(a) && line.contains(b);
    };
    if (has("trial", "candidate"))
        return own(line);
    if (has("i", "r"))
        return autoScheduler(line);
    if (has("input", "config"))
        return templateTuner(text);
    if (line.is_array() && line.size() == 2 && line[0].is_string() && line[1].is_string())
        return makeError(Errc::Unsupported, say(Msg::LogMetaWorkload));
    if (line.is_array() && line.size() == 2 && line[0].is_number_integer() && line[1].is_array())
        return makeError(Errc::Unsupported, say(Msg::LogMetaRecord));
    return bad("JSON, but not a record of a known tuner");
}

} // namespace lathe::store
