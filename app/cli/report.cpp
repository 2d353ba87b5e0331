#include "core/session/report/report.h"

#include "app/cli/command.h"

#include <fmt/format.h>

namespace lathe::cli {

void addReport(CLI::App& app, Action& run)
{
    struct ReportArguments
    {
        std::string project, output;
    };
    auto arguments = std::make_shared<ReportArguments>();
    CLI::App* command = app.add_subcommand("report",
                                           "Write one HTML file with settings, device, curves, tasks and failures");
    command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    command->add_option("-o,--output", arguments->output, "FILE.html to write")->required();
    command->callback([arguments, &run] {
        run = [arguments]() -> Result<> {
            LATHE_TRY(session::writeReport(arguments->project, arguments->output));
            fmt::print("{}\n", arguments->output);
            return {};
        };
    });
}

} // namespace lathe::cli
