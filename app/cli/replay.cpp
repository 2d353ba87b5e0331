#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/tune_output.h"

namespace lathe::cli {

namespace {

struct ReplayArguments
{
    std::string project;
    session::ReplayOptions replay;
    bool json = false, verbose = false;
};

Result<> replay(const ReplayArguments& arguments)
{
    session::OpenOptions open;
    open.project = arguments.project;
    open.replay = arguments.replay;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(open));
    installInterrupt();
    TuneOutput output(*session, arguments.json, arguments.verbose);
    session->setObserver(&output);
    printNotices(session->notices());
    LATHE_TRY(session->start({}));
    waitForEnd(*session, output);
    return {}; // a run that failed replays well
}

} // namespace

void addReplay(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<ReplayArguments>();
    arguments->replay.speed = 100;
    CLI::App* command = app.add_subcommand(
        "replay", "Replay a stored run: print again what tune printed; the project is not changed");
    command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    command->add_option("--run", arguments->replay.run, "Number of the run; 0: the latest")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
        ->capture_default_str();
    command->add_option("--speed", arguments->replay.speed, "Seconds of the run per second")
        ->check(CLI::Range(0.1, 1e6))
        ->capture_default_str();
    command->add_flag("--verbose", arguments->verbose, "Print a line per trial");
    command->add_flag("--json", arguments->json, "Print one JSON object per event, a line each, as tune does");
    command->callback([arguments, &run] { run = [arguments] { return replay(*arguments); }; });
}

} // namespace lathe::cli
