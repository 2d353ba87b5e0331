#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace lathe::cli {

/// lathe-cli.1: all commands and options of the program, as its --help has them, in the form that man(1) reads.
std::string manPage(const CLI::App& app, std::string_view version);

} // namespace lathe::cli
