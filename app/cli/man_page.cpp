#include "app/cli/man_page.h"

#include <fmt/format.h>

#include <vector>

namespace lathe::cli {

namespace {

/// Text as roff takes it: no request by a dot or quote that begins a line, dashes that can be copied.
std::string roff(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            (out += "\\&") += c;
        else
            out += c;
    }
    return out;
}

std::vector<const CLI::Option*> shownOptions(const CLI::App& command)
{
    std::vector<const CLI::Option*> shown;
    for (const CLI::Option* option : command.get_options())
        if (!option->get_group().empty()) // empty: hidden
            shown.push_back(option);
    return shown;
}

/// "[MODEL] [--trials N]"
std::string synopsis(const CLI::App& command)
{
    std::string words;
    for (const bool positional : {true, false})
        for (const CLI::Option* option : shownOptions(command)) {
            if (option->get_positional() != positional || option->get_name() == "--help")
                continue;
            const std::string name = positional                     ? option->get_name(true)
                                     : option->get_lnames().empty() ? "-" + option->get_snames().front()
                                                                    : "--" + option->get_lnames().front();
            const std::string type = positional || option->get_items_expected_max() == 0
                                         ? std::string()
                                         : " \\fI" + roff(option->get_type_name()) + "\\fR";
            const std::string word = "\\fB" + roff(name) + "\\fR" + type
                                     + (option->get_items_expected_max() > 1 && positional ? " ..." : "");
            words += option->get_required() ? " " + word : " [" + word + "]";
        }
    return words.empty() ? words : words.substr(1); // a blank at the beginning of a line would break it
}

void writeCommand(const CLI::App& command, const std::string& path, std::string& page)
{
    const auto below = command.get_subcommands([](const CLI::App*) { return true; });
    if (below.empty() || command.get_require_subcommand_min() == 0) { // it does something by itself
        page += fmt::format(".SS {}\n.B lathe\\-cli {}\n{}\n.PP\n{}.\n", roff(path), roff(path), synopsis(command),
                            roff(command.get_description()));
        for (const CLI::Option* option : shownOptions(command)) {
            if (option->get_name() == "--help")
                continue;
            const std::string type = option->get_positional() || option->get_items_expected_max() == 0
                                         ? std::string()
                                         : " \\fI" + roff(option->get_type_name()) + "\\fR";
            const std::string usual = option->get_default_str().empty()
                                          ? std::string()
                                          : fmt::format(" (default: {})", option->get_default_str());
            page += fmt::format(".TP\n\\fB{}\\fR{}\n{}{}.\n", roff(option->get_name(option->get_positional(), true)),
                                type, roff(option->get_description()), roff(usual));
        }
    }
    for (const CLI::App* each : below)
        writeCommand(*each, path + " " + each->get_name(), page);
}

} // namespace

std::string manPage(const CLI::App& app, std::string_view version)
{
    std::string page = fmt::format(".TH LATHE\\-CLI 1 \"\" \"Lathe {}\" \"User Commands\"\n.SH NAME\nlathe\\-cli \\- "
                                   "tune neural networks for the device they will run on\n",
                                   roff(version));
    page += ".SH SYNOPSIS\n.B lathe\\-cli\n.I COMMAND\n[\\fIOPTION\\fR]...\n"
            ".SH DESCRIPTION\nLathe takes a network apart into tasks, searches and measures programs for them on the "
            "device, keeps every trial in a project file\n"
            "(\\fINAME\\fR.lathe), and writes the network as one shared library that runs at the speed that was "
            "measured. Everything that the workbench,\n"
            ".BR lathe ,\ndoes, this program does on the same files.\n.PP\n"
            "Results are on standard output; with \\fB\\-\\-json\\fR they are one JSON object. Errors are one sentence "
            "on standard error.\n"
            ".SH COMMANDS\n";
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        writeCommand(*command, command->get_name(), page);
    page += ".SH EXIT STATUS\n0 if all went well, another number otherwise.\n"
            ".SH EXAMPLES\n.nf\nlathe\\-cli tune model.onnx \\-\\-project model.lathe \\-\\-time 20m\nlathe\\-cli "
            "compile model.onnx \\-\\-project model.lathe \\-o libmodel.so\n"
            "lathe\\-cli bench libmodel.so\n.fi\n";
    return page;
}

} // namespace lathe::cli
