#include "core/policy/policy_table.h"
#include "core/session/head_start.h"
#include "core/session/options/option_row.h"
#include "core/session/options/tune_options.h"
#include "core/templates/tuner_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::session {

namespace {

constexpr double kManyTrials = static_cast<double>(std::int64_t{1} << 40);
constexpr double kLongestSeconds = 1e9;
constexpr double kLongestMs = 600'000;

std::vector<std::string> policyWords()
{
    std::vector<std::string> words;
    for (const policy::PolicyPtr& policy : policy::policies())
        words.push_back(policy->name);
    return words;
}

/// "sketch (Lathe's search), reference (...), random"
std::string policyMeanings()
{
    std::string text;
    for (const policy::PolicyPtr& policy : policy::policies())
        text += (text.empty() ? "" : ", ") + policy->name + (policy->help.empty() ? "" : " (" + policy->help + ")");
    return text;
}

/// "20 ms, with --policy reference 100 ms"
std::string usualRepeatTime()
{
    const double usual = policy::PolicyEntry().minRepeatMs;
    std::string text = fmt::format("{} ms", usual);
    for (const policy::PolicyPtr& policy : policy::policies())
        if (policy->minRepeatMs != usual)
            text += fmt::format(", with --policy {} {} ms", policy->name, policy->minRepeatMs);
    return text;
}

/// "gradient, with --policy template sequential"
std::string usualScheduler()
{
    const std::string usual = policy::PolicyEntry().scheduler;
    std::string text = usual;
    for (const policy::PolicyPtr& policy : policy::policies())
        if (policy->scheduler != usual)
            text += fmt::format(", with --policy {} {}", policy->name, policy->scheduler);
    return text;
}

std::vector<std::string> tunerWords()
{
    std::vector<std::string> words;
    for (const templates::TunerEntry& tuner : templates::tuners())
        words.push_back(tuner.name);
    return words;
}

/// "gridsearch, random: range_first, range_last; ga: pop_size, elite_num": tuners with equal parameters once, many of
/// them by the first.
std::string tunerParameters()
{
    std::vector<std::pair<std::string, std::vector<std::string>>> groups; ///< parameters, tuners
    for (const templates::TunerEntry& tuner : templates::tuners()) {
        std::string names;
        for (const templates::TunerParameter& parameter : tuner.parameters)
            names += (names.empty() ? "" : ", ") + parameter.name;
        const auto known = std::find_if(groups.begin(), groups.end(),
                                        [&names](const auto& group) { return group.first == names; });
        if (known != groups.end())
            known->second.push_back(tuner.name);
        else if (!names.empty())
            groups.push_back({names, {tuner.name}});
    }
    std::string text;
    for (const auto& [names, tuners] : groups) {
        text += (text.empty() ? "" : "; ") + tuners.front();
        if (tuners.size() == 2)
            text += ", " + tuners.back();
        else if (tuners.size() > 2)
            text += " and the others of its name";
        text += ": " + names;
    }
    return text;
}

const std::vector<std::string> kOnTune = {"tune"};
const std::vector<std::string> kOnCompile = {"compile"};

const char* const kStrictHelp =
    "Use no algorithm that trades accuracy for speed: convolutions are computed directly, never with "
    "winograd";
const char* const kTokenHelp = "Token for the broker, as written by lathe-cli tracker token";
const char* const kNoToken = "none: only a broker on this machine lets in everybody";

OptionTable<TuneOptions> makeTuneTable()
{
    using S = TuneOptions;
    OptionTable<S> table = {
        optionRow(&S::seconds, {.flag = "--time",
                                .type = OptionType::Duration,
                                .placeholder = "TIME",
                                .help = "How long to tune: 90s, 20m or 1.5h",
                                .commands = kOnTune,
                                .key = "seconds",
                                .low = 0,
                                .high = kLongestSeconds,
                                .usual = "no limit"}),
        optionRow(&S::minGainPercent,
                  {.flag = "--min-gain",
                   .type = OptionType::Number,
                   .placeholder = "PERCENT",
                   .help = "Stop when the last --gain-window made the network faster by less than this",
                   .commands = kOnTune,
                   .key = "min_gain_percent",
                   .unit = "%",
                   .low = 0,
                   .high = 100,
                   .usual = "0, never"}),
        optionRow(&S::gainWindowSeconds, {.flag = "--gain-window",
                                          .type = OptionType::Duration,
                                          .placeholder = "TIME",
                                          .help = "How far back --min-gain looks: 90s, 20m or 1.5h",
                                          .commands = kOnTune,
                                          .key = "gain_window_s",
                                          .low = 0.001,
                                          .high = kLongestSeconds,
                                          .usual = "1h"}),
        optionRow(&S::trials, {.flag = "--trials",
                               .type = OptionType::Whole,
                               .placeholder = "N",
                               .help = "Number of trials to make",
                               .commands = kOnTune,
                               .key = "trials",
                               .low = 0,
                               .high = kManyTrials,
                               .usual = "no limit"}),
        optionRow(&S::trialsPerTask, {.flag = "--trials-per-task",
                                      .type = OptionType::Whole,
                                      .placeholder = "N",
                                      .help = "Maximum number of trials per task",
                                      .commands = kOnTune,
                                      .key = "trials_per_task",
                                      .low = 0,
                                      .high = kManyTrials,
                                      .usual = "0, no limit",
                                      .kept = true}),
        optionRow(&S::trialsPerRound, {.flag = "--trials-per-round",
                                       .type = OptionType::Whole,
                                       .placeholder = "N",
                                       .help = "Number of trials per round, between two decisions of the scheduler",
                                       .commands = kOnTune,
                                       .key = "trials_per_round",
                                       .low = 0,
                                       .high = 4096,
                                       .usual = "0: 64, fewer if the budget is small",
                                       .kept = true}),
        optionRow(&S::policy, {.flag = "--policy",
                               .type = OptionType::Word,
                               .placeholder = "POLICY",
                               .help = "How candidates are found: " + policyMeanings(),
                               .commands = kOnTune,
                               .key = "policy",
                               .currentWords = policyWords,
                               .condition = "search policy",
                               .kept = true}),
        optionRow(
            &S::scheduler,
            {.flag = "--scheduler",
             .type = OptionType::Word,
             .placeholder = "SCHEDULER",
             .help =
                 "Which task gets the next round: the one with the largest expected gain per second (gradient), the "
                 "largest by the reference compiler's formula (reference), each in turn (round-robin), or one task "
                 "after another (sequential)",
             .commands = kOnTune,
             .key = "scheduler",
             .words = {"gradient", "reference", "round-robin", "sequential"},
             .usual = usualScheduler(),
             .condition = "task scheduler",
             .kept = true}),
        optionRow(&S::tuner, {.flag = "--tuner",
                              .type = OptionType::Word,
                              .placeholder = "TUNER",
                              .help = "How policy template chooses configurations, or policy sketch its open choices "
                                      "in the place of its own search",
                              .commands = kOnTune,
                              .key = "tuner",
                              .words = tunerWords(),
                              .usual = templates::kDefaultTuner,
                              .condition = "tuner",
                              .kept = true,
                              .sparse = true}),
        optionRow(&S::tunerSettings,
                  {.flag = "--tuner-set",
                   .type = OptionType::Texts,
                   .placeholder = "NAME=VALUE",
                   .help = "Set a parameter of the tuner; may be given several times (" + tunerParameters() + ")",
                   .commands = kOnTune,
                   .key = "tuner_settings",
                   .usual = "the tuner's defaults",
                   .condition = "tuner's parameters",
                   .kept = true,
                   .sparse = true}),
        optionRow(&S::preset, {.flag = "--preset",
                               .type = OptionType::Word,
                               .placeholder = "PRESET",
                               .help = "Tune by templates as the reference compiler's tutorials do: tuner, trials and "
                                       "early stop of each task, and how candidates are timed, where nothing else is "
                                       "given",
                               .commands = kOnTune,
                               .key = "preset",
                               .words = presetNames(),
                               .usual = "none",
                               .kept = true,
                               .sparse = true}),
        optionRow(&S::operators, {.flag = "--operators",
                                  .type = OptionType::Texts,
                                  .placeholder = "OPERATOR,...",
                                  .help = "Tune only tasks of these operators, conv2d or dense for instance, or of "
                                          "all; others are measured once as they are without tuning",
                                  .commands = kOnTune,
                                  .key = "operators",
                                  .usual = "all",
                                  .kept = true,
                                  .sparse = true}),
        optionRow(&S::tasks, {.flag = "--tasks",
                              .type = OptionType::Texts,
                              .placeholder = "ID,...",
                              .help = "Tune only these tasks, by their numbers in lathe-cli tasks, or all; others are "
                                      "measured once as they are without tuning",
                              .commands = kOnTune,
                              .key = "tasks",
                              .usual = "all",
                              .kept = true,
                              .sparse = true}),
        optionRow(&S::earlyStopPerTask, {.flag = "--early-stop-per-task",
                                         .type = OptionType::Whole,
                                         .placeholder = "N",
                                         .help = "Leave a task after this many trials that did not make it faster",
                                         .commands = kOnTune,
                                         .key = "early_stop_per_task",
                                         .low = 0,
                                         .high = kManyTrials,
                                         .usual = "0, never",
                                         .kept = true,
                                         .sparse = true}),
        optionRow(&S::devices,
                  {.flag = "--device",
                   .type = OptionType::Texts,
                   .placeholder = "KEY",
                   .help = "Measure on this device, or on all that have this device key (lathe-cli devices); "
                           "may be given several times",
                   .commands = kOnTune,
                   .key = "devices",
                   .usual = "the target's first usable one, and all that are equal to it",
                   .kept = true}),
        optionRow(&S::broker,
                  {.flag = "--broker",
                   .type = OptionType::Text,
                   .placeholder = "HOST:PORT",
                   .help = "Measure on the devices that have the key --device KEY at this broker (lathe-cli tracker), "
                           "on as many as are free",
                   .commands = kOnTune,
                   .key = "broker",
                   .usual = "LATHE_BROKER if this machine has no device KEY, else none",
                   .kept = true,
                   .sparse = true}),
        optionRow(&S::credentials, {.flag = "--creds",
                                    .type = OptionType::Text,
                                    .placeholder = "FILE",
                                    .help = kTokenHelp,
                                    .commands = kOnTune,
                                    .key = "credentials",
                                    .usual = kNoToken,
                                    .kept = true,
                                    .sparse = true}),
        optionRow(&S::priority,
                  {.flag = "--priority",
                   .type = OptionType::Whole,
                   .placeholder = "N",
                   .help = "Share of the broker's devices if others want them too; one more is twice as many devices",
                   .commands = kOnTune,
                   .key = "priority",
                   .low = -4,
                   .high = 4,
                   .kept = true,
                   .sparse = true}),
        optionRow(&S::reserveSeconds,
                  {.flag = "--reserve",
                   .type = OptionType::Duration,
                   .placeholder = "TIME",
                   .help = "How long to keep each device of the broker even if others wait, up to the device's limit",
                   .commands = kOnTune,
                   .key = "reserve_s",
                   .low = 0,
                   .high = 86400,
                   .usual = "0s",
                   .kept = true,
                   .sparse = true}),
        optionRow(&S::seed, {.flag = "--seed",
                             .type = OptionType::Whole,
                             .placeholder = "N",
                             .help = "Seed of the search: equal seeds and equal results give equal candidates",
                             .commands = kOnTune,
                             .key = "seed",
                             .condition = "seed",
                             .kept = true}),
        optionRow(&S::resume,
                  {.flag = "--resume",
                   .type = OptionType::Flag,
                   .help = "Continue the project's latest run with its options; a given budget is added to what it "
                           "had, without one the rest of its budget is used",
                   .commands = kOnTune}),
        optionRow(&S::startOver,
                  {.flag = "--start-over",
                   .type = OptionType::Flag,
                   .help = "Begin a run that knows nothing of earlier ones; else it tunes on from what the project's "
                           "earlier runs measured, with the budget on top",
                   .commands = kOnTune}),
        optionRow(&S::repeat, {.flag = "--repeat",
                               .type = OptionType::Whole,
                               .placeholder = "N",
                               .help = "Number of measurements per candidate; their mean counts",
                               .commands = kOnTune,
                               .key = "repeat",
                               .low = 1,
                               .high = 1000,
                               .condition = "repeats",
                               .kept = true}),
        optionRow(&S::number, {.flag = "--number",
                               .type = OptionType::Whole,
                               .placeholder = "N",
                               .help = "Minimum number of runs averaged by one measurement",
                               .commands = kOnTune,
                               .key = "number",
                               .low = 1,
                               .high = 1e6,
                               .condition = "runs per repeat",
                               .kept = true}),
        optionRow(&S::minRepeatMs, {.flag = "--min-repeat-ms",
                                    .type = OptionType::Number,
                                    .placeholder = "MS",
                                    .help = "Minimum duration of one measurement; runs are added to reach it",
                                    .commands = kOnTune,
                                    .key = "min_repeat_ms",
                                    .unit = "ms",
                                    .low = 0,
                                    .high = kLongestMs,
                                    .usual = usualRepeatTime(),
                                    .condition = "minimum time of a repeat (ms)",
                                    .kept = true}),
        optionRow(&S::timeoutSeconds, {.flag = "--timeout",
                                       .type = OptionType::Number,
                                       .placeholder = "SECONDS",
                                       .help = "Time limit of one candidate",
                                       .commands = kOnTune,
                                       .key = "timeout_s",
                                       .unit = "s",
                                       .low = 0.001,
                                       .high = 86400,
                                       .kept = true}),
        optionRow(&S::cooldownMs, {.flag = "--cooldown-ms",
                                   .type = OptionType::Number,
                                   .placeholder = "MS",
                                   .help = "Pause between two measurements of a candidate",
                                   .commands = kOnTune,
                                   .key = "cooldown_ms",
                                   .unit = "ms",
                                   .low = 0,
                                   .high = kLongestMs,
                                   .condition = "pause between repeats (ms)",
                                   .kept = true}),
        optionRow(&S::earlyStop, {.flag = "--early-stop",
                                  .type = OptionType::Whole,
                                  .placeholder = "N",
                                  .help = "Stop after this many trials that did not make the network faster",
                                  .commands = kOnTune,
                                  .key = "early_stop",
                                  .low = 0,
                                  .high = kManyTrials,
                                  .usual = "0, never",
                                  .kept = true}),
        optionRow(&S::buildJobs, {.flag = "--build-jobs",
                                  .type = OptionType::Whole,
                                  .placeholder = "N",
                                  .help = "Number of processes that build candidates",
                                  .commands = kOnTune,
                                  .key = "build_jobs",
                                  .low = 0,
                                  .high = 1024,
                                  .usual = "0, one per core",
                                  .kept = true}),
        optionRow(&S::cache,
                  {.flag = "--cache",
                   .type = OptionType::Word,
                   .placeholder = "STATE",
                   .help = "State of the caches when a candidate is timed: weights where the rest of the network "
                           "leaves them (network), what the previous run left (warm), none of their data (cold)",
                   .commands = kOnTune,
                   .key = "cache",
                   .words = {"network", "warm", "cold"},
                   .kept = true}),
        optionRow(
            &S::runoff,
            {.flag = "--runoff",
             .type = OptionType::Word,
             .placeholder = "WHEN",
             .help =
                 "Whether the best candidates of a round are measured again, next to the task's current best, before "
                 "one of them replaces it; auto: yes, except on simulators, whose latencies do not vary",
             .commands = kOnTune,
             .key = "runoff",
             .words = {"auto", "on", "off"},
             .condition = "runoffs",
             .kept = true,
             .absent = std::string("off")}),
        optionRow(&S::headStart,
                  {.flag = "--head-start",
                   .type = OptionType::Text,
                   .placeholder = "FILE|none",
                   .help = "Head start of policy sketch: a file written by lathe-cli head-start make, or none",
                   .commands = kOnTune,
                   .key = "head_start",
                   .usual = "the head start installed for the target",
                   .kept = true,
                   .absent = std::string(kNoHeadStart)}), // runs that lack the key knew none
        optionRow(&S::strict, {.flag = "--strict",
                               .type = OptionType::Flag,
                               .help = kStrictHelp,
                               .commands = kOnTune,
                               .key = "strict",
                               .condition = "strict",
                               .kept = true}),
        optionRow(
            &S::verbose,
            {.flag = "--verbose", .type = OptionType::Flag, .help = "Print a line per trial", .commands = kOnTune}),
    };
    // What holds, whatever a later version finds usual.
    optionOfKey(table, "min_repeat_ms").stored = [](const S& o) -> OptionValue { return minRepeatMs(o); };
    optionOfKey(table, "scheduler").stored = [](const S& o) -> OptionValue { return schedulerOf(o); };
    return table;
}

OptionTable<CompileOptions> makeCompileTable()
{
    using S = CompileOptions;
    return {
        optionRow(&S::name, {.flag = "--name",
                             .type = OptionType::Text,
                             .placeholder = "NAME",
                             .help = "Name the exported symbols lathe_NAME_*",
                             .commands = kOnCompile,
                             .usual = "the file's name without lib"}),
        optionRow(&S::threads, {.flag = "--threads",
                                .type = OptionType::Whole,
                                .placeholder = "N",
                                .help = "Number of threads in the benchmark",
                                .commands = kOnCompile,
                                .low = 0,
                                .high = 65535,
                                .usual = "0, the target's"}),
        optionRow(&S::allowDefault, {.flag = "--allow-default",
                                     .type = OptionType::Flag,
                                     .help = "Use default schedules for tasks without a record",
                                     .commands = kOnCompile}),
        optionRow(&S::strict,
                  {.flag = "--strict", .type = OptionType::Flag, .help = kStrictHelp, .commands = kOnCompile}),
        optionRow(&S::inputs, {.flag = "--input",
                               .type = OptionType::Texts,
                               .placeholder = "NAME=FILE.npy",
                               .help = "Use the values of this NumPy file for an input in the comparison and the "
                                       "benchmark; other inputs get generated values",
                               .commands = kOnCompile}),
        optionRow(&S::verify, {.flag = "--no-verify",
                               .type = OptionType::Flag,
                               .help = "Skip the comparison with the reference executor",
                               .commands = kOnCompile}),
        optionRow(
            &S::benchmark,
            {.flag = "--no-bench", .type = OptionType::Flag, .help = "Skip the benchmark", .commands = kOnCompile}),
        optionRow(&S::device, {.flag = "--device",
                               .type = OptionType::Text,
                               .placeholder = "KEY",
                               .help = "Make the code for this device (lathe-cli devices), and compare and time on it",
                               .commands = kOnCompile,
                               .usual = "the library chooses"}),
        optionRow(&S::broker, {.flag = "--broker",
                               .type = OptionType::Text,
                               .placeholder = "HOST:PORT",
                               .help = "Send the library to a device that has the key --device KEY at this broker "
                                       "(lathe-cli tracker), and compare and time it there",
                               .commands = kOnCompile,
                               .usual = "none"}),
        optionRow(&S::credentials, {.flag = "--creds",
                                    .type = OptionType::Text,
                                    .placeholder = "FILE",
                                    .help = kTokenHelp,
                                    .commands = kOnCompile,
                                    .usual = kNoToken}),
        optionRow(&S::logs, {.flag = "--log",
                             .type = OptionType::Texts,
                             .placeholder = "FILE",
                             .help = "Compile tasks without a record with the best that this log of the reference "
                                     "compiler's template tuner has for the target, or for its family; may be given "
                                     "several times",
                             .commands = kOnCompile,
                             .usual = "none"}),
        optionRow(&S::packages,
                  {.flag = "--package",
                   .type = OptionType::Texts,
                   .placeholder = "FILE|none",
                   .help = "Compile tasks without a record with those of this package, written by lathe-cli package "
                           "make; may be given several times",
                   .commands = kOnCompile,
                   .usual = "packages for the target in ~/.local/share/lathe/packages"}),
        optionRow(&S::graphTuner,
                  {.flag = "--graph-tuner",
                   .type = OptionType::Word,
                   .placeholder = "HOW",
                   .help = "How layouts are chosen over the whole network, where records of templates differ in them: "
                           "the best choice by dynamic programming (dp), a good one quickly (pbqp), the best unless "
                           "that takes too long (auto), or each task's fastest kernel whatever has to be converted in "
                           "between (off)",
                   .commands = kOnCompile,
                   .words = {"auto", "dp", "pbqp", "off"}}),
        optionRow(&S::mostCandidates, {.flag = "--max-sch-num",
                                       .type = OptionType::Whole,
                                       .placeholder = "N",
                                       .help = "Number of layouts of each task that the graph tuner chooses among",
                                       .commands = kOnCompile,
                                       .low = 1,
                                       .high = 1000}),
        optionRow(&S::conversionRuns, {.flag = "--min-exec-num",
                                       .type = OptionType::Whole,
                                       .placeholder = "N",
                                       .help = "Number of runs in which the graph tuner times a change of layout",
                                       .commands = kOnCompile,
                                       .low = 1,
                                       .high = 1'000'000}),
        optionRow(&S::overwrite, {.flag = "--overwrite",
                                  .type = OptionType::Flag,
                                  .help = "Replace existing files that Lathe did not write",
                                  .commands = kOnCompile}),
        optionRow(&S::output,
                  {.flag = "-o,--output",
                   .type = OptionType::Text,
                   .placeholder = "FILE.so",
                   .help = "Library to write, with a header, a description and examples next to it; required unless "
                           "--dry-run is given",
                   .commands = kOnCompile}),
    };
}

} // namespace

OptionTable<TuneOptions>& optionTable(const TuneOptions*)
{
    static OptionTable<TuneOptions> table = makeTuneTable();
    return table;
}

OptionTable<CompileOptions>& optionTable(const CompileOptions*)
{
    static OptionTable<CompileOptions> table = makeCompileTable();
    return table;
}

std::vector<SetOption> allOptions()
{
    std::vector<SetOption> all = valuesOf(ModelSpec());
    const auto add = [&all](std::vector<SetOption> more) { all.insert(all.end(), more.begin(), more.end()); };
    add(valuesOf(OpenOptions()));
    add(valuesOf(TuneOptions()));
    add(valuesOf(CompileOptions()));
    return all;
}

} // namespace lathe::session
