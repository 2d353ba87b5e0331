#include "core/target/hardware_text.h"

#include "core/support/json_fields.h"
#include "core/support/json_values.h"
#include "core/support/log.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

namespace lathe {

using nlohmann::json;

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;
constexpr std::size_t kMostBytes = 1 << 20; ///< of a file

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Result<Hardware> fromJson(const json& object, std::string_view origin)
{
    Hardware hardware;
    for (const auto& [name, entry] : object.items()) {
        const bool nested = entry.is_object() && entry.contains("value");
        const json& value = nested ? entry["value"] : entry;
        std::int64_t limit = 0;
        if (!takeJson(value, limit))
            return makeError(Errc::InvalidArgument, say(Msg::LimitNotWhole, name));
        hardware.limits[name] = {limit, nested ? textIn(entry, "origin", std::string(origin)) : std::string(origin)};
    }
    return hardware;
}

/// Of some device.
bool isTrueOfSome(std::string_view name, std::int64_t value)
{
    constexpr std::pair<std::string_view, std::int64_t> kMostOf[] = {
        {"warp_size", 1024},  {"shuffle_width", 1024},     {"simd_width", 1024},      {"vector_unit_bytes", 4096},
        {"num_cores", 65536}, {"threads_per_core", 65536}, {"blocks_per_core", 4096}, {"lanes_per_core", 65536},
    };
    constexpr std::string_view kWidths[] = {"warp_size", "shuffle_width", "simd_width", "vector_unit_bytes"};
    const auto known = std::ranges::find(kMostOf, name, &std::pair<std::string_view, std::int64_t>::first);
    if (value < 0 || value > (known != std::end(kMostOf) ? known->second : kMost))
        return false;
    return value == 0 || std::ranges::find(kWidths, name) == std::end(kWidths)
           || std::has_single_bit(static_cast<std::uint64_t>(value));
}

} // namespace

Result<Hardware> parseHardware(std::string_view text, std::string_view origin)
{
    if (const std::string_view all = trimmed(text.substr(0, text.find_first_of('\n'))); all.starts_with('{')) {
        const json object = json::parse(text, nullptr, false);
        if (!object.is_object())
            return makeError(Errc::InvalidArgument, say(Msg::LimitsNoJson));
        return fromJson(object, origin);
    }
    Hardware hardware;
    int number = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty())
            continue;
        const auto equals = line.find('=');
        const std::string_view name = trimmed(line.substr(0, equals));
        const std::string_view digits = equals == std::string_view::npos ? std::string_view()
                                                                         : trimmed(line.substr(equals + 1));
        std::int64_t value = 0;
        const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (name.empty() || digits.empty() || error != std::errc() || rest != digits.data() + digits.size())
            return makeError(
                Errc::InvalidArgument,
                fmt::format("line {} of the hardware parameters is not of the form name = whole number: {}", number,
                            line.substr(0, 80)));
        hardware.limits[std::string(name)] = {value, std::string(origin)};
    }
    return hardware;
}

Result<Hardware> readHardware(const std::string& fileOrDevice)
{
    if (fileOrDevice.starts_with('{'))
        return parseHardware(fileOrDevice, "registered device");
    std::error_code ignored;
    if (std::filesystem::is_regular_file(fileOrDevice, ignored)) {
        std::ifstream in(fileOrDevice, std::ios::binary);
        std::string text;
        std::copy_n(std::istreambuf_iterator<char>(in),
                    std::min<std::uintmax_t>(kMostBytes, std::filesystem::file_size(fileOrDevice, ignored)),
                    std::back_inserter(text));
        auto hardware = parseHardware(text, "file " + std::filesystem::path(fileOrDevice).filename().string());
        if (!hardware)
            return std::move(hardware).error().note(fileOrDevice);
        if (hardware->limits.empty())
            return makeError(Errc::InvalidArgument, say(Msg::NoLimitInFile, fileOrDevice));
        return hardware;
    }
    const bool word = !fileOrDevice.empty()
                      && std::all_of(fileOrDevice.begin(), fileOrDevice.end(),
                                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
    if (word && fileOrDevice != "native") {
        LATHE_TRY_ASSIGN(const Target target, Target::parse("cpu -threads=1 -mcpu=" + fileOrDevice));
        Hardware hardware = defaultHardware(target);
        // Threads are the target's to say, and what is the same for all CPUs is no news.
        std::erase_if(hardware.limits, [](const auto& limit) {
            return limit.first == "num_cores" || limit.second.origin == "preset cpu";
        });
        if (!hardware.limits.empty())
            return hardware;
    }
    return makeError(Errc::NotFound, say(Msg::NoHardwareNamed, fileOrDevice));
}

Result<> checkLimit(const Target& target, std::string_view name, std::int64_t value)
{
    const Hardware known = defaultHardware(target);
    const auto limit = known.limits.find(name);
    if (limit == known.limits.end()) {
        std::string names;
        for (const auto& [other, unused] : known.limits)
            names += (names.empty() ? "" : ", ") + other;
        return makeError(Errc::InvalidArgument, say(Msg::NoSuchLimit, target.kind(), name, names));
    }
    const std::int64_t least = std::min<std::int64_t>(1, limit->second.value);
    if (value < least || value > kMost)
        return makeError(Errc::InvalidArgument, say(Msg::LimitOutOfRange, name, value, least, kMost));
    if ((name == "vector_unit_bytes" || name == "cache_line_bytes")
        && (!std::has_single_bit(static_cast<std::uint64_t>(value)) || value < 4 || value > 4096))
        return makeError(Errc::InvalidArgument, say(Msg::LimitNoPowerOfTwo, name, value));
    if (name == "num_cores" && value > 4096)
        return makeError(Errc::InvalidArgument, say(Msg::CoresOverMost, value));
    if (!isTrueOfSome(name, value))
        return makeError(Errc::InvalidArgument, say(Msg::LimitOfNoDevice, name, value));
    return {};
}

Hardware deviceFigures(std::string_view text)
{
    auto figures = parseHardware(text, "device");
    if (!figures) {
        log(LogLevel::Warning, "target", "a device's figures cannot be read: " + figures.error().message);
        return {};
    }
    std::erase_if(figures->limits, [](const auto& named) {
        const auto& [name, figure] = named;
        const bool isLeftOut = !isTrueOfSome(name, figure.value);
        if (isLeftOut)
            log(LogLevel::Warning, "target",
                fmt::format("a device says that its {} is {}, which is true of none: that figure is left out",
                            json(name.substr(0, 80)).dump(-1, ' ', true, json::error_handler_t::replace),
                            figure.value));
        return isLeftOut;
    });
    return *std::move(figures);
}

std::string hardwareText(const Hardware& hardware)
{
    json object = json::object();
    for (const auto& [name, limit] : hardware.limits)
        object[name] = {{"value", limit.value}, {"origin", limit.origin}};
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace lathe
