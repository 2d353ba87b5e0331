#pragma once

#include "core/session/options/options.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lathe::session {

// The one place where an option of the program stands. The command line (app/cli/option_arguments.h), the JSON of
// projects (options_json.h), comparisons of runs, "copy command line", the man page and the manual's list are made from
// these rows.
//
// To add one: a field in options.h, a row in option_table.cpp, or model_option_table.cpp for models. Nothing else needs
// to know of it but the code that follows it.

/// What an option may hold; nothing: it was left open.
using OptionValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                                 std::vector<std::string>, OptionShapes, OptionSizes>;

enum class OptionType : std::uint8_t
{
    Flag, ///< bool; giving it on the command line turns the default into its opposite
    Whole, ///< std::int64_t, or std::uint64_t where the field is unsigned
    Number, ///< double
    Duration, ///< double, in seconds; "90s", "20m", "1.5h" on the command line
    Text, ///< std::string
    Word, ///< std::string, one of OptionInfo::words
    Texts, ///< std::vector<std::string>; the flag may come several times
    Shapes, ///< OptionShapes; "NAME=1,3,224,224", the flag may come several times
    Sizes ///< OptionSizes; "NAME=640", the flag may come several times
};

struct OptionInfo
{
    std::string flag; ///< "--timeout", "-o,--output"; without dashes an argument that stands alone: "MODEL"
    OptionType type = OptionType::Text;
    std::string placeholder = {}; ///< of the value in help: "N", "MS"; empty for flags
    std::string help; ///< English, a phrase without a full stop; says neither range nor default, which helpText() adds
    std::vector<std::string> commands; ///< of lathe-cli that take it
    std::string key = {}; ///< in JSON; empty: projects do not hold it
    std::string unit = {}; ///< of the value: "s", "ms", "%"; empty: a count, or a word
    double low = -std::numeric_limits<double>::infinity(),
           high = std::numeric_limits<double>::infinity(); ///< both allowed
    std::vector<std::string> words = {}; ///< all that a Word may be, or each of Texts; empty: Texts may be anything
    std::function<std::vector<std::string>()> currentWords = {}; ///< in place of `words`, where plugins add to them
    std::string usual =
        {}; ///< the default in words, where the value does not say enough: "20 ms, with --policy reference 100 ms"
    std::string condition =
        {}; ///< what it is called among the conditions of latencies; empty: they do not depend on it
    bool serious = false; ///< where this condition differs, latencies may not compare
    bool kept = false; ///< a run that is resumed has its own: giving it with --resume changes nothing
    /// Projects hold it only if it is not at its default. For options that were added later: a model's JSON is part of
    /// the model's identity, and so must not change where the option is not used.
    bool sparse = false;
    OptionValue absent = {}; ///< what holds for projects that lack the key; nothing: the default
};

/// A row: the option, and its place in a struct of options.
template<typename Options>
struct Option : OptionInfo
{
    std::function<OptionValue(const Options&)> get;
    std::function<bool(Options&, const OptionValue&)> set; ///< false: the value does not fit the field
    std::function<const void*(const Options&)> field = {}; ///< its address, by which a test finds fields without a row
    std::function<OptionValue(const Options&)> stored = {}; ///< what projects hold; none: as get()
};
template<typename Options>
using OptionTable = std::vector<Option<Options>>;

/// The rows, in the order of help. For all threads; a row may be added (by tests, and by whoever brings an option of
/// its own) while no other thread reads them.
OptionTable<ModelSpec>& optionTable(const ModelSpec*);
OptionTable<OpenOptions>& optionTable(const OpenOptions*);
OptionTable<TuneOptions>& optionTable(const TuneOptions*);
OptionTable<CompileOptions>& optionTable(const CompileOptions*);
template<typename Options>
OptionTable<Options>& optionTable()
{
    return optionTable(static_cast<const Options*>(nullptr));
}

/// An option with what it is set to.
struct SetOption
{
    const OptionInfo* info;
    OptionValue value, usual;
};
/// Refers to the table's rows.
template<typename Options>
std::vector<SetOption> valuesOf(const Options& options)
{
    const Options usual;
    std::vector<SetOption> values;
    for (const Option<Options>& row : optionTable<Options>())
        values.push_back({&row, row.get(options), row.get(usual)});
    return values;
}
/// All rows of all tables, as usual.
std::vector<SetOption> allOptions();

/// All that a Word may be, or each of Texts; empty: anything.
std::vector<std::string> wordsOf(const OptionInfo& option);

bool isTakenBy(const OptionInfo& option, std::string_view command);

/// The words for a shell, in the order of the table, without options at their defaults: {"--trials", "64",
/// "--strict"}.
std::vector<std::string> commandLineArguments(const std::vector<SetOption>& options, std::string_view command);

/// The sentence of --help, man page and manual, with unit, range and default: "The longest time that one candidate may
/// run (0.001 to 86400 s; default: 10 s)".
std::string helpText(const SetOption& option);
/// Of that, what stands in the parentheses; empty: nothing.
std::string helpLimits(const SetOption& option);

/// "--timeout is 0, it must be from 0.001 to 86400"; empty: it is as it should be.
std::string validationError(const SetOption& option);

} // namespace lathe::session
