#include "app/cli/plain_help.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace lathe::cli {

namespace {

constexpr double kSameAsNoLimit = 1e9;

/// "{on,off}" to "on or off", "INT in [1 - 1000]" to "1 to 1000"; empty: nothing that helps.
std::string limitInWords(const std::string& description)
{
    if (description.find("->") != std::string::npos) // names of values: the option's text lists them
        return {};
    if (description.starts_with('{') && description.ends_with('}')) {
        std::string words = description.substr(1, description.size() - 2);
        for (std::size_t at = 0; (at = words.find(',', at)) != std::string::npos;) {
            const bool last = words.find(',', at + 1) == std::string::npos;
            words.replace(at, 1, last ? " or " : ", ");
            at += 2;
        }
        return words;
    }
    const std::size_t open = description.find(" in ["), dash = description.find(" - ", open);
    if (open == std::string::npos || dash == std::string::npos)
        return {};
    const double low = std::strtod(description.c_str() + open + 5, nullptr),
                 high = std::strtod(description.c_str() + dash + 3, nullptr);
    if (high < kSameAsNoLimit)
        return fmt::format("{:.10g} to {:.10g}", low, high);
    return low > 0 ? fmt::format("at least {:.10g}", low) : std::string();
}

std::string placeholderFor(const std::string& type)
{
    return type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "NUMBER" : type;
}

} // namespace

void sayLimitsInWords(CLI::App& app)
{
    for (CLI::Option* option : app.get_options()) {
        if (option->get_items_expected_max() == 0 || option->get_items_expected_min() == 0)
            continue; // a flag
        std::string limits;
        for (int i = 0;; ++i) {
            CLI::Validator* validator = nullptr;
            try {
                validator = option->get_validator(i);
            } catch (const CLI::OptionNotFound&) { // how CLI11 says that there are no more
                break;
            }
            const std::string description = validator->get_description();
            if (const std::string words = limitInWords(description);
                !words.empty() && option->get_description().find(words) == std::string::npos)
                limits += (limits.empty() ? "" : "; ") + words;
            validator->description("");
        }
        if (const std::string usual = option->get_default_str(); !usual.empty()) {
            limits += (limits.empty() ? "default: " : "; default: ") + usual;
            option->default_str("");
        }
        if (!limits.empty())
            option->description(fmt::format("{} ({})", option->get_description(), limits));
        option->type_name(placeholderFor(option->get_type_name()));
    }
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        sayLimitsInWords(*command);
}

} // namespace lathe::cli
