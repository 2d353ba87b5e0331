#include "core/session/farm_about.h"

#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

/// No machine has more devices, or figures of its health.
constexpr std::size_t kMostParts = 64;
constexpr std::size_t kMostFigures = 32;
constexpr std::size_t kMostLineBytes = 256;

std::string lineIn(const nlohmann::json& object, const char* name)
{
    return onOneLine(textIn(object, name));
}

/// Its numbers alone: who measures with them looks whether they are true of any (deviceFigures()).
std::string hardwareIn(const nlohmann::json& device)
{
    nlohmann::json numbers = nlohmann::json::object();
    const nlohmann::json hardware = partIn(device, "hardware");
    for (const auto& [name, limit] : hardware.items())
        if (const auto value = limit.is_object() ? limit.find("value") : limit.end();
            limit.is_object() && value != limit.end() && value->is_number_integer() && numbers.size() < kMostFigures)
            numbers[onOneLine(name)] = *value;
    return numbers.empty() ? std::string() : numbers.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// How many bytes the letter has that begins with `first`, in UTF-8.
std::size_t bytesOfLetter(unsigned char first)
{
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Controls (C0, DEL, C1), separators of lines, and marks that turn the direction of writing.
bool isControl(std::string_view letter)
{
    if (letter.size() == 1)
        return static_cast<unsigned char>(letter[0]) < 0x20 || letter[0] == 0x7F;
    const auto isWithin = [&](std::string_view least, std::string_view most) {
        return letter >= least && letter <= most;
    };
    return isWithin("\xC2\x80", "\xC2\x9F") || isWithin("\xE2\x80\xA8", "\xE2\x80\xAE") // U+2028 to U+202E
           || isWithin("\xE2\x81\xA6", "\xE2\x81\xA9"); // U+2066 to U+2069
}

} // namespace

std::string onOneLine(std::string_view text)
{
    std::string line;
    while (!text.empty()) {
        const std::string_view letter = text.substr(0, bytesOfLetter(static_cast<unsigned char>(text[0])));
        if (line.size() + letter.size() > kMostLineBytes)
            break;
        text.remove_prefix(letter.size());
        if (isControl(letter))
            line += ' ';
        else
            line += letter;
    }
    return line;
}

void readAbout(const std::string& about, FarmDeviceView& view)
{
    const auto object = nlohmann::json::parse(about, nullptr, false);
    view.host = lineIn(object, "host");
    view.machine = lineIn(object, "machine");
    view.version = lineIn(object, "version");
    view.lastError = lineIn(object, "last_error");
    view.drainedBy = lineIn(object, "drained_by");
    view.trials = std::max(wholeIn(object, "trials"), std::int64_t(0));
    for (const auto& [name, value] : numbersIn(partIn(object, "health")))
        if (std::isfinite(value) && view.health.size() < kMostFigures)
            view.health.emplace(onOneLine(name), value);
    const auto devices = object.is_object() ? object.find("devices") : object.end();
    if (devices == object.end() || !devices->is_array())
        return;
    for (const auto& device : *devices)
        if (device.is_object() && view.parts.size() < kMostParts)
            view.parts.push_back({lineIn(device, "kind"), lineIn(device, "key"), lineIn(device, "name"),
                                  lineIn(device, "device_key"), hardwareIn(device)});
}

} // namespace lathe::session
