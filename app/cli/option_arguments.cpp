#include "app/cli/option_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace lathe::cli {

using session::OptionInfo;
using session::OptionShapes;
using session::OptionSizes;
using session::OptionType;
using session::OptionValue;

namespace {

/// "IN=1,3,224,224"
Result<OptionShapes::value_type> parseShape(const std::string& flag, const std::string& text)
{
    const std::size_t equals = text.find('=');
    std::vector<std::int64_t> shape;
    bool good = equals != std::string::npos && equals > 0;
    const bool isScalar = good && equals + 1 == text.size(); // "IN=": rank 0
    for (std::size_t at = equals + 1; good && !isScalar && at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        std::int64_t dim = 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + comma, dim);
        good = error == std::errc() && end == text.data() + comma && dim >= 0;
        shape.push_back(dim);
        at = comma + 1;
    }
    if (!good)
        return makeError(Errc::InvalidArgument, fmt::format("{} {} is not of the form IN=1,3,224,224", flag, text));
    return OptionShapes::value_type(text.substr(0, equals), std::move(shape));
}

Result<OptionValue> parseShapes(const std::string& flag, const std::vector<std::string>& texts)
{
    OptionShapes shapes;
    for (const std::string& text : texts) {
        LATHE_TRY_ASSIGN(shapes.emplace_back(), parseShape(flag, text));
    }
    return OptionValue(std::move(shapes));
}

/// "height=640"; a name may have '=' in it.
Result<OptionValue> parseSizes(const std::string& flag, const std::vector<std::string>& texts)
{
    OptionSizes sizes;
    for (const std::string& text : texts) {
        const std::size_t equals = std::min(text.rfind('='), text.size());
        std::int64_t size = 0;
        const char* const begin = text.data() + std::min(equals + 1, text.size());
        const auto [end, error] = std::from_chars(begin, text.data() + text.size(), size);
        if (equals == 0 || error != std::errc() || end != text.data() + text.size() || size < 0)
            return makeError(Errc::InvalidArgument, fmt::format("{} {} is not of the form NAME=N", flag, text));
        sizes.emplace_back(text.substr(0, equals), size);
    }
    return OptionValue(std::move(sizes));
}

Result<OptionValue> parseSeconds(const std::string& text)
{
    LATHE_TRY_ASSIGN(const double seconds, parseDuration(text));
    return OptionValue(seconds);
}

/// Without a description of its own: the help has one.
template<typename T>
CLI::Validator rangeOf(const OptionInfo& info)
{
    if (info.low == 0 && !std::isfinite(info.high))
        return CLI::NonNegativeNumber.description("");
    const auto bound = [](double value, T fallback) { return std::isfinite(value) ? static_cast<T>(value) : fallback; };
    return CLI::Range(bound(info.low, std::numeric_limits<T>::lowest()),
                      bound(info.high, std::numeric_limits<T>::max()))
        .description("");
}

bool hasRange(const OptionInfo& info)
{
    return std::isfinite(info.low) || std::isfinite(info.high);
}

} // namespace

void addOption(CLI::App& command, const session::SetOption& option, std::function<void(Result<OptionValue>)> take)
{
    const OptionInfo& info = *option.info;
    const std::string help = session::helpText(option), flag = info.flag;
    CLI::Option* added = nullptr;
    switch (info.type) {
    case OptionType::Flag:
        // No add_flag_function(): CLI11 2.1 throws std::invalid_argument for --flag=maybe, and calls it for
        // --flag=false.
        command.add_flag(flag, help)
            ->check(CLI::IsMember({"true", "false"}).description(""))
            ->each([take, on = !std::get<bool>(option.usual)](const std::string& word) {
                take(OptionValue(word == "true" ? on : !on));
            });
        return;
    case OptionType::Whole:
        if (std::holds_alternative<std::uint64_t>(option.usual)) {
            added = command.add_option_function<std::uint64_t>(
                flag, [take](const std::uint64_t& value) { take(OptionValue(value)); }, help);
            if (hasRange(info))
                added->check(rangeOf<std::uint64_t>(info));
        } else {
            added = command.add_option_function<std::int64_t>(
                flag, [take](const std::int64_t& value) { take(OptionValue(value)); }, help);
            if (hasRange(info))
                added->check(rangeOf<std::int64_t>(info));
        }
        break;
    case OptionType::Number:
        added = command.add_option_function<double>(
            flag, [take](const double& value) { take(OptionValue(value)); }, help);
        if (hasRange(info))
            added->check(rangeOf<double>(info));
        break;
    case OptionType::Duration:
        added = command.add_option_function<std::string>(
            flag, [take](const std::string& text) { take(parseSeconds(text)); }, help);
        break;
    case OptionType::Text:
        added = command.add_option_function<std::string>(
            flag, [take](const std::string& text) { take(OptionValue(text)); }, help);
        break;
    case OptionType::Word:
        added = command.add_option_function<std::string>(
            flag, [take](const std::string& text) { take(OptionValue(text)); }, help);
        added->check(CLI::IsMember(session::wordsOf(info)).description(""));
        break;
    case OptionType::Texts:
        added = command.add_option_function<std::vector<std::string>>(
            flag, [take](const std::vector<std::string>& texts) { take(OptionValue(texts)); }, help);
        added->allow_extra_args(false); // else it would take what stands behind its value
        if (const auto words = session::wordsOf(info); !words.empty())
            added->check(CLI::IsMember(words).description(""));
        break;
    case OptionType::Sizes:
        added = command.add_option_function<std::vector<std::string>>(
            flag, [take, flag](const std::vector<std::string>& texts) { take(parseSizes(flag, texts)); }, help);
        added->allow_extra_args(false);
        break;
    case OptionType::Shapes:
        added = command.add_option_function<std::vector<std::string>>(
            flag, [take, flag](const std::vector<std::string>& texts) { take(parseShapes(flag, texts)); }, help);
        added->allow_extra_args(false);
        break;
    }
    added->type_name(info.placeholder);
}

Result<double> parseDuration(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (error != std::errc() || scale == 0 || !(value > 0) || value * scale > 1e9)
        return makeError(Errc::InvalidArgument, fmt::format("'{}' is not a duration: write 90s, 20m or 1.5h", text));
    return value * scale;
}

} // namespace lathe::cli
