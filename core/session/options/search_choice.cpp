#include "core/session/options/search_choice.h"

#include "core/session/options/option_table.h"
#include "core/session/options/tune_options.h"

#include <utility>

namespace lathe::session {

void putSearch(TuneOptions& options, const SearchChoice& choice)
{
    options.policy = choice.policy;
    options.tuner = choice.tuner;
    options.tunerSettings = choice.tunerSettings;
    options.preset = choice.preset;
    options.operators = choice.operators;
    options.tasks = choice.tasks;
    options.earlyStopPerTask = choice.earlyStopPerTask;
}

SearchChoice searchOf(const TuneOptions& options)
{
    return {options.policy,    options.tuner, options.tunerSettings,   options.preset,
            options.operators, options.tasks, options.earlyStopPerTask};
}

TuneOptions withSearch(TuneOptions options, const SearchChoice& choice)
{
    TuneOptions usual;
    if (choice.preset != options.preset && !options.preset.empty()) {
        TuneOptions before;
        before.preset = options.preset;
        before = withPreset(before);
        const auto takeBack = [&](auto field) {
            if (options.*field == before.*field)
                options.*field = usual.*field;
        };
        takeBack(&TuneOptions::trialsPerTask);
        takeBack(&TuneOptions::number);
        takeBack(&TuneOptions::repeat);
        takeBack(&TuneOptions::timeoutSeconds);
        takeBack(&TuneOptions::minRepeatMs);
        takeBack(&TuneOptions::cache);
    }
    if (choice.policy != options.policy) {
        // Stored options have what was worked out from their policy.
        usual.policy = options.policy;
        if (options.scheduler == schedulerOf(usual))
            options.scheduler.clear();
        if (options.minRepeatMs == minRepeatMs(usual))
            options.minRepeatMs.reset();
    }
    putSearch(options, choice);
    return withPreset(std::move(options));
}

std::vector<std::string> presetWords(const std::string& preset)
{
    TuneOptions options;
    options.preset = preset;
    options = withPreset(std::move(options));
    options.preset.clear();
    return commandLineArguments(valuesOf(options), "tune");
}

} // namespace lathe::session
