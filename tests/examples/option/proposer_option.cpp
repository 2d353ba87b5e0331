#include "tests/examples/option/proposer_option.h"

#include "core/session/options/tune_options.h"

#include <algorithm>

namespace lathe::examples {

using namespace session;

namespace {

const std::vector<std::string> kTuners = {"xgb", "ga", "random", "grid"};

} // namespace

Option<TuneOptions> proposerOption()
{
    Option<TuneOptions> row;
    row.flag = "--proposer";
    row.type = OptionType::Word;
    row.placeholder = "PROPOSER";
    row.help = "Who proposes the next configurations of a template";
    row.commands = {"tune"};
    row.key = "proposer"; // in projects
    row.words = kTuners;
    row.condition = "proposer of templates"; // what comparisons of runs call it
    row.get = [](const TuneOptions& options) -> OptionValue {
        const auto number = static_cast<std::size_t>(options.trialsPerTask);
        return number < kTuners.size() ? kTuners[number] : std::string("luck");
    };
    row.set = [](TuneOptions& options, const OptionValue& value) {
        const auto* word = std::get_if<std::string>(&value);
        if (word == nullptr)
            return false;
        options.trialsPerTask = std::find(kTuners.begin(), kTuners.end(), *word) - kTuners.begin();
        return true;
    };
    return row;
}

} // namespace lathe::examples
