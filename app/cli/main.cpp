#include "app/cli/command.h"

#include <csignal>
#include <cstdio>

int main(int argc, char** argv)
{
    using namespace lathe;
    std::signal(SIGXFSZ, SIG_IGN); // a limit on the sizes of files is met like a full disk: the write fails, with a sentence
    CLI::App app("Lathe tunes neural networks for the device they will run on.", "lathe-cli");
    app.require_subcommand(1);
    app.set_version_flag("--version", LATHE_VERSION);
    cli::Action run;
    cli::addTasks(app, run);
    cli::addTune(app, run);
    cli::addCompile(app, run);
    cli::addRun(app, run);
    cli::addBench(app, run);
    cli::addVerify(app, run);
    cli::addRecords(app, run);
    cli::addGate(app, run);
    cli::addReport(app, run);
    cli::addZoo(app, run);
    cli::addDevices(app, run);
    CLI11_PARSE(app, argc, argv);

    // A pipe that closes (| head) ends the output, not the program: writing then fails like any other write.
    auto result = run();
    if (!result) {
        std::fprintf(stderr, "lathe-cli: %s\n", result.error().message.c_str());
        return 1;
    }
    return 0;
}
