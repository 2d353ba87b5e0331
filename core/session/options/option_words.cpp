#include "core/session/options/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

constexpr double kCountsAsEndless = 1e9;

std::string durationText(double seconds)
{
    return fmt::format("{:.10g}s", seconds);
}

/// As a shell is told it.
struct ShellText
{
    const OptionInfo& info;

    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool on) const { return on ? "on" : "off"; }
    std::string operator()(double number) const
    {
        return info.type == OptionType::Duration ? durationText(number) : fmt::format("{:.10g}", number);
    }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& texts) const
    {
        return fmt::format("{}", fmt::join(texts, " "));
    }
    std::string operator()(const OptionShapes&) const { return {}; } // has no single text
    std::string operator()(const OptionSizes&) const { return {}; } // neither
    template<typename Whole>
    std::string operator()(const Whole& number) const
    {
        return std::to_string(number);
    }
};

std::string shellText(const SetOption& option, const OptionValue& value)
{
    return std::visit(ShellText{*option.info}, value);
}

std::string withUnit(const SetOption& option, const std::string& text)
{
    return option.info->unit.empty() ? text : text + " " + option.info->unit;
}

std::string usualText(const SetOption& option)
{
    if (!option.info->usual.empty())
        return option.info->usual;
    const std::string text = shellText(option, option.usual);
    return text.empty() ? text : withUnit(option, text);
}

bool asNumber(const OptionValue& value, double& number)
{
    if (const auto* real = std::get_if<double>(&value))
        number = *real;
    else if (const auto* whole = std::get_if<std::int64_t>(&value))
        number = static_cast<double>(*whole);
    else if (const auto* natural = std::get_if<std::uint64_t>(&value))
        number = static_cast<double>(*natural);
    else
        return false;
    return true;
}

} // namespace

std::vector<std::string> wordsOf(const OptionInfo& option)
{
    return option.currentWords ? option.currentWords() : option.words;
}

bool isTakenBy(const OptionInfo& option, std::string_view command)
{
    return std::find(option.commands.begin(), option.commands.end(), command) != option.commands.end();
}

std::vector<std::string> commandLineArguments(const std::vector<SetOption>& options, std::string_view command)
{
    std::vector<std::string> words;
    for (const SetOption& option : options) {
        const OptionInfo& info = *option.info;
        if (!isTakenBy(info, command) || option.value == option.usual)
            continue;
        const std::string flag = info.flag.substr(0, info.flag.find(','));
        const auto add = [&](const std::string& value) {
            if (flag.starts_with('-'))
                words.push_back(flag);
            words.push_back(value);
        };
        if (info.type == OptionType::Flag)
            words.push_back(flag);
        else if (const auto* texts = std::get_if<std::vector<std::string>>(&option.value))
            for (const std::string& text : *texts)
                add(text);
        else if (const auto* shapes = std::get_if<OptionShapes>(&option.value))
            for (const auto& [name, shape] : *shapes)
                add(fmt::format("{}={}", name, fmt::join(shape, ",")));
        else if (const auto* sizes = std::get_if<OptionSizes>(&option.value))
            for (const auto& [name, size] : *sizes)
                add(fmt::format("{}={}", name, size));
        else
            add(shellText(option, option.value));
    }
    return words;
}

std::string helpLimits(const SetOption& option)
{
    const OptionInfo& info = *option.info;
    std::string limits;
    const std::vector<std::string> words = wordsOf(info);
    const bool told = std::all_of(words.begin(), words.end(), [&info](const std::string& word) {
        return info.help.find(word) != std::string::npos;
    });
    if (!words.empty() && !told) {
        for (std::size_t i = 0; i < words.size(); ++i)
            limits += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    } else if (info.type == OptionType::Whole || info.type == OptionType::Number) {
        if (std::isfinite(info.low) && info.high < kCountsAsEndless)
            limits = withUnit(option, fmt::format("{} to {:.10g}", info.low, info.high));
        else if (info.low > 0 && std::isfinite(info.low))
            limits = withUnit(option, fmt::format("at least {}", info.low));
        else if (!info.unit.empty())
            limits = "in " + info.unit;
    }
    if (const std::string usual = info.type == OptionType::Flag ? std::string() : usualText(option); !usual.empty())
        limits += (limits.empty() ? "default: " : "; default: ") + usual;
    return limits;
}

std::string helpText(const SetOption& option)
{
    const std::string limits = helpLimits(option);
    return limits.empty() ? option.info->help : fmt::format("{} ({})", option.info->help, limits);
}

std::string validationError(const SetOption& option)
{
    const OptionInfo& info = *option.info;
    if (double number = 0;
        asNumber(option.value, number) && !(number >= info.low && number <= info.high)) // false for not-a-number, too
        return fmt::format("{} is {}, it must be from {} to {:.15g}", info.flag, number, info.low, info.high);
    const std::vector<std::string> words = option.value == option.usual ? std::vector<std::string>() : wordsOf(info);
    const auto* word = std::get_if<std::string>(&option.value);
    const auto* texts = std::get_if<std::vector<std::string>>(&option.value);
    if (words.empty() || (word == nullptr && texts == nullptr))
        return {};
    for (const std::string& each : texts != nullptr ? *texts : std::vector<std::string>{*word})
        if (std::find(words.begin(), words.end(), each) == words.end())
            return fmt::format("{} is '{}', it must be one of {}", info.flag, each, fmt::join(words, ", "));
    return {};
}

} // namespace lathe::session
