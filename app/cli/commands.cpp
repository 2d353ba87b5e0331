#include "app/cli/command.h"
#include "app/cli/man_page.h"
#include "app/cli/plain_help.h"
#include "core/session/back_ends.h"

namespace lathe::cli {

void addCommands(CLI::App& app, Action& run)
{
    session::loadBackEnds(); // they may bring policies, which options name
    app.require_subcommand(1);
    app.set_version_flag("--version", LATHE_VERSION);
    addTasks(app, run);
    addTune(app, run);
    addCompile(app, run);
    addRun(app, run);
    addBench(app, run);
    addVerify(app, run);
    addRecords(app, run);
    addCompare(app, run);
    addGate(app, run);
    addGraphTune(app, run);
    addLogs(app, run);
    addBudget(app, run);
    addReplay(app, run);
    addGain(app, run);
    addReport(app, run);
    addRoofline(app, run);
    addWeights(app, run);
    addHeadStart(app, run);
    addPackages(app, run);
    addZoo(app, run);
    addDevices(app, run);
    addTracker(app, run);
    sayLimitsInWords(app);
    // For whoever builds the package; no help shows it.
    app.add_flag_callback("--man-page",
                          [&app] {
                              print("{}", manPage(app, LATHE_VERSION));
                              if (const auto written = flushOutput(); !written)
                                  throw CLI::RuntimeError(written.error().message, 1);
                              throw CLI::Success();
                          })
        ->group("");
}

} // namespace lathe::cli
