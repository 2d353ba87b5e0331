#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/tune_output.h"
#include "core/session/budget_text.h"
#include "core/session/device_directory.h"
#include "core/session/head_start.h"
#include "core/session/tune_options.h"

#include <fmt/format.h>

namespace lathe::cli {

namespace {

struct TuneArguments
{
    ModelArguments model;
    session::TuneOptions tune;
    std::string time, budget, gainWindow;
    bool json = false;
};

Result<> tune(TuneArguments& arguments)
{
    if (!arguments.time.empty()) {
        LATHE_TRY_ASSIGN(arguments.tune.seconds, parseDuration(arguments.time));
    }
    if (!arguments.gainWindow.empty()) {
        LATHE_TRY_ASSIGN(arguments.tune.gainWindowSeconds, parseDuration(arguments.gainWindow));
    }
    if (!arguments.budget.empty()) {
        if (!arguments.time.empty() || arguments.tune.trials > 0 || arguments.tune.minGainPercent > 0)
            return makeError(Errc::InvalidArgument, "--budget says all of it: leave out --time, --trials and --min-gain");
        LATHE_TRY(session::applyBudget(arguments.budget, session::localTime(), arguments.tune));
    }
    if (arguments.tune.seconds == 0 && arguments.tune.trials == 0 && arguments.tune.minGainPercent == 0 && !arguments.tune.resume)
        return makeError(Errc::InvalidArgument, "say how long to tune: --time 20m, --trials 1000, or --budget \"until 18:00\"");
    LATHE_TRY_ASSIGN(session::OpenOptions open, arguments.model.openOptions());
    // Refused here, before there is a project that would be begun for nothing.
    LATHE_TRY(session::check(arguments.tune));
    if (!open.target.empty())
        LATHE_TRY(session::checkMeasurable(open.target));
    if (!open.target.empty() && !arguments.tune.devices.empty() && !arguments.tune.resume)
        LATHE_TRY(session::DeviceDirectory::ask().pick(open.target, arguments.tune.devices));
    if (const std::string& file = arguments.tune.headStart; !file.empty() && file != session::kNoHeadStart && !arguments.tune.resume)
        LATHE_TRY(session::checkHeadStart(file));
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    installInterrupt();
    TuneOutput output(*session, arguments.json, arguments.tune.verbose);
    session->setObserver(&output);
    LATHE_TRY(session->start(arguments.tune)); // a refusal says itself what the notices would
    printNotices(session->notices());
    waitForEnd(*session, output);
    return output.result();
}

} // namespace

void addTune(CLI::App& app, Action& run)
{
    const CLI::Range count(std::int64_t{0}, std::int64_t{1} << 40);
    auto arguments = std::make_shared<TuneArguments>();
    CLI::App* command = app.add_subcommand("tune", "Searches and measures schedules for the network's tasks");
    arguments->model.addTo(*command, false);
    session::TuneOptions& tuneOptions = arguments->tune;
    command->add_option("--time", arguments->time, "Budget: 90s, 20m, 1.5h");
    command->add_option("--budget", arguments->budget, "Budget in words: \"20 min\", \"until 18:00\", \"1000 trials\", \"until the last hour gained under 0.1 %\"");
    command->add_option("--min-gain", tuneOptions.minGainPercent, "Ends when the latest --gain-window made the network less than so many percent faster; 0: never")->check(CLI::Range(0.0, 100.0));
    command->add_option("--gain-window", arguments->gainWindow, "Of --min-gain: 90s, 20m, 1.5h [1h]");
    command->add_option("--trials", tuneOptions.trials, "Budget in trials")->check(count);
    command->add_option("--trials-per-task", tuneOptions.trialsPerTask, "No task gets more; 0: no limit")->check(count);
    command->add_option("--trials-per-round", tuneOptions.trialsPerRound, "0: 64, fewer where the budget is small")->check(CLI::Range(0, 4096))->capture_default_str();
    command->add_option("--policy", tuneOptions.policy, "How candidates are found: sketch (Lathe's search), reference (the reference compiler's rules), random, evolution (no cost model)")
        ->check(CLI::IsMember({"sketch", "reference", "random", "evolution", "template"}))
        ->capture_default_str();
    command->add_option("--device", tuneOptions.devices, "Device keys to measure on (lathe-cli devices)");
    command->add_option("--seed", tuneOptions.seed, "Of the search: equal seeds and results give equal candidates")->capture_default_str();
    command->add_flag("--resume", tuneOptions.resume, "Continue the project's latest run");
    command->add_option("--repeat", tuneOptions.repeat, "Costs taken of each candidate; their mean counts")->check(CLI::Range(1, 1000))->capture_default_str();
    command->add_option("--number", tuneOptions.number, "Runs of the candidate that make one cost, at least")->check(CLI::Range(1, 1000000))->capture_default_str();
    command->add_option("--min-repeat-ms", tuneOptions.minRepeatMs, "Time of one cost at least; more runs are added to reach it [20, with --policy reference 100]")
        ->check(CLI::Range(0.0, 600000.0));
    command->add_option("--timeout", tuneOptions.timeoutSeconds, "Seconds that running one candidate may take")->check(CLI::Range(0.001, 86400.0))->capture_default_str();
    command->add_option("--cooldown-ms", tuneOptions.cooldownMs, "Rest between two costs of a candidate")->check(CLI::Range(0.0, 600000.0))->capture_default_str();
    command->add_option("--early-stop", tuneOptions.earlyStop, "Stop after this many trials without a gain for the network; 0: never")->check(count);
    command->add_option("--build-jobs", tuneOptions.buildJobs, "Builder processes; 0: one per core")->check(CLI::Range(0, 1024))->capture_default_str();
    command->add_option("--cache", tuneOptions.cache, "What kernels find in the caches when they are timed: network (weights come from where the network's others leave them), warm, cold")->check(CLI::IsMember({"network", "warm", "cold"}))->capture_default_str();
    command->add_option("--runoff", tuneOptions.runoff, "Whether the best of a round is measured again beside what stands, before it is believed: on, off, auto (but on simulators, whose costs do not vary)")->check(CLI::IsMember({"auto", "on", "off"}))->capture_default_str();
    command->add_option("--head-start", tuneOptions.headStart, "Where policy sketch begins: a file of lathe-cli head-start make, or none [what is installed for the target, else none]");
    command->add_flag("--strict", tuneOptions.strict, kStrictHelp);
    command->add_flag("--verbose", tuneOptions.verbose, "A line per trial");
    command->add_flag("--json", arguments->json, "A JSON object per line and event");
    command->callback([arguments, &run] { run = [arguments] { return tune(*arguments); }; });
}

} // namespace lathe::cli
