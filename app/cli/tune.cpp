#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/tune_output.h"
#include "core/broker/address.h"
#include "core/session/back_ends.h"
#include "core/session/device_directory.h"
#include "core/session/farm_kinds.h"
#include "core/session/farm_watch.h"
#include "core/session/head_start.h"
#include "core/session/options/budget_text.h"
#include "core/session/options/search_choice.h"
#include "core/session/options/tune_options.h"
#include "core/support/message.h"
#include "core/target/hardware_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

namespace lathe::cli {

namespace {

struct TuneArguments
{
    ModelArguments model;
    OptionArguments<session::TuneOptions> options;
    std::string budget;
    bool json = false;
};

/// A budget that is given for a run that goes on is on top of what it had; where none is given, what was left counts.
Result<> putOnTop(const session::TuningSession& session, session::TuneOptions& tune)
{
    if (!tune.resume || (tune.seconds == 0 && tune.trials == 0))
        return {};
    LATHE_TRY_ASSIGN(const auto history, session.history());
    LATHE_TRY_ASSIGN(const auto runs, history->runs());
    if (runs.empty())
        return {}; // start() says so
    if (tune.seconds > 0)
        tune.seconds += runs.back().activeSeconds;
    if (tune.trials > 0) {
        LATHE_TRY_ASSIGN(const auto rounds, history->rounds(runs.back().id));
        for (const session::RoundView& round : rounds)
            tune.trials += round.trials;
    }
    return {};
}

/// A key that no device of this machine has is looked for at the broker that the environment names.
void findBroker(TuneArguments& arguments)
{
    session::TuneOptions& tune = arguments.options.values;
    const std::string broker = broker::usualBroker();
    if (!tune.broker.empty() || tune.devices.empty() || broker.empty())
        return;
    const auto directory = session::DeviceDirectory::ask();
    const bool here = std::ranges::any_of(directory.all(), [&](const session::DeviceView& device) {
        return device.ready() && device.isCalled(tune.devices.front());
    });
    if (!here)
        tune.broker = broker;
}

/// What devices behind a broker are to be tuned for, where nobody said a target: the only kind that those of the key
/// have, simulators apart.
Result<std::string> targetThere(const session::TuneOptions& tune)
{
    LATHE_TRY_ASSIGN(const auto farm, session::FarmWatch::open(tune.broker, tune.credentials));
    std::this_thread::sleep_for(session::FarmWatch::kFirstLook);
    const std::vector<std::string> kinds = session::kindsOffered(farm->snapshot(), tune.devices.front());
    if (kinds.empty())
        return std::string(); // the run says who is there
    if (kinds.size() > 1)
        return makeError(
            Errc::InvalidArgument,
            fmt::format("the devices of {} are of several kinds: say with --target which one to tune for: {}",
                        tune.devices.front(), fmt::join(kinds, ", ")));
    return kinds.front();
}

/// What --hardware names is a file or a CPU, or else the key of devices behind the broker, which tell their own.
Result<> findHardware(const session::TuneOptions& tune, const std::string& target, std::string& hardware)
{
    if (hardware.empty() || tune.broker.empty())
        return {};
    if (const auto read = readHardware(hardware); read || read.error().code != Errc::NotFound)
        return read ? Result<>() : Result<>(read.error());
    if (target.empty())
        return makeError(Errc::InvalidArgument,
                         "--hardware KEY needs --target, which says what of the devices is meant");
    LATHE_TRY_ASSIGN(const auto farm, session::FarmWatch::open(tune.broker, tune.credentials));
    std::this_thread::sleep_for(session::FarmWatch::kFirstLook);
    LATHE_TRY_ASSIGN(const Target parsed, session::parseTarget(target));
    const session::FarmView view = farm->snapshot();
    std::string told = session::hardwareOffered(view, hardware, parsed.kind());
    if (told.empty())
        return makeError(Errc::NotFound, say(Msg::HardwareNeither, hardware, view.broker));
    hardware = std::move(told);
    return {};
}

/// What is said, over what the project's runs had. Another policy or preset than theirs takes back what came with
/// theirs, and what is said in so many words stands before what a preset sets.
session::TuneOptions over(session::TuneOptions usual, const OptionArguments<session::TuneOptions>& said)
{
    session::TuneOptions asked = said.over(usual);
    if (said.says("--preset") && !said.says("--policy"))
        asked.policy = session::withPreset(said.values).policy;
    session::SearchChoice choice = session::searchOf(asked);
    if (asked.policy != usual.policy) {
        // These belong to the policy: of an earlier run's, none is meant.
        const session::TuneOptions fresh = said.over({});
        choice.tuner = fresh.tuner;
        choice.tunerSettings = fresh.tunerSettings;
        choice.preset = fresh.preset;
        choice.earlyStopPerTask = fresh.earlyStopPerTask;
    }
    session::TuneOptions wanted = said.over(session::withSearch(std::move(usual), choice));
    wanted.policy = choice.policy;
    return wanted;
}

/// Whether this machine has the devices that are asked for, or any, and they run the target's code: else each trial
/// would be refused.
Result<> checkDevices(const std::string& target, const session::TuneOptions& tune)
{
    if (!tune.broker.empty())
        return {};
    LATHE_TRY_ASSIGN(const Target parsed, session::parseTarget(target));
    if (tune.devices.empty())
        return session::checkDeviceHere(parsed);
    LATHE_TRY(session::DeviceDirectory::ask(parsed.kind()).pick(target, tune.devices));
    return {};
}

Result<> tune(TuneArguments& arguments)
{
    LATHE_TRY(arguments.options.problem);
    session::TuneOptions& tune = arguments.options.values;
    if (!arguments.budget.empty()) {
        if (tune.seconds > 0 || tune.trials > 0 || tune.minGainPercent > 0)
            return makeError(Errc::InvalidArgument,
                             "--budget says all of it: leave out --time, --trials and --min-gain");
        LATHE_TRY(session::applyBudget(arguments.budget, session::localTime(), tune));
    }
    tune = session::withPreset(std::move(tune));
    // Where each task has an end of its own, the run has one: so many trials, or else the last of its space.
    const bool ends = tune.trialsPerTask > 0 || !tune.preset.empty();
    if (tune.seconds == 0 && tune.trials == 0 && tune.minGainPercent == 0 && !tune.resume && !ends)
        return makeError(Errc::InvalidArgument,
                         "say how long to tune: --time 20m, --trials 1000, or --budget \"until 18:00\"");
    LATHE_TRY_ASSIGN(session::OpenOptions open, arguments.model.openOptions());
    findBroker(arguments);
    // Refused here, before there is a project that would be begun for nothing.
    LATHE_TRY(session::check(tune));
    const bool begins = !std::filesystem::exists(open.project);
    if (begins && open.target.empty() && !tune.broker.empty() && !tune.devices.empty()) {
        LATHE_TRY_ASSIGN(open.target, targetThere(tune));
    }
    LATHE_TRY(findHardware(tune, open.target, open.model.hardware));
    if (const std::string target = open.target.empty() && begins ? kDefaultTarget : open.target; !target.empty()) {
        if (tune.broker.empty())
            LATHE_TRY(session::checkMeasurable(target));
        if (!tune.resume) {
            LATHE_TRY_ASSIGN(const Target parsed, session::parseTarget(target));
            if (!arguments.options.says("--policy")
                && tune.preset.empty()) // the target's own: a project's runs may have had another
                tune.policy = session::policyFor(parsed, tune.policy);
            LATHE_TRY(session::checkPolicy(parsed, tune.policy));
        }
        if (begins || !tune.devices.empty()) // else the project's runs may have been elsewhere
            LATHE_TRY(checkDevices(target, tune));
    }
    if (const std::string& file = tune.headStart; !file.empty() && file != session::kNoHeadStart && !tune.resume)
        LATHE_TRY(session::checkHeadStart(file));
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    // What is not said is as the project's runs had it.
    if (session::ProjectPart* const project = session->project(); project != nullptr && !tune.resume) {
        LATHE_TRY_ASSIGN(session::TuneOptions usual, project->usualOptions());
        if (tune.startOver)
            usual.trialsPerRound = 0; // it was worked out for another budget
        session::TuneOptions wanted = over(std::move(usual), arguments.options);
        if (!tune.devices.empty() || !tune.broker.empty()) // not those of one run at the broker of another
            session::takeDevices(wanted, tune);
        wanted.seconds = tune.seconds;
        wanted.trials = tune.trials;
        wanted.minGainPercent = tune.minGainPercent;
        wanted.gainWindowSeconds = tune.gainWindowSeconds;
        tune = std::move(wanted);
        if (!begins)
            LATHE_TRY(checkDevices(session->options().target, tune));
    }
    LATHE_TRY(putOnTop(*session, tune));
    installInterrupt();
    std::optional<TemplateProgress> progress;
    if (tune.policy == "template" && !arguments.json)
        progress.emplace(*session, tune.trialsPerTask);
    TuneOutput output(*session, arguments.json, tune.verbose, std::move(progress));
    session->setObserver(&output);
    LATHE_TRY(session->start(tune)); // a refusal says itself what the notices would
    printNotices(session->notices());
    waitForEnd(*session, output);
    return output.result();
}

} // namespace

void addTune(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<TuneArguments>();
    CLI::App* command = app.add_subcommand("tune",
                                           "Search for fast schedules of the network's tasks by measuring candidates");
    arguments->model.addTo(*command, false);
    command
        ->add_option("--budget", arguments->budget,
                     "How long to tune, in words: \"20 min\", \"until 18:00\", \"1000 trials\", \"until the last hour "
                     "gained under 0.1 %\"")
        ->type_name("TEXT");
    arguments->options.addTo(*command);
    command->add_flag("--json", arguments->json, "Print one JSON object per event, a line each");
    command->callback([arguments, &run] { run = [arguments] { return tune(*arguments); }; });
}

} // namespace lathe::cli
