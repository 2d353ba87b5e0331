#include "core/templates/log_line.h"

#include "core/support/message.h"
#include "core/templates/config_json.h"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace lathe::templates {
namespace {

constexpr std::size_t kMaxCosts = 10'000;
constexpr std::int64_t kLastError = 8;
constexpr double kLastSecond = 253402300799; // of the year 9999

using List = JsonValue::List;

Error badLine(std::string part, std::string wanted)
{
    return makeError(Errc::BadFile, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

/// Any number that is finite and not negative, with its digits.
std::optional<Real> number(const JsonValue& value)
{
    Real real;
    if (const std::int64_t* whole = value.whole())
        real = {static_cast<double>(*whole), std::to_string(*whole)};
    else if (const Real* given = std::get_if<Real>(&value.value))
        real = *given;
    else
        return std::nullopt;
    return std::isfinite(real.value) && real.value >= 0 ? std::optional(std::move(real)) : std::nullopt;
}

Result<> readInput(const JsonValue& input, TemplateTrial& trial)
{
    const List* list = input.list();
    if (list == nullptr || list->size() != 4 || (*list)[0].text() == nullptr)
        return badLine("input", "[target, task, args, kwargs]");
    if ((*list)[3].members() == nullptr)
        return badLine("input[3]", "an object");
    trial.target = *(*list)[0].text();
    trial.kwargs = (*list)[3];
    LATHE_TRY_ASSIGN(trial.workload, workloadFromJson((*list)[1], (*list)[2]));
    return {};
}

Result<> readResult(const JsonValue& result, TemplateTrial& trial)
{
    const List* list = result.list();
    if (list == nullptr || list->size() != 4)
        return badLine("result", "[costs, error, seconds, time]");
    const std::int64_t* error = (*list)[1].whole();
    if (error == nullptr || *error < 0 || *error > kLastError)
        return badLine("result[1]", "an error number from 0 to 8");
    trial.error = static_cast<std::int32_t>(*error);
    const List* costs = (*list)[0].list();
    if (costs == nullptr || costs->size() > kMaxCosts || (costs->empty() && trial.error == 0))
        return badLine("result[0]", "a list of costs");
    for (const JsonValue& item : *costs) {
        std::optional<Real> cost = number(item);
        if (!cost || (trial.error == 0 && cost->value <= 0))
            return badLine("result[0]", "a list of times in seconds");
        trial.costs.push_back(*std::move(cost));
    }
    std::optional<Real> allCost = number((*list)[2]), timestamp = number((*list)[3]);
    if (!allCost)
        return badLine("result[2]", "a time in seconds");
    if (!timestamp || timestamp->value > kLastSecond)
        return badLine("result[3]", "seconds since 1970");
    trial.allCost = *std::move(allCost);
    trial.timestamp = *std::move(timestamp);
    return {};
}

/// Version 0.1 called its members i, r and v.
Result<> checkVersion(const JsonValue& line)
{
    const JsonValue* version = line.member("version");
    if (version == nullptr)
        version = line.member("v");
    if (version == nullptr)
        return badLine("version", "a member of the line");
    if (*version == JsonValue{Real{0.2}} && line.member("input") != nullptr)
        return {};
    std::string shown = jsonText(*version);
    if (shown.size() > 20)
        shown = shown.substr(0, 20) + "...";
    return makeError(Errc::Unsupported, say(Msg::TemplateVersion, shown));
}

/// Python puts a blank behind colons; other writers may not.
JsonStyle styleOf(std::string_view line)
{
    const std::size_t colon = line.find("\":");
    return colon != std::string_view::npos && colon + 2 < line.size() && line[colon + 2] == ' ' ? JsonStyle::Spaced
                                                                                                : JsonStyle::Compact;
}

JsonValue reals(const std::vector<Real>& values)
{
    List list;
    list.reserve(values.size());
    for (const Real& value : values)
        list.push_back({value});
    return {std::move(list)};
}

} // namespace

double TemplateTrial::meanCost() const
{
    if (error != 0 || costs.empty())
        return std::numeric_limits<double>::infinity();
    const auto add = [](double sum, const Real& cost) { return sum + cost.value; };
    return std::accumulate(costs.begin(), costs.end(), 0.0, add) / static_cast<double>(costs.size());
}

Result<std::optional<TemplateTrial>> readTemplateLine(std::string_view line)
{
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n'))
        line.remove_suffix(1);
    if (line.starts_with('#') || line.find_first_not_of(" \t") == std::string_view::npos)
        return std::optional<TemplateTrial>();
    LATHE_TRY_ASSIGN(const JsonValue json, parseJson(line));
    if (json.members() == nullptr)
        return badLine("the line", "an object");
    LATHE_TRY(checkVersion(json));
    TemplateTrial trial;
    trial.style = styleOf(line);
    LATHE_TRY(readInput(*json.member("input"), trial));
    const JsonValue* config = json.member("config");
    const JsonValue* result = json.member("result");
    if (config == nullptr || result == nullptr)
        return badLine(config == nullptr ? "config" : "result", "a member of the line");
    LATHE_TRY_ASSIGN(trial.config, configFromJson(*config));
    LATHE_TRY(readResult(*result, trial));
    if (const JsonValue* version = json.member("tvm_version"); version != nullptr) {
        if (version->text() == nullptr)
            return badLine("tvm_version", "a text");
        trial.version = *version->text();
    }
    return std::optional(std::move(trial));
}

std::string templateLine(const TemplateTrial& trial)
{
    using Members = JsonValue::Members;
    const List input{{trial.target}, {trial.workload.task}, {trial.workload.args}, trial.kwargs};
    const List result{reals(trial.costs), {std::int64_t{trial.error}}, {trial.allCost}, {trial.timestamp}};
    Members line{
        {"input", {input}}, {"config", configToJson(trial.config)}, {"result", {result}}, {"version", {Real{0.2}}}};
    if (trial.version)
        line.push_back({"tvm_version", {*trial.version}});
    return jsonText({std::move(line)}, trial.style);
}

std::string trialKey(const TemplateTrial& trial)
{
    return jsonText({List{
        {trial.target}, {trial.workload.task}, {trial.workload.args}, trial.kwargs, entitiesToJson(trial.config)}});
}

} // namespace lathe::templates
