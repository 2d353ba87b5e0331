#include "core/session/baseline.h"

#include "core/store/record_range.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>
#include <optional>

namespace lathe::session {

namespace {

std::optional<std::int64_t> positive(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value <= 0)
        return std::nullopt;
    return value;
}

std::optional<std::int64_t> localTime(const std::string& text)
{
    for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
        std::tm parts{};
        const char* end = strptime(text.c_str(), format, &parts);
        if (end == nullptr || *end != '\0')
            continue;
        parts.tm_isdst = -1;
        if (text.size() <= 10) { // the whole day counts
            parts.tm_hour = 23;
            parts.tm_min = 59;
            parts.tm_sec = 59;
        }
        const std::time_t seconds = std::mktime(&parts);
        if (seconds > 0)
            return static_cast<std::int64_t>(seconds) * 1000 + 999;
    }
    return std::nullopt;
}

} // namespace

Result<Baseline> parseBaseline(std::string_view text)
{
    Baseline baseline;
    // From the end, so that a file's name may hold commas.
    std::string_view rest = text;
    while (true) {
        const std::size_t comma = rest.rfind(',');
        if (comma == std::string_view::npos)
            break;
        const std::string_view word = rest.substr(comma + 1);
        const std::size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals);
        if (equals == std::string_view::npos || (key != "run" && key != "until" && key != "model" && key != "device"))
            break;
        const std::string_view value = word.substr(equals + 1);
        rest = rest.substr(0, comma);
        const auto number = key == "until" ? localTime(std::string(value)) : positive(value);
        if (key == "device" ? value.empty() : !number)
            return makeError(Errc::InvalidArgument,
                             key == "device"  ? std::string("device= names no device: write device=KEY")
                             : key == "until" ? fmt::format(
                                   "'{}' is not a date: write until=2026-01-31 or until=2026-01-31T18:00", value)
                                              : fmt::format("'{}' is not the number of a {}", value, key));
        if (key == "device")
            baseline.device = value;
        else if (number)
            (key == "run" ? baseline.run : key == "until" ? baseline.untilMs : baseline.model) = *number;
    }
    if (rest.empty())
        return makeError(Errc::InvalidArgument, say(Msg::NoProjectFile, text));
    baseline.project = rest;
    return baseline;
}

std::string toString(const Baseline& baseline)
{
    std::string text = baseline.project.string();
    if (baseline.model > 0)
        text += fmt::format(",model={}", baseline.model);
    if (baseline.run > 0)
        text += fmt::format(",run={}", baseline.run);
    if (baseline.untilMs > 0) {
        const std::time_t seconds = baseline.untilMs / 1000;
        std::tm parts{};
        localtime_r(&seconds, &parts);
        char word[32];
        std::strftime(word, sizeof word, "%Y-%m-%dT%H:%M:%S", &parts);
        text += fmt::format(",until={}", word);
    }
    if (!baseline.device.empty())
        text += ",device=" + baseline.device;
    return text;
}

Result<std::vector<RunChoice>> listRuns(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto models, project.models());
    LATHE_TRY_ASSIGN(const auto sessions, project.sessions());
    std::map<std::int64_t, std::string> names;
    for (const store::ModelRow& model : models)
        names[model.id] = model.name;
    std::vector<RunChoice> runs;
    for (const store::SessionRow& row : sessions)
        runs.push_back({row.id, row.model, names[row.model], row.target, row.state, row.startedMs, row.activeSeconds});
    return runs;
}

bool DeviceChoice::isCalled(const std::string& word) const
{
    return word == device || std::ranges::find(keys, word) != keys.end();
}

std::string calledOf(const DeviceChoice& device, const std::vector<DeviceChoice>& all)
{
    for (const std::string& key : device.keys)
        if (std::ranges::count_if(all, [&key](const DeviceChoice& other) { return other.isCalled(key); }) == 1)
            return key;
    return device.device;
}

Result<std::vector<DeviceChoice>> listDevices(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const store::RecordReader reader, store::RecordReader::open(file));
    return devicesIn(reader);
}

Result<std::vector<DeviceChoice>> devicesIn(const store::RecordReader& reader)
{
    LATHE_TRY_ASSIGN(const auto sessions, reader.project().sessions());
    std::vector<DeviceChoice> devices;
    for (const store::SessionRow& row : sessions) {
        LATHE_TRY_ASSIGN(const DeviceIdentity identity, store::deviceOfSession(reader, row.id));
        if (identity.key.empty())
            continue;
        auto device = std::ranges::find(devices, identity.key, &DeviceChoice::device);
        if (device == devices.end()) {
            const auto told = nlohmann::json::parse(identity.fingerprint, nullptr, false);
            device = devices.insert(devices.end(), {identity.key, textIn(told, "name"), {}, {}});
        }
        device->runs.push_back(row.id);
        const auto options = nlohmann::json::parse(row.options, nullptr, false);
        if (textIn(options, "broker").empty() || !options.contains("devices") || !options["devices"].is_array())
            continue; // a device of its machine, by whatever name
        for (const nlohmann::json& key : options["devices"])
            if (key.is_string() && !device->isCalled(key))
                device->keys.push_back(key);
    }
    return devices;
}

} // namespace lathe::session
