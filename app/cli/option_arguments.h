#pragma once

#include "core/session/options/option_table.h"
#include "core/support/result.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::cli {

/// Adds one option of the table. `take` is given what was said, while the words are parsed; its errors are for the
/// command to tell.
void addOption(CLI::App& command, const session::SetOption& option,
               std::function<void(Result<session::OptionValue>)> take);

/// The options of a table that a command takes, and what was said of them. Stays where it is: CLI11 writes into it.
template<typename Options>
class OptionArguments
{
public:
    OptionArguments() = default;
    OptionArguments(const OptionArguments&) = delete;
    OptionArguments& operator=(const OptionArguments&) = delete;

    /// `command` has the name by which the table's rows know it.
    void addTo(CLI::App& command)
    {
        for (const session::SetOption& option : session::valuesOf(Options()))
            if (session::isTakenBy(*option.info, command.get_name()))
                addOption(command, option,
                          [this, row = static_cast<const session::Option<Options>*>(option.info)](
                              Result<session::OptionValue> value) {
                              if (value)
                                  given.emplace_back(row, *value);
                              if (value && !row->set(values, *value))
                                  value = makeError(Errc::InvalidArgument,
                                                    row->flag + " has a value that is out of range");
                              if (!value && problem)
                                  problem = std::move(value).error();
                          });
    }

    /// What was said, laid over other options than the defaults.
    Options over(Options options) const
    {
        for (const auto& [row, value] : given)
            (void)row->set(options, value); // it fits: `values` took it
        return options;
    }

    bool says(std::string_view flag) const
    {
        return std::ranges::any_of(given, [flag](const auto& said) { return said.first->flag == flag; });
    }

    Options values;
    std::vector<std::pair<const session::Option<Options>*, session::OptionValue>> given;
    Result<> problem; ///< what CLI11 cannot see: the first duration or shape that cannot be read
};

/// "90", "90s", "20m", "1.5h" in seconds.
Result<double> parseDuration(std::string_view text);

} // namespace lathe::cli
