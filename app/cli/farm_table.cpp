#include "app/cli/farm_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace lathe::cli {

namespace {

using session::FarmClaimView, session::FarmDeviceView, session::FarmDeviceState, session::FarmView;

/// Rules are no longer than this, however long the last column is.
constexpr std::size_t kWidestRule = 100;

/// Letters, as most terminals show them: one place each.
std::size_t widthOf(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Columns as wide as what stands in them; the last one ends where its text ends.
class Table
{
public:
    explicit Table(std::vector<std::string> headings) { m_rows.push_back(std::move(headings)); }
    void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }
    bool empty() const { return m_rows.size() == 1; }

    std::string text() const
    {
        std::vector<std::size_t> widths(m_rows[0].size(), 0);
        for (const auto& row : m_rows)
            for (std::size_t i = 0; i < row.size(); ++i)
                widths[i] = std::max(widths[i], widthOf(row[i]));
        std::size_t whole = 0;
        for (const std::size_t width : widths)
            whole += width + 2;
        const std::string rule = std::string(std::min(whole - 2, kWidestRule), '-') + "\n";
        std::string text;
        for (const auto& row : m_rows) {
            for (std::size_t i = 0; i < row.size(); ++i)
                text += i + 1 == row.size() ? row[i] : row[i] + std::string(widths[i] + 2 - widthOf(row[i]), ' ');
            text += "\n";
            if (&row == m_rows.data())
                text += rule;
        }
        return text + rule;
    }

private:
    std::vector<std::vector<std::string>> m_rows;
};

/// What is of `key` only.
FarmView ofKey(FarmView farm, const std::string& key)
{
    const auto isOther = [&](const auto& each) { return !key.empty() && each.key != key; };
    std::erase_if(farm.devices, isOther);
    std::erase_if(farm.claims, isOther);
    std::erase_if(farm.keys, isOther);
    return farm;
}

std::string orDash(const std::string& text)
{
    return text.empty() ? "-" : text;
}

std::string runOf(const FarmDeviceView& device)
{
    return device.program.empty() ? device.user : device.user + ", " + device.program;
}

std::string stateText(const FarmDeviceView& device)
{
    switch (device.state) {
    case FarmDeviceState::Free: return "free";
    case FarmDeviceState::Offered: return "offered to " + runOf(device);
    case FarmDeviceState::Busy: return fmt::format("busy for {}: {}", spanText(device.hadSeconds), runOf(device));
    case FarmDeviceState::Draining:
        return fmt::format("draining, busy for {}: {}", spanText(device.hadSeconds), runOf(device));
    case FarmDeviceState::Drained: return "drained";
    case FarmDeviceState::Sick: return "sick";
    case FarmDeviceState::Lost: return fmt::format("lost, heard {} ago", spanText(device.silentSeconds));
    }
    return {};
}

std::string healthText(const FarmDeviceView& device)
{
    std::vector<std::string> figures;
    for (const auto& [name, value] : device.health)
        figures.push_back(name == "load"             ? fmt::format("load {:.2f}", value)
                          : name == "memory_free_mb" ? fmt::format("{:.0f} MB of memory free", value)
                          : name == "temperature_c"  ? fmt::format("{:.0f} °C", value)
                          : name == "clock_mhz"      ? fmt::format("{:.0f} MHz", value)
                                                     : fmt::format("{} {:g}", name, value));
    return fmt::format("{}", fmt::join(figures, ", "));
}

/// What it says of itself, a line each.
std::string aboutText(const FarmDeviceView& device)
{
    std::string text = fmt::format("{} ({})\n", device.name, device.key);
    const auto line = [&](const char* what, const std::string& says) {
        if (!says.empty())
            text += fmt::format("    {:<10}  {}\n", what, says);
    };
    for (const FarmDeviceView::Part& part : device.parts)
        line("hardware", part.deviceKey.empty() ? fmt::format("{}: {}", part.kind, part.name)
                                                : fmt::format("{}: {} ({})", part.kind, part.name, part.deviceKey));
    line("health", healthText(device));
    line("version", device.version);
    if (device.trials > 0)
        line("trials", std::to_string(device.trials));
    line("last error", device.lastError);
    line("drained by", device.drainedBy);
    return text;
}

std::string nobodyText(const FarmView& all, const std::string& key)
{
    std::vector<std::string> keys;
    for (const auto& each : all.keys)
        if (each.total > 0)
            keys.push_back(each.key);
    if (keys.empty())
        return "No device offers itself.\n";
    return fmt::format("No device offers itself under the key {}; the keys there: {}.\n", key, fmt::join(keys, ", "));
}

} // namespace

std::string spanText(double seconds)
{
    const auto whole = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e12));
    if (whole < 60)
        return fmt::format("{} s", whole);
    if (whole < 3600)
        return fmt::format("{} min {} s", whole / 60, whole % 60);
    if (whole < 86400)
        return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
    return fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

std::string farmText(const FarmView& all, const std::string& key)
{
    const FarmView farm = ofKey(all, key);
    Table devices({"host", "key", "device", "state"}), keys({"key", "total", "free", "pending"}),
        queue({"place", "key", "user", "waited", "priority", "program"});
    for (const FarmDeviceView& device : farm.devices)
        devices.add({orDash(device.host), device.key, device.name, stateText(device)});
    for (const auto& each : farm.keys)
        keys.add({each.key, std::to_string(each.total), std::to_string(each.free), std::to_string(each.pending)});
    for (const FarmClaimView& claim : farm.claims)
        if (claim.place > 0)
            queue.add({std::to_string(claim.place), claim.key, claim.user, spanText(claim.waitedSeconds),
                       std::to_string(claim.priority), orDash(claim.program)});
    std::string text = fmt::format("Devices at the broker {}\n", farm.broker);
    if (!farm.connected)
        text += "The broker does not answer; this is what was heard of it last.\n";
    text += "\n" + (devices.empty() ? nobodyText(all, key) : devices.text());
    if (!keys.empty())
        text += "\n" + keys.text();
    if (!queue.empty())
        text += "\n" + queue.text();
    for (const FarmDeviceView& device : farm.devices)
        text += "\n" + aboutText(device);
    return text;
}

nlohmann::json farmJson(const FarmView& all, const std::string& key)
{
    using nlohmann::json;
    const FarmView farm = ofKey(all, key);
    json devices = json::array(), keys = json::array(), claims = json::array();
    for (const FarmDeviceView& device : farm.devices) {
        json parts = json::array();
        for (const FarmDeviceView::Part& part : device.parts)
            parts.push_back(
                {{"kind", part.kind}, {"key", part.key}, {"name", part.name}, {"device_key", part.deviceKey}});
        devices.push_back({{"key", device.key},
                           {"name", device.name},
                           {"state", session::toString(device.state)},
                           {"user", device.user},
                           {"program", device.program},
                           {"had_s", device.hadSeconds},
                           {"silent_s", device.silentSeconds},
                           {"host", device.host},
                           {"machine", device.machine},
                           {"version", device.version},
                           {"devices", std::move(parts)},
                           {"health", device.health},
                           {"last_error", device.lastError},
                           {"drained_by", device.drainedBy},
                           {"trials", device.trials}});
    }
    for (const auto& each : farm.keys)
        keys.push_back({{"key", each.key}, {"total", each.total}, {"free", each.free}, {"pending", each.pending}});
    for (const FarmClaimView& claim : farm.claims)
        claims.push_back({{"key", claim.key},
                          {"user", claim.user},
                          {"program", claim.program},
                          {"waited_s", claim.waitedSeconds},
                          {"priority", claim.priority},
                          {"devices", claim.devices},
                          {"place", claim.place}});
    return {{"broker", farm.broker},
            {"connected", farm.connected},
            {"devices", std::move(devices)},
            {"keys", std::move(keys)},
            {"claims", std::move(claims)}};
}

} // namespace lathe::cli
